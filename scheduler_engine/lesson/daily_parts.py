"""Parts of the daily problems: names, manifests, commands, checks, and the document of a lesson."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.shapes import Data
from scheduler_engine.words import say

APPS = (
    *("api", "billing", "cache", "cart", "catalog", "chat", "feed", "forum", "geo", "index", "ledger", "login", "mail"),
    *("maps", "media", "orders", "photo", "poll", "prices", "queue", "report", "search", "stock", "tickets", "video"),
)
NODES = ("blade", "host", "kube", "machine", "node", "rack", "server", "unit", "worker")
POOLS = ("batch", "database", "edge", "gpu", "ingress", "storage", "training")
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DOCS = "https://kubernetes.io/docs/concepts/scheduling-eviction"
SETTLED: Data = {"advance": {"seconds": 5}}


def node(name: str, cpu: int = 4, labels: dict[str, str] | None = None, taints: Sequence[Data] = ()) -> Data:
    """Return a node with ``cpu`` whole CPUs, and 2 GiB of memory for each."""
    manifest: Data = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {HOSTNAME: name}}}
    manifest["metadata"]["labels"] |= labels or {}
    if taints:
        manifest["spec"] = {"taints": [*taints]}
    return manifest | {"status": {"capacity": {"cpu": str(cpu), "memory": f"{2 * cpu}Gi", "pods": "110"}}}


def spec(milli: int, **more: Any) -> Data:
    """Return the spec of a pod that requests ``milli`` thousandths of a CPU."""
    requests = {"cpu": f"{milli}m", "memory": "128Mi"}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
    return more | {"containers": [container]}


def pod(name: str, app: str, milli: int = 500, **more: Any) -> Data:
    metadata = {"name": name, "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec(milli, **more)}


def stateful_set(app: str, replicas: int, milli: int = 500, **more: Any) -> Data:
    template = {"metadata": {"labels": {"app": app}}, "spec": spec(milli, **more)}
    set_spec = {"replicas": replicas, "serviceName": app, "podManagementPolicy": "Parallel"}
    set_spec |= {"selector": {"matchLabels": {"app": app}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": app}, "spec": set_spec}


def apply(*manifests: Data) -> Data:
    return {"apply": [*manifests]}


def patch(kind: str, key: str, changes: Data) -> Data:
    return {"patch": {"object_kind": kind, "key": key, "changes": changes}}


def delete(name: str) -> Data:
    return {"delete": {"object_kind": "Pod", "key": f"default/{name}"}}


def replace(manifest: Data) -> Data:
    key = f"default/{manifest['metadata']['name']}"
    return {"replace": {"object_kind": "Pod", "key": key, "manifest": manifest}}


def wait(seconds: int) -> Data:
    return {"advance": {"seconds": seconds}}


def untaint(name: str, key: str) -> Data:
    return {"taint": {"node": name, "key": key, "effect": "NoSchedule", "on": False}}


def cordon(name: str, on: bool = True) -> Data:
    return {"cordon": {"node": name, "on": on}}


def item(sentence: str, *holds: Data) -> Data:
    return {"say": sentence, "holds": [*holds]}


def wrong(says: str, *do: Data) -> Data:
    """Return a wrong way, and what the learner reads then, or its beginning."""
    return {"do": [*do], "says": says.removesuffix(".")}


def runs(name: str) -> Data:
    return {"pod": f"default/{name}", "phase": "Running", "terminating": False}


def same_nodes(names: list[str]) -> Data:
    """Return a check of nodes without zones, in order of creation."""
    return item(say("daily-checks.same-nodes"), {"nodeOrder": [*names]}, *(as_large(name, "4") for name in names))


def as_large(name: str, cpu: str) -> Data:
    """Return a check that a node still has this capacity."""
    return {"object": f"Node {name}", "has": {"status": {"capacity": {"cpu": cpu}, "allocatable": {"cpu": cpu}}}}


def asks(amounts: dict[str, int]) -> Data:
    """Return a check of requests: pod → thousandths of a CPU."""
    held = ({"asks": f"default/{name}", "cpu": f"{milli}m", "memory": "128Mi"} for name, milli in amounts.items())
    return item(say("daily-checks.same-requests"), *held)


def labelled(app: str, count: int) -> list[Data]:
    """Return checks that each replica still has the label ``app``, which the others select."""
    return [
        {"object": f"Pod default/{app}-{number}", "has": {"metadata": {"labels": {"app": app}}}}
        for number in range(count)
    ]


def stays(name: str) -> Data:
    return item(say("daily-checks.never-deleted", pod=name), runs(name), {"never": "deleted", "of": f"default/{name}"})


def to_pod(name: str) -> str:
    """Return a link to a pod."""
    return f"[{name}](pod:default/{name})"


def to_node(name: str) -> str:
    """Return a link to a node."""
    return f"[{name}](node:{name})"


def all_to_pods(app: str, count: int) -> str:
    """Return links to the first and the last of ``count`` replicas."""
    return f"{to_pod(f'{app}-0')} to {to_pod(f'{app}-{count - 1}')}"


def node_names(draw: Random, count: int) -> list[str]:
    first = draw.choice(NODES)
    start = draw.randint(1, 40)
    return [f"{first}-{start + number}" for number in range(count)]


def document(draw: Random, head: Data, setup: list[Data], part: Data, know: list[str]) -> Data:
    """Return a lesson. ``head``: title, group, about, source, par, tab. ``part``: its only part, with the task."""
    begin = {"apiVersion": API_VERSION, "kind": "Lesson"}
    more = {"minutes": 5, "seed": draw.randint(1, 9999)}
    return begin | head | more | {"setup": setup, "parts": [part], "know": know}
