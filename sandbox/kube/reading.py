"""Answer a request that reads: discovery, one object, or a list, as JSON or as a table.

Source: upstream ``apiserver/pkg/endpoints`` (paths, lists, tables).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.kube import revisions, tables
from sandbox.kube.history import MOST_BEHIND, objects_at, objects_of
from sandbox.kube.list_options import Part, check_list, check_reached, part_of, token_after
from sandbox.kube.resources import RESOURCES, Resource
from sandbox.kube.scales import SCALABLE, scale_of
from sandbox.kube.selecting import Keeps, by_fields, by_labels
from sandbox.kube.statuses import Refused, no_resource, not_allowed, not_found
from sandbox.kube.versions import LONGEST, Versions
from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.world import World
from scheduler_engine.versions import Rules

AS_TABLE = "as=Table"
TRUE = ("1", "t", "true")
NO_CONTAINERS = "a sandbox runs no containers, so they have no logs and nothing can be executed in them"
RUNNING = ("log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers")
"""Subresources of pods that need a real container."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that reads. ``path``: below the address of the API server. ``accept``: the header."""

    path: str
    query: Mapping[str, str]
    accept: str

    def number(self, name: str) -> int:
        """Return a whole number of the query, 0 if it is not there. Raises ``Refused``."""
        text = self.query.get(name, "")
        if text and not (text.isascii() and text.isdigit() and len(text) <= LONGEST):
            raise Refused(400, f'strconv.ParseInt: parsing "{text}": invalid syntax')
        return int(text or 0)


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names. ``namespace`` "": all namespaces, or none; ``name`` "": a list."""

    resource: Resource
    namespace: str
    name: str
    subresource: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def target(path: str) -> Target:
    """Return what a path names. Raises ``Refused``."""
    match path.strip("/").split("/"):
        case ["api", version, *rest]:
            group = ""
        case ["apis", group, version, *rest]:
            pass
        case _:
            raise no_resource()
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        _, namespace, *rest = rest
    plural, name, subresource = (*rest, "", "", "")[:3]
    resource = RESOURCES.get((group, version, plural))
    if resource is None or len(rest) > 3 or (namespace and not resource.namespaced):
        raise no_resource()
    if name and resource.namespaced and not namespace:
        raise no_resource()
    return Target(resource, namespace, name, subresource)


def answer(world: World, request: Request, turns: str = "") -> dict[str, Any]:
    """Return the document that answers a request. ``turns``: as ``models.Sandbox.turns``. Raises ``Refused``."""
    wanted = target(request.path)
    versions = (Versions.of_trace if wanted.resource.kind == "Event" else Versions.of_objects)(world, turns)
    return versions.document(_document(world, request, wanted, versions))


def _document(world: World, request: Request, wanted: Target, versions: Versions) -> dict[str, Any]:
    if request.query.get("watch", "").lower() in TRUE:
        raise not_allowed()  # ``watching`` answers those.
    if not wanted.name:
        return _list(world, request, wanted, versions)
    check_reached(request.number("resourceVersion"), versions)
    manifest = objects_of(world, wanted.resource).get(wanted.key)
    if manifest is None:
        raise not_found(wanted.resource.plural, wanted.resource.group, wanted.name)
    shown = _subresource(wanted, manifest) if wanted.subresource else {**manifest}
    if AS_TABLE in request.accept:
        return {"metadata": {}, **_table(world, request, shown["kind"], [shown])}
    return shown


def _subresource(wanted: Target, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as its subresource shows it. Raises ``Refused``."""
    if wanted.subresource == "scale" and wanted.resource.kind in SCALABLE:
        return scale_of(manifest)
    if wanted.subresource == "status" or (wanted.subresource == "resize" and wanted.resource.kind == "Pod"):
        return {**manifest}
    raise Refused(400, NO_CONTAINERS) if wanted.subresource in RUNNING else no_resource()


def selected(wanted: Target, query: Mapping[str, str], rules: Rules) -> Keeps:
    """Return a function that says if a list has a manifest: by namespace and selectors. Raises ``Refused``."""
    labels = by_labels(query.get("labelSelector", ""), rules)
    fields = by_fields(wanted.resource.kind, query.get("fieldSelector", ""))

    def keeps(manifest: Mapping[str, Any]) -> bool:
        inside = not wanted.namespace or manifest["metadata"].get("namespace") == wanted.namespace
        return inside and labels(manifest) and fields(manifest)

    return keeps


def _list(world: World, request: Request, wanted: Target, versions: Versions) -> dict[str, Any]:
    resource, query = wanted.resource, request.query
    check_list(query)
    keeps, limit = selected(wanted, query, rules_in(world.configured)), request.number("limit")
    number = request.number("resourceVersion")
    part = part_of(query, number, limit)
    check_reached(part.version or number, versions)
    shown_version = versions.here if part.version is None else part.version
    objects = _objects_of_part(world, resource, part, versions)
    found = sorted((key, manifest) for key, manifest in objects.items() if key >= part.start and keeps(manifest))
    # As in Kubernetes, who takes any version gets everything.
    shown = found[:limit] if limit and query.get("resourceVersion") != "0" else found
    metadata: dict[str, Any] = {"resourceVersion": str(shown_version)}
    if len(shown) < len(found):
        metadata["continue"] = token_after(shown[-1][0], shown_version)
        if not (query.get("labelSelector") or query.get("fieldSelector")):
            metadata["remainingItemCount"] = len(found) - len(shown)
    manifests = [manifest for _, manifest in shown]
    if AS_TABLE in request.accept:
        return {"metadata": metadata, **_table(world, request, resource.kind, manifests)}
    return {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": manifests,
    }


def _table(world: World, request: Request, kind: str, manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    include = request.query.get("includeObject", "Metadata")
    return tables.table(kind, manifests, world.clock_us, include)


def _objects_of_part(world: World, resource: Resource, part: Part, versions: Versions) -> Mapping[str, Any]:
    """Return the objects of which a list shows a part. Raises ``Refused`` if nobody knows them any longer."""
    version = versions.now if part.version is None else versions.known(part.version)
    if version == versions.now:
        return objects_of(world, resource)
    if version is None or versions.now - version > MOST_BEHIND or resource.kind == revisions.KIND:
        raise Refused(410, part.too_old)
    return objects_at(world, resource, version)
