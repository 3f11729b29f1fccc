"""Attributes that are computed once, and what the next view of a pod takes over."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.computed import computed
from scheduler_engine.api.objects import FROM_SPEC, Pod
from scheduler_engine.testing import make_pod


class Counted:
    def __init__(self) -> None:
        self.reads = 0

    @computed
    def value(self) -> list[int]:
        """Return a list."""
        self.reads += 1
        return [self.reads]


def test_it_is_computed_at_the_first_read_only() -> None:
    item = Counted()
    assert (item.reads, item.value, item.value is item.value, item.reads) == (0, [1], True, 1)
    assert Counted.value.__doc__ == "Return a list."


BOUND: dict[str, Any] = {"spec": {"nodeName": "n"}}
RUNNING: dict[str, Any] = {"status": {"phase": "Running"}}
RESIZED: dict[str, Any] = {"status": {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "9"}}]}}


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        pytest.param(BOUND, True, id="a bound pod requests what it did"),
        pytest.param(RUNNING, True, id="a running pod requests what it did"),
        pytest.param(RESIZED, False, id="the statuses of its containers may change what it requests"),
        pytest.param({"spec": {"overhead": {"cpu": "1"}}}, False, id="another spec is read again"),
    ],
)
def test_the_next_view_takes_over_what_cannot_differ(changes: dict[str, Any], kept: bool) -> None:
    pod = Pod(make_pod("p").cpu("1").obj())
    text = pod.requests_text
    assert all(name in pod.__dict__ or getattr(pod, name) is not None for name in FROM_SPEC)
    later = pod.evolve(changes)
    assert ("requests_text" in later.__dict__) == kept
    assert (later.requests_text == text) == kept
    alone = Pod(later.manifest)
    assert later.requests_text == alone.requests_text
    assert [getattr(later, name) for name in FROM_SPEC] == [getattr(alone, name) for name in FROM_SPEC]
