"""Probes, metrics and the lines of requests, from real servers."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError
from prometheus_client.parser import text_string_to_metric_families
from redis.exceptions import ConnectionError as RedisGone

from sandbox.limits.server import Limits
from sandbox.runtime import logs, measures
from sandbox.server import probes
from sandbox.server.probes import Check
from tests.processes import descendants, stopped
from tests.sandbox.served import ROOT, Served, served
from tests.servers import Postgres, RedisServer
from tests.test_documents import block
from tests.waiting import PATIENCE, until

ALONE = {"ENGINE_PROCESSES": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("probed"), **ALONE) as running:
        yield running


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start a server that logs each request, and shows its metrics to one address."""
    with served(tmp_path_factory.mktemp("watched"), METRICS_FROM="127.0.0.1", LOG_REQUESTS="1", **ALONE) as running:
        yield running


def fetch(server: Served, path: str, source: str = "127.0.0.1", **headers: str) -> tuple[int, str]:
    """Return status and text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE, source_address=(source, 0))
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def metrics(server: Served) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return name and values of the labels → value."""
    status, text = fetch(server, "/metrics")
    assert status == 200
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8000"])
def test_a_process_that_answers_is_alive_and_ready_whatever_host_is_named(server: Served, host: str) -> None:
    assert fetch(server, "/healthz", Host=host) == (200, "The process answers.\n")
    said = "database: answers\nchannel layer: answers\nengine: answers\n"
    assert until(lambda: fetch(server, "/readyz", Host=host) == (200, said))


