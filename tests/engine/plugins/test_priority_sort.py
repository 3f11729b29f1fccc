"""PrioritySort: the order of activeQ."""

from __future__ import annotations

import pytest

from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.priority_sort import PrioritySort
from scheduler_engine.testing import make_pod
from tests.engine.plugins.world import World, pod_of


def queued(priority: int, timestamp_us: int) -> QueuedPodInfo:
    return QueuedPodInfo(PodInfo(pod_of(make_pod("p").priority(priority))), timestamp_us)


@pytest.mark.parametrize(
    ("left", "right", "first"),
    [
        pytest.param(queued(10, 5), queued(0, 1), True, id="a higher priority goes first, even if newer"),
        pytest.param(queued(-1, 1), queued(0, 5), False, id="a lower priority waits, even if older"),
        pytest.param(queued(7, 1), queued(7, 2), True, id="of equal priority the earlier pod goes first"),
        pytest.param(queued(7, 2), queued(7, 2), False, id="of two equal pods neither goes first"),
    ],
)
def test_less(left: QueuedPodInfo, right: QueuedPodInfo, first: bool) -> None:
    assert PrioritySort({}, World().handle).less(left, right) is first
