"""Jobs of figures: draw an installed one, or that in a part of an uploaded lesson."""

from __future__ import annotations

import json

from sandbox.content.figures import chosen, read_choice
from sandbox.storage.records import Plan, Position
from sandbox.worker import figures
from sandbox.worker.job import reading
from sandbox.worker.jobs.importing import beginning_of
from sandbox.worker.lessons.desk import Desk
from sandbox.worker.live import Live
from scheduler_engine.lesson.figures import Choice, Figure
from scheduler_engine.scenario import Scenario


@reading
def figure(live: Live, position: Position, name: str, base: str, opens: bool) -> str | None:
    """Return the HTML of an installed figure as ``figures.draw``, None if there is none of this name."""
    found = chosen(name)
    return None if found is None else _drawn(live, *found, base, opens)


@reading
def lesson_figure(live: Live, position: Position, part: int, chosen: str, base: str) -> str | None:
    """Return the HTML of the figure in part ``part``, from 1, of the sandbox's lesson. ``chosen``: such as ``-3-1``,
    "" = as it begins. None if the lesson has no such part, figure or choice.
    """
    live.move_to(position)
    live.look_up_expected(None)
    lesson = Desk(live, live.world, None, live.studied).lesson
    own = lesson.parts[part - 1].figure if lesson is not None and 0 < part <= len(lesson.parts) else None
    if own is None:
        return None
    choice = read_choice(own, chosen) if chosen else own.begins
    return None if choice is None else _drawn(live, own, choice, base, False)


def _drawn(live: Live, shown: Figure, choice: Choice, base: str, opens: bool) -> str:
    return figures.draw(_plan(live, shown.scenario(choice)), shown, choice, base, opens)


def _plan(live: Live, scenario: Scenario) -> Plan:
    begins = beginning_of(scenario)
    return Plan(
        live.plan.sandbox_id,
        begins["seed"],
        json.dumps(begins["configuration"]),
        begins["queue_rules"],
        "",
        priority_numbers=begins["priority_numbers"],
        kubernetes=begins["kubernetes"],
        feature_gates=json.dumps(begins["feature_gates"] or {}),
    )
