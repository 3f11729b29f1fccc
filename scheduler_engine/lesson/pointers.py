"""Pointers: links in a lesson's text that highlight what they name on the page, such as ``[node-a](node:node-a)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.lesson.answers import LANES
from scheduler_engine.queue.lanes import IN_FLIGHT
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.words import say

PANES = ("queues", "bindings", "faults", "cluster", "inspector", "timeline", "ribbon", "sentence", "decision")
"""Parts of the page that are no tabs."""
FIXED: dict[str, tuple[str, ...]] = {
    "queue": tuple(lane for lane in (*LANES, IN_FLIGHT) if lane != "bound"),
    "stage": ("Pop", *(stage.name for stage in STAGES)),
    "pane": PANES,
}
"""Kind of pointer → what it can name."""
NAMED = ("pod", "node", "cell")
"""Kinds that name things in the cluster; a cell is ``namespace/pod@node@Plugin``."""
TAB = "tab"
"""The kind that names a tab of the page; the engine does not know these."""
KINDS = (*NAMED, *FIXED, TAB)
LINK = re.compile(r"\[[^\]\n]+\]\((?P<kind>[a-z]+):(?P<name>[^)\s]+)\)")
WEB = ("http", "https")


@dataclass(frozen=True, slots=True)
class Pointer:
    kind: str
    name: str


def pointers(markdown: str) -> Iterator[Pointer]:
    """Yield the pointers of a text, in order; links to other sites are not pointers."""
    for match in LINK.finditer(markdown):
        if match["kind"] not in WEB:
            yield Pointer(match["kind"], match["name"])


def names_so_far(simulation: Simulation) -> dict[str, set[str]]:
    """Return kind → the names of all pods and nodes so far."""
    names: dict[str, set[str]] = {"pod": set(), "node": set()}
    for entry in simulation.recorder.entries:
        if isinstance(entry.event, ev.ObjectAdded) and entry.event.kind in ("Pod", "Node"):
            names[entry.event.kind.lower()].add(entry.event.key)
    return names


def not_among(pointer: Pointer, names: Iterable[str]) -> str:
    """Return the error in words; "" = the pointer names one of these."""
    known = tuple(names)
    if pointer.name in known:
        return ""
    return say("lesson-errors.no-such", kind=pointer.kind, name=repr(pointer.name), known=", ".join(known))


def wrong_with(pointer: Pointer, names: dict[str, set[str]]) -> str:
    """Return the error in words, or "" if the link is valid."""
    if pointer.kind in FIXED:
        return not_among(pointer, FIXED[pointer.kind])
    if pointer.kind == TAB:
        return ""
    if pointer.kind == "cell":
        pod, _, rest = pointer.name.partition("@")
        node = rest.partition("@")[0]
        parts = (Pointer("pod", pod), Pointer("node", node))
        return next(filter(None, (wrong_with(part, names) for part in parts)), "")
    if pointer.kind not in NAMED:
        return say("lesson-errors.unknown-link", kind=repr(pointer.kind), kinds=", ".join(KINDS))
    if pointer.name in names[pointer.kind]:
        return ""
    return say("lesson-errors.never-there", kind=pointer.kind, name=repr(pointer.name))
