"""Which panels a lesson uses: what its parts have named so far, in the order in which it comes up."""

from __future__ import annotations

import pytest

from sandbox.content.shelf import lessons
from sandbox.panels import PANELS
from sandbox.worker.lessons.needs import needs
from scheduler_engine.lesson import read_lesson
from scheduler_engine.lesson.pointers import PANES

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: 1, pods: 10}}}"
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
LESSON = f"""apiVersion: scheduler-sandbox/v1
kind: Lesson
title: "Panels"
about: Each part names others.
setup: [{{apply: [{NODE}, {POD}]}}]
parts:
- text: "[p](pod:default/p) waits in [activeQ](queue:activeQ)."
- text: "Which?"
  predict: {{winner: default/p}}
  do: [{{pod: {{}}}}]
- text: "[Binding](stage:PreBind) ends; see [the time line](pane:timeline)."
  then: "[The cell](cell:default/p@n1@NodeName)"
- {{text: "A node.", look: {{tab: nodes, node: n1}}}}
"""


def test_a_part_adds_what_it_names_and_takes_nothing_away() -> None:
    lesson = read_lesson(LESSON)
    assert [needs(lesson, number) for number in range(4)] == [
        [],
        ["scores"],
        ["scores", "bindings", "timeline", "filter"],
        ["scores", "bindings", "timeline", "filter", "nodes", "inspector"],
    ]


@pytest.mark.parametrize("slug", lessons())
def test_a_lesson_uses_panels_that_exist(slug: str) -> None:
    lesson = lessons()[slug].lesson
    assert {*needs(lesson, len(lesson.parts))} <= {*PANES, *(name for name, panel in PANELS.items() if panel.tab)}


@pytest.mark.parametrize(
    ("slug", "number", "panel"),
    [("the-fewest-nodes", 0, "configuration"), ("assume-and-bind", 6, "faults"), ("two-leaders-at-once", 6, "leader")],
)
def test_a_task_shows_the_panels_in_which_it_can_be_solved(slug: str, number: int, panel: str) -> None:
    assert panel in needs(lessons()[slug].lesson, number)
