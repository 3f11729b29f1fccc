"""The diagnosis of a scheduling attempt, and Kubernetes' message when nothing fits.

Source: upstream ``framework/types.go`` (Diagnosis, FitError); features F8.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.framework.fit_error import fit_error_message
from scheduler_engine.framework.interface import NodeToStatus
from scheduler_engine.framework.status import Code, Status, unresolvable

NO_NODES_AVAILABLE = "no nodes available to schedule pods"
EVENT_NOTE_LIMIT = 1024


@dataclass(slots=True)
class Diagnosis:
    """The findings of Filter. The plugin dicts are ordered sets of names."""

    node_to_status: NodeToStatus = field(default_factory=lambda: NodeToStatus(unresolvable()))
    unschedulable_plugins: dict[str, None] = field(default_factory=dict)
    pending_plugins: dict[str, None] = field(default_factory=dict)
    pre_filter_message: str = ""
    post_filter_message: str = ""

    def add_plugin_status(self, status: Status) -> None:
        """Remember which plugin rejected the pod, for requeueing."""
        if not status.plugin:
            return
        if status.is_rejected:
            self.unschedulable_plugins[status.plugin] = None
        if status.code is Code.PENDING:
            self.pending_plugins[status.plugin] = None


def fit_message(num_all_nodes: int, diagnosis: Diagnosis) -> str:
    """Return the text of the FitError for this diagnosis."""
    return fit_error_message(
        num_all_nodes, diagnosis.node_to_status, diagnosis.pre_filter_message, diagnosis.post_filter_message
    )


def event_note(message: str) -> str:
    """Cut an event's message to 1024 bytes, ending in `` ...``."""
    raw = message.encode()
    if len(raw) <= EVENT_NOTE_LIMIT:
        return message
    return raw[: EVENT_NOTE_LIMIT - 4].decode(errors="ignore") + " ..."
