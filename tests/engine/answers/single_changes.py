"""Every single change that might let a pod run, tried one by one, without asking why the pod is pending.

``python -m tests.engine.answers.single_changes --pods 2000`` compares the search for fixes with that.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations

from scheduler_engine.answers.changes import Change, Edit
from scheduler_engine.answers.fixes import MOST_TRIES, Fix, fixes, passes
from scheduler_engine.answers.lasting import bound_after
from scheduler_engine.answers.looking import is_pending
from scheduler_engine.answers.priorities import nominates
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.volume_references import claim_references, storage_class_of
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing.builders import REQUIRED
from tests.engine.owned_histories import owned
from tests.engine.paths import History, played
from tests.engine.random_clusters import cluster, crowded
from tests.engine.volume_histories import volumes

HISTORIES: tuple[History, ...] = (cluster, crowded, volumes, owned)
COUNTS = {"Job": "parallelism"} | dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet"), "replicas")
CLAIM = "PersistentVolumeClaim"


def single_changes(simulation: Simulation, pod: Pod) -> Iterator[list[Edit]]:
    """Yield the edits of each single change: of the pod, of nodes, of other pods."""
    nodes = [item for item in simulation.api.list("Node") if isinstance(item, Node)]
    yield from _of_pod(pod, nodes)
    pairs = dict(pod.spec.get("nodeSelector") or {})
    for node in nodes:
        for taint in node.spec.get("taints") or ():
            yield [Edit("Node", node.name, "drop", ("spec", "taints"), taint)]
        yield [Edit("Node", node.name, "set", ("spec", "unschedulable"))]
        for key, value in pairs.items():
            yield [Edit("Node", node.name, "set", ("metadata", "labels", key), value)]
        for resource in node.allocatable:
            yield [Edit("Node", node.name, "set", ("status", "allocatable", resource), "1000000")]
    for other in simulation.api.pods():
        if other.node_name and (other.controller_ref or {}).get("kind") not in ("DaemonSet", "Node"):
            yield [Edit("Pod", other.key, "delete")]
    for kind, field in COUNTS.items():
        for owner in simulation.api.list(kind):
            if owner.controller_ref is None and owner.spec.get(field, 1) > 0:
                yield [Edit(kind, owner.key, "set", ("spec", field), owner.spec.get(field, 1) - 1)]
    for reference in claim_references(pod):
        claim = simulation.api.get(CLAIM, f"{pod.namespace}/{reference.name}")
        for held in simulation.api.list("StorageClass") if not reference.ephemeral else ():
            if claim is None:
                yield [
                    Edit(
                        CLAIM,
                        f"{pod.namespace}/{reference.name}",
                        "create",
                        value=_claim(pod, reference.name, held.name),
                    )
                ]
            elif not claim.spec.get("volumeName"):
                yield [Edit(CLAIM, claim.key, "set", ("spec", "storageClassName"), held.name)]
                name = storage_class_of(claim)
                if name and simulation.api.get("StorageClass", name) is None:
                    yield [Edit("StorageClass", name, "create", value=_class_like(held, name))]


def _class_like(held: KubeObject, name: str) -> dict[str, object]:
    return {**held.manifest, "metadata": {"name": name}}


def _claim(pod: Pod, name: str, storage_class: str) -> dict[str, object]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": storage_class,
    }
    metadata = {"name": name, "namespace": pod.namespace}
    return {"apiVersion": "v1", "kind": CLAIM, "metadata": metadata, "spec": spec}


def _of_pod(pod: Pod, nodes: list[Node]) -> Iterator[list[Edit]]:
    def edit(action: str, *path: str, value: object = None) -> Edit:
        return Edit("Pod", pod.key, action, ("spec", *path), value)

    for node in nodes:
        for taint in node.taints:
            wanted = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
            yield [edit("append", "tolerations", value=wanted)]
    for key in pod.spec.get("nodeSelector") or ():
        yield [edit("set", "nodeSelector", key)]
    for item in pod.topology_spread_constraints:
        yield [edit("drop", "topologySpreadConstraints", value=item)]
    for side in ("podAffinity", "podAntiAffinity"):
        for term in (pod.affinity.get(side) or {}).get(REQUIRED) or ():
            yield [edit("drop", "affinity", side, REQUIRED, value=term)]
    if (pod.affinity.get("nodeAffinity") or {}).get(REQUIRED) is not None:
        yield [edit("set", "affinity", "nodeAffinity", REQUIRED)]
    lists = [
        (field, i, item)
        for field in ("initContainers", "containers")
        for i, item in enumerate(pod.spec.get(field) or ())
    ]
    named = [item.get("resources") or {} for _, _, item in lists] + [pod.spec.get("resources") or {}]
    for resource in dict.fromkeys(name for item in named for name in item.get("requests") or ()):
        yield [
            Edit("Pod", pod.key, "set", (*path, part, resource), "1m" if resource == "cpu" else "1")
            for path, held in _resources(pod)
            for part in ("requests", "limits")
            if resource in held.get(part, ())
        ]
    for field, index, container in lists:
        for number, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort"):
                yield [edit("set", field, str(index), "ports", str(number), "hostPort")]


def _resources(pod: Pod) -> Iterator[tuple[tuple[str, ...], dict[str, dict[str, str]]]]:
    yield ("spec", "resources"), pod.spec.get("resources") or {}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(field) or ()):
            yield ("spec", field, str(index), "resources"), container.get("resources") or {}


def is_enough(simulation: Simulation, pod: Pod, edits: list[Edit], node: str = "", by_preemption: bool = False) -> bool:
    """Make the edits in copies. Return True if a node passes at once, and the pod has a node in the end, ``node`` if
    given. ``by_preemption``: a cycle must nominate ``node`` instead of the first.
    """
    try:
        if by_preemption:
            outcome = nominates(simulation, pod, edits)
            return outcome is not None and outcome[0] == node and bool(bound_after(simulation, pod, edits))
        at_once = passes(simulation, pod, edits)
        if not edits or not at_once:
            return bool(at_once)
        bound = bound_after(simulation, pod, edits)
    except Rejected:
        return False
    return bool(bound) and node in ("", bound)


def problems(simulation: Simulation, pod: Pod) -> Iterator[str]:
    """Yield what is wrong with the fixes for a pod."""
    tries = [*fixes(simulation, pod)]
    found: list[Fix] = [item.fix for item in tries if item.fix is not None]
    if not tries and is_enough(simulation, pod, []):
        return
    if tries and tries[-1].number > MOST_TRIES + 8:
        yield f"{tries[-1].number} tries"
    for fix in found:
        if not is_enough(simulation, pod, [*fix.edits], fix.node, bool(fix.victims)):
            yield f"not enough: {fix}"
        for count in range(len(fix.changes)):
            for part in combinations(fix.changes, count):
                if not fix.victims and is_enough(simulation, pod, _edits(part)):
                    yield f"a part is enough: {fix}"
    if not any(len(fix.changes) == 1 and not fix.victims for fix in found):
        for edits in single_changes(simulation, pod):
            if is_enough(simulation, pod, edits):
                yield f"overlooked: {edits}"


def _edits(changes: tuple[Change, ...]) -> list[Edit]:
    return [edit for item in changes for edit in item.edits]


def compared(seed: int, history: History) -> Iterator[tuple[str, list[str]]]:
    """Yield each pending pod of a random history with its problems."""
    simulation = played(seed, full=False, history=history)
    for pod in simulation.api.pods():
        if is_pending(pod):
            yield pod.key, [*problems(simulation, pod)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    seed, count, wrong = arguments.seed, 0, 0
    while count < arguments.pods:
        for key, listed in compared(seed, HISTORIES[seed % len(HISTORIES)]):
            count += 1
            wrong += bool(listed)
            for text in listed[:2]:
                print(f"seed {seed}, {key}: {text}", flush=True)
        seed += 1
    print(f"{count} pods, up to seed {seed}: {wrong} with problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
