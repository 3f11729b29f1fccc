"""Engines in separate processes: a job that takes long, fails or dies affects its own sandbox alone."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from sandbox import settings as production
from sandbox.changes import store
from sandbox.panels.view import View
from sandbox.pool import engines, turns
from sandbox.pool.lanes import History, Pending, Process
from sandbox.pool.pool import Pool
from sandbox.storage.models import Sandbox
from sandbox.storage.records import START, Plan
from sandbox.worker import jobs, process
from sandbox.worker.errors import Busy, Occupied, Stopped, TooLarge
from sandbox.worker.job import KINDS, READING, Kind
from sandbox.worker.line import Line
from sandbox.worker.messages import SLOW, Answer, Call, Dedicated, Hello, JobMessage, LogQuestion
from sandbox.worker.nursery import connect
from sandbox.worker.process import STATES, Engine, Forgotten, Halted
from scheduler_engine.errors import Rejected
from tests.engine.controllers import deployment
from tests.processes import children, stopped
from tests.sandbox.conftest import JOB_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

MANY_NODES, MANY_PODS = 100, 400
ENDLESS = 5 * MANY_PODS
"""Pods of which not all are scheduled before a test has reacted, however busy the machine."""
SETTLE = {"kind": "settle"}
THREADS = ThreadPoolExecutor(8)


def eventually(holds: Callable[[], Any], seconds: float = JOB_SECONDS) -> Any:
    """Wait until ``holds`` returns something true, and return that."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.02)
    return value


def later(function: Callable[..., Any], *args: Any) -> Future[Any]:
    """Return the future of a call in a new thread."""
    return THREADS.submit(function, *args)


@pytest.fixture
def large(node: Any, pod: Any) -> Callable[..., Sandbox]:
    """Return a function that creates a sandbox in which Settle takes long."""

    def make(pods: int = MANY_PODS) -> Sandbox:
        sandbox, _ = store.create("Large")
        store.execute(sandbox, node(*(f"n{number}" for number in range(MANY_NODES))))
        store.execute(sandbox, pod(*(f"p{number}" for number in range(pods))))
        return sandbox

    return make


def dedicated(pool: Pool, sandbox: Sandbox) -> Process:
    """Wait for the process that executes a command of this sandbox alone."""

    def dedicated_process() -> Process | None:
        process = pool.homes.get(sandbox.pk)
        return process if process and any(job.call.name == "execute" for job in process.sent.values()) else None

    process: Process = eventually(dedicated_process)
    return process


def head(sandbox: Sandbox) -> int:
    return Sandbox.objects.get(pk=sandbox.pk).head


def cluster(sandbox: Sandbox) -> str:
    return str(engines.read(sandbox, jobs.fragments, View(), ["cluster"], True, False, {})["cluster"].html)


def test_a_new_sandbox_does_not_come_before_those_that_have_used_little(pool: Pool) -> None:
    steady, now = pool._history(uuid4()), time.monotonic()
    steady.used = 0.5
    assert pool._history(uuid4()).use(now) > steady.use(now)
    known = pool._history(uuid4())
    assert known.use(time.monotonic() + 30) < 0.05, "that is soon forgotten"


def test_a_step_elsewhere_is_answered_while_a_command_takes_long(pool: Pool, large: Any, node: Any) -> None:
    sandbox, (small, _) = large(2 * MANY_PODS), store.create("Small")
    settling = later(store.execute, sandbox, SETTLE)
    with stopped([dedicated(pool, sandbox).pid]):
        store.execute(small, node("quick"))
        assert "quick" in cluster(small)
    assert not settling.done()
    assert settling.result(JOB_SECONDS).head == 3
    # The process that continued has the sandbox, and shows what a replay shows.
    shown = cluster(sandbox)
    os.kill(pool.homes[sandbox.pk].pid, signal.SIGKILL)
    eventually(lambda: sandbox.pk not in pool.homes)
    assert cluster(sandbox) == shown


