"""The victims of a preemption: who is evicted, and what became of those who need not be."""

from __future__ import annotations

from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace.events import PostFilterRan

OTHERWISE = {"terminating": "victims.leaving", "gone": "victims.gone", "waiting": "victims.awaiting-permit"}
"""Why a victim was not deleted → what is said of it."""


def evicted(ran: PostFilterRan) -> list[str]:
    """Names of the pods that preemption deleted."""
    spared = dict(ran.not_deleted)
    return [short_name(victim) for victim in ran.victims if victim not in spared]


def otherwise(ran: PostFilterRan) -> str:
    """A sentence for each reason for which victims were not deleted."""
    said = []
    for why, key in OTHERWISE.items():
        names = [short_name(victim) for victim, because in ran.not_deleted if because == why]
        if names:
            said.append(say(key, count=len(names), pods=listed(names)))
    return " ".join(said)
