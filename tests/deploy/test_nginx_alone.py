"""The real nginx with the configuration as written, in front of something that never answers."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from select import select
from typing import NamedTuple

import pytest

from sandbox.limits.addresses import client_network
from tests.nginx import command, placed
from tests.waiting import PATIENCE, free_port, until

pytestmark = pytest.mark.nginx

BASE = "/s/244d5097-0d80-497b-8752-674d4ba43c57/the-token-that-nobody-may-see/"
BUSY = 7
"""Clients that leave too few of 12 connections for their requests to the web processes."""
BODY = 200_000
"""Bytes of a body that nginx writes to a file."""


class Front(NamedTuple):
    """nginx at a port, and the server behind it, which answers nothing."""

    port: int
    silent: socket.socket


@contextmanager
def running(folder: Path, changes: dict[str, str]) -> Iterator[Front]:
    """Run nginx with these changes of its configuration, in front of a silent server."""
    port = free_port()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        path = placed(folder, port, folder, [silent.getsockname()[1]])
        text = path.read_text()
        for old, new in {"worker_processes auto": "worker_processes 1", **changes}.items():
            assert old in text
            text = text.replace(old, new, 1)
        path.write_text(text)
        process = subprocess.Popen(command(folder, path))
        try:
            until(lambda: process.poll() is not None or (folder / "pid").exists())
            assert process.poll() is None
            yield Front(port, silent)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def head(method: str, path: str = BASE, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join(lines).replace("_", "-").encode() + b"\r\n"


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def status(connection: socket.socket) -> str:
    """Return the status of the answer, "" if nginx has not answered but closed the connection."""
    return connection.recv(12).decode()[9:]


def fill_disk(folder: Path, port: int) -> None:
    """Send a body for which nginx has no room."""
    shutil.rmtree(folder / "body")
    (folder / "body").write_text("")
    with connected(port) as one:
        one.sendall(head("POST", Content_Length=f"{BODY}") + b"\r\n" + b"x" * BODY)
        assert status(one) == "500"


def crowd(folder: Path, port: int) -> None:
    """Send more requests at once than nginx has connections to pass on."""

    def attempt() -> bool:
        with ExitStack() as stack:
            clients = [stack.enter_context(connected(port)) for _ in range(BUSY)]
            for one in clients:
                one.sendall(head("GET"))
            # nginx must have read that of all of them: it closes connections that have not begun a request.
            time.sleep(0.2)
            for one in clients:
                one.sendall(b"\r\n")
            time.sleep(0.2)
        return " 500 " in (folder / "access.log").read_text()

    until(attempt)


TROUBLES: dict[str, tuple[Callable[[Path, int], None], dict[str, str]]] = {
    "its disk is full": (fill_disk, {}),
    "it has too few connections": (crowd, {"worker_connections 8192": "worker_connections 12"}),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_log_has_a_key_when_nginx_itself_is_in_trouble(tmp_path: Path, trouble: str) -> None:
    act, changes = TROUBLES[trouble]
    body = {"http {": f"http {{ client_body_temp_path {tmp_path}/body;"}
    with running(tmp_path, body | changes) as front:
        act(tmp_path, front.port)
        until(lambda: " 500 " in (tmp_path / "access.log").read_text())
    logs = "".join((tmp_path / name).read_text() for name in ("access.log", "error.log"))
    assert BASE.split("/")[2] not in logs
    assert BASE.split("/")[3] not in logs


SAME = {
    "a /64": ("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6"),
    "a /64 with zeros": ("2001:db8::1", "2001:db8::a:b:c:d"),
    "a /64 that ends in a zero": ("2001:db8:1::1", "2001:db8:1:0:a:b:c:d"),
    "an address": ("203.0.113.7", "203.0.113.7"),
}
OTHERS = {
    "two /64": ("2001:db8:1:2::1", "2001:db8:1:3::1"),
    "two /64 with the same end": ("2001:db8::1:0:0:1", "2001:db8:0:1::1"),
    "two addresses": ("203.0.113.7", "203.0.113.8"),
}
CASES = [pytest.param(*pair, "503", id=f"{name} is one client") for name, pair in SAME.items()]
CASES += [pytest.param(*pair, "", id=f"{name} are two clients") for name, pair in OTHERS.items()]


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """Run nginx with one connection for each client. A header says who the client is."""
    named = {"http {": "http { set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;"}
    with running(tmp_path_factory.mktemp("counting"), named | {"client 1500": "client 1"}) as front:
        yield front


@pytest.mark.parametrize(("first", "second", "answer"), CASES)
def test_a_client_is_an_address_or_a_block_of_ipv6(counting: Front, first: str, second: str, answer: str) -> None:
    with ExitStack() as stack:
        one, two = (stack.enter_context(connected(counting.port)) for _ in range(2))
        one.sendall(head("GET", X_Real_IP=first) + b"\r\n")
        stack.enter_context(counting.silent.accept()[0])
        two.sendall(head("GET", X_Real_IP=second) + b"\r\n")
        ready, _, _ = select([two, counting.silent], [], [], PATIENCE)
        if counting.silent in ready:
            stack.enter_context(counting.silent.accept()[0])
        assert (status(two) if two in ready else "") == answer


def test_behind_another_proxy_nginx_and_the_site_see_the_visitors(tmp_path: Path) -> None:
    changes = {
        "# set_real_ip_from 10.0.0.0/8;": "set_real_ip_from 127.0.0.1;",
        "# real_ip_header X-Forwarded-For;": "real_ip_header X-Forwarded-For;",
        "client 1500": "client 1",
    }
    visitors = ["203.0.113.7", "203.0.113.8"]
    with running(tmp_path, changes) as front, ExitStack() as stack:
        for visitor in visitors:
            request = stack.enter_context(connected(front.port))
            request.sendall(head("GET", X_Forwarded_For=f"198.51.100.1, {visitor}") + b"\r\n")
            passed_on = stack.enter_context(front.silent.accept()[0]).recv(65536).decode()
            (forwarded,) = re.findall(r"(?im)^x-forwarded-for: (.*?)\r$", passed_on)
            assert client_network(forwarded, "127.0.0.1", proxies=1) == visitor


API = f"/api/v1/sandboxes{BASE.removeprefix('/s')}commands"
REFUSALS = {
    "a body that is too large": ("413", {"Content_Length": "4000000"}, "is too large"),
    "too many connections": ("503", {}, "Too many connections"),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_programs_get_the_refusals_of_nginx_as_json(counting: Front, why: str) -> None:
    expected, headers, message = REFUSALS[why]
    with ExitStack() as stack:
        if not headers:
            stack.enter_context(connected(counting.port)).sendall(head("GET", X_Real_IP="10.0.0.9") + b"\r\n")
            stack.enter_context(counting.silent.accept()[0])
        one = http.client.HTTPConnection("127.0.0.1", counting.port, timeout=PATIENCE)
        stack.callback(one.close)
        one.putrequest("POST", API)
        for name, text in {"X_Real_IP": "10.0.0.9", **headers}.items():
            one.putheader(name.replace("_", "-"), text)
        one.endheaders()
        answer = one.getresponse()
        problem = json.loads(answer.read())
    assert (str(answer.status), answer.headers["Content-Type"]) == (expected, "application/json; charset=utf-8")
    assert (message in problem["message"], problem["errors"]) == (True, [])
