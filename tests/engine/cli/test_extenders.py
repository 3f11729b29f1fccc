"""Extenders over HTTP, from the command line: a real server that answers, is slow, is wrong, or is gone."""

from __future__ import annotations

import json
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from socket import socket
from threading import Event, Thread
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from scheduler_engine.cli import main
from scheduler_engine.cli.extender_http import TOO_LATE, TOO_LATE_INSIDE, ask
from scheduler_engine.cli.extender_json import decode
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import Address
from scheduler_engine.testing import make_node, make_pod
from tests.engine.simulated_extender import answering

SECOND_NS = 10**9
Answer = Callable[[BaseHTTPRequestHandler, Any], None]


@contextmanager
def served(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve an extender on a free port, and give its URL. ``context``: for HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer(self, json.loads(body))

        def log_message(self, *arguments: Any) -> None:
            """Write nothing to standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def problem(url: str, timeout_ns: int = 5 * SECOND_NS) -> str:
    """Return the error of a call."""
    with pytest.raises(ExtenderError) as failed:
        ask(Address(url, timeout_ns), "filter", {})
    return str(failed.value)


# --- the transport ----------------------------------------------------------------------------------------------------


def test_an_extender_gets_json_and_answers_with_it() -> None:
    seen: list[Any] = []

    def answer(handler: BaseHTTPRequestHandler, body: Any) -> None:
        seen.append((handler.path, handler.headers["Content-Type"], body))
        send(handler, b'{"NodeNames": ["n1"]} and more')

    with served(answer) as url:
        assert ask(Address(f"{url}/v1/", SECOND_NS), "filter", {"NodeNames": ["n1"]}) == {"NodeNames": ["n1"]}
    assert seen == [("/v1/filter", "application/json", {"NodeNames": ["n1"]})]


@pytest.mark.parametrize("status", [201, 404, 500])
def test_another_status_is_an_error(status: int) -> None:
    with served(lambda handler, body: send(handler, b"{}", status)) as url:
        assert problem(url) == f"failed filter with extender at URL {url}/filter, code {status}"


def test_a_slow_extender_is_too_late() -> None:
    over = Event()

    def wait(handler: BaseHTTPRequestHandler, body: Any) -> None:
        over.wait(5)

    with served(wait) as url:
        assert problem(url, SECOND_NS // 20) == f'Post "{url}/filter": {TOO_LATE}'
        over.set()


def test_an_extender_that_sends_little_by_little_is_too_late() -> None:
    over = Event()

    def drip(handler: BaseHTTPRequestHandler, body: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        while not over.wait(0.01):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    with served(drip) as url:
        assert problem(url, SECOND_NS // 2) == TOO_LATE_INSIDE
        over.set()


def test_nobody_listens() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    assert problem(url) == f'Post "{url}/filter": dial tcp 127.0.0.1:{port}: connect: connection refused'


def test_an_extender_that_hangs_up() -> None:
    with served(lambda handler, body: None) as url:
        assert problem(url) == f'Post "{url}/filter": EOF'


def test_an_answer_that_is_cut_short() -> None:
    def half(handler: BaseHTTPRequestHandler, body: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"NodeNames": [')

    with served(half) as url:
        assert problem(url) == "unexpected EOF"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", 'unsupported protocol scheme ""'),
        ("file:///etc", 'unsupported protocol scheme "file"'),
        ("http://", "http: no Host in request URL"),
        ("http://no-such-host.invalid", "dial tcp: lookup no-such-host.invalid: no such host"),
    ],
)
def test_an_address_that_leads_nowhere(url: str, why: str) -> None:
    assert problem(url) == f'Post "{url.rstrip("/")}/filter": {why}'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for 127.0.0.1, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "extender")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = tmp_path_factory.mktemp("tls") / "extender.pem"
    path.write_bytes(private + signed.public_bytes(Encoding.PEM))
    return path


@pytest.fixture
def over_tls(certificate: Path) -> Iterator[str]:
    """Return the URL of an extender that serves HTTPS, and asks for a client's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_OPTIONAL

    def answer(handler: BaseHTTPRequestHandler, body: Any) -> None:
        shown = handler.connection.getpeercert() if isinstance(handler.connection, ssl.SSLSocket) else None
        send(handler, json.dumps({"client": bool(shown)}).encode())

    with served(answer, context) as url:
        yield url


def test_https_is_verified_with_the_configured_certificates_or_not_at_all(over_tls: str, certificate: Path) -> None:
    def asked(enable_https: bool, **tls: Any) -> Any:
        return ask(Address(over_tls, 5 * SECOND_NS, enable_https, tls), "filter", {})

    data = b64encode(certificate.read_bytes()).decode()
    assert asked(True) == {"client": False}
    assert asked(False, insecure=True) == {"client": False}
    assert asked(True, caFile=str(certificate)) == {"client": False}
    assert asked(True, caData=data) == {"client": False}
    assert asked(True, caData=data, certFile=str(certificate), keyFile=str(certificate)) == {"client": True}
    assert asked(True, certData=data, keyData=data) == {"client": True}
    assert "tls: failed to verify certificate: x509: " in problem(over_tls)


@pytest.mark.parametrize("url", ["http://[::", "http://127.0.0.1:99999", "http://127.0.0.1:x", "http://127.0.0.1:1/ä"])
def test_an_address_that_is_not_one_is_an_error_of_the_call(url: str) -> None:
    assert f"{url}/filter" in problem(url)


@pytest.mark.parametrize("tls", [{"caFile": "/none"}, {"caData": "//8="}, {"certFile": "/none"}, {"certData": "YQ=="}])
def test_certificates_that_cannot_be_read_are_an_error_of_the_call(tls: dict[str, str]) -> None:
    with pytest.raises(ExtenderError, match=re.escape("https://127.0.0.1:1/filter")):
        ask(Address("https://127.0.0.1:1", SECOND_NS, tls=tls), "filter", {})


def test_settings_of_tls_that_are_not_supported_are_named() -> None:
    with pytest.raises(ExtenderError, match="serverName"):
        ask(Address("https://127.0.0.1", SECOND_NS, tls={"serverName": "x"}), "filter", {})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("", "EOF"),
        (" \n", "EOF"),
        ("<html>", "invalid character '<' looking for beginning of value"),
        ("not json", "invalid character 'o' in literal null (expecting 'u')"),
        ("tru", "unexpected EOF"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        ('{"a": [1 2]}', "invalid character '2' after array element"),
        ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a": [', "unexpected EOF"),
        ('{"a', "unexpected EOF"),
        ("[" * 100_000, "exceeded max depth"),
    ],
)
def test_an_answer_that_is_not_json(body: str, error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)):
        decode(body.encode())