def test_a_request_before_the_engines_have_started_waits_for_them() -> None:
    starting = Pool(processes=1, long=1)
    try:
        with suppress(Busy, Occupied, Rejected):
            starting.ask(Call(Plan(uuid4(), 0, "null", "v1.34", ""), START, "lesson_read", ("", "lesson.yaml")), 0.01)
        assert starting.begun.is_set()
    finally:
        starting.close()


def test_in_production_the_slow_lane_gets_a_tenth_and_its_forks_a_thirtieth() -> None:
    assert (production.ENGINE_NICE, production.ENGINE_NICER) == (10, 5)


def test_a_sandbox_that_takes_longer_than_a_blink_goes_over_to_the_slow_lane(
    pool: Pool, node: Any, settings: Any
) -> None:
    (small, _), (sandbox, _) = store.create("Small"), store.create("Long")
    store.execute(small, node("a"))
    store.execute(sandbox, node("a"))
    assert not pool.histories[sandbox.pk].slow
    assert store.execute(sandbox, {"kind": "apply", "manifests": [deployment("web", 3_000)]}).head == 2
    assert pool.histories[sandbox.pk].slow
    assert not pool.histories[small.pk].slow
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert [os.getpriority(os.PRIO_PROCESS, slot.pid) for slot in pool.slots] == [own, own + settings.ENGINE_NICE]
    shown = cluster(sandbox)
    reads = 0
    while pool.histories[sandbox.pk].slow:
        assert engines.read(sandbox, jobs.names, "Node", "") == ["a"]
        reads += 1
        assert reads <= 2 * pool.histories[sandbox.pk].enough
    # The sandbox is fast again; the process it returns to replays it, or it moves once more.
    assert cluster(sandbox) == shown


def test_a_large_text_is_not_tried_where_all_are_quick(pool: Pool, node: Any) -> None:
    sandbox, _ = store.create("Large text")
    checked = engines.read(sandbox, jobs.check, "# " + "x" * 40_000)
    assert checked[0] == []
    assert pool.histories[sandbox.pk].slow


def test_each_way_back_to_the_quick_lane_is_longer() -> None:
    known = History()
    for enough in (10, 20):
        known.slow_down()
        known.slow_down()
        for _ in range(enough - 1):
            known.note(0.001, 0)
        known.note(1, 0)
        for _ in range(enough):
            assert known.slow
            known.note(0.001, 0)
        assert not known.slow


def test_usage_counts_at_most_a_second_per_job_and_decays() -> None:
    known = History()
    known.note(60, 100)
    assert known.use(100) == 1
    assert known.use(105) == 0.5
    known.note(0.25, 105)
    assert known.use(110) == 0.375


def test_the_lightest_user_comes_first_and_a_long_wait_comes_at_last(pool: Pool) -> None:
    plan = Plan(UUID(int=1), 0, "null", "v1.34", "")
    heavy = Pending(Call(plan, START, "state", ()))
    light = Pending(Call(replace(plan, sandbox_id=UUID(int=2)), START, "state", ()))
    pool.histories[heavy.sandbox_id] = History(used=2, at=time.monotonic())
    process = Process(waiting=deque([heavy, light]))
    assert pool._take_turn(process) is light
    process.waiting.append(light)
    heavy.asked -= 60
    assert pool._take_turn(process) is heavy
    # While a process works on a sandbox, it takes no more jobs of it, so that the sandbox can move as a whole.
    process.sent[1] = light
    assert pool._take_turn(process) is None


def test_a_stopped_command_changes_nothing(pool: Pool, large: Any, node: Any) -> None:
    sandbox = large(ENDLESS)
    before = cluster(sandbox)
    settling = later(store.execute, sandbox, SETTLE)
    with stopped([dedicated(pool, sandbox).pid]):
        assert pool.stop(sandbox.pk)
    with pytest.raises(Stopped, match="Nothing was changed"):
        settling.result(JOB_SECONDS)
    assert head(sandbox) == 2
    assert cluster(sandbox) == before
    assert store.execute(sandbox, node("later")).head == 3


def test_a_command_over_the_time_that_one_may_take_is_stopped(pool: Pool, large: Any, settings: Any) -> None:
    sandbox = large(ENDLESS)
    settings.COMMAND_SECONDS = 0.3
    with pytest.raises(Stopped):
        store.execute(sandbox, SETTLE)
    assert head(sandbox) == 2


