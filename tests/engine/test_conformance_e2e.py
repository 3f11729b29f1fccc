"""The store of the runner of end-to-end timelines."""

from __future__ import annotations

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.watching import all_of
from scheduler_engine.conformance.e2e import Run
from scheduler_engine.testing import make_node, make_pod


def test_a_bound_pod_has_no_start_time_until_the_scheduler_rests() -> None:
    timeline = Run()
    timeline.obey({"cmd": "create", "t": 0, "object": set_defaults(make_node("n1").obj())})
    watch = timeline.store.watch(all_of("Pod"))
    pods = [set_defaults(make_pod(name).metadata(uid=name).obj()) for name in ("a", "b")]
    timeline.obey({"cmd": "create", "t": 1, "objects": pods})
    observed = []
    while (event := timeline.store.next_event(watch)) is not None:
        if isinstance(event.new, Pod) and event.new.node_name:
            observed.append((event.new.name, event.new.status["phase"], "startTime" in event.new.status))
    assert observed == [
        ("a", "Running", False),
        ("b", "Running", False),
        ("a", "Running", True),
        ("b", "Running", True),
    ]