# --- the commands -----------------------------------------------------------------------------------------------------

SCENARIO = """\
apiVersion: scheduler-sandbox/v1
kind: Scenario
title: An extender chooses
configuration:
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  extenders:
  - urlPrefix: URL
    filterVerb: filter
    prioritizeVerb: prioritize
    weight: 1
    nodeCacheCapable: true
    httpTimeout: 5s
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: "4", pods: "9"}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}
then:
- run: {}
expect:
- pod: default/web
  node: n2
"""


def chooses_n2(handler: BaseHTTPRequestHandler, body: Any) -> None:
    if handler.path.endswith("/filter"):
        answer: Any = {"NodeNames": ["n1", "n2"], "FailedNodes": {"n3": "rack is full"}}
    else:
        answer = [{"Host": "n1", "Score": 1}, {"Host": "n2", "Score": 10}]
    send(handler, json.dumps(answer).encode())


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[str]:
    with served(chooses_n2) as url:
        path = tmp_path / "extended.yaml"
        path.write_text(SCENARIO.replace("URL", url))
        yield str(path)


def test_run_asks_extenders_only_if_allowed(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario]) == 2
    refused = capsys.readouterr().err
    assert "extended.yaml:7:3: configuration.extenders: Forbidden: this server asks no extenders" in refused
    assert main(["run", "--allow-extenders", scenario]) == 0
    shown = capsys.readouterr().out
    assert "passes n1, n2; n3: rack is full" in shown
    assert "scores n1 1 (+10), n2 10 (+100)" in shown
    assert "Extender: rack is full" in shown


