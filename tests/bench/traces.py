"""Work that looks like a production cluster's: many shapes, a few of them common, large amounts rare, some with GPUs.

The statistics follow public traces of clusters with GPUs: a third of the nodes without one, the others with one of few
models; requests with a heavy tail; some pods that accept only certain models. The same seed gives the same work.
"""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler_engine.testing import make_node, make_pod

Manifest = dict[str, Any]
MODELS = ("T4", "P100", "V100M16", "V100M32", "A10", "G2", "G3")
GPU = "nvidia.com/gpu"
MODEL = "example.com/gpu-model"


def nodes(count: int, seed: int = 1) -> tuple[Manifest, ...]:
    pick = Random(seed)
    return tuple(_node(pick, number) for number in range(count))


def _node(pick: Random, number: int) -> Manifest:
    cores = pick.choice([32, 64, 96, 104, 128])
    amounts = {"cpu": str(cores), "memory": f"{4 * cores}Gi", "pods": "110"}
    node = make_node(f"node-{number:05}").zone(f"z{number % 3}")
    if pick.random() > 0.35:
        node = node.label(MODEL, pick.choice(MODELS))
        amounts[GPU] = str(pick.choice([1, 2, 4, 8, 8]))
    return node.capacity(**amounts).obj()


def pods(count: int, templates: int = 200, seed: int = 1, skew: float = 1.1) -> tuple[Manifest, ...]:
    """Return pods of so many templates; the first templates are by far the most frequent. ``skew`` 0: all are equal."""
    pick = Random(seed)
    shapes = [_shape(pick) for _ in range(templates)]
    weights = [1 / (rank + 1) ** skew for rank in range(templates)]
    return tuple(_pod(shape, number) for number, shape in enumerate(pick.choices(shapes, weights, k=count)))


def _shape(pick: Random) -> Manifest:
    """Return requests (with a heavy tail), the number of GPUs, the accepted models and whether the pods spread."""
    gpus = pick.choice([0, 0, 0, 1, 1, 1, 2, 4, 8])
    return {
        "cpu": min(64_000, 100 * max(1, int(pick.lognormvariate(3.4, 1.0)))),
        "memory": min(262_144, max(128, int(pick.lognormvariate(8.3, 1.2)))),
        "gpus": gpus,
        "models": sorted(pick.sample(MODELS, pick.randint(1, 3))) if gpus and pick.random() < 0.35 else [],
        "spreads": pick.random() < 0.1,
        "app": f"app-{pick.randrange(60)}",
    }


def _pod(shape: Manifest, number: int) -> Manifest:
    builder = make_pod(f"pod-{number:05}").label("app", shape["app"])
    pod = builder.cpu(f"{shape['cpu']}m").memory(f"{shape['memory']}Mi").obj()
    resources = pod["spec"]["containers"][0]["resources"]
    if shape["gpus"]:
        resources["requests"][GPU] = str(shape["gpus"])
        resources["limits"] = {GPU: str(shape["gpus"])}
    if shape["models"]:
        wanted = {"matchExpressions": [{"key": MODEL, "operator": "In", "values": shape["models"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wanted]}}
        pod["spec"]["affinity"] = {"nodeAffinity": required}
    if shape["spreads"]:
        pod["spec"]["topologySpreadConstraints"] = [
            {
                "maxSkew": 5,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": shape["app"]}},
            }
        ]
    return pod
