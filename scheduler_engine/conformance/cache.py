"""Run recorded cache scenarios: the cache, the node tree and the snapshot after every operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.cache.cache import Cache, CacheCorrupted, CacheError
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.conformance.compare import differences
from scheduler_engine.framework.node_info import NodeInfo, PodInfo

SECOND_US = 1_000_000


def run(case: dict[str, Any]) -> list[str]:
    """Return differences of one recorded scenario, [] if it passes."""
    run_ = Run(case["ttl"])
    lines: list[str] = []
    for index, (op, expected) in enumerate(zip(case["ops"], case["results"], strict=True)):
        actual = run_.step(op)
        if "recency" not in expected:
            del actual["recency"]
        wanted = expected | {"tree": _unshared(expected["tree"])}
        lines += [f"op {index} {op['op']}: {line}" for line in differences(wanted, actual)]
    return lines


def _unshared(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded tree with the nodes of each zone dealt out again from ``list``.

    The recorder kept references to the zones' arrays, which later operations overwrote: a zone may name a node twice,
    where ``list``, taken at once, is right. The lengths are correct; with them a complete ``list`` shows the places.
    """
    lengths = [len(zone["nodes"]) for zone in tree["zones"]]
    if sum(lengths) != len(tree["list"]):
        return tree
    dealt: list[list[str]] = [[] for _ in lengths]
    names = iter(tree["list"])
    for turn in range(max(lengths, default=0)):
        for nodes, length in zip(dealt, lengths, strict=True):
            if turn < length:
                nodes.append(next(names))
    zones = [{"zone": zone["zone"], "nodes": nodes} for zone, nodes in zip(tree["zones"], dealt, strict=True)]
    return tree | {"zones": zones}


def _pod(op: dict[str, Any], key: str = "pod") -> Pod:
    """Return the pod of an operation; its uid is ``namespace/name``, or empty with ``noUID``."""
    pod = Pod(op[key])
    return pod.evolve({"metadata": {"uid": "" if op.get("noUID") else pod.key}})


class Run:
    """A cache, a snapshot for the whole scenario, and the generations it held after the last one."""

    def __init__(self, ttl: float) -> None:
        self.cache = Cache(ttl_us=round(ttl * SECOND_US))
        self.snapshot = Snapshot()
        self.generations: dict[str, int] = {}
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
            "addNode": self.add_node,
            "updateNode": self.update_node,
            "removeNode": lambda op: self.cache.remove_node(Node(op["node"])),
            "assume": lambda op: self.cache.assume_pod(_pod(op)),
            "finishBinding": lambda op: self.cache.finish_binding(_pod(op), round(op["t"] * SECOND_US)),
            "forget": lambda op: self.cache.forget_pod(_pod(op)),
            "addPod": lambda op: self.cache.add_pod(_pod(op)),
            "updatePod": lambda op: self.cache.update_pod(_pod(op, "old"), _pod(op, "new")),
            "removePod": lambda op: self.cache.remove_pod(_pod(op)),
            "getPod": self.get_pod,
            "isAssumed": lambda op: {"assumed?": self.cache.is_assumed_pod(_pod(op))},
            "cleanup": lambda op: self.cache.cleanup_assumed_pods(round(op["t"] * SECOND_US)),
            "snapshot": self.take_snapshot,
        }

    def step(self, op: dict[str, Any]) -> dict[str, Any]:
        """Do ``op`` and return the visible state in the form of the recordings."""
        result: dict[str, Any] = {"error": None}
        if op["op"] == "isAssumed":
            result["assumed?"] = False
        try:
            result |= self.operations[op["op"]](op) or {}
        except CacheCorrupted:
            result["fatal"] = True
        except CacheError as error:
            result["error"] = str(error)
        if op["op"] == "snapshot":
            result["snapshot"] = self.describe_snapshot()
        return result | self.describe_cache()

    def add_node(self, op: dict[str, Any]) -> dict[str, Any]:
        return {"returned": node_info(self.cache.add_node(Node(op["node"])))}

    def update_node(self, op: dict[str, Any]) -> dict[str, Any]:
        return {"returned": node_info(self.cache.update_node(Node(op["old"]), Node(op["new"])))}

    def get_pod(self, op: dict[str, Any]) -> dict[str, Any]:
        pod = self.cache.get_pod(_pod(op))
        return {"node": pod.node_name, "labels": pod.labels}

    def take_snapshot(self, _op: dict[str, Any]) -> None:
        self.generation_before = self.snapshot.generation
        self.cache.update_snapshot(self.snapshot)

    def describe_cache(self) -> dict[str, Any]:
        tree = self.cache.node_tree
        described = {
            "zones": [{"zone": zone, "nodes": list(nodes)} for zone, nodes in tree.zones()],
            "numNodes": tree.num_nodes,
            "list": list(tree.list()),
        }
        if tree.list_error:
            described["listError"] = tree.list_error
        dump = self.cache.dump()
        return {
            "nodeCount": self.cache.node_count(),
            "podCount": self.cache.pod_count(),
            "assumed": sorted(dump.assumed_pods),
            "dump": {name: node_info(info) for name, info in sorted(dump.nodes.items())},
            "tree": described,
            "recency": list(self.cache.nodes),
        }

    def describe_snapshot(self) -> dict[str, Any]:
        held = self.snapshot.node_info_map
        before, self.generations = self.generations, {name: info.generation for name, info in held.items()}
        described = {
            "list": _names(self.snapshot.list()),
            "havePodsWithAffinity": _names(self.snapshot.have_pods_with_affinity()),
            "havePodsWithRequiredAntiAffinity": _names(self.snapshot.have_pods_with_required_anti_affinity()),
            "usedPVC": sorted(self.snapshot.used_pvc_set),
            "nodes": {name: node_info(info) for name, info in held.items()},
            "recloned": sorted(name for name, info in held.items() if before.get(name) != info.generation),
            "generationChanged": self.snapshot.generation != self.generation_before,
        }
        if not described["usedPVC"]:
            del described["usedPVC"]
        return described


def _names(infos: Any) -> list[str]:
    return [info.name for info in infos]


def _keys(infos: list[PodInfo]) -> list[str]:
    return sorted(info.pod.key for info in infos)


def _resource(amounts: Resource) -> dict[str, Any]:
    described: dict[str, Any] = {"cpu": amounts.milli_cpu, "memory": amounts.memory}
    scalar = {name: amount for name, amount in amounts.scalar.items() if amount}
    optional = {"pods": amounts.allowed_pod_number, "ephemeral": amounts.ephemeral_storage, "scalar": scalar}
    return described | {key: value for key, value in optional.items() if value}


def node_info(info: NodeInfo) -> dict[str, Any]:
    """Return a NodeInfo in the form of the recordings: omit empty keys."""
    described: dict[str, Any] = {
        "hasNode": info.node is not None,
        "pods": _keys(info.pods),
        "requested": _resource(info.requested),
        "nonZero": _resource(info.non_zero_requested),
    }
    optional = {
        "allocatable": _resource(info.allocatable) if any(_resource(info.allocatable).values()) else {},
        "podsWithAffinity": _keys(info.pods_with_affinity),
        "podsWithRequiredAntiAffinity": _keys(info.pods_with_required_anti_affinity),
        "usedPorts": sorted(f"{ip}/{protocol}/{port}" for ip, protocol, port in info.used_ports),
        "pvcRefCounts": info.pvc_ref_counts,
        "images": {name: [state.size, state.num_nodes] for name, state in info.image_states.items()},
    }
    return described | {key: value for key, value in optional.items() if value}
