"""The ephemeral volume controller: creates the claims for pods' generic ephemeral volumes.

A claim ``<pod>-<volume>`` is made from the volume's template. Its owner is the pod, so it is collected after it.
Source: upstream ``pkg/controller/volume/ephemeral``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, is_creation, is_deletion
from scheduler_engine.controllers.workload import owner_reference, template_metadata
from scheduler_engine.plugins.volume_references import claim_reference, not_owned, refers_to
from scheduler_engine.trace.events import EventRecorded

CLAIM = "PersistentVolumeClaim"


def _has_volumes(event: WatchEvent) -> bool:
    return is_creation(event) and isinstance(event.new, Pod) and bool(event.new.volumes)


@dataclass(slots=True)
class EphemeralVolumeController:
    WANTS: ClassVar[Wants] = {"Pod": _has_volumes, CLAIM: is_deletion}

    api: ApiServer
    watch: Watch

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if isinstance(event.new, Pod) and (event.old is None or event.old.uid != event.new.uid):
            self._sync(self.api.pod(event.new.key))
        elif event.kind == CLAIM and event.new is None and event.old is not None:
            self._claim_gone(event.old)
        return True

    def _claim_gone(self, claim: KubeObject) -> None:
        """Create it again if its pod still exists."""
        for pod in self.api.pods(claim.namespace):
            if refers_to(pod, claim):
                self._sync(pod)

    def _sync(self, pod: Pod | None) -> None:
        if pod is None or pod.terminating:
            return
        for volume in pod.volumes:
            problem = self._provide(pod, volume)
            if problem:
                text = f"ephemeral volume {volume['name']}: {problem}"
                self.api.recorder.add(EventRecorded("Pod", pod.key, "Warning", "FailedBinding", text))
                return

    def _provide(self, pod: Pod, volume: Mapping[str, Any]) -> str:
        """Create the claim of one volume, if missing; return why it cannot be the pod's, else ""."""
        reference = claim_reference(pod, volume)
        if reference is None or not reference.ephemeral:
            return ""
        claim = self.api.get(CLAIM, f"{pod.namespace}/{reference.name}")
        if claim is not None:
            return not_owned(pod, claim)
        template = volume["ephemeral"].get("volumeClaimTemplate") or {}
        names = {"name": reference.name, "namespace": pod.namespace}
        metadata = {**template_metadata(template), **names, "ownerReferences": [owner_reference(pod)]}
        manifest = {"apiVersion": "v1", "kind": CLAIM, "metadata": metadata, "spec": template.get("spec") or {}}
        self.api.create(set_defaults(manifest))
        return ""