def test_a_command_whose_process_is_killed_is_sent_again_and_counts_once(pool: Pool, large: Any) -> None:
    sandbox = large()
    settling = later(store.execute, sandbox, SETTLE)
    first = dedicated(pool, sandbox).pid
    os.kill(first, signal.SIGKILL)
    eventually(lambda: sandbox.pk not in pool.homes or pool.homes[sandbox.pk].pid != first)
    assert settling.result(JOB_SECONDS).head == 3
    assert head(sandbox) == sandbox.records.count() == 3


def test_engines_continue_without_their_parent_and_are_replaced_once_it_is_back(pool: Pool, node: Any) -> None:
    sandbox, _ = store.create("Kept")
    store.execute(sandbox, node("before"))
    nursery, first = pool.nursery.child.pid, pool.slots[0].pid
    os.kill(nursery, signal.SIGKILL)
    assert store.execute(sandbox, node("meanwhile")).head == 2
    assert pool.slots[0].pid == first
    os.kill(first, signal.SIGKILL)
    assert store.execute(sandbox, node("after")).head == 3
    assert pool.nursery.child.pid != nursery
    assert pool.slots[0].pid not in (0, first)
    assert all(name in cluster(sandbox) for name in ("before", "meanwhile", "after"))


def test_a_process_that_serves_all_is_replaced_when_it_ends(pool: Pool, node: Any) -> None:
    sandbox, _ = store.create("Kept")
    store.execute(sandbox, node("before"))
    first = pool.slots[0].pid
    os.kill(first, signal.SIGKILL)
    eventually(lambda: pool.slots[0].pid != first)
    store.execute(sandbox, node("after"))
    assert "before" in cluster(sandbox)
    assert "after" in cluster(sandbox)


def test_the_number_of_long_commands_at_once_is_limited(pool: Pool, large: Any, node: Any) -> None:
    sandboxes = [large(ENDLESS), large(ENDLESS), large()]
    eventually(lambda: all(not process.sent for process in pool.homes.values()))
    settling = []
    with ExitStack() as held:
        for sandbox in sandboxes[:2]:
            settling.append(later(store.execute, sandbox, SETTLE))
            held.enter_context(stopped([dedicated(pool, sandbox).pid]))
        with pytest.raises(Busy, match="Nothing was changed"):
            store.execute(sandboxes[2], SETTLE)
        assert head(sandboxes[2]) == 2
        for sandbox in sandboxes[:2]:
            assert pool.stop(sandbox.pk)
    for answer in settling:
        with pytest.raises(Stopped):
            answer.result(JOB_SECONDS)
    # An idle sandbox makes room, and the earlier refusal is forgotten.
    assert store.execute(sandboxes[2], SETTLE).head == 3
    assert cluster(sandboxes[2])
    assert store.execute(sandboxes[2], node("later")).head == 4


def test_a_waiting_command_can_be_stopped(pool: Pool) -> None:
    waiting = Pending(Call(Plan(UUID(int=3), 0, "null", "v1.34", ""), START, "execute", ()), number=-1)
    with pool.lock:
        pool.jobs[waiting.number] = waiting
        pool.slots[-1].waiting.append(waiting)
        assert pool.stop(waiting.sandbox_id)
    with pytest.raises(Stopped, match="Nothing was changed"):
        waiting.future.result(0)
    assert not pool.jobs
    assert not pool.slots[-1].waiting
    assert not pool.stop(waiting.sandbox_id)


def test_a_fork_that_dies_before_anybody_knows_it_leaves_its_sandbox_to_others(pool: Pool, large: Any) -> None:
    sandbox = large()
    if sandbox.pk in pool.homes:
        os.kill(pool.homes[sandbox.pk].pid, signal.SIGKILL)
        eventually(lambda: sandbox.pk not in pool.homes)
    # While the lock is held no process is registered. Kill what the slow lane has started meanwhile.
    slow = pool.slots[-1].pid
    before = children(slow)
    settling = later(store.execute, sandbox, SETTLE)
    eventually(lambda: pool.slots[-1].sent or sandbox.pk in pool.homes)
    with pool.lock:
        pids = eventually(lambda: set(children(slow)) - set(before))
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    assert settling.result(JOB_SECONDS).head == 3


