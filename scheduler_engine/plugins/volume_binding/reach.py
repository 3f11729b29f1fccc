"""Which of many nodes meet the selectors of volumes and classes, by the domains of their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from scheduler_engine.api.labels import Requirement, Selector
from scheduler_engine.api.node_affinity import NodeSelector, NodeSelectorTerm
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.nodes import Nodes, Slots, Topology
from scheduler_engine.plugins.volume_binding.matching import Candidate, Provisioning


class Reach:
    """Answers for some nodes of a snapshot, in their order. Like upstream, node selectors ignore the node's name."""

    __slots__ = ("nodes", "slots")

    def __init__(self, slots: Slots, nodes: Nodes) -> None:
        self.slots = slots
        self.nodes = nodes

    def all(self) -> Mask:
        return np.ones(len(self.nodes), dtype=bool)

    def none(self) -> Mask:
        return np.zeros(len(self.nodes), dtype=bool)

    def _in(self, topology: Topology, allowed: Mask) -> Mask:
        """``allowed``: place of the domain → yes or no; the last entry is for nodes without the label."""
        there: Mask = allowed[topology.codes[self.nodes.slots]]
        return there

    def meets(self, requirement: Requirement) -> Mask:
        topology = self.slots.topology(requirement.key)
        if requirement.operator == "In":
            return self._in(topology, _allowed(topology, requirement.values))
        labels: Iterable[Mapping[str, str]] = (*({requirement.key: value} for value in topology.values), {})
        return self._in(topology, np.array([requirement.matches(item) for item in labels], dtype=bool))

    def _meets_all(self, requirements: Iterable[Requirement]) -> Mask:
        met = self.all()
        for requirement in requirements:
            met &= self.meets(requirement)
        return met

    def selected(self, selectors: Iterable[Selector]) -> Mask:
        """Return the nodes that one of the selectors selects."""
        met = self.none()
        for selector in dict.fromkeys(selectors):
            met |= self.none() if selector.nothing else self._meets_all(selector.requirements)
        return met

    def of(self, selector: NodeSelector | None) -> Mask:
        """Return the nodes from which a volume with this node affinity can be reached."""
        if selector is None:
            return self.all()
        met = self.none()
        for term in selector.terms:
            met |= self._of_term(term)
        return met

    def _of_term(self, term: NodeSelectorTerm) -> Mask:
        if term.broken or not (term.expressions or term.fields):
            return self.none()
        return self._meets_all(term.expressions)

    def of_any(self, volumes: Iterable[Candidate]) -> Mask:
        """Return the nodes from which at least one of the volumes can be reached."""
        met = self.none()
        values: dict[str, list[str]] = {}
        for item in volumes:
            if item.needs is None:
                met |= self.of(item.node_selector)
            else:
                values.setdefault(item.needs.key, []).extend(item.needs.values)
        for key, allowed in values.items():
            topology = self.slots.topology(key)
            met |= self._in(topology, _allowed(topology, allowed))
        return met

    def possible(self, how: Provisioning) -> Mask:
        """Answer like ``Provisioning.possible_on``."""
        if not how.supported:
            return self.none()
        return self.all() if how.topologies is None else self.selected(how.topologies)

    def has_space(self, how: Provisioning) -> Mask:
        return self.all() if how.capacities is None else self.selected(how.capacities)


def _allowed(topology: Topology, values: Iterable[str]) -> Mask:
    allowed: Mask = np.zeros(len(topology.values) + 1, dtype=bool)
    allowed[[topology.places[value] for value in values if value in topology.places]] = True
    return allowed
