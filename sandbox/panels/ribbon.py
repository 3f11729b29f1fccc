"""The ribbon: a pod's way through the stages."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.stage_labels import stage_label
from sandbox.panels.facts.stages import TAB_OF_STAGE, tab_for
from sandbox.panels.facts.version import purpose
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.say import say
from scheduler_engine.framework.extension_points import STAGE_INDEX, STAGES
from scheduler_engine.trace.events import Configured


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    waits = cycle is not None and "WaitOnPermit" in (cycle.next_stage, *(mark.stage for mark in cycle.stages))
    shown = (index for index, stage in enumerate(STAGES) if waits or stage.name != "WaitOnPermit")
    configured = world.configured if cycle is None else cycle.configured
    stages = [_stop(cycle, index, configured) for index in shown]
    next(stop for stop in stages if stop["binding"])["binding_first"] = True
    if cycle is not None and "Unreserve" in cycle.plugins:
        reached = [stop["name"] for stop in stages].index(cycle.last_stage)
        stages = stages[: reached + 1] + _undone(cycle)
    return {
        "stages": stages,
        "cycle": cycle.number if cycle else 0,
        "tab": tab_for(cycle),
        "moments": _moments(world, cycle),
    }


def _moments(world: World, cycle: Cycle | None) -> dict[str, str]:
    """Return, in the past, stage → moment for each stage that the attempt in view has reached by now."""
    present = world.present
    whole = present.by_number.get(cycle.number) if present is not None and cycle is not None else None
    if present is None or whole is None:
        return {}
    return {mark.stage: str(present.moment_of(present.rest_at(mark.entry))) for mark in whole.stages}


def _undone(cycle: Cycle) -> list[dict[str, Any]]:
    """Return what a failure after Reserve sets off; it takes the place of the stages that did not run."""
    verdicts = cycle.plugins["Unreserve"].verdicts
    names = ", ".join(plugin for plugin, _, _ in verdicts) or say("ribbon.no-plugin")
    notes = (
        ("Unreserve", names, say("ribbon.unreserve", names=names)),
        ("ForgetPod", cycle.forgotten, say("ribbon.forget-pod", node=cycle.forgotten)),
        ("Requeue", cycle.requeued.target if cycle.requeued else "", say("ribbon.requeue")),
    )
    plain = {"state": "undone", "binding": False, "binding_first": False, "tab": "events"}
    return [{"name": name, "title": name, "says": says, "note": note, **plain} for name, note, says in notes if note]


def _stop(cycle: Cycle | None, index: int, configured: Configured | None) -> dict[str, Any]:
    stage = STAGES[index]
    mark = cycle.mark(stage.name) if cycle else None
    state, note = "todo", ""
    if cycle is not None:
        reached = max(STAGE_INDEX.get(cycle.last_stage, -1), STAGE_INDEX.get(cycle.next_stage, -1))
        over = bool(cycle.outcome) or (bool(cycle.stages) and not cycle.next_stage)
        if mark is not None:
            assert cycle is not None
            note = stage_label(cycle, stage.name)
            state = "now" if stage.name == cycle.last_stage else "done"
        elif stage.name == cycle.next_stage:
            state, note = ("maybe" if stage.optional else "next"), say("ribbon.next")
        elif index < reached:
            state, note = "off", say("ribbon.not-needed") if stage.optional else ""
        elif over:
            state = "never"
    return {
        "name": stage.name,
        "title": stage.title,
        "says": purpose(stage.name, configured),
        "state": state,
        "note": note,
        "binding": stage.binding,
        "binding_first": False,
        "tab": TAB_OF_STAGE[stage.name],
    }
