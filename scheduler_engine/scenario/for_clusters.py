"""What a sandbox's manifests need in a cluster: the classes and namespaces that they name, and nodes simulated by KWOK.

A sandbox accepts a priority as a number only; Kubernetes needs a PriorityClass. And objects may name others that
have been deleted since. Source: upstream ``plugin/pkg/admission/{priority,runtimeclass}``; KWOK's option
``--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.priorities import HIGHEST_USER_PRIORITY, SYSTEM_PRIORITY_CLASSES
from scheduler_engine.apiserver.admission import PREEMPT_LOWER_PRIORITY
from scheduler_engine.shapes import Data

FAKE = "kwok.x-k8s.io/node"


def own_namespace(name: str) -> bool:
    """Return True if every cluster has it."""
    return name == "default" or name.startswith("kube-")


def complete(manifests: Sequence[Data]) -> list[Data]:
    """Return the manifests, after the missing namespaces and classes that they name.

    Give pods and templates with a priority and no class the name of one: an existing one, or a new one.
    """
    missing = _Missing(manifests)
    objects = [missing.in_object(item) for item in manifests]
    first = [item for item in objects if item["kind"] == "Namespace"]
    return [*first, *missing.objects, *(item for item in objects if item["kind"] != "Namespace")]


class _Missing:
    """``objects``: the missing objects. ``priorities``: class → value, for those that let their pods preempt;
    ``known``: kind → existing names; ``usual``: the priority of a pod without a class.
    """

    def __init__(self, manifests: Sequence[Data]) -> None:
        self.objects: list[Data] = []
        self.known: dict[str, dict[str, None]] = {"PriorityClass": dict.fromkeys(SYSTEM_PRIORITY_CLASSES)}
        self.priorities = dict(SYSTEM_PRIORITY_CLASSES)
        self.usual = 0
        for item in manifests:
            self.known.setdefault(item["kind"], {})[item["metadata"]["name"]] = None
            if item["kind"] == "PriorityClass":
                if item.get("preemptionPolicy", PREEMPT_LOWER_PRIORITY) == PREEMPT_LOWER_PRIORITY:
                    self.priorities[item["metadata"]["name"]] = item.get("value", 0)
                self.usual = item.get("value", 0) if item.get("globalDefault") else self.usual

    def in_object(self, item: Data) -> Data:
        namespace = item["metadata"].get("namespace") or "default"
        if not own_namespace(namespace):
            self._need("Namespace", namespace, {"apiVersion": "v1"})
        spec = item.get("spec")
        if not isinstance(spec, Mapping):
            return item
        if item["kind"] == "Pod":
            return {**item, "spec": self._in_pod(spec)}
        template = spec.get("template")
        inner = template.get("spec") if isinstance(template, Mapping) else None
        if not isinstance(template, Mapping) or not isinstance(inner, Mapping):
            return item
        return {**item, "spec": {**spec, "template": {**template, "spec": self._in_pod(inner)}}}

    def _in_pod(self, spec: Mapping[str, Any]) -> Data:
        rest = {name: value for name, value in spec.items() if name not in ("priority", "overhead")}
        runtime, priority = spec.get("runtimeClassName"), spec.get("priority")
        if runtime and "overhead" in spec:
            fields = {"handler": runtime, "overhead": {"podFixed": spec["overhead"]}}
            self._need("RuntimeClass", runtime, {"apiVersion": "node.k8s.io/v1"}, fields)
        if priority is None:
            return rest
        name = spec.get("priorityClassName") or self._class_of(priority)
        if name:
            self._need("PriorityClass", name, {"apiVersion": "scheduling.k8s.io/v1"}, {"value": priority})
            return {**rest, "priorityClassName": name}
        return rest if priority == self.usual else {**rest, "priority": priority}

    def _class_of(self, priority: int) -> str:
        """Return a class of this value; "" if none is needed, or none is possible."""
        if priority == self.usual:
            return ""
        known = next((name for name, value in self.priorities.items() if value == priority), "")
        if known or priority > HIGHEST_USER_PRIORITY:
            return known
        name = f"priority-{'minus-' if priority < 0 else ''}{abs(priority)}"
        while name in self.known["PriorityClass"]:
            name += "-x"
        self.priorities[name] = priority
        return name

    def _need(self, kind: str, name: str, head: Data, fields: Mapping[str, Any] | None = None) -> None:
        names = self.known.setdefault(kind, {})
        if name not in names:
            names[name] = None
            self.objects.append({**head, "kind": kind, "metadata": {"name": name}, **(fields or {})})


def on_kwok(manifest: Data, taint: bool) -> Data:
    """Mark a node as simulated by KWOK; ``taint``: also taint it, and let pods and templates tolerate that."""
    if manifest["kind"] == "Node":
        metadata = manifest["metadata"]
        annotations = {**(metadata.get("annotations") or {}), FAKE: "fake"}
        manifest = {**manifest, "metadata": {**metadata, "annotations": annotations}}
        return _with_item(manifest, "taints", TAINT) if taint else manifest
    if not taint:
        return manifest
    if manifest["kind"] == "Pod":
        return _with_item(manifest, "tolerations", TOLERATION)
    spec = manifest.get("spec") or {}
    template = spec.get("template")
    if not template:
        return manifest
    return {**manifest, "spec": {**spec, "template": _with_item(template, "tolerations", TOLERATION)}}


TAINT = {"key": FAKE, "value": "fake", "effect": "NoSchedule"}
TOLERATION = {"key": FAKE, "operator": "Exists", "effect": "NoSchedule"}


def _with_item(manifest: Mapping[str, Any], name: str, item: Data) -> Data:
    spec = manifest.get("spec") or {}
    held = spec.get(name) or []
    return {**manifest, "spec": {**spec, name: held if item in held else [*held, item]}}
