"""Rules of the queue alone."""

from __future__ import annotations

from functools import partial

import pytest

from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.versions import VERSIONS, rules_for
from tests.engine.queue_world import World, pod


@pytest.mark.parametrize(("kubernetes", "lane"), [*zip(VERSIONS, ("gated", "activeQ", "activeQ"), strict=True)])
def test_a_pod_activated_in_backoff_q_passed_pre_enqueue_before(kubernetes: str, lane: str) -> None:
    world = World(partial(SchedulingQueue, rules=rules_for(kubernetes))).add(pod("p"))
    world.fail(world.pop()).update(pod("p", gates=("closed",)))
    assert world.lanes() == {"errorBackoffQ": ["p"]}
    world.queue.activate([pod("p")])
    assert world.lanes() == {lane: ["p"]}


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_pod_activated_elsewhere_passes_pre_enqueue(kubernetes: str) -> None:
    world = World(partial(SchedulingQueue, rules=rules_for(kubernetes))).add(pod("p"))
    world.fail(world.pop(), "Picky").update(pod("p", gates=("closed",)))
    world.queue.activate([pod("p")])
    assert world.lanes() == {"gated": ["p"]}
