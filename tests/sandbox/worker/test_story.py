"""The steps of a command, as a slow Settle tells them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.worker import jobs
from sandbox.worker.jobs.story import MOST, WHOLE
from scheduler_engine.testing import make_node, make_pod

pytestmark = pytest.mark.django_db


def settled(visitor: Any, pods: int) -> int:
    """Give the sandbox one node and some pods in one command, then settle. Return the number of the last command."""
    manifests = [make_node("n1").obj(), *(make_pod(f"web-{number}").cpu("10m").obj() for number in range(pods))]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    store.execute(visitor.sandbox, {"kind": "settle"})
    return 2


def test_a_short_command_is_told_stage_by_stage(visitor: Any) -> None:
    steps, end = engines.read(visitor.sandbox, jobs.story, settled(visitor, 1))
    stages = [match[1] for _, text in steps if (match := re.match(r"web-0 at (\w+): ", text))]
    assert stages[:4] == ["Pop", "Snapshot", "PreFilter", "Filter"]
    assert stages[-1] == "PostBind"
    assert steps[-1].at == end == "2." + end.partition(".")[2]


def test_the_moments_are_those_of_the_log_in_their_order(visitor: Any) -> None:
    command = settled(visitor, 2)
    before = visitor.log()
    steps, _ = engines.read(visitor.sandbox, jobs.story, command)
    places = [tuple(map(int, step.at.split("."))) for step in steps]
    assert places == sorted(set(places))
    assert {number for number, _ in places} == {command}
    assert visitor.log() == before


def test_a_long_command_is_told_whole_at_first_and_then_by_ends_of_attempts(visitor: Any) -> None:
    steps, end = engines.read(visitor.sandbox, jobs.story, settled(visitor, 60))
    assert WHOLE < len(steps) <= MOST
    assert steps[-1].at == end
    assert all("PostBind" in step.text for step in steps[WHOLE:])
    assert len({step.text for step in steps}) == len(steps)


@pytest.mark.parametrize("number", [0, 3, 999])
def test_a_command_that_the_log_does_not_have_has_no_steps(visitor: Any, number: int) -> None:
    settled(visitor, 1)
    steps, end = engines.read(visitor.sandbox, jobs.story, number)
    assert steps == []
    assert end.startswith("2.")


def test_a_watcher_can_read_the_steps_and_a_wrong_number_is_refused(visitor: Any) -> None:
    settled(visitor, 1)
    page = visitor.watching().get("story/", n="2")
    assert page.status_code == 200
    assert page.content.decode().count("<li>") > 5
    refused = visitor.get("story/", n="two")
    assert refused.status_code == 400
    assert "number of a command" in refused.content.decode()
