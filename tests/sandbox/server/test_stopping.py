"""After SIGTERM a real server is not ready, serves on, answers what runs, and sends browsers away."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest

from tests.processes import descendants, stopped
from tests.sandbox.served import CLOSE, frame, served, to_the_end
from tests.sandbox.server.test_probes import ALONE, fetch
from tests.waiting import PATIENCE, until

NEVER = "3600"


def test_while_it_drains_it_is_not_ready_but_serves_and_answers_what_runs(tmp_path: Path) -> None:
    with served(tmp_path, SERVER_DRAIN_SECONDS="8", SERVER_STOP_SECONDS="200", **ALONE) as site:
        base, other = site.sandbox(nodes=1), site.sandbox(nodes=1)
        line, _ = site.live_line(base)
        answers: list[int] = []
        with line, stopped(descendants(site.process.pid)):
            running = threading.Thread(target=lambda: answers.append(site.ask("POST", f"{other}do/settle/")[0]))
            running.start()
            until(lambda: "sandbox_requests_present 1.0" in fetch(site, "/metrics")[1])
            site.process.send_signal(signal.SIGTERM)
            until(lambda: fetch(site, "/readyz") == (503, "The server is stopping.\n"))
            assert fetch(site, "/healthz")[0] == 200
            assert site.ask("GET", "/course/")[0] == 200
            line.sendall(frame(json.dumps({"ping": 1}).encode()))
            assert b"pong" in line.recv(1000)
            answered = to_the_end(line)
        assert answered.endswith(bytes([0x80 | CLOSE, 2]) + (1001).to_bytes(2, "big"))
        assert site.process.wait(PATIENCE) == 0
        running.join()
        assert answers == [204]
        assert "Traceback" not in (tmp_path / "log").read_text()
    with served(tmp_path, **ALONE) as again:
        assert 'data-head="2"' in again.ask("GET", f"{other}panel/toolbar/")[1]


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, first: signal.Signals) -> None:
    with served(tmp_path, SERVER_DRAIN_SECONDS=NEVER, SERVER_STOP_SECONDS=NEVER, **ALONE) as site:
        base = site.sandbox(nodes=1)
        with stopped(descendants(site.process.pid)), site.connect() as waiting:
            waiting.sendall(f"GET {base}panel/cluster/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            until(lambda: "sandbox_requests_present 1.0" in fetch(site, "/metrics")[1])
            site.process.send_signal(first)
            if first == signal.SIGTERM:
                until(lambda: fetch(site, "/readyz")[0] == 503)
            site.process.send_signal(signal.SIGTERM)
            assert site.process.wait(PATIENCE) == 0
            assert to_the_end(waiting) == b""


def test_a_person_at_the_terminal_does_not_wait_for_proxies(tmp_path: Path) -> None:
    with served(tmp_path, SERVER_DRAIN_SECONDS=NEVER, **ALONE) as site:
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(PATIENCE) == 0
