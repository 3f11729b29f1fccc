"""Which pods count for the hints of InterPodAffinity and PodTopologySpread.

Source: upstream ``interpodaffinity/plugin.go`` and ``podtopologyspread/plugin.go``.
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod
from scheduler_engine.versions import Rules


def holds_place(pod: Pod, rules: Rules) -> bool:
    """Return True if the pod is on a node or, by the rule ``nominated_pods_help``, nominated to one."""
    return bool(pod.node_name) or (rules.nominated_pods_help and bool(pod.nominated_node_name))
