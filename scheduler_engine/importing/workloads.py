"""Workloads of a live cluster, kept from creating pods a second time, or replacing existing ones.

A sandbox's controller computes its own hashes, and dropped fields of templates can make two revisions equal: so the
cluster decides which revision is the present one. Source: upstream ``pkg/controller/{deployment,
daemon,statefulset,job}``.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.simulated import EARLIER
from scheduler_engine.apiserver.pod_index import REVISION_LABEL
from scheduler_engine.controllers.deployment_revisions import HASH_LABEL, REVISION
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.importing.draft import Draft, controller_of, is_a, owner_key

Manifest = dict[str, Any]

ENDED = ("Complete", "Failed")


def leave_out(draft: Draft) -> None:
    """Omit Jobs that are over, or would create finished pods again; and Deployments without what they own."""
    for key, job in list(draft.of("Job").items()):
        conditions = (job.get("status") or {}).get("conditions") or ()
        metadata = job["metadata"]
        if any(item.get("type") in ENDED and item.get("status") == "True" for item in conditions):
            draft.drop("Job", key, "jobs-done")
        elif (metadata["namespace"], metadata["name"]) in draft.done:
            draft.drop("Job", key, "jobs-half")
    owned = _sets(draft)
    for key, deployment in list(draft.of("Deployment").items()):
        # One that no cluster has stored yet should create its pods.
        if deployment["metadata"].get("uid") and not owned.get(key):
            draft.drop("Deployment", key, "deployment-alone")


def settle(draft: Draft) -> None:
    """Give every owner its revision from the cluster. This is the last change to templates."""
    owned = _sets(draft)
    for key, deployment in draft.of("Deployment").items():
        _settle_deployment(draft, deployment, owned.get(key, []))
    pods: dict[tuple[str, str], list[Manifest]] = {}
    for pod in draft.of("Pod").values():
        owner = controller_of(pod)
        if owner is not None:
            pods.setdefault((owner["kind"], owner_key(pod, owner)), []).append(pod)
    for kind in ("DaemonSet", "StatefulSet"):
        for key, owner in draft.of(kind).items():
            value = template_hash(set_defaults(owner)["spec"]["template"])
            revision = f"{owner['metadata']['name']}-{value}" if kind == "StatefulSet" else value
            for pod in pods.get((kind, key), ()):
                _relabel(draft, pod, revision)


def _relabel(draft: Draft, pod: Manifest, revision: str) -> None:
    labels = pod["metadata"].get("labels") or {}
    if labels.get(REVISION_LABEL) != revision:
        pod["metadata"] = {**pod["metadata"], "labels": {**labels, REVISION_LABEL: revision}}
        draft.notice_log.note("revisions", f"{pod['metadata']['namespace']}/{pod['metadata']['name']}")


def _sets(draft: Draft) -> dict[str, list[Manifest]]:
    """Return key of a Deployment → its ReplicaSets."""
    sets: dict[str, list[Manifest]] = {}
    for item in draft.of("ReplicaSet").values():
        owner = controller_of(item)
        deployment = draft.of("Deployment").get(owner_key(item, owner)) if owner is not None else None
        if owner is not None and deployment is not None and is_a(deployment, owner):
            sets.setdefault(owner_key(item, owner), []).append(item)
    return sets


def _settle_deployment(draft: Draft, deployment: Manifest, sets: list[Manifest]) -> None:
    if not sets:
        return
    current = _current(deployment, sets)
    for item in sets:
        if item is not current and not item["spec"].get("replicas"):
            metadata = item["metadata"]
            draft.drop("ReplicaSet", f"{metadata['namespace']}/{metadata['name']}", "old-sets")
        elif item is not current and _bare(item["spec"]["template"]) == _bare(deployment["spec"]["template"]):
            _mark(item)
    current["spec"] = {
        **current["spec"],
        "template": _with_hash(deployment["spec"]["template"], current["spec"]["template"]),
    }


def _current(deployment: Manifest, sets: list[Manifest]) -> Manifest:
    """Return the set with the revision noted in the Deployment, else with the highest revision."""
    noted = (deployment["metadata"].get("annotations") or {}).get(REVISION)
    return next((item for item in sets if _revision(item) == noted), None) or max(sets, key=_number)


def _revision(item: Manifest) -> str | None:
    text = (item["metadata"].get("annotations") or {}).get(REVISION)
    return None if text is None else str(text)


def _number(item: Manifest) -> int:
    text = _revision(item) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _bare(template: Manifest) -> Manifest:
    metadata = template.get("metadata") or {}
    labels = {name: text for name, text in (metadata.get("labels") or {}).items() if name != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _with_hash(template: Manifest, held: Manifest) -> Manifest:
    """Return the Deployment's template with the set's hash."""
    value = ((held.get("metadata") or {}).get("labels") or {}).get(HASH_LABEL)
    bare = _bare(template)
    if value is not None:
        bare["metadata"]["labels"][HASH_LABEL] = value
    return bare


def _mark(item: Manifest) -> None:
    template = item["spec"]["template"]
    metadata = template.get("metadata") or {}
    marked = {**(metadata.get("annotations") or {}), EARLIER: "true"}
    item["spec"] = {**item["spec"], "template": {**template, "metadata": {**metadata, "annotations": marked}}}