def test_without_an_engine_it_is_alive_but_not_ready_even_if_all_places_are_taken(tmp_path: Path) -> None:
    with served(tmp_path, SERVER_REQUESTS="1", **ALONE) as site:
        base = site.sandbox()
        with stopped(descendants(site.process.pid)):
            waiting = site.connect()
            waiting.sendall(f"GET {base}panel/cluster/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            until(lambda: fetch(site, "/")[0] == 503)
            assert fetch(site, "/healthz")[0] == 200
            status, said = fetch(site, "/readyz")
            assert (status, said.splitlines()[-1]) == (503, "engine: does not answer")
            waiting.close()
        until(lambda: fetch(site, "/readyz")[0] == 200)


def readiness(site: Served) -> list[str]:
    """Return the parts that do not answer; with status 200 there must be none but Redis."""
    status, text = fetch(site, "/readyz")
    missing = [line.partition(":")[0] for line in text.splitlines() if line.endswith("does not answer")]
    assert (status == 200) == (set(missing) <= {"channel layer"})
    return missing


def test_without_its_database_it_is_not_ready_but_without_redis_it_is_and_serves(
    tmp_path: Path, own_postgres: Postgres, own_redis: RedisServer
) -> None:
    shared = {"DATABASE_URL": own_postgres.new_database(), "REDIS_URL": own_redis.url}
    with served(tmp_path, **shared, **ALONE) as site:
        base = site.sandbox()
        until(lambda: readiness(site) == [])
        own_redis.kill()
        until(lambda: readiness(site) == ["channel layer"])
        assert site.ask("GET", base)[0] == 200
        own_redis.start()
        until(lambda: readiness(site) == [])
        own_postgres.kill()
        until(lambda: readiness(site) == ["database"])
        assert site.ask("GET", base)[0] == 503
        assert metrics(site)["sandbox_errors_total", ("database",)] > 0
        own_postgres.start()
        until(lambda: readiness(site) == [])
        assert fetch(site, "/healthz")[0] == 200


def test_a_part_that_never_answers_is_asked_once_and_an_error_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(probes, "FRESH_SECONDS", 0)
    asked = []

    async def never() -> None:
        asked.append("never")
        await asyncio.Event().wait()

    async def fails() -> None:
        asked.append("fails")
        raise OperationalError

    async def ask() -> list[bool]:
        silent, broken = Check(never), Check(fails)
        answers = [await check.answers() for check in (silent, silent, broken, broken)]
        assert silent.task
        silent.task.cancel()
        return answers

    assert asyncio.run(ask()) == [False] * 4
    assert asked == ["never", "fails", "fails"]


def test_the_metrics_count_what_happens_and_name_nobody(server: Served) -> None:
    before = metrics(server)
    base = server.sandbox(nodes=2)
    assert server.ask("POST", f"{base}do/stage/")[0] == 422
    assert server.ask("GET", f"{base}no-such-page/")[0] == 404
    line, _ = server.live_line(base)
    with line:
        now = metrics(server)
        assert now["sandbox_live_lines", ()] == 1
    grown = {key: value - before.get(key, 0) for key, value in now.items()}
    assert grown["sandbox_requests_total", ("create", "302")] == 1
    assert grown["sandbox_requests_total", ("apply", "204")] == 1
    assert grown["sandbox_requests_total", ("do", "422")] == 1
    assert grown["sandbox_requests_total", ("none", "404")] == 1
    assert grown["sandbox_request_seconds_count", ("apply",)] == 1
    assert grown["sandbox_commands_total", ("apply", "done")] == 1
    assert grown["sandbox_commands_total", ("stage", "NothingToDo")] == 1
    assert grown["sandbox_command_seconds_count", ("stage",)] == 1
    assert [now["sandbox_engine_processes", (lane,)] for lane in ("quick", "slow", "dedicated")] == [1, 1, 0]
    assert now["sandbox_engine_resident_bytes", ("quick",)] > 10_000_000
    assert now["sandbox_jobs_waiting", ("quick",)] == 0
    assert now["process_resident_memory_bytes", ()] > 10_000_000
    assert [now["sandbox_errors_total", (part,)] for part in measures.PARTS] == [0, 0, 0]
    text = fetch(server, "/metrics")[1]
    sandbox, token = base.split("/")[2:4]
    assert sandbox not in text
    assert token not in text


def test_the_document_lists_every_metric(server: Served) -> None:
    table = (ROOT / "docs/operating.md").read_text().split("## Metrics")[1].split("## ")[0]
    listed = {name.removesuffix("_total") for name in re.findall(r"`(sandbox_\w+)`", table)}
    families = text_string_to_metric_families(fetch(server, "/metrics")[1])
    assert listed == {family.name for family in families if family.name.startswith("sandbox_")}


def test_the_document_gives_the_times_and_the_defaults() -> None:
    text, limits = (ROOT / "docs/operating.md").read_text(), Limits()
    assert f"waits up to {probes.CHECK_SECONDS:g} s for each part" in text
    assert probes.FRESH_SECONDS == 1, "at most once a second"
    rows = {line.split("|")[1].strip(): line.split("|")[3].strip() for line in text.splitlines() if line.count("|") > 3}
    assert rows["`SERVER_DRAIN_SECONDS`, `SERVER_STOP_SECONDS`"] == f"{limits.drain_seconds}, {limits.stop_seconds}"
    assert rows["`METRICS_FROM`"] == f"`{','.join(map(str, settings.METRICS_FROM)).replace('::1/128', '::1')}`"
    assert (settings.LOG_FORMAT, settings.LOG_REQUESTS, settings.SECURE_HSTS_SECONDS) == ("text", False, 0)
    assert (rows["`LOG_FORMAT`"], rows["`HSTS_SECONDS`"]) == ("`text`", "0")


def test_a_limit_that_refuses_is_counted(tmp_path: Path) -> None:
    with served(tmp_path, COMMAND_RATE="0.001", SERVER_BODY_BYTES="1000", **ALONE) as site:
        assert site.ask("POST", "/new/", "x" * 2000)[0] == 413
        base = site.sandbox()
        while site.ask("POST", f"{base}do/settle/")[0] != 429:
            pass
        counted = metrics(site)
    assert counted["sandbox_refused_total", ("body",)] == 1
    assert counted["sandbox_refused_total", ("command",)] == 1


def test_replays_are_counted(server: Served) -> None:
    base = server.sandbox(nodes=1)
    server.ask("POST", f"{base}do/advance/", "seconds=1")
    before = metrics(server)["sandbox_replayed_commands_total", ()]
    for pid in descendants(server.process.pid):
        if b"sandbox.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    until(lambda: server.ask("GET", f"{base}panel/cluster/")[0] == 200)
    assert metrics(server)["sandbox_replayed_commands_total", ()] - before == 2


NOT_ALLOWED = {
    "another address": ("127.0.0.2", {}),
    "a proxy on this machine": ("127.0.0.1", {"X-Forwarded-For": "203.0.113.5"}),
    "a proxy that hides it": ("127.0.0.1", {"Via": "1.1 proxy"}),
}


@pytest.mark.parametrize(("source", "headers"), NOT_ALLOWED.values(), ids=NOT_ALLOWED)
def test_the_metrics_are_for_the_operator_alone(watched: Served, source: str, headers: dict[str, str]) -> None:
    status, text = fetch(watched, "/metrics", source, **headers)
    assert (status, "sandbox_requests" in text) == (404, False)
    assert fetch(watched, "/metrics")[0] == 200


def entries(site: Served) -> list[dict[str, object]]:
    """Return the lines of its log, each of which must be JSON."""
    return [json.loads(line) for line in (site.directory / "log").read_text().splitlines()]


def test_each_request_is_a_line_of_json_with_its_id_and_without_its_token(tmp_path: Path) -> None:
    with served(tmp_path, LOG_FORMAT="json", TRUSTED_PROXIES="1", **ALONE) as site:
        base = site.sandbox(nodes=1)
        sandbox, token = base.split("/")[2:4]
        fetch(site, f"{base}panel/cluster/", X_Request_Id="from-the-proxy.1")
        fetch(site, f"{base}panel/status/", X_Request_Id='odd "id"')
        fetch(site, f"/api/v1/sandboxes/{sandbox}/{token}", X_Request_Id="of-the-api")
        fetch(site, f"{base}panel/no-such/?%22{token}%22%0a")
        lines = [line for line in entries(site) if line["logger"] == "sandbox.requests"]
    by_id = {str(line["request"]): line for line in lines}
    line = by_id["from-the-proxy.1"]
    assert (line["route"], line["sandbox"], line["status"], line["level"]) == ("panel", sandbox, 200, "INFO")
    assert isinstance(line["seconds"], float)
    of_the_api = by_id["of-the-api"]
    assert (of_the_api["route"], of_the_api["sandbox"]) == ("api:state", sandbox)
    assert len(by_id) == len(lines) == 6, "each other request has an id of its own"
    made = by_id.keys() - {"from-the-proxy.1", "of-the-api"}
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in made)
    assert json.loads(block("docs/operating.md", "json")).keys() == line.keys()
    log = (tmp_path / "log").read_text()
    assert token not in log
    assert "/s/" not in log.replace(f"/s/{sandbox}/…", "")


