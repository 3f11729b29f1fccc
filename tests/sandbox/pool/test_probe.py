"""A probe is answered however many jobs wait: a busy process must not be taken for a broken one."""

from __future__ import annotations

from collections import deque
from uuid import UUID, uuid4

import pytest

from sandbox.pool import pool as pools
from sandbox.pool.lanes import Pending, Process
from sandbox.pool.pool import Pool
from sandbox.server.probes import CHECK_SECONDS
from sandbox.storage.records import QUEUE_RULES, START, Plan
from sandbox.worker import jobs
from sandbox.worker.errors import Busy
from sandbox.worker.messages import Call


def call(name: str, sandbox_id: UUID) -> Call:
    return Call(Plan(sandbox_id, 0, "null", QUEUE_RULES[0], ""), START, name, ())


def test_a_probe_comes_before_jobs_that_wait_for_long() -> None:
    waiting = [Pending(call(jobs.fragments.name, uuid4()), asked=0.0) for _ in range(3)]
    probe = Pending(call(jobs.probe.name, UUID(int=0)), asked=1000.0)
    process = Process(waiting=deque([*waiting, probe]))
    assert process.first(lambda job: 0.0 if job in waiting else 1.0, 1000.0) is probe


def test_a_probe_is_answered_when_no_more_jobs_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST_QUEUED", 0)
    pool = Pool(processes=1, long=1)
    try:
        with pytest.raises(Busy):
            pool.ask(call(jobs.fragments.name, uuid4()), CHECK_SECONDS)
        assert pool.ask(call(jobs.probe.name, UUID(int=0)), 60 * CHECK_SECONDS) is None
    finally:
        pool.close()
