"""The site's optimisations must not change its results."""

from __future__ import annotations

import asyncio
import logging
import platform
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Any

import pytest
from django.template.loader import render_to_string

from sandbox.panels import PANELS, View, World
from sandbox.runtime.layers import LocalChannelLayer
from sandbox.runtime.threads import EXECUTING, in_thread, tell
from sandbox.storage import statements
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Place, Position
from sandbox.web.handler import OneThreadHandler
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario
from scheduler_engine.simulation import Simulation
from tests.installed import SCENARIOS

STEPS = 40
VIEWS = (View(), View(cycle=1), View(layout="tiles"))
KEPT = {name: panel for name, panel in PANELS.items() if panel.same_while}


@pytest.mark.parametrize("scenario", [*SCENARIOS.values()][::6], ids=lambda scenario: scenario.slug)
def test_a_panel_that_says_it_is_the_same_is_the_same(scenario: Scenario) -> None:
    simulation = Simulation(seed=scenario.seed, configuration=scenario.configuration)
    for step in scenario.setup:
        simulation.execute(commands.from_json(dict(step)))
    world, folded = World(), 0
    drawn: dict[tuple[str, View], tuple[object, str]] = {}
    reused = 0
    for number in range(STEPS):
        for entry in simulation.recorder.entries[folded:]:
            world.apply(entry)
        folded, world.clock_us = len(simulation.recorder.entries), simulation.now_us
        for (name, panel), view in ((item, view) for item in KEPT.items() for view in VIEWS):
            assert panel.same_while
            now = panel.same_while(world, view)
            html = render_to_string(f"panels/{name}.html", {**panel.stats(world, view), "can_edit": True})
            before, old = drawn.get((name, view), (None, ""))
            if before == now:
                assert html == old, f"{name} after {number} steps with {asdict(view)}"
                reused += 1
            drawn[name, view] = (now, html)
        try:
            simulation.execute(commands.Advance(2) if number % 9 == 8 else commands.Stage())
        except Rejected:
            simulation.execute(commands.Advance(2))
    assert reused, "no drawing was reused"


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_request_is_answered_by_one_of_the_pooled_threads(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, threads = OneThreadHandler(), []
    answer = handler.answer

    def noted(*args: Any) -> list[dict[str, Any]]:
        threads.append(threading.current_thread().name)
        return answer(*args)

    monkeypatch.setattr(handler, "answer", noted)
    path = visitor.url("panel/status/")
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", b"localhost")], "http_version": "1.1"}
    sent: list[dict[str, Any]] = []
    messages = [{"type": "http.request", "body": b""}]

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()  # The client stays until it has its answer.
        return messages.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler(scope | {"query_string": b""}, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == 200
    assert b'id="panel-status"' in sent[1]["body"]
    assert threads[0].startswith("reading")


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_failure_while_sending_is_logged_and_delays_no_one(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    await in_thread(EXECUTING, tell, fails)
    await asyncio.sleep(0.05)
    assert "background work failed" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


@pytest.mark.django_db
def test_statements_and_django_read_each_others_rows(visitor: Any) -> None:
    record = statements.append(visitor.sandbox.pk, 1, '{"kind": "stage"}', "Ada")
    statements.set_place(visitor.sandbox.pk, Place(Position(record.key, 1, 1), 7))
    row = Sandbox.objects.get(pk=visitor.sandbox.pk)
    assert (Position.of(row), row.revision) == (Position(record.key, 1, 1), 7)
    assert row.last_used > visitor.sandbox.last_used
    kept = row.records.get()
    assert (kept.pk, kept.n, kept.command, kept.who) == (record.key, 1, '{"kind": "stage"}', "Ada")
    assert statements.place(row.pk) == statements.place(row.pk, lock=True)
    assert statements.sandbox(row.pk) == row
    assert statements.sandbox(row.pk).created == row.created  # type: ignore[union-attr]


@pytest.mark.django_db
def test_a_deleted_sandbox_has_no_place(visitor: Any) -> None:
    visitor.row().delete()
    assert statements.sandbox(visitor.sandbox.pk) is None
    with pytest.raises(Sandbox.DoesNotExist):
        statements.place(visitor.sandbox.pk)


ONE_OF_MANY_THREADS = """
import sys, threading
from sandbox.runtime import memory
if sys.argv[1] == "given back":
    memory.return_freed_memory()

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def read():
    started.wait()
    for size in range(200_000, 1_000_000, 50_000):
        text = b"x".join([b"y" * 100] * (size // 100)).decode()
        kept.append(bytearray(600))
        del text
    done.wait()

kept, started, done = [], threading.Barrier(17), threading.Barrier(17)
threads = [threading.Thread(target=read) for _ in range(16)]
for thread in threads:
    thread.start()
before = resident()
started.wait()
done.wait()
print((resident() - before) // 1_000_000)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library keeps what threads have freed")
def test_reads_in_threads_leave_no_memory_behind() -> None:
    def left(how: str) -> int:
        command = [sys.executable, "-c", ONE_OF_MANY_THREADS, how]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert left("given back") < left("kept") / 2


@pytest.mark.asyncio
async def test_unfetched_messages_expire() -> None:
    layer = LocalChannelLayer(expiry=-1)
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "old"})
    layer.cleaned = 0.0
    await layer.group_send("others", {"type": "new"})
    assert channel not in layer.channels