def test_without_a_proxy_nobody_chooses_the_id_of_a_request(watched: Served) -> None:
    log = watched.directory / "log"
    before = len(log.read_text())
    fetch(watched, "/course/", X_Request_Id="chosen")
    fetch(watched, "/static/none.css")
    asked = [line for line in log.read_text()[before:].splitlines() if "sandbox.requests" in line]
    assert re.search(r"INFO sandbox\.requests: course 200 in \d\.\d{4} s \[[0-9a-f]{16}\]$", asked[0])
    assert "static 404 in" in asked[1]


def test_a_usual_log_has_no_line_for_each_request(server: Served) -> None:
    assert "sandbox.requests" not in (server.directory / "log").read_text()


def test_an_error_during_a_request_names_the_request() -> None:
    record = logging.LogRecord("a", logging.ERROR, "", 0, 'it said "%s"', ("no\nmore",), None)
    with logs.about(logs.Facts("abc", "panel", "some-id")):
        line = logs.AsJson().format(record)
        assert logs.WithoutTokens("%(message)s").format(record) == 'it said "no\nmore" [abc]'
    assert "\n" not in line
    said = json.loads(line)
    assert (said["message"], said["request"], said["route"]) == ('it said "no\nmore"', "abc", "panel")
    assert "request" not in json.loads(logs.AsJson().format(record))


def error_of(kind: type[Exception], cause: Exception | None = None) -> Exception:
    error = kind("no")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (error_of(OperationalError), "database"),
        (error_of(ValueError, error_of(OperationalError)), "database"),
        (error_of(RedisGone), "redis"),
        (error_of(ValueError), "site"),
    ],
    ids=str,
)
def test_a_logged_error_counts_for_the_part_that_failed(error: Exception, part: str) -> None:
    log, counter = logging.getLogger("tests.probes"), measures.ERRORS.labels(part)
    before = counter._value.get()
    log.error("failed", exc_info=error)
    assert counter._value.get() == before + 1
    log.warning("it will be tried again: %s", error)
    assert counter._value.get() == before + 1 + (part != "site")
    log.info("nothing: %s", error)
    log.warning("nothing")
    assert counter._value.get() == before + 1 + (part != "site")