def test_a_process_that_rests_stays_until_another_one_needs_its_place(pool: Pool, large: Any, node: Any) -> None:
    resting = [large() for _ in range(2)]
    for sandbox in resting:
        store.execute(sandbox, SETTLE)
    eventually(lambda: {sandbox.pk for sandbox in resting} == set(pool.homes))
    small, _ = store.create("Small")
    for name in "abc":
        store.execute(small, node(name))
        cluster(small)
    assert {sandbox.pk for sandbox in resting} == set(pool.homes)
    third = large()
    store.execute(third, SETTLE)
    eventually(lambda: len(pool.homes) == 2)
    assert third.pk in pool.homes


def test_a_request_to_a_busy_sandbox_is_refused_as_busy(
    pool: Pool, large: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = large(ENDLESS)
    settling = later(store.execute, sandbox, SETTLE)
    with stopped([dedicated(pool, sandbox).pid]):
        monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.1)
        for want in (lambda: store.go_to(sandbox, lambda _: 0), lambda: cluster(sandbox)):
            with pytest.raises(Occupied, match="still running"):
                want()
        assert pool.stop(sandbox.pk)
    with pytest.raises(Stopped):
        settling.result(JOB_SECONDS)
    assert head(sandbox) == 2


def test_the_engines_refusal_comes_back_with_all_its_errors(pool: Pool, node: Any) -> None:
    sandbox, _ = store.create("Strict")
    with pytest.raises(Rejected) as refused:
        store.execute(sandbox, node("UPPER", "_"))
    assert {error.path for error in refused.value.errors} == {"metadata.name"}
    assert len(refused.value.errors) == 2


