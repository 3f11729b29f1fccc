"""The victims of a preemption: which pods are evicted, and what happened to the others."""

from __future__ import annotations

from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace.events import PostFilterRan

SPARED = {"terminating": "victims.leaving", "gone": "victims.gone", "waiting": "victims.awaiting-permit"}
"""Why a victim was not deleted → key of the sentence."""


def evicted(ran: PostFilterRan) -> list[str]:
    """Return the names of the pods that preemption deleted."""
    spared = dict(ran.not_deleted)
    return [short_name(victim) for victim in ran.victims if victim not in spared]


def spared_sentences(ran: PostFilterRan) -> str:
    """Return a sentence for each reason why victims were not deleted."""
    sentences = []
    for why, key in SPARED.items():
        names = [short_name(victim) for victim, reason in ran.not_deleted if reason == why]
        if names:
            sentences.append(say(key, count=len(names), pods=listed(names)))
    return " ".join(sentences)
