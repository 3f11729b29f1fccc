"""The version of Kubernetes that a configuration in the trace follows, and what that changes in words."""

from __future__ import annotations

from functools import lru_cache

from sandbox.words.say import say
from scheduler_engine.trace.events import Configured
from scheduler_engine.versions import DEFAULT_RULES, Rules, rules_for

MOST_KEPT = 16


def rules_in(configured: Configured | None) -> Rules:
    """Return the rules of a configuration; None: it is not in the trace, so it is old."""
    return DEFAULT_RULES if configured is None else _rules(configured.kubernetes, configured.feature_gates)


@lru_cache(maxsize=MOST_KEPT)
def _rules(kubernetes: str, feature_gates: tuple[tuple[str, bool], ...]) -> Rules:
    return rules_for(kubernetes, dict(feature_gates))


def purpose(stage: str, configured: Configured | None) -> str:
    """Return what a stage is for, in one sentence."""
    if stage == "SelectHost" and not rules_in(configured).draws_among_equals:
        return say("stages.purpose-of-ranking")
    return say(f"stage-purposes.{stage}")
