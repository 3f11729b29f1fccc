"""The real nginx, with the configuration as written, in front of two real web processes."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.nginx import DEPLOY, command, nginx, placed
from tests.sandbox.served import CLOSE, Served, frame, served, static_files, to_the_end
from tests.sandbox.server.test_probes import ALONE, fetch, metrics
from tests.servers import Postgres, RedisServer
from tests.waiting import PATIENCE, free_port, until

pytestmark = pytest.mark.nginx

KEY = "k" * 50


@dataclass
class Proxied:
    """nginx, and the web processes behind it."""

    front: Served
    webs: list[Served]
    folder: Path


@contextmanager
def proxied(folder: Path, database: str, redis: str) -> Iterator[Proxied]:
    """Start two web processes, and nginx in front of them."""
    settings = {
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "SECRET_KEY": KEY,
        "TRUSTED_PROXIES": "1",
        "LOG_FORMAT": "json",
        **ALONE,
    }
    folders = [folder / name for name in ("one", "two", "nginx")]
    for one in folders:
        one.mkdir()
    with ExitStack() as stack:
        webs = [stack.enter_context(served(one, **settings)) for one in folders[:2]]
        port, process = stack.enter_context(nginx(folders[2], static_files(), [web.port for web in webs]))
        yield Proxied(Served(port, process, folders[2]), webs, folders[2])


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres, redis_server: RedisServer
) -> Iterator[Proxied]:
    with proxied(tmp_path_factory.mktemp("site"), postgres_server.new_database(), redis_server.url) as running:
        yield running


def test_the_configuration_is_valid_as_written(tmp_path: Path) -> None:
    for name in ("nginx.conf", "upstream.conf"):
        shutil.copy(DEPLOY / name, tmp_path)
    path = tmp_path / "nginx.conf"
    path.write_text(path.read_text().replace("/var/log/nginx/", f"{tmp_path}/"))
    done = subprocess.run([*command(tmp_path, path), "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_the_lines_for_tls_are_valid_once_they_are_uncommented(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=sandbox.example", "-days", "1", "-nodes"]
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*openssl, *subject], check=True, capture_output=True)
    path = placed(tmp_path, free_port(), tmp_path, [1, 2])
    text = re.sub(r"(?m)^( +)# (server \{|    listen|    return|\}|listen 443|ssl_)", r"\1\2", path.read_text())
    text = re.sub(r"/etc/letsencrypt/\S+/fullchain.pem", str(certificate), text)
    text = re.sub(r"/etc/letsencrypt/\S+/privkey.pem", str(key), text)
    assert len(re.findall(r"(?m)^ +listen ", text)) == 3
    path.write_text(text)
    done = subprocess.run([*command(tmp_path, path), "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_page_command_static_file_and_live_line_pass_through(site: Proxied) -> None:
    base = site.front.sandbox(nodes=2)
    status, page = fetch(site.front, base)
    assert status == 200
    script = re.search(r'src="(/static/js/workbench\.[0-9a-f]{12}\.js)"', page)
    assert script
    connection = http.client.HTTPConnection("127.0.0.1", site.front.port, timeout=PATIENCE)
    connection.request("GET", script[1], headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    assert (answer.status, headers["cache-control"]) == (200, "max-age=315360000, public, immutable")
    assert headers["content-type"] in ("application/javascript; charset=utf-8", "text/javascript; charset=utf-8")
    assert headers["content-encoding"] == "gzip"
    answer.read()
    connection.close()
    line, head = site.front.live_line(base)
    with line:
        assert head.startswith(b"HTTP/1.1 101 ")
        line.sendall(frame(b'{"open": "cluster status"}'))
        assert site.front.ask("POST", f"{base}do/advance/", "seconds=1")[0] == 204
        received = b""
        while b'id="panel-cluster"' not in received:
            received += line.recv(65536)
        line.sendall(frame(b"", CLOSE))
        to_the_end(line)


def uses(site: Proxied) -> list[float]:
    """Return how many requests in sandboxes each web process has answered, live lines included."""
    return [
        sum(
            value
            for (name, labels), value in metrics(web).items()
            if (name == "sandbox_requests_total" and labels[0] in ("workbench", "do", "panel", "api:state"))
            or name == "sandbox_live_lines"
        )
        for web in site.webs
    ]


def test_one_sandbox_always_reaches_the_same_web_process(site: Proxied) -> None:
    reached = set()
    for _ in range(8):
        base = site.front.sandbox()
        _, _, sandbox, token, _ = base.split("/")
        before = uses(site)
        for path in (base, f"{base}panel/status/", f"/api/v1/sandboxes/{sandbox}/{token}"):
            assert fetch(site.front, path)[0] == 200
        site.front.ask("POST", f"{base}do/advance/", "seconds=1")
        line, _ = site.front.live_line(base)
        with line:
            grown = [now - was for now, was in zip(uses(site), before, strict=True)]
            line.sendall(frame(b"", CLOSE))
            to_the_end(line)
        assert sorted(grown) == [0, 5]
        reached.add(grown.index(5))
    assert reached == {0, 1}, "both web processes serve sandboxes"


def test_a_room_reaches_one_web_process_too(site: Proxied) -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    pattern = re.search(r'"(~\S+)"\s+\$id;', text)
    assert pattern
    read = re.compile(pattern[1].removeprefix("~").replace("(?<id>", "(?P<id>"))
    sandbox = "244d5097-0d80-497b-8752-674d4ba43c57"
    for path in (f"/s/{sandbox}/t/", f"/ws/s/{sandbox}/t/", f"/w/{sandbox}/t/", f"/ws/w/{sandbox}/t/"):
        match = read.search(path)
        assert match
        assert match["id"] == sandbox


def test_links_and_limits_see_the_visitor_and_the_log_has_the_id_of_the_request(site: Proxied) -> None:
    base, log = site.front.sandbox(), site.folder / "access.log"
    line = re.compile(r" GET \d+ \d+ [\d.]+ ([0-9a-f]{32})$", re.MULTILINE)
    before = len(line.findall(log.read_text()))
    fetch(site.front, f"{base}panel/status/", X_Request_Id="invented", X_Forwarded_For="198.51.100.7")
    # nginx writes the line after it has answered.
    (request,) = until(lambda: line.findall(log.read_text())[before:])
    lines = "".join((web.directory / "log").read_text() for web in site.webs)
    assert f'"request": "{request}", "route": "panel"' in lines
    assert "invented" not in lines
    assert "TRUSTED_PROXIES" not in lines


def test_the_pages_of_operators_do_not_exist_outside(site: Proxied) -> None:
    assert [fetch(site.front, path)[0] for path in ("/metrics", "/readyz", "/healthz")] == [404, 404, 200]


def test_a_body_that_is_too_large_ends_at_nginx(site: Proxied) -> None:
    assert site.front.ask("POST", "/new/", "x" * 3_200_000)[0] == 413


def test_without_a_web_process_the_other_one_serves_and_no_log_has_a_key(
    tmp_path: Path, postgres_server: Postgres, redis_server: RedisServer
) -> None:
    with proxied(tmp_path, postgres_server.new_database(), redis_server.url) as site:
        bases = [site.front.sandbox(nodes=1) for _ in range(6)]
        site.webs[0].process.terminate()
        site.webs[0].process.wait(PATIENCE)
        for base in bases:
            assert site.front.ask("POST", f"{base}do/advance/", "seconds=1")[0] == 204
        site.webs[1].process.terminate()
        site.webs[1].process.wait(PATIENCE)
        assert fetch(site.front, bases[0])[0] == 502
        until(lambda: " GET 502 " in (site.folder / "access.log").read_text())
        logs = "".join((site.folder / name).read_text() for name in ("access.log", "error.log"))
        assert not [base for base in bases if base in logs or base.split("/")[3] in logs]
