"""Label and field selectors as texts. Source: upstream ``apimachinery/pkg/fields``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.kube.events import source_of
from sandbox.kube.statuses import Refused
from scheduler_engine.api.validation.selector_text import NotASelector, parse_selector
from scheduler_engine.versions import Rules

FIELD = re.compile(r"(?P<path>[A-Za-z.]+)(?P<operator>==|=|!=)(?P<value>[^,]*)")

EVERYWHERE = ("metadata.name", "metadata.namespace")
SELECTABLE: dict[str, tuple[str, ...]] = {
    "Event": (
        *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion", "fieldPath")),
        *("involvedObject.resourceVersion", "reason", "reportingComponent", "source", "type"),
        *(f"regarding.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion", "fieldPath")),
        *("regarding.resourceVersion", "reportingController"),
    ),
    "Job": ("status.successful",),
    "Namespace": ("status.phase",),
    "Node": ("spec.unschedulable",),
    "Pod": (
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork"),
        *("status.phase", "status.podIP", "status.nominatedNodeName"),
    ),
    "ReplicationController": ("status.replicas",),
    "ReplicaSet": ("status.replicas",),
    "Service": ("spec.clusterIP", "spec.type"),
}
"""Kind → fields that can be selected, beside those of all kinds. Source: upstream ``pkg/apis/*/v1/conversion.go``."""

Keeps = Callable[[Mapping[str, Any]], bool]


def by_labels(text: str, rules: Rules) -> Keeps:
    """Return a function that says if a manifest has the labels of a selector. Raises ``Refused``."""
    try:
        selector = parse_selector(text, rules)
    except NotASelector as problem:
        raise Refused(400, str(problem)) from problem
    return lambda manifest: selector.matches((manifest.get("metadata") or {}).get("labels") or {})


def by_fields(kind: str, text: str) -> Keeps:
    """Return a function that says if a manifest has the values of a field selector. Raises ``Refused``."""
    known, wanted = (*EVERYWHERE, *SELECTABLE.get(kind, ())), []
    for part in filter(None, text.split(",")):
        found = FIELD.fullmatch(part)
        if found is None:
            raise Refused(400, f'invalid selector: "{text}"; can\'t understand "{part}"')
        if found["path"] not in known:
            raise Refused(400, f"field label not supported: {found['path']}")
        wanted.append((found["path"].split("."), found["operator"] != "!=", found["value"]))

    def keeps(manifest: Mapping[str, Any]) -> bool:
        return all((_value(manifest, path) == value) == equal for path, equal, value in wanted)

    return keeps


def _value(manifest: Mapping[str, Any], path: list[str]) -> str:
    """Return the value at a path as text, "" if there is none. The source of an event is its component."""
    if path == ["source"]:
        return source_of(manifest)
    if path[-1] in ("unschedulable", "hostNetwork"):
        return str(bool((manifest.get("spec") or {}).get(path[-1]))).lower()
    value: Any = manifest
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int) else ""
