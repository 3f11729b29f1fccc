"""Clusters on which every default plugin has something to say."""

from __future__ import annotations

from scheduler_engine.testing import make_node, make_pod
from tests.hostile.wire import yaml

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


PART = 1000
"""Objects that are applied at once."""


def manifests(nodes: int, pods: int) -> list[str]:
    """Texts to apply one after the other.

    Three zones, every fifth node tainted; pods of four apps that spread and would rather be apart."""
    made = []
    for number in range(nodes):
        node = make_node(f"node-{number:04}").zone(f"zone-{number % 3}").capacity(cpu="8", memory="16Gi", pods="32")
        made.append(node.obj())
        if number % 5 == 0:
            made[-1]["spec"] = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
    for number in range(pods):
        pod = make_pod(f"web-{number}").label("app", f"web-{number % 4}").cpu("250m").memory("256Mi").obj()
        labels = {"matchLabels": {"app": f"web-{number % 4}"}}
        spread = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}
        apart = {"weight": 10, "podAffinityTerm": {"labelSelector": labels, "topologyKey": HOSTNAME}}
        pod["spec"]["topologySpreadConstraints"] = [spread]
        pod["spec"]["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart]}}
        made.append(pod)
    return [yaml(made[first : first + PART]) for first in range(0, len(made), PART)]
