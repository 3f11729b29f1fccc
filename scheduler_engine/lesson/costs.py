"""The cost of a solution: people's changes to the cluster after the setup, and their effects, from the trace.

Stepping and time cost nothing. ``docs/lessons.md`` lists the prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scheduler_engine.commands.table import OBJECTS, REMOVAL, Command
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

NODE_ADDED, NODE_DELETED, POD_ENDED = "node-added", "node-deleted", "pod-ended"
OBJECT_ADDED, CHANGE = "object-added", "change"
PRICES = {NODE_ADDED: 10, NODE_DELETED: 10, POD_ENDED: 5, OBJECT_ADDED: 1, CHANGE: 1}
"""Charge → its price."""

DONE = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Line:
    """``charge`` is one of ``PRICES``; ``about``: an object as ``Pod default/web``, or a command in words."""

    charge: str
    about: str

    @property
    def price(self) -> int:
        return PRICES[self.charge]


@dataclass(frozen=True, slots=True)
class Bill:
    """``lines`` in order of time."""

    lines: tuple[Line, ...]

    @property
    def total(self) -> int:
        return sum(line.price for line in self.lines)

    @property
    def counts(self) -> dict[str, int]:
        """Return charge → count, in the order of ``PRICES``."""
        charges = [line.charge for line in self.lines]
        return {charge: charges.count(charge) for charge in PRICES if charge in charges}


@dataclass(slots=True)
class _Till:
    """``on_nodes``: pods on a node that have neither ended nor been told to. ``steps``: the present command only lets
    the sandbox continue. ``due``: it, if it is a change that is not charged yet. ``added``, ``changed``: objects
    of this command.
    """

    on_nodes: dict[str, bool] = field(default_factory=dict)
    steps: bool = False
    due: Command | None = None
    added: dict[str, bool] = field(default_factory=dict)
    changed: dict[str, bool] = field(default_factory=dict)

    def take(self, event: ev.Event) -> Iterator[Line]:
        if isinstance(event, ev.CommandGiven):
            command: Command = event.command
            self.steps, self.due = command.steps, None if command.steps or command.charge == OBJECTS else command
            self.added, self.changed = {}, {}
            return
        lines = list(self._object(event))
        if self.due is not None:
            removed = any(line.charge in (NODE_DELETED, POD_ENDED) for line in lines)
            if not (removed and self.due.charge == REMOVAL):
                yield Line(CHANGE, self.due.summary)
            self.due = None
        yield from lines

    def _object(self, event: ev.Event) -> Iterator[Line]:
        if isinstance(event, ev.ObjectAdded):
            self.added[f"{event.kind} {event.key}"] = True
            self._stands(event.kind, event.key, event.manifest)
            if event.kind == "Node":
                yield Line(NODE_ADDED, f"Node {event.key}")
        elif isinstance(event, ev.ObjectApplied):
            yield from self._applied(event)
        elif isinstance(event, ev.ObjectModified):
            self.changed[f"{event.kind} {event.key}"] = True
            stood = event.kind == "Pod" and event.key in self.on_nodes
            self._stands(event.kind, event.key, event.manifest)
            # A pod that completes costs nothing; one that a person marks as complete does.
            completed = _phase(event.manifest) == "Succeeded" and self.steps
            if stood and event.key not in self.on_nodes and not completed:
                yield Line(POD_ENDED, f"Pod {event.key}")
        elif isinstance(event, ev.ObjectDeleted):
            if event.kind == "Node":
                yield Line(NODE_DELETED, f"Node {event.key}")
            elif event.kind == "Pod" and self.on_nodes.pop(event.key, False):
                yield Line(POD_ENDED, f"Pod {event.key}")

    def _applied(self, event: ev.ObjectApplied) -> Iterator[Line]:
        """Charge an applied object, except a new node, which is charged already."""
        name = f"{event.kind} {event.key}"
        if name not in self.added:
            if name in self.changed:
                yield Line(CHANGE, name)
        elif event.kind != "Node":
            yield Line(OBJECT_ADDED, name)

    def _stands(self, kind: str, key: str, manifest: Data) -> None:
        if kind != "Pod":
            return
        ends = manifest["metadata"].get("deletionTimestamp") or _phase(manifest) in DONE
        if manifest.get("spec", {}).get("nodeName") and not ends:
            self.on_nodes[key] = True
        else:
            self.on_nodes.pop(key, None)


def _phase(manifest: Data) -> str:
    phase: str = (manifest.get("status") or {}).get("phase", "")
    return phase


def cost(simulation: Simulation, setup_commands: int) -> Bill:
    """Return the costs after the first ``setup_commands``, which set up the cluster."""
    till = _Till()
    lines: list[Line] = []
    for entry in simulation.recorder.entries:
        new_lines = list(till.take(entry.event))
        if entry.command > setup_commands:
            lines += new_lines
    return Bill(tuple(lines))