def test_an_unreadable_log_is_reported_as_a_database_error(
    pool: Pool, visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*args: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(pool.records, "between", locked)
    visitor.sandbox.records.create(n=1, command='{"kind":"settle"}')
    Sandbox.objects.filter(pk=visitor.sandbox.pk).update(state=visitor.sandbox.records.get().pk, head=1, length=1)
    answer = visitor.post("do/settle/")
    assert (answer.status_code, "The server is busy" in answer.content.decode()) == (503, True)


def test_a_sandbox_that_needs_too_much_memory_is_refused_and_the_others_continue(
    monkeypatch: pytest.MonkeyPatch, node: Any, pod: Any
) -> None:
    monkeypatch.setenv("ENGINE_MEMORY_MB", "160")
    pool = Pool(processes=1, long=1)
    monkeypatch.setattr(engines, "_engines", pool)
    try:
        sandbox, _ = store.create("Huge")
        store.execute(sandbox, node(*(f"n{number}" for number in range(1_000))))
        store.execute(sandbox, pod(*(f"p{number}" for number in range(2_000))))
        with pytest.raises(TooLarge, match="more memory than the limit allows"):
            store.execute(sandbox, SETTLE)
        small, _ = store.create("Small")
        assert store.execute(small, node("n")).head == 1
    finally:
        pool.close()


def test_a_replay_continues_after_its_requester_has_gone(
    pool: Pool, large: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = large(1_000)
    store.execute(sandbox, SETTLE)
    for ended in list(pool.homes.values()):
        os.kill(ended.pid, signal.SIGKILL)
    eventually(lambda: sandbox.pk not in pool.homes)
    with monkeypatch.context() as patch:
        patch.setitem(KINDS, READING, Kind(0.05))
        with pytest.raises(Occupied, match="still opening"):
            cluster(sandbox)

        def occupied() -> str:
            with pytest.raises(Occupied, match="still opening") as refusal:
                cluster(sandbox)
            return str(refusal.value)

        eventually(
            lambda: re.search(r"a while\. Command 3 of 3: [1-9]\d* of 1000 pods bound at 00:00\.0\.$", occupied())
        )
    eventually(lambda: not pool.jobs)
    assert "n0" in cluster(sandbox)


def test_the_number_of_requests_that_wait_for_a_sandbox_is_limited(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 2)
    with turns.turn(visitor.sandbox.pk):
        waiting = [later(visitor.post, "do/settle/") for _ in range(2)]
        eventually(lambda: turns._turns[visitor.sandbox.pk].present == 3)
        answer = visitor.post("do/settle/")
        assert (answer.status_code, "Too many requests are waiting" in answer.content.decode()) == (503, True)
    assert [answer.result(60).status_code for answer in waiting] == [204, 204]


def test_the_page_of_a_sandbox_that_is_at_work_says_so_and_offers_to_stop(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.01)
    with turns.turn(visitor.sandbox.pk):
        answer = visitor.get()
        watched = visitor.watching().get()
    assert (answer.status_code, answer["Refresh"]) == (202, "5")
    assert "do/stop/" in answer.content.decode()
    assert "do/stop/" not in watched.content.decode()
    assert visitor.get().status_code == 200


def test_a_process_that_does_not_begin_with_its_name_is_rejected(
    pool: Pool, large: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stray = connect(str(pool.nursery.listener.address), pool.nursery.key)
    stray.send(LogQuestion("keys", ()))
    with pytest.raises(EOFError):
        stray.recv()
    stray.close()
    assert "began with LogQuestion instead of its name" in caplog.text
    sandbox = large()
    settling = later(store.execute, sandbox, SETTLE)
    dedicated(pool, sandbox)
    assert settling.result(JOB_SECONDS).head == 3


def test_one_that_parts_says_nothing_before_its_name_is_known(tmp_path: Path) -> None:
    """The process it forked from may take long to send the name."""
    key = b"k" * 32
    with Listener(str(tmp_path / "site"), family="AF_UNIX", authkey=key) as listener:
        pid = os.fork()
        if not pid:
            forking(str(tmp_path / "site"), key)
        line = Line(listener.accept())
        hello = line.recv()
        assert isinstance(hello, Hello)
        assert (hello.job, line.recv()) == (7, LogQuestion("keys", ()))
        os.waitpid(pid, 0)
        line.close()


def test_an_engine_whose_memory_does_not_come_back_ends_and_makes_room_for_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = iter([50, 60, 300, 210, 205, 205, 300, 300, 250, 250])
    monkeypatch.setattr(process, "_data_bytes", lambda: next(sizes))
    engine = Engine.__new__(Engine)
    engine.memory_limit, engine.simulations_limit, engine.full = 200, 1 << 30, 150
    engine.worn_out, engine.home = False, None
    engine.lives, engine.sizes, engine.slow, engine.ahead = OrderedDict(), {}, set(), deque(range(9))  # type: ignore[arg-type]
    done: list[Any] = []
    monkeypatch.setattr(engine, "carry_out", done.append)
    engine.serve()
    assert done == [0, 1, 2]


def test_an_answer_too_large_for_memory_is_read_to_its_end() -> None:
    """Otherwise the next answer would begin in the middle of it, and the engine would wait forever."""
    here, there = Pipe()
    pid = os.fork()
    if not pid:
        without_memory(Line(there))
    line = Line(here)
    assert line.recv() == LogQuestion("between", ())
    line.send(b"x" * (64 << 20))
    assert line.recv() == "no memory"
    assert line.recv() == LogQuestion("keys", ())
    line.send({1: 2})
    assert line.recv() == {1: 2}
    os.waitpid(pid, 0)
    line.close()


def without_memory(line: Line) -> None:
    """Act as an engine in the middle of a job without memory for the answer. Never returns."""
    try:
        engine = Engine.__new__(Engine)
        engine.line, engine.ahead, engine.open, engine.due = line, deque(), False, None
        engine.memory_limit = process._data_bytes() + (16 << 20)
        try:
            with engine.interruptible():
                answer = engine.ask(LogQuestion("between", ()))
                line.send(len([bytearray(answer) for _ in range(4)]))
        except MemoryError:
            line.send("no memory")
        answer = b""
        with engine.interruptible():
            keys = engine.ask(LogQuestion("keys", ()))
        line.send(keys)
    finally:
        os._exit(0)


def forking(address: str, key: bytes) -> None:
    """Act as an engine whose job takes long, and send slowly. Never returns."""
    send = Line.send

    def slowly(line: Line, message: Any) -> None:
        if isinstance(message, Hello):
            time.sleep(0.3)
        send(line, message)

    def interrupted(address: str, key: bytes) -> Line:
        engine._alarm(signal.SIGPROF, None)
        return connect(address, key)

    try:
        Line.send = slowly  # type: ignore[method-assign]
        process.connect = interrupted  # type: ignore[attr-defined]
        engine = Engine.__new__(Engine)
        engine.state, engine.open, engine.due, engine.ended = STATES[SLOW], True, None, None
        engine.address, engine.key, engine.memory_limit = address, key, 1 << 40
        engine.line, engine.slow, engine.ahead, engine.sizes = Line(Pipe()[0]), set(), deque(), {}
        engine.lives, engine.home = OrderedDict(), None
        engine.job = JobMessage(7, Call(Plan(uuid4(), 0, "null", "v1.34", ""), START, "execute", ()), may_fork=True)
        engine._fork()
        engine.line.send(LogQuestion("keys", ()))
    finally:
        os._exit(0)


def test_an_engine_that_writes_a_line_of_the_log_parts_when_it_is_written(caplog: pytest.LogCaptureFixture) -> None:
    """A fork in the middle of the line could not release the lock of the log."""
    engine = Engine.__new__(Engine)
    done: list[str] = []
    engine.state = replace(STATES[SLOW], alarm=lambda engine: done.append("part"))
    engine.open, engine.due, engine.ended, engine.home = True, None, None, None

    class Slow(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            signal.raise_signal(signal.SIGPROF)
            done.append("line")

    log, before = logging.getLogger("written"), signal.signal(signal.SIGPROF, engine._alarm)
    log.addHandler(Slow())
    try:
        log.warning("a line")
        assert done == ["line"]
        assert engine.due is not None
        signal.raise_signal(signal.SIGPROF)
        assert done == ["line", "part"]
    finally:
        signal.signal(signal.SIGPROF, before)


def test_a_stop_in_the_middle_of_a_line_of_the_log_comes_with_the_next_tick() -> None:
    engine = Engine.__new__(Engine)
    engine.state, engine.open, engine.due, engine.ended, engine.home = STATES[SLOW], False, None, None, None
    engine.job = JobMessage(7, Call(Plan(uuid4(), 0, "null", "v1.34", ""), START, "execute", ()), may_fork=True)
    engine._stop(signal.SIGUSR1, None)
    engine.open = True
    with pytest.raises(Halted):
        engine._alarm(signal.SIGPROF, None)


def test_an_interruption_that_python_ignores_ends_the_job_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has parted must not go on: its fork does the same job."""
    ignored, parted = list[Any](), list[int]()
    ours, pool_end = Pipe()
    job = JobMessage(7, Call(Plan(uuid4(), 0, "null", "v1.34", ""), START, "execute", ()), may_fork=True)

    def part(engine: Engine) -> None:
        parted.append(job.number)
        raise Forgotten(Dedicated(job.number))

    again = False

    def answer(job: JobMessage) -> Answer:
        with engine.interruptible():
            thing = type("Thing", (), {})()
            reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGPROF))
            del thing
            assert reference() is None
            if again:
                signal.raise_signal(signal.SIGPROF)
                pytest.fail("the job went on")
        return Answer(job.number, "done")

    engine = Engine.__new__(Engine)
    engine.state, engine.line, engine.open = replace(STATES[SLOW], alarm=part, patience=1000), Line(ours), False
    engine.slow, engine.lives, engine.sizes, engine.memory_limit = set(), OrderedDict(), {}, 1 << 40
    monkeypatch.setattr(engine, "_answer", answer)
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    before = signal.signal(signal.SIGPROF, engine._alarm)
    try:
        for goes_on in (False, True):
            again = goes_on
            engine.carry_out(job)
            assert Line(pool_end).recv() == Dedicated(job.number)
    finally:
        signal.signal(signal.SIGPROF, before)
    assert parted == [7, 7]
    assert [error.exc_type for error in ignored if error.exc_type is Forgotten] == [Forgotten] * 2, ignored
