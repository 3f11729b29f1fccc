"""Ask extenders over HTTP, as kube-scheduler does. Only the command line does so, and only if somebody allows it.

Source: upstream ``extender.go`` (send, makeTransport) and Go's package ``net/http``.
"""

from __future__ import annotations

import json
import socket
import ssl
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from scheduler_engine.cli.extender_json import decode
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import ANY, TOO_LATE, Address, ExtenderCalls
from scheduler_engine.words import say

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CHUNK = 65_536
TOO_LATE_INSIDE = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


def ask(address: Address, verb: str, arguments: Mapping[str, Any]) -> Any:
    """Return an extender's answer. Raises ExtenderError with Go's text if there is none."""
    url, deadline = address.verb_url(verb), monotonic() + address.timeout_ns / 10**9
    place = _place(url)
    if place.scheme not in ("http", "https"):
        raise _failed(url, f'unsupported protocol scheme "{place.scheme}"')
    if not place.hostname:
        raise _failed(url, "http: no Host in request URL")
    request = Request(url, json.dumps(arguments).encode(), {"Content-Type": "application/json"}, method="POST")
    with _opened(request, address, place, verb) as response:
        body = _body(response, deadline)
    try:
        return decode(body)
    except ValueError as problem:
        raise ExtenderError(str(problem)) from problem


def _place(url: str) -> SplitResult:
    try:
        place = urlsplit(url)
        _ = place.port  # Reading it checks it.
    except ValueError as problem:
        raise ExtenderError(f'parse "{url}": {problem}') from problem
    return place


@contextmanager
def _opened(request: Request, address: Address, place: SplitResult, verb: str) -> Iterator[HTTPResponse]:
    url = request.full_url
    try:
        response = _opener(address, place).open(request, timeout=address.timeout_ns / 10**9)
    except HTTPError as refusal:
        refusal.close()
        raise _refused(verb, url, refusal.code) from refusal
    except (OSError, HTTPException, ValueError) as problem:
        raise _failed(url, _in_go(problem, place)) from problem
    with response:
        if response.status != 200:
            raise _refused(verb, url, response.status)
        yield response


def _body(response: HTTPResponse, deadline: float) -> bytes:
    """Read the answer. The time-out holds for the whole call, also if the extender sends it little by little."""
    parts: list[bytes] = []
    try:
        while part := response.read1(CHUNK):
            parts.append(part)
            if monotonic() > deadline:
                raise ExtenderError(TOO_LATE_INSIDE)
    except TimeoutError as problem:
        raise ExtenderError(TOO_LATE_INSIDE) from problem
    except (OSError, HTTPException) as problem:
        raise ExtenderError("unexpected EOF") from problem
    return b"".join(parts)


def _refused(verb: str, url: str, status: int) -> ExtenderError:
    return ExtenderError(f"failed {verb} with extender at URL {url}, code {status}")


def _failed(url: str, why: str) -> ExtenderError:
    return ExtenderError(f'Post "{url}": {why}')


def _in_go(problem: BaseException, place: SplitResult) -> str:
    """Return Go's words for a failed connection."""
    reason = problem.reason if isinstance(problem, URLError) else problem
    port = place.port or (443 if place.scheme == "https" else 80)
    match reason:
        case TimeoutError():
            return TOO_LATE
        case ssl.SSLCertVerificationError():
            return f"tls: failed to verify certificate: x509: {reason.verify_message}"
        case socket.gaierror():
            return f"dial tcp: lookup {place.hostname}: no such host"
        case ConnectionRefusedError():
            return f"dial tcp {place.hostname}:{port}: connect: connection refused"
        case RemoteDisconnected():
            return "EOF"
        case ConnectionResetError():
            return "read: connection reset by peer"
    return " ".join(str(reason).split())


def _opener(address: Address, place: SplitResult) -> OpenerDirector:
    proxies = ProxyHandler({} if place.hostname in LOOPBACK else None)
    return build_opener(proxies, HTTPSHandler(context=_context(address)))


def _context(address: Address) -> ssl.SSLContext:
    """Return the settings of TLS. Without root certificates, ``enableHTTPS`` verifies nothing, as upstream."""
    tls = address.tls
    if tls.get("serverName"):
        raise ExtenderError(say("refusals.extender-server-name"))
    root = b64decode(tls["caData"]).decode("ascii") if tls.get("caData") else None
    context = ssl.create_default_context(cafile=tls.get("caFile") or None, cadata=root)
    if tls.get("insecure") or (address.enable_https and not (root or tls.get("caFile"))):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with TemporaryDirectory() as folder:
        certificate, key = (_as_file(tls, part, Path(folder)) for part in ("cert", "key"))
        if certificate:
            context.load_cert_chain(certificate, key or None)
    return context


def _as_file(tls: Mapping[str, Any], part: str, folder: Path) -> str:
    """Return the file with the client's certificate or key; the data in the configuration come first."""
    if not tls.get(f"{part}Data"):
        return str(tls.get(f"{part}File", ""))
    path = folder / part
    path.write_bytes(b64decode(tls[f"{part}Data"]))
    return str(path)


OVER_HTTP = ExtenderCalls({ANY: ask})
