"""Remedies for the claims of a pod: a PersistentVolumeClaim that is missing or cannot be bound, a ResourceClaim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.apiserver.volume_index import CLAIM, VOLUME
from scheduler_engine.controllers.persistent_volume import DEFAULT_CLASS, STORAGE_CLASS, STORAGE_PROVISIONER
from scheduler_engine.plugins.volume_binding.binder import SELECTED_NODE
from scheduler_engine.plugins.volume_binding.matching import NO_PROVISIONER
from scheduler_engine.plugins.volume_references import (
    BETA_STORAGE_CLASS,
    WAIT_FOR_FIRST_CONSUMER,
    claim_reference,
    storage_class_of,
)
from scheduler_engine.simulation import Simulation

SIZE, MODE = "1Gi", "ReadWriteOnce"
"""What a new claim asks for, unless the volumes of its class offer less."""
FORGOTTEN = (SELECTED_NODE, STORAGE_PROVISIONER, BETA_STORAGE_CLASS)
"""Annotations that follow from a claim's old class."""


def of_claims(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    """Yield what may bind the claims: a missing claim, another class, a missing class; then what drops a volume."""
    for place, volume in enumerate(pod.volumes):
        reference = claim_reference(pod, volume)
        if reference is None:
            continue
        claim = simulation.api.get(CLAIM, f"{pod.namespace}/{reference.name}")
        if claim is None and not reference.ephemeral:
            yield from _created(simulation, pod.namespace, reference.name)
        elif claim is not None and not claim.spec.get("volumeName"):
            yield from _of_other_class(simulation, pod, claim, place if reference.ephemeral else None)
            yield from _missing_class(simulation, storage_class_of(claim))
    yield from without_volumes(pod)


def _classes(simulation: Simulation) -> list[KubeObject]:
    """Return the StorageClasses, those for claims that name none first."""
    return sorted(simulation.api.list(STORAGE_CLASS), key=lambda item: item.annotations.get(DEFAULT_CLASS) != "true")


def _created(simulation: Simulation, namespace: str, name: str) -> Iterator[Change]:
    for place, held in enumerate(_classes(simulation)):
        manifest = {
            "apiVersion": "v1",
            "kind": CLAIM,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"storageClassName": held.name, **_wanted(simulation, held)},
        }
        edit = Edit(CLAIM, f"{namespace}/{name}", "create", value=manifest)
        yield change("claim", [edit], place, claim=name, name=held.name)


def _wanted(simulation: Simulation, held: KubeObject) -> dict[str, Any]:
    """Return the modes and the size that a claim of the class can have."""
    modes, size = [MODE], SIZE
    if held.manifest.get("provisioner") == NO_PROVISIONER:
        free = [
            item
            for item in simulation.api.list(VOLUME)
            if storage_class_of(item) == held.name and not item.spec.get("claimRef")
        ]
        smallest = min(free, key=_capacity, default=None)
        if smallest is not None:
            offered = smallest.spec.get("accessModes") or [MODE]
            modes = [MODE] if MODE in offered else offered[:1]
            if _capacity(smallest) < parse_quantity(SIZE).nano:
                size = smallest.spec["capacity"]["storage"]
    return {"accessModes": modes, "resources": {"requests": {"storage": size}}}


def _capacity(volume: KubeObject) -> int:
    """Return nanobytes."""
    return parse_quantity((volume.spec.get("capacity") or {}).get("storage", "0")).nano


def _of_other_class(simulation: Simulation, pod: Pod, claim: KubeObject, place: int | None) -> Iterator[Change]:
    """Yield the claim with each other class. ``place``: of the volume whose template makes the claim; None: no one."""
    old = storage_class_of(claim)
    for number, held in enumerate(_classes(simulation)):
        if held.name == old:
            continue
        if place is None:
            dropped = [
                Edit(CLAIM, claim.key, "set", ("metadata", "annotations", name))
                for name in FORGOTTEN
                if name in claim.annotations
            ]
            edits = [Edit(CLAIM, claim.key, "set", ("spec", "storageClassName"), held.name), *dropped]
        else:
            path = ("spec", "volumes", str(place), "ephemeral", "volumeClaimTemplate", "spec", "storageClassName")
            edits = [Edit("Pod", pod.key, "set", path, held.name)]
        yield change("claim-class", edits, number, claim=claim.name, name=held.name)


def _missing_class(simulation: Simulation, name: str) -> Iterator[Change]:
    """Yield the class that a claim names, if it does not exist, for each provisioner that the cluster knows."""
    if not name or simulation.api.get(STORAGE_CLASS, name) is not None:
        return
    known = [str(item.manifest.get("provisioner")) for item in _classes(simulation)]
    drivers = [item.name for item in simulation.api.list("CSIDriver")]
    for number, provisioner in enumerate(dict.fromkeys((*known, *drivers))):
        manifest = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": STORAGE_CLASS,
            "metadata": {"name": name},
            "provisioner": provisioner,
            "volumeBindingMode": WAIT_FOR_FIRST_CONSUMER,
        }
        edit = Edit(STORAGE_CLASS, name, "create", value=manifest)
        yield change("class", [edit], number, name=name, provisioner=provisioner)


def without_volumes(pod: Pod) -> Iterator[Change]:
    """Yield the pod without one of its volumes, for each that is not projected by admission."""
    for volume in pod.volumes:
        if "projected" not in volume:
            edits = [Edit("Pod", pod.key, "drop", ("spec", "volumes"), volume), *_mounts(pod, volume["name"])]
            yield change("volume", edits, volume=volume["name"])


def _mounts(pod: Pod, volume: str) -> Iterable[Edit]:
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(field) or ()):
            for listed in ("volumeMounts", "volumeDevices"):
                for mount in container.get(listed) or ():
                    if mount["name"] == volume:
                        yield Edit("Pod", pod.key, "drop", ("spec", field, str(index), listed), mount)


def without_resource_claims(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    edits = [Edit("Pod", pod.key, "set", ("spec", "resourceClaims"))]
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(field) or ()):
            if (container.get("resources") or {}).get("claims"):
                edits.append(Edit("Pod", pod.key, "set", ("spec", field, str(index), "resources", "claims")))
    listed = pod.spec.get("resourceClaims") or ()
    names = ", ".join(str(item.get("resourceClaimName") or item.get("name")) for item in listed)
    yield change("resource-claims", edits, claims=names, count=len(listed))
