"""Place copies of a pod one after the other, each in a cycle of the scheduler, on a scratch copy of the cluster.

Nobody else acts: other pending pods do not compete, no controller of workloads counts the copies as its own, and no
kubelet refuses them. Copies preempt nobody. Nominated pods keep their room, as in every cycle. Source: design of the
sandbox; the semantics are those of kubernetes-sigs/cluster-capacity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.answers.looking import begin_cycle, scratch
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.validation import validate
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.controllers.ephemeral_volume import EphemeralVolumeController
from scheduler_engine.controllers.persistent_volume import PersistentVolumeController
from scheduler_engine.controllers.provisioner import Provisioner
from scheduler_engine.controllers.resource_claim import ResourceClaimController
from scheduler_engine.effort import Effort
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import CycleFinished, PodUnschedulable
from scheduler_engine.words import say

Data = dict[str, Any]
FOR_CLAIMS = (PersistentVolumeController, Provisioner, EphemeralVolumeController, ResourceClaimController)
"""The controllers that a copy may need to be bound."""
PATIENCE_US = 600 * SECOND_US
"""How long a copy may wait for its volumes: the default ``bindTimeoutSeconds`` of VolumeBinding."""
OF_THE_ORIGINAL = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "finalizers")
"""Metadata that a copy does not have, besides what says that the original is being deleted."""
DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a copy has no place. ``message``: the FitError, or what failed. ``statuses``: node → (plugin, reasons), of
    the nodes that were asked; empty if a node passed, or none was asked. ``failed``: a plugin broke.
    """

    message: str
    statuses: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    failed: bool = False


@dataclass(slots=True)
class Copies:
    """Copies of ``manifest``, and the scratch copy of the cluster that they are placed in."""

    twin: Simulation
    manifest: Data
    number: int = 0


def pod_of(manifest: Mapping[str, Any]) -> Data:
    """Return a pod as a person would create it again: of a pod itself, or of the template of a workload."""
    kind, metadata = manifest.get("kind"), manifest.get("metadata") or {}
    held = manifest if kind == "Pod" else (manifest.get("spec") or {}).get("template") or {}
    kept = {**(held.get("metadata") or {})}
    for name in (*OF_THE_ORIGINAL, *DELETION):
        kept.pop(name, None)
    if kind != "Pod":
        kept.update({name: metadata[name] for name in ("name", "namespace") if name in metadata})
    spec = {name: value for name, value in (held.get("spec") or {}).items() if name != "nodeName"}
    if templates := (manifest.get("spec") or {}).get("volumeClaimTemplates"):
        spec["volumes"] = _with_claims(spec.get("volumes") or (), templates)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": kept, "spec": spec}


def _with_claims(volumes: Sequence[Data], templates: Sequence[Data]) -> list[Data]:
    """Return the volumes of a replica of a StatefulSet. Each gets new claims, as for generic ephemeral volumes."""
    claimed = {item["metadata"]["name"]: {"spec": item.get("spec") or {}} for item in templates}
    own = [{"name": name, "ephemeral": {"volumeClaimTemplate": template}} for name, template in claimed.items()]
    return [*(item for item in volumes if item.get("name") not in claimed), *own]


def start(simulation: Simulation, manifest: Mapping[str, Any]) -> Copies:
    """Prepare a scratch copy for copies of a pod. Raises Rejected for an invalid manifest, or if nobody schedules it.

    A cycle that runs now counts only if it has already assumed its pod.
    """
    copied = pod_of(manifest)
    if errors := validate(copied, 0, simulation.allow_privileged, simulation.rules):
        raise Rejected(errors)
    twin = scratch(simulation)
    if not twin.replicas.leaders():
        raise Rejected(say("refusals.nobody-leads"))
    defaulted = set_defaults(copied)
    # They count as if somebody had removed them: the API server binds no pod that has gates.
    defaulted["spec"].pop("schedulingGates", None)
    name = defaulted["spec"].get("schedulerName", "")
    if name not in twin.scheduler.profiles:
        raise Rejected(say("refusals.no-profile", name=name))
    twin.controllers = tuple(item for item in twin.controllers if isinstance(item, FOR_CLAIMS))
    scheduler = twin.scheduler
    if scheduler.cycle is not None and scheduler.cycle.assumed is None:
        scheduler.cycle = None
    _deliver(twin)
    while twin.replicas.step(only_busy=True):
        _deliver(twin)
    return Copies(twin, defaulted)


