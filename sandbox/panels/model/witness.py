"""What plugins looked at in an attempt, and what controllers will do: they are asked about that very moment.

Panels turn the facts into words. Without a witness, or without facts, they show what the trace recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sandbox.panels.model.state import Cycle
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.boards import AffinityBoard, SpreadBoard
from scheduler_engine.framework.facts import DryRunFacts, DryRunRoom, Fact, Facts, RungFacts, SearchFacts


class Witness(Protocol):
    """Answers questions about a sandbox at the moment in view. The answers here are those of one that knows nothing."""

    def at_hand(self, cycle: Cycle) -> bool:
        """Return True if asking costs little, so that panels may ask without a person's click."""
        return False

    def pre_filter(self, cycle: Cycle, plugin: str) -> Facts | None:
        """Return why a plugin refused the pod before any node was visited, None if unknown."""
        return None

    def filter(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        """Return the facts by which a filter judged a node, None if unknown."""
        return None

    def score(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        """Return the facts behind a plugin's score for a node, None if unknown."""
        return None

    def room(self, cycle: Cycle, node: str, resource: str) -> DryRunRoom | None:
        """Return what the dry run on a node saw of a resource, None if unknown."""
        return None

    def reserve(self, cycle: Cycle, plugin: str) -> Facts | None:
        """Return what a plugin reserved on the chosen node, and why; None if unknown."""
        return None

    def pre_bind(self, cycle: Cycle, plugin: str) -> Facts | None:
        """Return what a plugin did last in PreBind, and for what it waits; None if unknown."""
        return None

    def dry_run(self, cycle: Cycle, node: str) -> DryRunFacts | None:
        """Return why a node is a candidate for preemption, or why not; None if unknown."""
        return None

    def devices(self, cycle: Cycle, node: str) -> SearchFacts | None:
        """Return each step of the search for devices on a node; None if there was none, or if it is unknown."""
        return None

    def violated(self, cycle: Cycle, node: str) -> Mapping[str, tuple[str, ...]]:
        """Return pod on the node → the budgets that its eviction would violate; none if unknown."""
        return {}

    def choice(self, cycle: Cycle) -> tuple[RungFacts, ...]:
        """Return why one of the candidates for preemption won; empty if unknown."""
        return ()

    def search(self, cycle: Cycle) -> tuple[Fact, ...]:
        """Return the facts that say how many feasible nodes are enough; none if unknown."""
        return ()

    def standing(self, pod: Pod, plugin: str) -> tuple[Fact, ...]:
        """Return what a plugin says about a pod among the others at the moment in view."""
        return ()

    def spread(self, pod: Pod, cycle: Cycle | None) -> tuple[SpreadBoard, ...] | None:
        """Return what is counted for each spread constraint in an attempt, None: at the moment in view.

        Return None if it is unknown.
        """
        return None

    def affinity(self, pod: Pod, cycle: Cycle | None) -> AffinityBoard | None:
        """Return the rules of pod affinity that concern a pod; arguments and None as for ``spread``."""
        return None

    def is_replaced_later(self, pod: str) -> bool:
        """Return True if the controller of a pod that is being deleted will create another one when it is gone."""
        return False


class Nobody(Witness):
    """A witness that knows nothing, for a trace alone."""
