"""What an event meant for the pods that waited: who was woken by what, who was looked at and left, who noted it."""

from __future__ import annotations

from itertools import groupby

from sandbox.panels.facts.waking import answered
from sandbox.panels.model.requeuing import Requeuing, Woken
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import HintAnswered

MOST = 6
"""Answers of plugins told, word for word."""
OF_THE_CLOCK = {"BackoffComplete": "effects.backoff-over", "UnschedulableTimeout": "effects.waited-too-long"}


def of_happening(world: World) -> str:
    """Since the last stage: whom it woke, who was left, and who was not asked about at all."""
    found = world.requeuing.since(world.requeuing.last)
    return " ".join(filter(None, (_woken(found), _left(found), _unasked(world, found), _noted(found))))


def of_stage(world: World) -> str:
    """Whom the last stage woke."""
    found = world.requeuing.since(world.requeuing.before)
    found.woken = {pod: item for pod, item in found.woken.items() if item.queued.came.cause not in OF_THE_CLOCK}
    return _woken(found)


def precisely(world: World) -> str:
    """The answers of the plugins since the last stage."""
    found = world.requeuing.since(world.requeuing.last)
    woken = [_answer(pod, item.queued.answer) for pod, item in found.woken.items()]
    left = [_answer(pod, item.hint) for pod, item in found.left.items()]
    return "; ".join([text for text in (*woken, *left) if text][:MOST])


def _answer(pod: str, hint: HintAnswered | None) -> str:
    return say("effects.of-pod", pod=short_name(pod), answer=answered(hint)) if hint else ""


def _woken(found: Requeuing) -> str:
    by_cause = groupby(sorted(found.woken.values(), key=_cause), key=_cause)
    return " ".join(_woken_by(cause, list(items)) for cause, items in by_cause)


def _cause(item: Woken) -> str:
    return item.queued.came.cause


def _woken_by(cause: str, items: list[Woken]) -> str:
    pods = listed([short_name(item.queued.came.pod) for item in items])
    row = OF_THE_CLOCK.get(cause)
    if row is not None:
        return say(row, count=len(items), pods=pods)
    plugins = list(dict.fromkeys(item.queued.came.plugin for item in items if item.queued.came.plugin))
    reasons = {wording.hint(item.queued.answer) if item.queued.answer else "" for item in items}
    if not plugins:
        return say("effects.woke", event=cause, pods=pods)
    if len(plugins) == len(reasons) == 1 and (why := reasons.pop()):
        return say("effects.woke-by-hint", event=cause, pods=pods, plugin=plugins[0], why=why)
    return say("effects.woke-by-hints", event=cause, pods=pods, plugins=listed(plugins), count=len(plugins))


def _left(found: Requeuing) -> str:
    if len(found.left) != 1:
        return say("effects.left-several", number=len(found.left)) if found.left else ""
    ((pod, item),) = found.left.items()
    return say("effects.left", pod=short_name(pod), plugin=item.hint.plugin, why=wording.hint(item.hint))


def _unasked(world: World, found: Requeuing) -> str:
    """Of the pods that are unschedulable still. A pod that no event woke and that was not left was not asked about."""
    number = len(world.lane("unschedulablePods")) - len(found.left)
    if not found.looked or number <= 0:
        return ""
    row = "effects.others-unasked" if found.woken or found.left else "effects.unasked"
    return say(row, count=number)


def _noted(found: Requeuing) -> str:
    pods = listed([short_name(pod) for pod in found.noted])
    return say("effects.noted", count=len(found.noted), pods=pods) if pods else ""
