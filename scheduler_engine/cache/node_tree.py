"""The order of visiting nodes: zones in order of first arrival, one node of each zone in turn.

Source: seed 001 (nodeTree) and 002 §2; upstream ``backend/cache/node_tree.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from scheduler_engine.api.objects import Node
from scheduler_engine.api.topology import zone_key
from scheduler_engine.sharing import Groups

EXHAUSTED = "all zones exhausted before reaching count of nodes expected"


class NodeTreeError(Exception):
    """A node is not where it should be; the text comes from Kubernetes."""


class NodeTree:
    """``tree``: zone key → names of its nodes, both in order of arrival. An emptied zone is dropped, to come last.

    ``num_nodes`` is counted separately from the names, as upstream.
    """

    __slots__ = ("num_nodes", "tree")

    def __init__(self) -> None:
        self.tree: Groups[str, str, None] = Groups()
        self.num_nodes = 0

    def add_node(self, node: Node) -> bool:
        """Append ``node`` to its zone; return False if it is already there."""
        names = self.tree.change(zone_key(node.labels))
        if node.name in names:
            return False
        names[node.name] = None
        self.num_nodes += 1
        return True

    def remove_node(self, node: Node) -> None:
        """Remove ``node`` from the zone that its labels name. Raises NodeTreeError when it is not there."""
        zone = zone_key(node.labels)
        names = self.tree.get(zone, {})
        if node.name not in names:
            quoted = zone.replace("\0", "\\x00")
            raise NodeTreeError(f'node "{node.name}" in group "{quoted}" was not found')
        self.tree.take(zone, node.name)
        self.num_nodes -= 1

    def update_node(self, old: Node | None, new: Node) -> bool:
        """Move the node if its zone has changed; return True if so. A node missing from its old zone is just added."""
        old_zone = zone_key(old.labels) if old is not None else ""
        if old_zone == zone_key(new.labels):
            return False
        if old is not None and old.name in self.tree.get(old_zone, {}):
            self.remove_node(old)
        self.add_node(new)
        return True

    def list(self) -> Sequence[str]:
        """Return names in visiting order, fewer than ``num_nodes`` if the tree is damaged (see ``list_error``)."""
        names: list[str] = []
        for turn in zip_longest(*self.tree.values()):
            if len(names) >= self.num_nodes:
                break
            names.extend(name for name in turn if name is not None)
        return names

    @property
    def list_error(self) -> str:
        """Return Kubernetes' text if there are fewer names than counted nodes, else ""."""
        return EXHAUSTED if self.tree and len(self.list()) < self.num_nodes else ""

    def zones(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return ((zone key, (node, …)), …) in zone order."""
        return tuple((zone, tuple(names)) for zone, names in self.tree.items())

    def check(self) -> None:
        """Raise AssertionError if names and count disagree."""
        names = [name for zone in self.tree.values() for name in zone]
        assert len(names) == len(set(names)) == self.num_nodes, self.tree
        assert all(self.tree.values()), "an empty zone was kept"
        assert sorted(self.list()) == sorted(names)
