"""Another run ends at the moment at which the first one ends."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.storage.records import Position
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.other_run import Other, course, own_course, replay
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.inside import live
from tests.sandbox.web.views.test_differences import apply, configure

pytestmark = pytest.mark.django_db

NOBODY_FITS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
                                ]
                            }
                        }
                    },
                }
            ]
        }
    ],
}
"""Pods that are bound by default are tried again and again, which writes other entries into the trace."""
LAST = {"time that passes": {"kind": "advance", "seconds": 60}, "a run": {"kind": "run"}}


WAYS = {
    f"{name}, {way}": (last, way == "fewer entries")
    for name, last in LAST.items()
    for way in ("more entries", "fewer entries")
}


@pytest.fixture(params=WAYS.values(), ids=[*WAYS])
def waiting(visitor: Any, request: pytest.FixtureRequest) -> Live:
    """Return a sandbox whose last command takes a while, in which pods end and others are tried.

    The configuration before its last change is the default one, or the one in which nobody fits.
    """
    last, also_back = request.param
    slow = [make_pod(f"slow-{seconds}").node("n1").grace_period(seconds) for seconds in (20, 40)]
    nodes = [make_node(name).capacity(cpu="4", memory="8Gi", pods="9") for name in ("n1", "n2")]
    pods = [make_pod(name).cpu("1") for name in "abc"]
    leave = [{"kind": "delete", "object_kind": "Pod", "key": f"default/slow-{seconds}"} for seconds in (20, 40)]
    changes = (configure(NOBODY_FITS), configure(None))[: 1 + also_back]
    for command in (apply(*nodes), *changes, apply(*slow, *pods), *leave, last):
        store.execute(visitor.sandbox, command)
    here = live(visitor.sandbox)
    here.move_to(Position.of(visitor.row()))
    return here


def moments(live: Live) -> list[Moment]:
    """Return each moment in the middle of the last command."""
    found = {str(live.world.moment_of(rest)): live.world.moment_of(rest) for rest, _ in live.world.rests}
    return [moment for moment in found.values() if moment.command == live.n and moment.entries]


def test_another_configuration_ends_at_the_same_time(waiting: Live) -> None:
    times = set()
    for moment in moments(waiting):
        now_us = simulation_at(waiting, moment).now_us
        assert replay(waiting, Other(configuration="before"), moment).simulation.now_us == now_us, moment
        times.add(now_us)
    assert len(times) > 1, times


def test_the_same_run_ends_with_the_same_trace_entry(waiting: Live) -> None:
    for moment in moments(waiting):
        own = simulation_at(waiting, moment)
        for played in (own_course(waiting, moment).play(), course(waiting, Other(seed=42), moment).play()):
            assert len(played.simulation.recorder.entries) == len(own.recorder.entries), moment
            assert played.simulation.now_us == own.now_us
            assert played.refused == ()
