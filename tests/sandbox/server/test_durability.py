"""Answered commands survive ``kill -9`` of a real server in a separate process, in the middle of stepping."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
SETUP = """\
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: pod-%d}
spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 10m}}}]}
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
    }


@contextmanager
def server(environment: dict[str, str]) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "sandbox.server", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port, process
    finally:
        process.kill()
        process.wait()


def ask(port: int, method: str, path: str, **fields: str) -> tuple[int, str, str]:
    """Return status, body and Location of the answer."""
    body = urlencode(fields) if method == "POST" else None
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers.get("Location", "")


def shown(port: int, base: str) -> str:
    """Return everything the site shows of the state."""
    panels = ("status", "queues", "cluster", "filter", "scores", "timeline", "events")
    return "".join(ask(port, "GET", f"{base}panel/{panel}/")[1] for panel in panels)


@pytest.mark.slow
def test_answered_commands_survive_kill_9_and_look_the_same(environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
    answered: list[int] = []
    with server(environment) as (port, process):
        base = ask(port, "POST", "/new/")[2]
        assert re.fullmatch(r"/s/[0-9a-f-]{36}/[\w-]{32}/", base)
        manifests = SETUP + "".join(POD % number for number in range(1, 21))
        assert ask(port, "POST", f"{base}apply/", manifests=manifests)[0] == 204

        def step() -> None:
            while True:
                try:
                    answered.append(ask(port, "POST", f"{base}do/stage/")[0])
                except (OSError, http.client.HTTPException):
                    return

        stepping = threading.Thread(target=step)
        stepping.start()
        while len(answered) < 25:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        stepping.join(timeout=PATIENCE)

    assert set(answered) == {204}
    with server(environment) as (port, _):
        first = shown(port, base)
        head = int(re.search(r'data-head="(\d+)"', ask(port, "GET", f"{base}panel/toolbar/")[1])[1])  # type: ignore[index]
        # One command may have been committed without its answer being sent.
        assert len(answered) + 1 <= head <= len(answered) + 2
        assert ask(port, "POST", f"{base}do/goto/", n="1")[0] == 204
        assert shown(port, base) != first
    with server(environment) as (port, _):
        assert ask(port, "POST", f"{base}do/goto/", n=str(head))[0] == 204
        assert shown(port, base) == first
        assert ask(port, "POST", f"{base}do/stage/")[0] == 204
