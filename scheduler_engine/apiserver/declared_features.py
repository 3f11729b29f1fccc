"""The features that nodes declare: the admission plugin NodeDeclaredFeatureValidator lets a pod be resized only on a
node that declares what this needs.

Source: upstream ``plugin/pkg/admission/nodedeclaredfeatures``, ``component-helpers/nodedeclaredfeatures/features`` and
``pkg/registry/core/node/strategy.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.qos import GUARANTEED, qos_class
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.apiserver.errors import forbidden
from scheduler_engine.versions import Rules

Spec = Mapping[str, Any]


class Server(Protocol):
    @property
    def rules(self) -> Rules: ...

    def get(self, kind: str, key: str) -> KubeObject | None: ...


def _guaranteed_cpu(old: Spec, new: Spec) -> bool:
    pairs = zip(old["containers"], new["containers"], strict=True)
    return qos_class(old) == GUARANTEED and any(_cpu(held) != _cpu(wanted) for held, wanted in pairs)


def _cpu(container: Spec) -> int:
    return parse_quantity(((container.get("resources") or {}).get("requests") or {}).get("cpu", 0)).nano


def _pod_level(old: Spec, new: Spec) -> bool:
    return old.get("resources") != new.get("resources")


def _init_containers(old: Spec, new: Spec) -> bool:
    pairs = zip(old.get("initContainers") or (), new.get("initContainers") or (), strict=True)
    return any(
        held.get("resources") != wanted.get("resources")
        for held, wanted in pairs
        if held.get("restartPolicy") != "Always"
    )


FEATURES: dict[str, tuple[str, Callable[[Spec, Spec], bool]]] = {
    "guaranteed-cpu": ("GuaranteedQoSPodCPUResize", _guaranteed_cpu),
    "pod-level": ("InPlacePodLevelResourcesVerticalScaling", _pod_level),
    "init-containers": ("InPlacePodVerticalScalingInitContainers", _init_containers),
}
"""Word in the rule ``update_features`` → (name of the feature, whether a resize from old to new spec needs it)."""


def check_node_declares(server: Server, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Compare a pod before and after a resize. Raises ApiError if its node does not declare what the change needs."""
    node_name = old["spec"].get("nodeName") or ""
    if not server.rules.checks_declared_features or not node_name:
        return
    features = (FEATURES[word] for word in server.rules.update_features)
    needed = sorted(name for name, needs in features if needs(old["spec"], new["spec"]))
    if not needed:
        return
    node, pod = server.get("Node", node_name), old["metadata"]["name"]
    if node is None:
        raise forbidden("pods", pod, f'node "{node_name}" not found')
    missing = [name for name in needed if name not in (node.status.get("declaredFeatures") or ())]
    if missing:
        text = f"pod update requires features {', '.join(missing)} which are not available on node"
        raise forbidden("pods", pod, f'{text} "{node_name}"')
