"""The texts of a reveal: a plain sentence for each cause and each reason, and no raw name in any lesson."""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import product

import pytest

from sandbox.content.shelf import lessons
from sandbox.worker.lessons.answers import compare
from sandbox.worker.lessons.wording import CAUSES, FAILURE, LANES, OBJECTS, WORDED, cause_text, reason_text
from scheduler_engine.framework import events
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.events_registry import UNROLLED_RESOURCES
from scheduler_engine.lesson import Part, predictions, tasks
from scheduler_engine.lesson.ends import Why
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.lesson.verifying import NO_ANSWER
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scheduler.eventhandlers import RESOURCES
from scheduler_engine.simulation import Simulation

ANY = (ActionType.ADD, ActionType.DELETE, ActionType.UPDATE)
NODE_ACTIONS = (*ANY, *(action for action, _ in events.NODE_CHANGES))
POD_ACTIONS = (*ANY, *(action for action, _ in events.POD_CHANGES))
OTHERS = ({*RESOURCES.values()} | {*UNROLLED_RESOURCES}) - {events.NODE, events.POD}
HAPPEN = {
    str(ClusterEvent(resource, action))
    for resources, actions in (
        ((events.NODE,), NODE_ACTIONS),
        ((events.ASSIGNED_POD, events.UNSCHEDULABLE_POD), POD_ACTIONS),
        (OTHERS, ANY),
    )
    for resource, action in product(resources, actions)
}
"""The label of each cluster event that can move a pod."""
OWN = {
    *(events.SCHEDULE_ATTEMPT_FAILURE, events.BACKOFF_COMPLETE),
    *(str(events.UNSCHEDULABLE_TIMEOUT), str(events.FORCE_ACTIVATE)),
}
"""Causes that are not cluster events. Pop moves a pod to no lane."""
PHRASES = ("the trace does not tell", "what stands before it", "held back by", "ScheduleAttempt", "UnschedulablePod")
CAMEL = re.compile(r"\b[A-Za-z][a-z0-9]*[a-z0-9][A-Z]\w*")
OF_PREEMPTION = ("preemptionPolicy", "PodDisruptionBudget")
KINDS = ("PodGroup", *(resource.rpartition("/")[2] for resource in OBJECTS))
KNOWN = {*REGISTRY, *LANES, *KINDS, "PreFilter", *OF_PREEMPTION}
"""Names that learners meet elsewhere: plugins, lanes, kinds, a field."""
REASONS = re.compile(r"(refuses it|It says|rejected it in its last attempt|got no node\.)[^\n]*")
"""A plugin's message is quoted verbatim, as kubectl shows it."""


def raw(text: str, known: Container[str] = KNOWN) -> list[str]:
    """Return the parts of a reveal that no learner can read."""
    names = [name for name in CAMEL.findall(REASONS.sub("", text)) if name not in known]
    return [*names, *(phrase for phrase in PHRASES if phrase in text)]


@pytest.mark.parametrize("lane", [lane for lane in LANES if lane not in ("gated", "errorBackoffQ")])
@pytest.mark.parametrize("cause", sorted(HAPPEN | OWN))
def test_each_cause_of_a_move_has_a_plain_sentence(cause: str, lane: str) -> None:
    for plugin, plugins in (("", ()), ("NodeResourcesFit", ("NodeResourcesFit", "TaintToleration"))):
        values = {"lane": lane, "cause": cause, "plugin": plugin, "plugins": plugins, "gate": ""}
        words = reason_text(Why("moved", values))
        assert raw(words) == []
        assert words.endswith(".")


def test_an_unknown_cause_is_an_error() -> None:
    with pytest.raises(KeyError):
        cause_text("MoonRose", "", (), "activeQ")


def test_causes_are_those_of_the_engine() -> None:
    assert {*CAUSES} - HAPPEN - OWN == set()
    assert FAILURE in OWN


def test_each_reason_without_an_answer_has_a_text_for_learners_and_for_authors() -> None:
    assert {*NO_ANSWER} <= {*WORDED}


def part_reveals(part: Part, simulation: Simulation, since: int) -> list[str]:
    """Return every sentence about the answers to a question, whatever was answered. The steps are done."""
    assert part.question is not None
    view = RunView(simulation)
    offered = predictions.choices(view, part.question)
    points = compare(part.question, since, Sight(simulation.recorder, lambda _: view), offered)
    assert points is not None
    assert not points["none"]
    return [points["nobody"], *(row["why"] for row in points["rows"])]


@pytest.mark.parametrize("slug", [*lessons()])
def test_no_reveal_and_no_missing_point_holds_a_raw_name(slug: str) -> None:
    lesson = lessons()[slug].lesson
    simulation = lesson.scenario.open()
    for part in lesson.parts:
        since = len(simulation.recorder.entries) if part.predicts else 0
        missing = tasks.checked(RunView(simulation), part.task) if part.task else []
        assert [text for row in missing for text in row.wrong if any(phrase in text for phrase in PHRASES)] == []
        play(simulation, part.way)
        reveals = part_reveals(part, simulation, since) if part.question else []
        own = {name for profile in simulation.scheduler.profiles.values() for name in profile.plugins}
        assert [(text, names) for text in reveals if (names := raw(text, KNOWN | own))] == []


def reasons_of(slug: str, number: int) -> dict[str, str]:
    """Return choice → its reason, at the question of a part of a lesson."""
    lesson = lessons()[slug].lesson
    simulation = lesson.scenario.open()
    for part in lesson.parts[:number]:
        play(simulation, part.way)
    since = len(simulation.recorder.entries)
    part = lesson.parts[number]
    assert part.question is not None
    play(simulation, part.way)
    view = RunView(simulation)
    points = compare(part.question, since, Sight(simulation.recorder, lambda _: view), ())
    assert points is not None
    return {row["choice"]: row["why"] for row in points["rows"]}


@pytest.mark.parametrize(
    ("slug", "number", "choice", "why"),
    [
        pytest.param(
            "a-scheduling-cycle",
            2,
            "node-b2",
            "NodeResourcesFit refuses it: Insufficient cpu. node-b2 does not have enough cpu left for web-1. "
            "1000m used + 1500m requested = 2500m > 2000m allocatable.",
            id="with the sum",
        ),
        pytest.param(
            "taints-and-tolerations",
            0,
            "node-g1",
            "TaintToleration refuses it: node(s) had untolerated taint {dedicated: gpu}. "
            "node-g1 has the taint dedicated=gpu:NoSchedule, which web-1 does not tolerate.",
            id="without a sum",
        ),
        pytest.param(
            "write-a-filter-in-one-line",
            0,
            "node-b",
            "OnlySmallNodes refuses it: node is too large.",
            id="nothing twice",
        ),
    ],
)
def test_a_refusal_is_explained_by_facts(slug: str, number: int, choice: str, why: str) -> None:
    assert reasons_of(slug, number)[choice] == why
