"""The signature of a pod: pods with equal signatures have the same feasible nodes and scores in the same cluster.

Many pods have none, because what a plugin decides depends on other pods, or on claims. Source: upstream ``SignPod`` of
the plugins, ``framework/runtime/framework.go`` and ``k8s.io/kube-scheduler/framework/signers.go``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import pod_requests, resource_of

SIGNING_POINTS = ("preFilter", "filter", "preScore", "score")
"""If a plugin at one of these cannot sign pods, the profile has no signatures."""


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _containers(pod: Pod) -> tuple[Mapping[str, Any], ...]:
    return (*pod.containers, *pod.init_containers)


def _nothing(plugin: Any, pod: Pod) -> Hashable:
    return ""


def _images(plugin: Any, pod: Pod) -> Hashable:
    """Sign the names: an image that two containers share counts once."""
    return tuple(sorted({normalized_image_name(item.get("image") or "") for item in _containers(pod)}))


def _labels(plugin: Any, pod: Pod) -> Hashable:
    return "" if plugin.ignore_existing_preferences else _text(dict(pod.labels))


def _node_affinity(plugin: Any, pod: Pod) -> Hashable:
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity")
    return _text([_in_order(affinity), pod.spec.get("nodeSelector")])


def _in_order(value: Any) -> Any:
    """Return ``value`` with every list sorted: the order of terms, requirements and values does not matter."""
    if isinstance(value, Mapping):
        return {key: _in_order(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return sorted((_in_order(item) for item in value), key=_text)
    return value


def _ports(plugin: Any, pod: Pod) -> Hashable:
    """Sign the numbers only, without protocol and address, as upstream."""
    ports = (port.get("hostPort") for item in _containers(pod) for port in item.get("ports") or ())
    return tuple(sorted({port for port in ports if port}))


def _tolerations(plugin: Any, pod: Pod) -> Hashable:
    listed = pod.spec.get("tolerations") or ()
    return _text(sorted(listed, key=lambda item: (item.get("key") or "", item.get("value") or "")))


def _volumes(plugin: Any, pod: Pod) -> Hashable:
    """Sign the sources, without config maps and secrets, which are peculiar to a pod and do not matter."""
    sources = ({key: item for key, item in volume.items() if key != "name"} for volume in pod.spec.get("volumes") or ())
    return tuple(sorted(_text(item) for item in sources if not ({"configMap", "secret"} & item.keys())))


def _spreads(plugin: Any, pod: Pod) -> bool:
    return bool(pod.topology_spread_constraints or plugin.default_constraints)


def _has_pod_affinity(plugin: Any, pod: Pod) -> bool:
    return pod.has_pod_affinity


def _has_claims(plugin: Any, pod: Pod) -> bool:
    return bool(pod.spec.get("resourceClaims"))


def _may_use_devices(plugin: Any, pod: Pod) -> bool:
    forbidden: bool = plugin.handle.rules.extended_resources_forbid_signatures
    return forbidden


def _features(plugin: Any, pod: Pod) -> Hashable:
    needed: tuple[str, ...] = plugin.needed(pod)
    return needed


def _node(plugin: Any, pod: Pod) -> Hashable:
    return pod.node_name


def _requests(plugin: Any, pod: Pod) -> Hashable:
    """Sign the sums that Filter compares, however the containers share and spell them."""
    wanted = resource_of(pod_requests(pod, use_status=False))
    return wanted.milli_cpu, wanted.memory, wanted.ephemeral_storage, tuple(sorted(wanted.scalar.items()))


REFUSALS: dict[str, Callable[[Any, Pod], bool]] = {
    "PodTopologySpread": _spreads,
    "InterPodAffinity": _has_pod_affinity,
    "DynamicResources": _has_claims,
    "NodeResourcesBalancedAllocation": _may_use_devices,
    "NodeResourcesFit": _may_use_devices,
}
"""Plugin → whether it cannot sign a pod."""

FRAGMENTS: dict[str, Callable[[Any, Pod], Hashable]] = {
    "DynamicResources": _nothing,
    "ImageLocality": _images,
    "InterPodAffinity": _labels,
    "NodeAffinity": _node_affinity,
    "NodeDeclaredFeatures": _features,
    "NodeName": _node,
    "NodePorts": _ports,
    "NodeResourcesBalancedAllocation": _requests,
    "NodeResourcesFit": _requests,
    "NodeUnschedulable": _tolerations,
    "NodeVolumeLimits": _volumes,
    "PodTopologySpread": _nothing,
    "TaintToleration": _tolerations,
    "VolumeBinding": _volumes,
    "VolumeRestrictions": _volumes,
    "VolumeZone": _volumes,
}
"""Plugin → its part of the signature. Others cannot sign."""


def signature(points: Mapping[str, list[Any]], pod: Pod) -> Hashable | None:
    """Return the signature of ``pod`` in a profile with these plugins, None if it has none."""
    plugins = {plugin.name: plugin for point in SIGNING_POINTS for plugin in points[point]}
    if any(name in plugins and refuses(plugins[name], pod) for name, refuses in REFUSALS.items()):
        return None
    if not all(name in FRAGMENTS for name in plugins):
        return None
    return (pod.scheduler_name, *(FRAGMENTS[name](plugin, pod) for name, plugin in plugins.items()))
