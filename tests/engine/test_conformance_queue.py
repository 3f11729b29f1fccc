"""The queue runner's calls to the queue."""

from __future__ import annotations

from scheduler_engine.conformance.queue import Run
from scheduler_engine.testing import make_pod


def test_an_unknown_pod_is_activated_without_uid_so_that_no_pod_in_flight_is_meant() -> None:
    pod = make_pod("p").metadata(uid="default/p").obj()
    played = Run([])
    for op in ({"op": "add", "pod": pod}, {"op": "pop"}, {"op": "delete", "pod": "default/p"}):
        played.step({**op, "t": 1})
    result = played.step({"op": "activate", "pods": ["default/p"], "t": 2})
    assert result["state"]["inFlight"] == ["pod:default/p"]
