"""Facts on the page that can be expected: their name, their subject, and the label of the button.

The engine creates the expectation for the moment in view (``scheduler_engine.scenario.facts``).
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say

FAILED = ("unschedulable", "nominated", "error")
"""Outcomes of attempts whose message can be expected."""


def fact(name: str, label: str = "", **about: Any) -> dict[str, Any]:
    """Return what a button needs; ``about`` as in ``scheduler_engine.scenario.facts.About``."""
    return {"fact": name, "label": label, "about": about}


def of_pod(world: World, key: str, cycle: Cycle | None) -> list[dict[str, Any]]:
    """Return the facts of a pod: where it is or waits, and the result of its attempt ``cycle``."""
    pod = world.pods.get(key)
    if pod is None:
        return [fact("placement", say("expectations.gone"), pod=key)]
    node = pod.pod.node_name
    where = say("expectations.placement", node=node) if node else say("expectations.pending")
    facts = [fact("placement", where, pod=key)]
    if not node:
        queued, nominated = world.place_of(pod), world.nominations.get(key)
        lane = queued.lane if queued is not None else "nowhere"
        nomination = say("expectations.nomination", node=nominated) if nominated else say("expectations.no-nomination")
        facts += [fact("lane", say("expectations.lane", lane=lane), pod=key), fact("nomination", nomination, pod=key)]
    elif pod.pod.finished or pod.pod.terminating:
        facts.append(fact("phase", say("expectations.phase", phase=pod.pod.phase), pod=key))
    return facts + of_attempt(cycle) if cycle is not None and cycle.pod == key else facts


def of_attempt(cycle: Cycle) -> list[dict[str, Any]]:
    """Return the facts of an attempt: its winner, its message, its victims."""
    about = _about(cycle)
    facts = []
    if cycle.selected is not None:
        label = say("expectations.winner", attempt=cycle.attempt, node=cycle.selected.node)
        facts.append(fact("winner", label, **about))
    if cycle.outcome in FAILED:
        facts.append(fact("failure", say("expectations.failure", attempt=cycle.attempt), **about))
    if cycle.post_filter is not None:
        facts.append(fact("victims", say("expectations.victims", attempt=cycle.attempt), **about))
    return facts


def _about(cycle: Cycle) -> dict[str, Any]:
    """Return what identifies an attempt. Several can have the same number."""
    return {"pod": cycle.pod, "attempt": cycle.attempt, "cycle": cycle.number}


def verdict(cycle: Cycle, node: str) -> dict[str, Any]:
    return fact("verdict", say("expectations.verdict"), node=node, **_about(cycle))


def scores(cycle: Cycle, node: str, plugin: str) -> list[dict[str, Any]]:
    """Return the score of a plugin, and the total if there is one."""
    about = {"node": node, **_about(cycle)}
    facts = [fact("score", say("expectations.score"), plugin=plugin, **about)]
    totals = dict(cycle.normalized.totals) if cycle.normalized else {}
    if node in totals:
        facts.append(fact("total", say("expectations.total", total=totals[node]), **about))
    return facts
