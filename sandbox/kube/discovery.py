"""Discovery: which groups, versions and resources there are, and the version of Kubernetes.

Source: upstream ``apiserver/pkg/endpoints/discovery``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox.kube import openapi
from sandbox.kube.resources import GROUPS, ONLY_READ, READS, RESOURCES, REVIEWS, WRITES, Resource
from sandbox.kube.scales import SCALABLE
from sandbox.kube.statuses import no_resource

FIRST = ("version", "api", "apis", "openapi")
"""First parts of the paths of its documents, which others have in common."""


BINDING = {"namespaced": True, "kind": "Binding", "verbs": ["create"]}


def document(parts: Sequence[str], kubernetes: str) -> dict[str, Any] | None:
    """Return the document at a path, None if it is not one of discovery. ``kubernetes``: the version, as ``v1.34.1``.

    Raises ``Refused`` for a group or version that does not exist.
    """
    match [*parts]:
        case ["openapi", "v3", *rest]:
            return openapi.document(rest, kubernetes)
        case ["version"]:
            return _version(kubernetes)
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in GROUPS if name]}
        case ["api", "v1"]:
            return _resources("", "v1")
        case ["apis", group]:
            if group not in GROUPS or not group:
                raise no_resource()
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)}
        case ["apis", group, version]:
            if version not in GROUPS.get(group, ()):
                raise no_resource()
            return _resources(group, version)
    return None


def _version(kubernetes: str) -> dict[str, Any]:
    major, minor, *_ = kubernetes.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": kubernetes,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "scheduler-sandbox",
    }


def _group(name: str) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in GROUPS[name]]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str) -> dict[str, Any]:
    rows = [row for (name, of, _), row in RESOURCES.items() if (name, of) == (group, version)]
    listed = [row for resource in rows for row in (_row(resource), *_subresources(resource))]
    if (group, version) == ("", "v1"):
        listed.append({"name": "bindings", "singularName": "binding", **BINDING})
    listed += [_review(kind) for name, kind in REVIEWS if name == group]
    title = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": title, "resources": listed}


def _review(kind: str) -> dict[str, Any]:
    name = kind.lower()
    return {"name": f"{name}s", "singularName": name, "namespaced": False, "kind": kind, "verbs": ["create"]}


def _subresources(resource: Resource) -> Iterator[dict[str, Any]]:
    if resource.kind in ONLY_READ:
        return
    common = {"singularName": "", "namespaced": resource.namespaced}
    yield {"name": f"{resource.plural}/status", **common, "kind": resource.kind, "verbs": ["get", "patch", "update"]}
    if resource.kind in SCALABLE:
        scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
        yield {"name": f"{resource.plural}/scale", **common, **scale, "verbs": ["get", "patch", "update"]}
    if resource.kind == "Pod":
        yield {"name": "pods/binding", "singularName": "", **BINDING}
        eviction = {"group": "policy", "version": "v1", "kind": "Eviction"}
        yield {"name": "pods/eviction", **common, **eviction, "verbs": ["create"]}
        yield {"name": "pods/resize", **common, "kind": "Pod", "verbs": ["get", "patch", "update"]}


def _row(resource: Resource) -> dict[str, Any]:
    return {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": [*ONLY_READ.get(resource.kind, (*READS, *WRITES))],
        **({"shortNames": [*resource.short]} if resource.short else {}),
        **({"categories": [*resource.categories]} if resource.categories else {}),
    }
