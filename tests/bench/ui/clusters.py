"""Clusters in which every default plugin has an effect."""

from __future__ import annotations

from scheduler_engine.testing import make_node, make_pod
from tests.hostile.wire import yaml

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


PART = 1000
"""Objects per apply."""


def manifests(nodes: int, pods: int) -> list[str]:
    """Return the texts to apply, in order.

    Three zones, every fifth node tainted, and pods of four apps with spread constraints and preferred anti-affinity.
    """
    created = []
    for number in range(nodes):
        node = make_node(f"node-{number:04}").zone(f"zone-{number % 3}").capacity(cpu="8", memory="16Gi", pods="32")
        created.append(node.obj())
        if number % 5 == 0:
            created[-1]["spec"] = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
    for number in range(pods):
        pod = make_pod(f"web-{number}").label("app", f"web-{number % 4}").cpu("250m").memory("256Mi").obj()
        labels = {"matchLabels": {"app": f"web-{number % 4}"}}
        spread = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}
        apart = {"weight": 10, "podAffinityTerm": {"labelSelector": labels, "topologyKey": HOSTNAME}}
        pod["spec"]["topologySpreadConstraints"] = [spread]
        pod["spec"]["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart]}}
        created.append(pod)
    return [yaml(created[first : first + PART]) for first in range(0, len(created), PART)]
