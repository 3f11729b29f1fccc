"""Spread constraints with the pods in each domain, and who attracts or repels the pod in view."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.whose import attempt_shown
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.topology.affinity import affinity
from sandbox.panels.topology.spread import boards
from sandbox.panels.topology.subject import subject_of
from sandbox.panels.topology.tokens import MOST_NAMES
from sandbox.panels.view import View
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.framework.boards import AffinityBoard

HOW = dict.fromkeys(("topology.nothing-yet", "topology.nothing-here"), "topology.choose")
"""Why there is nothing to show → what to do about it. An embed hides that: it has no such buttons."""


def stats(world: World, view: View) -> dict[str, Any]:
    subject = subject_of(world, view)
    if isinstance(subject, str):
        return {"has": False, "empty": say(subject), "how": HOW.get(subject, ""), "whose": None}
    spread = world.witness.spread(subject.pod, subject.cycle)
    rules = world.witness.affinity(subject.pod, subject.cycle)
    return {
        "has": True,
        "pod": subject.pod.key,
        "name": subject.name,
        "when": subject.when,
        "whose": attempt_shown(world, subject.cycle),
        "known": spread is not None or rules is not None,
        "nominated": _nominated(subject.cycle),
        "boards": boards(world, view, subject, spread or ()),
        "affinity": affinity(world, view, subject, rules or AffinityBoard()),
    }


def _nominated(cycle: Cycle | None) -> str:
    """Return where Filter counted more than PreFilter: pods nominated to a node count there alone. "" if nowhere."""
    table = cycle.filter if cycle is not None else None
    nodes = [row[0] for row in table.looked_at if row[4]] if table is not None else []
    return say("topology.nominated-count-too", nodes=listed(nodes[:MOST_NAMES]), count=len(nodes)) if nodes else ""
