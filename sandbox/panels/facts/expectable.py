"""Facts that the page shows and that can be expected: which one, what it is about, and what the button says.

The expectation itself is made by the engine, of the moment that is looked at (``scheduler_engine.scenario.facts``).
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say

FAILED = ("unschedulable", "nominated", "error")
"""How an attempt ends whose message can be expected."""


def fact(name: str, label: str = "", **about: Any) -> dict[str, Any]:
    """What a button needs; ``about`` as in ``scheduler_engine.scenario.facts.About``."""
    return {"fact": name, "label": label, "about": about}


def of_pod(world: World, key: str, cycle: Cycle | None) -> list[dict[str, Any]]:
    """Where the pod is or waits, and what its attempt ``cycle`` came to."""
    pod = world.pods.get(key)
    if pod is None:
        return [fact("placement", say("expectations.gone"), pod=key)]
    node = pod.pod.node_name
    where = say("expectations.placement", node=node) if node else say("expectations.pending")
    found = [fact("placement", where, pod=key)]
    if not node:
        queued, nominated = world.queue.get(key), world.nominations.get(key)
        lane = queued.lane if queued is not None else "nowhere"
        kept = say("expectations.nomination", node=nominated) if nominated else say("expectations.no-nomination")
        found += [fact("lane", say("expectations.lane", lane=lane), pod=key), fact("nomination", kept, pod=key)]
    elif pod.pod.finished or pod.pod.terminating:
        found.append(fact("phase", say("expectations.phase", phase=pod.pod.phase), pod=key))
    return found + of_attempt(cycle) if cycle is not None and cycle.pod == key else found


def of_attempt(cycle: Cycle) -> list[dict[str, Any]]:
    """What an attempt came to: its winner, its message, its victims."""
    about = {"pod": cycle.pod, "attempt": cycle.attempt}
    found = []
    if cycle.selected is not None:
        label = say("expectations.winner", attempt=cycle.attempt, node=cycle.selected.node)
        found.append(fact("winner", label, **about))
    if cycle.outcome in FAILED:
        found.append(fact("failure", say("expectations.failure", attempt=cycle.attempt), **about))
    if cycle.post_filter is not None:
        found.append(fact("victims", say("expectations.victims", attempt=cycle.attempt), **about))
    return found


def verdict(cycle: Cycle, node: str) -> dict[str, Any]:
    return fact("verdict", say("expectations.verdict"), pod=cycle.pod, node=node, attempt=cycle.attempt)


def scores(cycle: Cycle, node: str, plugin: str) -> list[dict[str, Any]]:
    """The score of a plugin, and the total where there is one."""
    about = {"pod": cycle.pod, "node": node, "attempt": cycle.attempt}
    found = [fact("score", say("expectations.score"), plugin=plugin, **about)]
    totals = dict(cycle.normalized.totals) if cycle.normalized else {}
    if node in totals:
        found.append(fact("total", say("expectations.total", total=totals[node]), **about))
    return found
