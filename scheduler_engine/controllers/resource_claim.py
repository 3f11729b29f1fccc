"""The resource claim controller: creates claims from templates, and frees the devices of pods that are done.

A claim has a finalizer while it has devices. Source: upstream ``pkg/controller/resourceclaim``. Upstream tries again
later if a template is missing; here the creation of the template is the reason to try again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.devices import FINALIZER, ResourceClaim, is_controlled_by
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.validation.devices import MOST_CONSUMERS
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, every_change, is_creation
from scheduler_engine.controllers.naming import suffix
from scheduler_engine.controllers.workload import owner_reference, template_metadata
from scheduler_engine.plugins.dynamic_resources.claims import ClaimsUnusable, claim_name
from scheduler_engine.trace.events import EventRecorded

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""Annotation of a claim that was made for a pod: the entry in the pod's spec."""
LONGEST_BASE = 57
"""The longest beginning of a generated name: five characters follow."""


def _concerns_claims(event: WatchEvent) -> bool:
    """Return True for a pod with claims that comes, goes, gets a node, ends or begins to be deleted."""
    pod = event.new if event.new is not None else event.old
    if not isinstance(pod, Pod) or not pod.spec.get("resourceClaims"):
        return False
    old, new = event.old, event.new
    if not isinstance(old, Pod) or not isinstance(new, Pod) or old.uid != new.uid:
        return True
    return (old.node_name, _is_done(old)) != (new.node_name, _is_done(new))


def _is_done(pod: Pod) -> bool:
    """Return True if a pod needs its devices no longer."""
    return pod.finished or (pod.terminating and not pod.node_name)


