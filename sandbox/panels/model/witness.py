"""What plugins looked at in an attempt, and what controllers are about to do: asked of them, at that very moment.

A panel words what it is given; where nobody is asked, or a plugin gives nothing, there is what the trace recorded.
"""

from __future__ import annotations

from typing import Protocol

from sandbox.panels.model.state import Cycle
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Fact, Facts, Room


class Witness(Protocol):
    """Of the sandbox and the moment that are looked at."""

    def at_hand(self, cycle: Cycle) -> bool:
        """Whether asking costs little, so that it may be done without being wished for."""

    def pre_filter(self, cycle: Cycle, plugin: str) -> Facts | None:
        """Why a plugin refused the pod before any node was looked at; None: it cannot be told."""

    def filter(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        """By what a filter judged a node; None: it cannot be told."""

    def score(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        """How a plugin came to its score for a node; None: it cannot be told."""

    def room(self, cycle: Cycle, node: str, resource: str) -> Room | None:
        """What an attempt saw of a resource on a node; None: it cannot be told."""

    def search(self, cycle: Cycle) -> tuple[Fact, ...]:
        """Why so many feasible nodes were enough; nothing where it cannot be told."""

    def standing(self, pod: Pod, plugin: str) -> tuple[Fact, ...]:
        """What a plugin says of a pod as it stands among the others at the moment that is looked at."""

    def is_replaced_later(self, pod: str) -> bool:
        """Return True if the controller of a pod that is being deleted will make another one when it is gone."""


class Nobody:
    """Of a trace alone."""

    def at_hand(self, cycle: Cycle) -> bool:
        return False

    def pre_filter(self, cycle: Cycle, plugin: str) -> Facts | None:
        return None

    def filter(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        return None

    def score(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        return None

    def room(self, cycle: Cycle, node: str, resource: str) -> Room | None:
        return None

    def search(self, cycle: Cycle) -> tuple[Fact, ...]:
        return ()

    def standing(self, pod: Pod, plugin: str) -> tuple[Fact, ...]:
        return ()

    def is_replaced_later(self, pod: str) -> bool:
        return False
