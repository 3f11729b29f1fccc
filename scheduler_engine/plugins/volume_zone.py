"""VolumeZone: a pod goes only where its bound volumes' zone and region labels say they are.

Looks at the labels of PersistentVolumes alone; their node affinity is VolumeBinding's.
Source: seed 002 §6; upstream ``plugins/volumezone``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.topology import VOLUME_LABELS
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import SKIP, Status, unresolvable
from scheduler_engine.plugins.volume_references import WAIT_FOR_FIRST_CONSUMER, claim_not_found, storage_class_of

NO_ZONE = unresolvable("node(s) had no available volume zone")
STATE = "PreFilterVolumeZone"

Topologies = tuple[tuple[str, tuple[str, ...]], ...]
"""(label, values that will do) per topology label of a volume"""


class VolumeZone(Plugin):
    name = "VolumeZone"
    reads_other_nodes = True

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        changes = ActionType.ADD | ActionType.UPDATE
        return (
            EventRegistration(ClusterEvent("storage.k8s.io/StorageClass", ActionType.ADD), self.after_class_added),
            EventRegistration(ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", changes), self.after_claim_change),
            EventRegistration(ClusterEvent("PersistentVolume", changes), self.after_volume_change),
        )

    def after_class_added(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.manifest.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER:
            return Hint.QUEUE, "a class that waits for the first consumer was created"
        return Hint.SKIP, "the new class does not wait for the first consumer"

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.namespace == pod.namespace and new.name in pod.claim_names:
            return Hint.QUEUE, "a claim that the pod uses was created or changed"
        return Hint.SKIP, "the pod does not use the claim"

    def after_volume_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "a volume was created"
        if volume_topologies(old.labels) != volume_topologies(new.labels):
            return Hint.QUEUE, "a volume's zone or region changed"
        return Hint.SKIP, "the volume's zone and region are as before"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        topologies = self._topologies_of(pod)
        if isinstance(topologies, str):
            return None, unresolvable(topologies)
        if not topologies:
            return None, SKIP
        state.write(STATE, topologies)
        return None, None

    def _topologies_of(self, pod: Pod) -> Topologies | str:
        """Of all volumes the pod's claims are bound to; a text says what is wrong with a claim."""
        topologies: Topologies = ()
        for name in pod.claim_names:
            found = self._topologies_behind(pod, name)
            if isinstance(found, str):
                return found
            topologies += found
        return topologies

    def _topologies_behind(self, pod: Pod, claim_name: str) -> Topologies | str:
        """Those of the volume that the claim is bound to; none while it waits for its first consumer."""
        objects = self.handle.objects
        if not claim_name:
            return "PersistentVolumeClaim had no name"
        claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{claim_name}")
        if claim is None:
            return claim_not_found(claim_name)
        volume_name = claim.spec.get("volumeName")
        if volume_name:
            volume = objects.get("PersistentVolume", volume_name)
            return f'persistentvolume "{volume_name}" not found' if volume is None else volume_topologies(volume.labels)
        class_name = storage_class_of(claim)
        if not class_name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = objects.get("StorageClass", class_name)
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{class_name}" not found'
        mode = storage_class.manifest.get("volumeBindingMode")
        if mode is None:
            return f'VolumeBindingMode not set for StorageClass "{class_name}"'
        return () if mode == WAIT_FOR_FIRST_CONSUMER else "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        topologies: Topologies | str | None = state.read(STATE)
        if topologies is None:
            # PreFilter is switched off for this plugin.
            topologies = self._topologies_of(pod)
        if isinstance(topologies, str):
            return unresolvable(topologies)
        labels = node_info.node.labels if node_info.node is not None else {}
        if not any(label in labels for label in VOLUME_LABELS):
            # A cluster in one zone may leave its nodes unlabelled.
            return None
        for label, values in topologies:
            if labels.get(label, labels.get(VOLUME_LABELS[label])) not in values:
                return NO_ZONE
        return None


def volume_topologies(labels: Mapping[str, str]) -> Topologies:
    """Topology labels of a volume; ``a__b`` names several zones, a label with an empty part does not count."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for label in VOLUME_LABELS:
        if label in labels:
            values = tuple(part.strip() for part in labels[label].split("__"))
            if all(values):
                found.append((label, tuple(sorted(dict.fromkeys(values)))))
    return tuple(found)
