"""The victims of a preemption: which pods are evicted, what happened to the others, and why there are none."""

from __future__ import annotations

from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.preemption.candidates import NO_VICTIMS
from scheduler_engine.trace.events import PostFilterRan, PreemptionNodeTried

SPARED = {"terminating": "victims.leaving", "gone": "victims.gone", "waiting": "victims.awaiting-permit"}
"""Why a victim was not deleted → key of the sentence."""


def has_nobody_lower(tried: PreemptionNodeTried) -> bool:
    """Return whether a node has no pod of lower priority: so nobody knows whether evictions would make room."""
    return tried.rejected == NO_VICTIMS


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
