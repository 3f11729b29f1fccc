"""Who woke a pod, and what the plugins answered: event → plugin, verdict and why."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.origin import origin
from sandbox.panels.model.requeuing import woke
from sandbox.panels.model.state import Queued
from sandbox.panels.model.world import World
from sandbox.words.amounts import clock, short_name
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import HintAnswered


def answered(hint: HintAnswered) -> str:
    """``NodeUpdateNodeTaint node-a → TaintToleration says Queue: …``."""
    event = asked_about(hint)
    return say("history.answer", event=event, plugin=hint.plugin, verdict=hint.verdict, why=wording.hint(hint))


def asked_about(hint: HintAnswered) -> str:
    """The event that a plugin was asked about."""
    return event_of(hint.cluster_event, hint.about)


def event_of(name: str, about: str) -> str:
    """An event with the object that changed: ``NodeUpdateNodeTaint node-a``."""
    return f"{name} {short_name(about)}".strip()


def woken_by(world: World, queued: Queued) -> str:
    """``woken by command 7: untaint node-a key:NoSchedule``; nothing of a pod that was not waiting."""
    if not woke(queued.came):
        return ""
    by = origin(world, queued)
    row = "history.woken-by" if "command" in by else "history.woken"
    return say(row, origin=by["text"]) if by["text"] else ""


def last_woken(world: World, pod: str) -> dict[str, Any] | None:
    """When and by what a pod that still waits was woken since its last attempt; None: by nothing."""
    queued = world.queue.get(pod)
    if queued is None or not woke(queued.came):
        return None
    text = say("history.at", clock=clock(queued.at_us), what=woken_by(world, queued))
    return {"text": text, "answer": answered(queued.answer) if queued.answer else ""}


def left_by(world: World, pod: str) -> dict[str, Any] | None:
    """What a plugin answered last about a pod that is unschedulable still; None: nobody asked."""
    left = world.stayed.get(pod)
    if left is None:
        return None
    return {"text": say("history.left"), "answer": answered(left.hint)}
