"""Draws figures: the engine plays one with the chosen values; what is drawn comes from the models of the workbench."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.template.loader import render_to_string

from sandbox.panels import ribbon
from sandbox.panels.cluster import panel as cluster
from sandbox.panels.drawing.blocks import block
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.panels.sentence import panel as sentence
from sandbox.panels.view import View
from sandbox.storage.commands import to_text
from sandbox.storage.records import Expected, Plan, Position, Record, Studied
from sandbox.worker.live import Live
from sandbox.worker.rendering import world_in_view
from scheduler_engine.lesson.figures import Choice, Figure
from scheduler_engine.scenario import Scenario, command_of

STAGES_SHOWN = ("done", "now", "never")
"""States of the stages that a figure shows: an attempt that is over has no others that matter."""
DECISIVE = ("SelectHost", "PostFilter", "Filter")
"""The stages that decide an attempt, those that say most first."""


class Written:
    """A log of commands that are in memory only. The key of a record is its place."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def keys(self, sandbox_id: UUID, places: list[int]) -> dict[int, int]:
        return {place: place for place in places if 0 < place <= len(self.texts)}

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        return [Record(n, n, self.texts[n - 1], "") for n in range(after + 1, min(upto, len(self.texts)) + 1)]

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        return []

    def studied(self, sandbox_id: UUID) -> Studied:
        return Studied()


def commands_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the commands of setup and steps."""
    return [command_of(step) for step in (*scenario.setup, *scenario.then)]


def played(plan: Plan, scenario: Scenario) -> Live:
    """Return a simulation at the end of a scenario. ``plan``: how it begins. Raises ``Rejected`` if it cannot begin."""
    texts = [to_text(command) for command in commands_of(scenario)]
    live = Live(plan, Written(texts))
    live.move_to(Position(len(texts), len(texts), len(texts)))
    live.look_up_expected(None)
    return live


def decided(live: Live) -> list[Moment | None]:
    """Return the moments that decided the last attempt: when it chose a node, else when all nodes were refused, and
    when evicting pods did not help either.

    None = the end: nothing ran, or it made room for the pod.
    """
    world = live.world
    cycle = world.cycle_in_view(0)
    if cycle is None or cycle.outcome == "nominated":
        return [None]
    marks = [cycle.mark("SelectHost")] if cycle.mark("SelectHost") else map(cycle.mark, ("Filter", "PostFilter"))
    return [world.moment_of(world.rest_at(mark.entry)) for mark in marks if mark] or [None]


def draw(plan: Plan, figure: Figure, choice: Choice, base: str, opens: bool) -> str:
    """Return the HTML of a figure. ``base``: its address, to which a choice is added. ``opens``: with a button that
    opens a sandbox of it.
    """
    scenario = figure.scenario(choice)
    live = played(plan, scenario)
    world = world_in_view(live, View())
    # Nodes that are deleted may still be drawn, so there may be more than are cards by default.
    shown = cluster.stats(world, View(layout="cards"))
    knobs = [
        {"name": knob.name, "say": knob.say, "values": [value.say for value in knob.values], "place": place}
        for knob, place in zip(figure.knobs, choice, strict=True)
    ]
    context = {
        "title": figure.written.title,
        "slug": figure.slug,
        "name": scenario.slug,
        "base": base,
        "opens": opens,
        "knobs": knobs,
        "stages": _stages(world),
        "sentences": [_sentence(live, moment) for moment in decided(live)],
        "cluster": shown,
        "waits": _waiting(world),
    }
    return render_to_string("fragments/figure.html", context)


def _stages(world: World) -> list[dict[str, Any]]:
    """Return the stages of the attempt. The one that decided it is the present one, as in the sentence."""
    stops = [stop for stop in ribbon.stats(world, View())["stages"] if stop["state"] in STAGES_SHOWN]
    reached = [stop["name"] for stop in stops if stop["state"] != "never"]
    decisive = next((name for name in DECISIVE if name in reached), reached[-1] if reached else "")
    return [{**stop, "state": _state(stop, decisive)} for stop in stops]


def _state(stop: dict[str, Any], decisive: str) -> str:
    if stop["name"] == decisive:
        return "now"
    return "done" if stop["state"] == "now" else str(stop["state"])


def _sentence(live: Live, moment: Moment | None) -> dict[str, Any]:
    view = View(at=moment)
    return sentence.stats(world_in_view(live, view), view)


def _waiting(world: World) -> list[dict[str, Any]]:
    """Return the pods that are on no node, with the lane that each is in."""
    pods = (pod for pod in world.pods.values() if not pod.node and not pod.pod.finished)
    placed = ((pod, world.place_of(pod)) for pod in pods)
    return [{"block": block(pod)._replace(ident=""), "lane": queued.lane if queued else ""} for pod, queued in placed]
