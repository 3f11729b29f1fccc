"""The message that users know: ``0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.``

Source: seed 002 §9; upstream ``framework/types.go`` (FitError).
"""

from __future__ import annotations

from scheduler_engine.framework.interface import NodeToStatus


def fit_error_message(
    num_all_nodes: int, statuses: NodeToStatus, pre_filter_message: str = "", post_filter_message: str = ""
) -> str:
    """Count the nodes per reason, sorted as text; a PreFilter message replaces the counts."""
    message = f"0/{num_all_nodes} nodes are available:"
    if pre_filter_message:
        message += f" {pre_filter_message}."
    else:
        counts: dict[str, int] = {}
        for status, nodes in statuses.counted():
            for reason in status.reasons:
                counts[reason] = counts.get(reason, 0) + nodes
        absent = num_all_nodes - len(statuses.statuses)
        if absent > 0:
            for reason in statuses.absent.reasons:
                counts[reason] = counts.get(reason, 0) + absent
        entries = sorted(f"{count} {reason}" for reason, count in counts.items())
        if entries:
            message += f" {', '.join(entries)}."
    return f"{message} {post_filter_message}" if post_filter_message else message
