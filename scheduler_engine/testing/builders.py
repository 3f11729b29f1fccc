"""Fluent builders of manifests, for tests and examples.

``make_pod("p").cpu("500m").label("app", "web").obj()`` returns a plain manifest; other methods return the builder.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

from scheduler_engine.api.topology import HOSTNAME, ZONE

REGION = "topology.kubernetes.io/region"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

Data = dict[str, Any]


def make_pod(name: str, namespace: str = "default") -> PodBuilder:
    """Build a pod with one container."""
    return PodBuilder("v1", "Pod", name, namespace)


def make_node(name: str) -> NodeBuilder:
    """Build a node of 4 cpu, 8Gi memory and 110 pods, labelled with its name."""
    return NodeBuilder("v1", "Node", name).label(HOSTNAME, name).capacity(cpu="4", memory="8Gi", pods="110")


def make_priority_class(name: str, value: int, policy: str = "PreemptLowerPriority", default: bool = False) -> Data:
    manifest = Builder("scheduling.k8s.io/v1", "PriorityClass", name).obj()
    return {**manifest, "value": value, "preemptionPolicy": policy, "globalDefault": default}


def make_budget(name: str, selector: dict[str, str], namespace: str = "default", **spec: Any) -> Data:
    """Return a PodDisruptionBudget; ``spec`` is ``minAvailable`` or ``maxUnavailable``."""
    manifest = Builder("policy/v1", "PodDisruptionBudget", name, namespace).obj()
    return {**manifest, "spec": {"selector": {"matchLabels": selector}, **spec}}


class Builder:
    """The metadata of every kind."""

    def __init__(self, api_version: str, kind: str, name: str, namespace: str = "") -> None:
        metadata: Data = {"name": name, **({"namespace": namespace} if namespace else {})}
        self.manifest: Data = {"apiVersion": api_version, "kind": kind, "metadata": metadata}

    def obj(self) -> Data:
        """Return the manifest; later calls on the builder do not change it."""
        return deepcopy(self.manifest)

    def label(self, key: str, value: str) -> Self:
        self.manifest["metadata"].setdefault("labels", {})[key] = value
        return self

    def labels(self, labels: dict[str, str]) -> Self:
        for key, value in labels.items():
            self.label(key, value)
        return self

    def annotation(self, key: str, value: str) -> Self:
        self.manifest["metadata"].setdefault("annotations", {})[key] = value
        return self

    def metadata(self, **fields: Any) -> Self:
        self.manifest["metadata"].update(fields)
        return self

    def spec(self, **fields: Any) -> Self:
        self.manifest.setdefault("spec", {}).update(fields)
        return self

    def status(self, **fields: Any) -> Self:
        self.manifest.setdefault("status", {}).update(fields)
        return self


class NodeBuilder(Builder):
    def zone(self, zone: str) -> Self:
        return self.label(ZONE, zone)

    def region(self, region: str) -> Self:
        return self.label(REGION, region)

    def capacity(self, resources: dict[str, str] | None = None, **more: str) -> Self:
        """Set amounts; earlier ones stay. Names with dots or slashes go into ``resources``."""
        self.manifest.setdefault("status", {}).setdefault("capacity", {}).update({**(resources or {}), **more})
        return self

    def allocatable(self, resources: dict[str, str] | None = None, **more: str) -> Self:
        self.manifest["status"].setdefault("allocatable", {}).update({**(resources or {}), **more})
        return self

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        taints = self.manifest.setdefault("spec", {}).setdefault("taints", [])
        taints.append({"key": key, "effect": effect, **({"value": value} if value else {})})
        return self

    def cordoned(self) -> Self:
        return self.spec(unschedulable=True)

    def image(self, name: str, size_bytes: int) -> Self:
        images = self.manifest["status"].setdefault("images", [])
        images.append({"names": [name], "sizeBytes": size_bytes})
        return self


class PodBuilder(Builder):
    def __init__(self, api_version: str, kind: str, name: str, namespace: str) -> None:
        super().__init__(api_version, kind, name, namespace)
        self.spec(containers=[{"name": "main", "image": "registry.k8s.io/pause:3.10"}])

    @property
    def _spec(self) -> Data:
        spec: Data = self.manifest["spec"]
        return spec

    @property
    def _container(self) -> Data:
        container: Data = self._spec["containers"][-1]
        return container

    def cpu(self, amount: str) -> Self:
        return self.request(cpu=amount)

    def memory(self, amount: str) -> Self:
        return self.request(memory=amount)

    def request(self, resources: dict[str, str] | None = None, **more: str) -> Self:
        """Set requests of the last container."""
        requests = self._container.setdefault("resources", {}).setdefault("requests", {})
        requests.update({**(resources or {}), **more})
        return self

    def limit(self, resources: dict[str, str] | None = None, **more: str) -> Self:
        limits = self._container.setdefault("resources", {}).setdefault("limits", {})
        limits.update({**(resources or {}), **more})
        return self

    def image(self, image: str) -> Self:
        self._container["image"] = image
        return self

    def container(self, name: str, **fields: Any) -> Self:
        """Add a container; later calls apply to it."""
        self._spec["containers"].append({"name": name, "image": "registry.k8s.io/pause:3.10", **fields})
        return self

    def init_container(self, name: str, requests: dict[str, str], sidecar: bool = False) -> Self:
        container: Data = {"name": name, "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
        if sidecar:
            container["restartPolicy"] = "Always"
        self._spec.setdefault("initContainers", []).append(container)
        return self

    def host_port(self, port: int, protocol: str = "TCP", host_ip: str = "") -> Self:
        entry = {"containerPort": port, "hostPort": port, "protocol": protocol}
        self._container.setdefault("ports", []).append({**entry, **({"hostIP": host_ip} if host_ip else {})})
        return self

    def priority(self, priority: int) -> Self:
        return self.spec(priority=priority)

    def priority_class(self, name: str) -> Self:
        return self.spec(priorityClassName=name)

    def never_preempts(self) -> Self:
        return self.spec(preemptionPolicy="Never")

    def scheduler(self, name: str) -> Self:
        return self.spec(schedulerName=name)

    def node(self, name: str) -> Self:
        """Bind it to a node."""
        return self.spec(nodeName=name)

    def nominated(self, name: str) -> Self:
        return self.status(nominatedNodeName=name)

    def grace_period(self, seconds: int) -> Self:
        return self.spec(terminationGracePeriodSeconds=seconds)

    def gate(self, name: str) -> Self:
        self._spec.setdefault("schedulingGates", []).append({"name": name})
        return self

    def node_selector(self, labels: dict[str, str]) -> Self:
        return self.spec(nodeSelector=labels)

    def toleration(self, key: str, value: str | None = None, effect: str = "", seconds: int | None = None) -> Self:
        """Add a toleration. ``value`` None tolerates every value of the key (operator Exists)."""
        entry: Data = {"key": key} if key else {}
        entry |= {"operator": "Exists"} if value is None else {"operator": "Equal", "value": value}
        entry |= {"effect": effect} if effect else {}
        entry |= {"tolerationSeconds": seconds} if seconds is not None else {}
        self._spec.setdefault("tolerations", []).append(entry)
        return self

    def spread(
        self, topology_key: str, selector: dict[str, str], max_skew: int = 1, when: str = "DoNotSchedule", **more: Any
    ) -> Self:
        entry = {"maxSkew": max_skew, "topologyKey": topology_key, "whenUnsatisfiable": when}
        entry |= {"labelSelector": {"matchLabels": selector}, **more}
        self._spec.setdefault("topologySpreadConstraints", []).append(entry)
        return self

    def affinity(self, topology_key: str, selector: dict[str, str], weight: int = 0) -> Self:
        """Add a required term, or a preferred one with a ``weight`` from 1 to 100."""
        return self._pod_term("podAffinity", topology_key, selector, weight)

    def anti_affinity(self, topology_key: str, selector: dict[str, str], weight: int = 0) -> Self:
        """Add a required term, or a preferred one with a ``weight`` from 1 to 100."""
        return self._pod_term("podAntiAffinity", topology_key, selector, weight)

    def _pod_term(self, side: str, topology_key: str, selector: dict[str, str], weight: int) -> Self:
        term: Data = {"labelSelector": {"matchLabels": selector}, "topologyKey": topology_key}
        terms = self._spec.setdefault("affinity", {}).setdefault(side, {})
        entry = {"weight": weight, "podAffinityTerm": term} if weight else term
        terms.setdefault(PREFERRED if weight else REQUIRED, []).append(entry)
        return self

    def node_affinity(self, key: str, values: list[str], operator: str = "In", weight: int = 0) -> Self:
        """Add a required term (terms are ORed), or a preferred one with a ``weight`` from 1 to 100."""
        term: Data = {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        affinity = self._spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        if weight:
            affinity.setdefault(PREFERRED, []).append({"weight": weight, "preference": term})
        else:
            affinity.setdefault(REQUIRED, {}).setdefault("nodeSelectorTerms", []).append(term)
        return self

    def claim(self, name: str) -> Self:
        """Mount a PersistentVolumeClaim."""
        volume = {"name": name, "persistentVolumeClaim": {"claimName": name}}
        self._spec.setdefault("volumes", []).append(volume)
        return self
