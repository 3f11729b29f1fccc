"""Where a search of the nodes starts."""

from __future__ import annotations

from sandbox.panels.model.world import World


def start_of(world: World) -> str:
    """Return the node where the search of the running attempt starts, else the next search; "" without nodes.

    A search goes through the snapshot's list, which keeps its order when a node changes its zone.
    """
    cycle = world.cycle
    order, index = world.cache.next_order(), world.next_start
    if cycle is not None and cycle.order and not cycle.outcome:
        order = cycle.order
        index = cycle.filter.start_index if cycle.filter is not None else index
    return order[index % len(order)] if order else ""
