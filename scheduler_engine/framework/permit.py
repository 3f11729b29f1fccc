"""What a Permit plugin may leave in the CycleState for the framework, beside its status.

Source: upstream ``framework/types.go`` (``PodsToActivate``).
"""

from __future__ import annotations

from typing import NamedTuple

PODS_TO_ACTIVATE = "kubernetes.io/pods-to-activate"
"""Key of a tuple of pods. They move to activeQ at the end of the scheduling cycle."""
QUORUM = "Coscheduling/quorum"
"""Key of a Quorum. It is for the trace only."""


class Quorum(NamedTuple):
    """How many pods of a group have a node, bound or assumed, and how many must have one. ``group`` is a key."""

    group: str
    assigned: int
    min_member: int