def test_explain_shows_what_extenders_said(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--allow-extenders", scenario, "--pod", "web", "--node", "n3"]) == 0
    assert "n3: Extender refused it: rack is full" in capsys.readouterr().out
    assert main(["explain", "--allow-extenders", scenario, "--pod", "web", "--node", "n2"]) == 0
    shown = capsys.readouterr().out
    [row] = [text.split() for text in shown.splitlines() if text.startswith("  http://")]
    assert row[1:] == ["10", "100", "100"]
    assert main(["explain", "--allow-extenders", scenario, "--pod", "web", "--fix"]) == 2
    assert "--allow-extenders" in capsys.readouterr().err


def test_diff_says_that_an_extender_made_the_difference(
    scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain.yaml"
    plain.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert main(["diff", "--allow-extenders", scenario, "--config", str(plain)]) == 1
    assert "rack is full" in capsys.readouterr().out


def test_an_extender_that_is_gone_is_named_in_the_pods_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, port = tmp_path / "gone.yaml", free_port()
    path.write_text(SCENARIO.replace("URL", f"http://127.0.0.1:{port}"))
    assert main(["run", "--allow-extenders", str(path)]) == 1
    assert f"dial tcp 127.0.0.1:{port}: connect: connection refused" in capsys.readouterr().out


# --- simulated ones ---------------------------------------------------------------------------------------------------


@pytest.fixture(name="simulated")
def create_simulated(tmp_path: Path) -> str:
    """Write a scenario with a simulated extender that leaves one node."""
    path = tmp_path / "simulated.scenario.yaml"
    expected = [{"pod": "default/web", "node": "b"}, {"verdict": "default/web", "node": "a", "plugin": "Extender"}]
    objects = [make_node("a").obj(), make_node("b").obj(), make_pod("web").obj()]
    configuration = answering(filter='node.metadata.name == "b"', message="the rack is full")
    scenario = {"apiVersion": "scheduler-sandbox/v1", "kind": "Scenario", "title": "Racks"}
    steps = {"setup": [{"apply": objects}], "then": [{"run": {}}], "expect": expected}
    path.write_text(yaml.safe_dump({**scenario, "configuration": configuration, **steps}))
    return str(path)


def test_commands_ask_simulated_extenders_without_an_option(
    simulated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", simulated]) == 0
    assert main(["run", simulated]) == 0
    assert main(["explain", simulated, "--pod", "web", "--node", "a"]) == 0
    assert "the rack is full" in capsys.readouterr().out
    assert main(["fit", simulated, "--pod", "default/web", "--most", "2"]) == 0
    snapshot = tmp_path / "snapshot.json"
    assert main(["export", simulated, "--as", "simulator", "--to", str(snapshot)]) == 0
    assert "simulated" not in snapshot.read_text()
    exported = tmp_path / "exported.scenario.yaml"
    assert main(["export", simulated, "--to", str(exported)]) == 0
    assert yaml.safe_load(exported.read_text())["configuration"]["extenders"][0]["simulated"] == {
        "filter": 'node.metadata.name == "b"',
        "message": "the rack is full",
    }


def test_a_log_with_simulated_extenders_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [make_node("a").obj(), make_node("b").obj(), make_pod("web").obj()]
    steps = [{"kind": "apply", "manifests": objects}, {"kind": "run"}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"configuration": answering(filter='node.metadata.name == "b"'), "commands": steps}))
    assert main(["replay", str(path)]) == 0
    assert "Extender simulated://racks" in capsys.readouterr().out