def place(copies: Copies, node: str = "") -> str | Refusal:
    """Create the next copy and schedule it. Return its node, or why it has none: then the copy is gone again.

    ``node``: allow only this node; constraints count all others as usual. Raises Rejected if the API server refuses it.
    """
    twin = copies.twin
    entries, rests = len(twin.recorder.entries), len(twin.recorder.rests)
    twin.recorder.effort = Effort()
    key = _create(copies).key
    _deliver(twin)
    # A controller may have written the names of the copy's own claims into its status.
    pod = twin.api.pod(key)
    assert pod is not None
    cycle = schedule(twin, pod, node)
    live = twin.api.pod(pod.key)
    placed = live.node_name if live is not None else ""
    if not placed and cycle.assumed is not None and twin.scheduler.cache.is_assumed_pod(cycle.assumed):
        placed = cycle.host
    refusal = None if placed else _refusal(twin, cycle, node, entries)
    if refusal is not None:
        # The copy's own scheduling cycle is over, or stops here.
        twin.scheduler.cycle = None
        twin.scheduler.queue.done(pod.uid)
        twin.api.remove("Pod", pod.key)
        _deliver(twin)
    twin.recorder.forget_from(entries, rests)
    return placed if refusal is None else refusal


def _create(copies: Copies) -> Pod:
    api, metadata = copies.twin.api, copies.manifest["metadata"]
    base = metadata.get("name") or metadata.get("generateName") or "pod"
    namespace = metadata.get("namespace", "default")
    while True:
        copies.number += 1
        name = f"{base}-copy-{copies.number}"
        if api.get("Pod", f"{namespace}/{name}") is None:
            break
    try:
        created = api.create({**copies.manifest, "metadata": {**metadata, "name": name, "namespace": namespace}})
    except ApiError as problem:
        raise Rejected([FieldError("", problem.reason, problem.message, 0, object_name=f"Pod {base}")]) from problem
    assert isinstance(created, Pod)
    return created


def schedule(twin: Simulation, pod: Pod, node: str) -> Cycle:
    """Run the pod's cycles, past all that wait in the queue. Time passes only if its binding has to wait."""
    cycle = begin_cycle(twin, pod)
    until_us = twin.now_us + PATIENCE_US
    while cycle.stage and cycle.stage != "PostFilter":
        if node and cycle.stage == "Filter":
            cycle.narrowed_to = (node,)
        if not twin.replicas.step(only_busy=True):
            due = twin.timeline.next_us()
            if due is None or due > until_us:
                break
            twin.timeline.fire_next()
        _deliver(twin)
    return cycle


def _refusal(twin: Simulation, cycle: Cycle, node: str, entries: int) -> Refusal:
    events = [entry.event for entry in twin.recorder.entries[entries:]]
    none_fits = [item.message for item in events if isinstance(item, PodUnschedulable) and item.cycle == cycle.number]
    if not none_fits:
        ended = next(item for item in events if isinstance(item, CycleFinished) and item.cycle == cycle.number)
        return Refusal(ended.message, failed=ended.outcome == "error")
    found, statuses = cycle.diagnosis.node_to_status, {}
    for info in twin.scheduler.snapshot.list():
        status = found.get(info.name)
        if status.reasons and node in ("", info.name):
            statuses[info.name] = status.plugin, status.reasons
    return Refusal(none_fits[0], statuses)


def _deliver(twin: Simulation) -> None:
    """Hand out watch events to the schedulers and to the controllers of volumes until all are seen."""
    workers = (twin.replicas, *twin.controllers)
    while any(worker.work() for worker in workers):
        pass
