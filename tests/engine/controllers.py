"""Workloads for tests, and checks of their state."""

from __future__ import annotations

from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node
from scheduler_engine.trace.events import EventRecorded

Manifest = dict[str, Any]


def template(
    app: str,
    image: str = "registry.example/app:1",
    cpu: str = "100m",
    pod: Manifest | None = None,
    annotations: dict[str, str] | None = None,
) -> Manifest:
    """Return a pod template. ``pod``: more fields of the pod's spec."""
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu}}}
    metadata: Manifest = {"labels": {"app": app}}
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": {"containers": [container], **(pod or {})}}


def workload(kind: str, name: str, inner: Manifest, version: str = "apps/v1", **spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"template": inner, **spec}}


def _split(fields: dict[str, Any]) -> tuple[Manifest, Manifest]:
    """Return (fields for the template, fields for the spec)."""
    inner = {name: fields.pop(name) for name in ("image", "cpu", "pod", "annotations") if name in fields}
    return inner, fields


def _selecting(kind: str, name: str, **fields: Any) -> Manifest:
    inner, spec = _split(fields)
    return workload(kind, name, template(name, **inner), selector={"matchLabels": {"app": name}}, **spec)


def deployment(name: str, replicas: int, **fields: Any) -> Manifest:
    return _selecting("Deployment", name, replicas=replicas, **fields)


def replica_set(name: str, replicas: int, **fields: Any) -> Manifest:
    return _selecting("ReplicaSet", name, replicas=replicas, **fields)


def stateful_set(name: str, replicas: int, **fields: Any) -> Manifest:
    return _selecting("StatefulSet", name, replicas=replicas, serviceName=name, **fields)


def daemon_set(name: str, **fields: Any) -> Manifest:
    return _selecting("DaemonSet", name, **fields)


def job(name: str, **fields: Any) -> Manifest:
    inner, spec = _split(fields)
    inner["pod"] = {"restartPolicy": "Never", **inner.get("pod", {})}
    return workload("Job", name, template(name, **inner), "batch/v1", **spec)


def cluster(*manifests: Manifest, nodes: int = 3) -> Simulation:
    """Create nodes n1, n2 … in zones a, b, c, a …, and apply ``manifests``."""
    simulation = Simulation()
    apply(simulation, *(make_node(f"n{number + 1}").zone("abc"[number % 3]).obj() for number in range(nodes)))
    if manifests:
        apply(simulation, *manifests)
    return simulation


def apply(simulation: Simulation, *manifests: Manifest) -> None:
    simulation.execute(commands.Apply(manifests))


def run(simulation: Simulation) -> None:
    simulation.execute(commands.Run())


def advance(simulation: Simulation, seconds: float) -> None:
    simulation.execute(commands.Advance(seconds))


def scale(simulation: Simulation, kind: str, name: str, replicas: int) -> None:
    simulation.execute(commands.Scale(kind, f"default/{name}", replicas))


def delete(simulation: Simulation, kind: str, key: str) -> None:
    simulation.execute(commands.Delete(kind, key))


def end(simulation: Simulation, pod: Pod, phase: str) -> None:
    """End a pod as a kubelet would."""
    simulation.api.patch("Pod", pod.key, {"status": {"phase": phase}})
    simulation.deliver()


def find(simulation: Simulation, kind: str, name: str) -> KubeObject:
    stored = simulation.api.get(kind, f"default/{name}")
    assert stored is not None
    return stored


def pods(simulation: Simulation, app: str = "", gone: bool = False) -> list[Pod]:
    """Return the pods of an app. ``gone``: include those being deleted."""
    pods_of_app = [item for item in simulation.api.list("Pod") if isinstance(item, Pod)]
    return [pod for pod in pods_of_app if app in ("", pod.labels.get("app")) and (gone or not pod.terminating)]


def events(simulation: Simulation, kind: str, name: str) -> list[str]:
    """Return reason and text of the Kubernetes Events about an object."""
    matching = [entry.event for entry in simulation.recorder.entries]
    return [
        f"{event.reason}: {event.message}"
        for event in matching
        if isinstance(event, EventRecorded) and (event.regarding_kind, event.regarding) == (kind, f"default/{name}")
    ]