@dataclass(slots=True)
class ResourceClaimController:
    WANTS: ClassVar[Wants] = {"Pod": _concerns_claims, CLAIM: every_change, TEMPLATE: is_creation}

    api: ApiServer
    watch: Watch

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Pod":
            self._pod_changed(event)
        elif event.kind == CLAIM:
            self._claim_changed(event)
        elif event.new is not None:
            for pod in self.api.pods(event.new.namespace):
                if any(entry.get("resourceClaimTemplateName") == event.new.name for entry in _entries(pod)):
                    self._sync_pod(pod)
        return True

    def _pod_changed(self, event: WatchEvent) -> None:
        for pod in (event.old, event.new):
            if isinstance(pod, Pod):
                for name in _names(pod):
                    self._sync_claim(f"{pod.namespace}/{name}")
        self._sync_pod(self.api.pod(event.key))

    def _claim_changed(self, event: WatchEvent) -> None:
        self._sync_claim(event.key)
        claim = event.new or event.old
        assert claim is not None
        owner = claim.controller_ref
        if owner is not None and owner.get("kind") == "Pod":
            self._sync_pod(self.api.pod(f"{claim.namespace}/{owner['name']}"))
        elif claim.status.get("allocation") is not None:
            for pod in self.api.pods(claim.namespace):
                if pod.node_name and claim.name in _names(pod):
                    self._sync_pod(pod)

    # --- pods ---

    def _sync_pod(self, pod: Pod | None) -> None:
        """Create the claims that a pod lacks, and reserve for it those that it uses on its node."""
        if pod is None or pod.terminating or pod.finished:
            return
        created: dict[str, str] = {}
        for entry in _entries(pod):
            try:
                name = self._provide(pod, entry)
            except ApiError as problem:
                self._tell(pod, entry, f"create ResourceClaim : {problem.message}")
                return
            if name is None:
                template = entry["resourceClaimTemplateName"]
                missing = f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
                self._tell(pod, entry, f'resource claim template "{template}": {missing}')
                return
            if name:
                created[entry["name"]] = name
        if created:
            held = pod.status.get("resourceClaimStatuses") or ()
            others = [status for status in held if status.get("name") not in created]
            added = [{"name": entry, "resourceClaimName": name} for entry, name in created.items()]
            self.api.patch("Pod", pod.key, {"status": {"resourceClaimStatuses": [*others, *added]}})
            return
        if pod.node_name:
            self._reserve(pod)

    def _tell(self, pod: Pod, entry: Mapping[str, Any], problem: str) -> None:
        text = f"PodResourceClaim {entry['name']}: {problem}"
        self.api.recorder.add(EventRecorded("Pod", pod.key, "Warning", "FailedResourceClaimCreation", text))

    def _provide(self, pod: Pod, entry: Mapping[str, Any]) -> str | None:
        """Return the name of the claim made for an entry, "" if nothing is to do; None: there is no template."""
        template_name = entry.get("resourceClaimTemplateName")
        if template_name is None:
            return ""
        try:
            name, _ = claim_name(pod, entry)
        except ClaimsUnusable:
            name = ""
        if name is None:
            return ""
        held = self.api.get(CLAIM, f"{pod.namespace}/{name}") if name else None
        if held is not None and is_controlled_by(held, pod):
            return ""
        found = self._made_before(pod, entry["name"])
        if found is not None:
            return found.name
        template = self.api.get(TEMPLATE, f"{pod.namespace}/{template_name}")
        return None if template is None else self._create(pod, entry["name"], template)

    def _made_before(self, pod: Pod, entry: str) -> KubeObject | None:
        claims = self.api.list(CLAIM, pod.namespace)
        mine = (claim for claim in claims if is_controlled_by(claim, pod))
        return next((claim for claim in mine if claim.annotations.get(POD_CLAIM_NAME) == entry), None)

    def _create(self, pod: Pod, entry: str, template: KubeObject) -> str:
        """Create a claim from a template, and return its name. Raises ApiError."""
        metadata = template_metadata(template.spec)
        annotations = {**(metadata.get("annotations") or {}), POD_CLAIM_NAME: entry}
        names = {"name": self._new_name(pod, entry), "namespace": pod.namespace}
        manifest = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": CLAIM,
            "metadata": {**metadata, **names, "annotations": annotations, "ownerReferences": [owner_reference(pod)]},
            "spec": template.spec.get("spec") or {},
        }
        return self.api.create(set_defaults(manifest)).name

    def _new_name(self, pod: Pod, entry: str) -> str:
        """Return an unused name that begins with those of the pod and of the entry."""
        base = f"{pod.name}-{entry}-"
        if len(base) > LONGEST_BASE:
            share, whole = LONGEST_BASE, len(base)
            base = f"{pod.name[: len(pod.name) * share // whole]}-{entry[: len(entry) * share // whole]}"
        number = 0
        while True:
            name = base + suffix(f"{pod.uid}/{entry}/{number}")
            if self.api.get(CLAIM, f"{pod.namespace}/{name}") is None:
                return name
            number += 1

    def _reserve(self, pod: Pod) -> None:
        """Add a pod on a node to the users of its claims that have devices, if there is room."""
        for name in _names(pod):
            claim = self.api.get(CLAIM, f"{pod.namespace}/{name}")
            if not isinstance(claim, ResourceClaim) or claim.allocation is None or claim.reserved_for(pod.uid):
                continue
            if len(claim.consumers) < MOST_CONSUMERS:
                consumer = {"resource": "pods", "name": pod.name, "uid": pod.uid}
                self.api.patch(CLAIM, claim.key, {"status": {"reservedFor": [*claim.consumers, consumer]}})

    # --- claims ---

    def _sync_claim(self, key: str) -> None:
        """Remove users that are done, then devices that nobody uses, then a claim that was made for a pod."""
        claim = self.api.get(CLAIM, key)
        if not isinstance(claim, ResourceClaim):
            return
        users = [consumer for consumer in claim.consumers if self._is_used(claim, consumer)]
        finalizers = claim.metadata.get("finalizers") or []
        if len(users) < len(claim.consumers):
            frees = not users and FINALIZER in finalizers
            changes: dict[str, Any] = {"reservedFor": users or None}
            self.api.patch(CLAIM, key, {"status": changes | ({"allocation": None} if frees else {})})
            if frees:
                self._release(key, finalizers)
        elif FINALIZER in finalizers and claim.terminating and not users:
            if claim.allocation is not None:
                self.api.patch(CLAIM, key, {"status": {"allocation": None}})
            self._release(key, finalizers)
        if not users:
            self._delete_if_unused(key)

    def _is_used(self, claim: ResourceClaim, consumer: Mapping[str, Any]) -> bool:
        pod = self.api.pod(f"{claim.namespace}/{consumer['name']}")
        return pod is not None and pod.uid == consumer.get("uid") and not _is_done(pod)

    def _release(self, key: str, finalizers: list[str]) -> None:
        kept = [name for name in finalizers if name != FINALIZER]
        self.api.patch(CLAIM, key, {"metadata": {"finalizers": kept or None}})

    def _delete_if_unused(self, key: str) -> None:
        """Delete a claim whose pod has ended. If the pod is gone, the garbage collector does."""
        claim = self.api.get(CLAIM, key)
        owner = None if claim is None or claim.terminating else claim.controller_ref
        if claim is None or owner is None or owner.get("kind") != "Pod":
            return
        pod = self.api.pod(f"{claim.namespace}/{owner['name']}")
        if pod is not None and (pod.uid != owner.get("uid") or _is_done(pod)):
            self.api.delete(CLAIM, key)


def _entries(pod: Pod) -> list[dict[str, Any]]:
    return pod.spec.get("resourceClaims") or []


def _names(pod: Pod) -> list[str]:
    """Return the names of the claims that a pod has or waits for."""
    found = []
    for entry in _entries(pod):
        try:
            name, _ = claim_name(pod, entry)
        except ClaimsUnusable:
            continue
        if name:
            found.append(name)
    return found
