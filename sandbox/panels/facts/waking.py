"""What woke a pod, and what plugins answered: event → plugin, verdict and why."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.moves import origin
from sandbox.panels.model.requeuing import woke
from sandbox.panels.model.state import PodState, Queued
from sandbox.panels.model.world import World
from sandbox.words.amounts import clock, short_name
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import HintAnswered


def answer_text(hint: HintAnswered) -> str:
    """Return ``NodeUpdateNodeTaint node-a → TaintToleration says Queue: …``."""
    event = event_of_hint(hint)
    return say("history.answer", event=event, plugin=hint.plugin, verdict=hint.verdict, why=wording.hint(hint))


def event_of_hint(hint: HintAnswered) -> str:
    """Return the event that a plugin was asked about."""
    return event_of(hint.cluster_event, hint.about)


def event_of(name: str, about: str) -> str:
    """Return an event with the object that changed: ``NodeUpdateNodeTaint node-a``."""
    return f"{name} {short_name(about)}".strip()


def woken_by(world: World, queued: Queued) -> str:
    """Return ``woken by command 7: untaint node-a key:NoSchedule``, "" for a pod that was not waiting."""
    if not woke(queued.came):
        return ""
    by = origin(world, queued)
    row = "history.woken-by" if "command" in by else "history.woken"
    return say(row, origin=by["text"]) if by["text"] else ""


def last_woken(world: World, pod: PodState) -> dict[str, Any] | None:
    """Return when and by what a waiting pod was woken since its last attempt, None if by nothing."""
    queued = world.place_of(pod)
    if queued is None or not woke(queued.came):
        return None
    text = say("history.at", clock=clock(queued.at_us), what=woken_by(world, queued))
    return {"text": text, "answer": answer_text(queued.answer) if queued.answer else ""}


def last_skip(world: World, pod: PodState) -> dict[str, Any] | None:
    """Return the last QueueSkip for a pod that is still unschedulable, None if no plugin was asked."""
    left = world.stayed.get(pod.key) if world.place_of(pod) is not None else None
    if left is None:
        return None
    return {"text": say("history.left"), "answer": answer_text(left.hint)}
