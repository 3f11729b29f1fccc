"""What an event meant for waiting pods: which ones it woke, which ones stayed, and which ones noted it."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

from sandbox.panels.facts.waking import answer_text
from sandbox.panels.model.requeuing import Requeuing, Woken
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import HintAnswered

MOST = 6
"""Most answers of plugins that are quoted."""
OF_THE_CLOCK = {"BackoffComplete": "effects.backoff-over", "UnschedulableTimeout": "effects.waited-too-long"}


def of_happening(world: World) -> str:
    """Return, since the last stage: which pods were woken, which stayed, and how many no plugin was asked about."""
    recent = world.requeuing.since(world.requeuing.last)
    pods = listed([short_name(pod) for pod in recent.noted])
    noted = say("effects.noted", count=len(recent.noted), pods=pods) if pods else ""
    return " ".join(filter(None, (_woken(recent), _left(recent), _unasked(world, recent), noted)))


def of_stage(world: World) -> str:
    """Return which pods the last stage woke."""
    recent = world.requeuing.since(world.requeuing.before)
    recent.woken = {pod: item for pod, item in recent.woken.items() if item.queued.came.cause not in OF_THE_CLOCK}
    return _woken(recent)


def precise_answers(world: World) -> str:
    """Return the answers of the plugins since the last stage."""
    recent = world.requeuing.since(world.requeuing.last)
    woken = [_answer(pod, item.queued.answer) for pod, item in recent.woken.items()]
    left = [_answer(pod, item.hint) for pod, item in recent.left.items()]
    return "; ".join([text for text in (*woken, *left) if text][:MOST])


def _answer(pod: str, hint: HintAnswered | None) -> str:
    return say("effects.of-pod", pod=short_name(pod), answer=answer_text(hint)) if hint else ""


def _woken(recent: Requeuing) -> str:
    cause_of = attrgetter("queued.came.cause")
    by_cause = groupby(sorted(recent.woken.values(), key=cause_of), key=cause_of)
    return " ".join(_woken_by(cause, list(items)) for cause, items in by_cause)


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


def _left(recent: Requeuing) -> str:
    if len(recent.left) != 1:
        return say("effects.left-several", number=len(recent.left)) if recent.left else ""
    ((pod, item),) = recent.left.items()
    return say("effects.left", pod=short_name(pod), plugin=item.hint.plugin, why=wording.hint(item.hint))


def _unasked(world: World, recent: Requeuing) -> str:
    """Return how many unschedulable pods no plugin was asked about: neither woken nor left."""
    number = len(world.lane("unschedulablePods")) - len(recent.left)
    if not recent.checked or number <= 0:
        return ""
    row = "effects.others-unasked" if recent.woken or recent.left else "effects.unasked"
    return say(row, count=number)
