"""How many copies of a pod fit now: in the cluster as the scheduler would place them, or on each node alone.

Source: design of the sandbox; the semantics are those of kubernetes-sigs/cluster-capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from scheduler_engine.answers.copies import Refusal, place, start
from scheduler_engine.simulation import Simulation

Found = TypeVar("Found")
MOST_COPIES = 10_000


@dataclass(frozen=True, slots=True)
class Room:
    """``placed``: node → how many copies, in the order of their first ones. ``stopped``: why the next copy has no
    place; None: the limit was reached.
    """

    placed: Mapping[str, int]
    stopped: Refusal | None

    @property
    def total(self) -> int:
        return sum(self.placed.values())

    def reasons(self) -> dict[tuple[str, tuple[str, ...]], tuple[str, ...]]:
        """Return (plugin, its reasons) → the nodes that it refused, most nodes first."""
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for node, status in self.stopped.statuses.items() if self.stopped is not None else ():
            groups.setdefault(status, []).append(node)
        return {status: tuple(groups[status]) for status in sorted(groups, key=lambda item: -len(groups[item]))}


def place_copies(
    simulation: Simulation, manifest: Mapping[str, Any], most: int = MOST_COPIES, node: str = ""
) -> Generator[str, None, Room]:
    """Yield the node of each copy, one after the other, and return the room. ``simulation`` does not change.

    ``manifest``: a pod, existing or not, or a workload with a template. ``node``: every copy must go there. A caller
    may stop at any copy. Raises Rejected as ``copies.start`` and ``copies.place`` do.
    """
    copies = start(simulation, manifest)
    placed: dict[str, int] = {}
    for _ in range(most):
        result = place(copies, node)
        if isinstance(result, Refusal):
            return Room(placed, result)
        placed[result] = placed.get(result, 0) + 1
        yield result
    return Room(placed, None)


def room(simulation: Simulation, manifest: Mapping[str, Any], most: int = MOST_COPIES, node: str = "") -> Room:
    """Return how many copies fit, at most ``most``. Arguments as in ``place_copies``."""
    return result_of(place_copies(simulation, manifest, most, node))


def result_of(steps: Generator[str, None, Found], each: Callable[[str], None] | None = None) -> Found:
    """Take all steps, and return what they come to. ``each``: called after each step, such as with a copy's node."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            found: Found = end.value
            return found
        if each is not None:
            each(step)


def room_by_node(
    simulation: Simulation, manifest: Mapping[str, Any], most: int = MOST_COPIES
) -> Iterator[tuple[str, Room]]:
    """Yield each node, in order of creation, with its room if every copy had to go there."""
    for node in simulation.api.list("Node"):
        yield node.name, room(simulation, manifest, most, node.name)
