"""The values of a form for a manifest: the inverse of ``manifests``, without fields that a form cannot show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from sandbox.web.forms.devices import CLAIM_KINDS, device_claim_values, device_class_values, slice_values
from sandbox.web.forms.manifests import IMAGE, RULES, WORKLOADS
from sandbox.web.forms.members import Data, Row, Values, namespace_of, pairs_text, parts_of, row_of, text_of
from sandbox.web.forms.rows import Rows, too_many
from scheduler_engine.api.fields import well_typed
from scheduler_engine.api.simulated import IMAGEFS
from scheduler_engine.api.topology import HOSTNAME, REGION, ZONE

COMPUTE = ("cpu", "memory")


def as_data(form: type[forms.Form], values: Values) -> QueryDict:
    """Return the data that a browser sends for these values. A field for a number is empty if its text is not one."""
    data = QueryDict(mutable=True)
    for name, value in values.items():
        field = form.base_fields[name]
        if isinstance(field, Rows):
            for column, texts in field.shape.sent(value).items():
                data.setlist(column, texts)
        elif not isinstance(field, forms.BooleanField):
            data[name] = value if not isinstance(field, forms.IntegerField) or _is_whole(field, value) else ""
        elif value:
            data[name] = "1"
    return data


def _is_whole(field: forms.IntegerField, value: Any) -> bool:
    try:
        field.clean(value)
    except forms.ValidationError:
        return False
    return True


def values_of(manifest: Data) -> Values:
    """Return the values of the form for a manifest, without values of a wrong type.

    A number that is too large and an invalid quantity are included: they may come from the form, where a person can
    correct them.
    """
    kind = manifest["kind"]
    return READERS[kind][1](_without_nulls(well_typed(manifest, kind, loose=True)))


def fits_form(manifest: Data) -> bool:
    """Return True if the form for the kind of a manifest can show all of its rows."""
    return not too_many(row for rows in values_of(manifest).values() if isinstance(rows, list) for row in rows)


def _without_nulls(value: Any) -> Any:
    """Replace items of a wrong type, which are None here: by {} among mappings; remove them among texts."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    mappings = any(isinstance(item, Mapping) for item in value)
    return [_without_nulls({} if item is None else item) for item in value if mappings or item is not None]


def node(manifest: Data) -> Values:
    metadata, spec, status = parts_of(manifest)
    labels = dict(metadata.get("labels") or {})
    capacity = {**(status.get("capacity") or {}), **(status.get("allocatable") or {})}
    if HOSTNAME in labels and labels[HOSTNAME] == metadata.get("name"):
        del labels[HOSTNAME]
    return {
        "name": text_of(metadata.get("name")),
        "zone": labels.pop(ZONE, ""),
        "region": labels.pop(REGION, ""),
        **{resource: text_of(capacity.pop(resource, "")) for resource in ("cpu", "memory", "pods")},
        "extended": pairs_text(capacity),
        "imagefs": text_of((metadata.get("annotations") or {}).get(IMAGEFS)),
        "labels": pairs_text(labels),
        "taints": [row_of(taint, "key", "value", "effect") for taint in spec.get("taints") or ()],
        "unschedulable": bool(spec.get("unschedulable")),
    }


def pod(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    return {"name": text_of(metadata.get("name")), **namespace_of(metadata), **_pod_fields(metadata, spec)}


def workload(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    template = spec.get("template") or {}
    inner = template.get("metadata") or {}
    counts = {name: text_of(spec[name]) for name in ("replicas", "completions", "parallelism") if name in spec}
    return {
        "workload": str(manifest.get("kind")),
        "name": text_of(metadata.get("name")),
        **counts,
        **_pod_fields(inner, template.get("spec") or {}),
        **namespace_of(metadata),
    }


def priority_class(manifest: Data) -> Values:
    return {
        "name": text_of((manifest.get("metadata") or {}).get("name")),
        "value": text_of(manifest.get("value")),
        "preemption_policy": manifest.get("preemptionPolicy") or "",
        "description": manifest.get("description") or "",
        "global_default": bool(manifest.get("globalDefault")),
    }


def budget(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    return {
        "name": text_of(metadata.get("name")),
        **namespace_of(metadata),
        "min_available": text_of(spec.get("minAvailable")),
        "max_unavailable": text_of(spec.get("maxUnavailable")),
        "selector": pairs_text((spec.get("selector") or {}).get("matchLabels") or {}),
    }


def claim(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    modes = spec.get("accessModes") or ()
    requests = (spec.get("resources") or {}).get("requests") or {}
    return {
        "name": text_of(metadata.get("name")),
        **namespace_of(metadata),
        "storage": text_of(requests.get("storage")),
        "access_mode": modes[0] if modes else "",
        "storage_class": spec.get("storageClassName") or "",
        "volume": spec.get("volumeName") or "",
    }


READERS: dict[str, tuple[str, Callable[[Data], Values]]] = {
    "Node": ("node", node),
    "Pod": ("pod", pod),
    **dict.fromkeys(WORKLOADS, ("workload", workload)),
    "PriorityClass": ("priority-class", priority_class),
    "PodDisruptionBudget": ("budget", budget),
    "PersistentVolumeClaim": ("claim", claim),
    "ResourceSlice": ("devices", slice_values),
    "DeviceClass": ("device-class", device_class_values),
    **dict.fromkeys(CLAIM_KINDS, ("device-claim", device_claim_values)),
}
"""Kind → the name of its form, and the function that returns the form's values."""


def _pod_fields(metadata: Data, spec: Data) -> Values:
    labels = metadata.get("labels") or {}
    container: Data = next(iter(spec.get("containers") or ()), {})
    resources = container.get("resources") or {}
    requests = resources.get("requests") or {}
    limits = {name: amount for name, amount in (resources.get("limits") or {}).items() if name not in COMPUTE}
    affinity = spec.get("affinity") or {}
    ports = [port["hostPort"] for port in container.get("ports") or () if port.get("hostPort")]
    claims = (volume.get("persistentVolumeClaim") or {} for volume in spec.get("volumes") or ())
    return {
        "labels": pairs_text(labels),
        **{name: text_of(requests.get(name)) for name in COMPUTE},
        "extended": pairs_text(limits),
        "priority": text_of(spec.get("priority")),
        "priority_class": spec.get("priorityClassName") or "",
        "node_selector": pairs_text(spec.get("nodeSelector") or {}),
        "tolerations": [_toleration(item) for item in spec.get("tolerations") or ()],
        "spread": [_spread(item, labels) for item in spec.get("topologySpreadConstraints") or ()],
        "node_affinity": [*_node_terms(affinity.get("nodeAffinity") or {})],
        "pod_affinity": [
            row
            for kind in ("podAffinity", "podAntiAffinity")
            for row in _pod_terms(kind, affinity.get(kind) or {}, labels)
        ],
        "image": "" if container.get("image") == IMAGE else container.get("image") or "",
        "host_port": text_of(ports[0]) if ports else "",
        "gates": ", ".join(gate["name"] for gate in spec.get("schedulingGates") or () if gate.get("name")),
        "claims": ", ".join(one["claimName"] for one in claims if one.get("claimName")),
        "device_claims": [
            row_of(entry, "name", "resourceClaimName", "resourceClaimTemplateName")
            for entry in spec.get("resourceClaims") or ()
        ],
    }


def _toleration(item: Data) -> Row:
    return {"operator": "Equal"} | row_of(
        item, "key", "operator", "value", "effect", "tolerationSeconds", empty="operator"
    )


def _spread(item: Data, labels: Data) -> Row:
    """Return the row of a constraint. A selector of the pod's own labels is shown as an empty one."""
    selected = (item.get("labelSelector") or {}).get("matchLabels") or {}
    return row_of(
        item, "topologyKey", "whenUnsatisfiable", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"
    ) | {
        "labelSelector": "" if selected == labels else pairs_text(selected),
        "matchLabelKeys": ", ".join(item.get("matchLabelKeys") or ()),
    }


def _node_terms(affinity: Data) -> Iterable[Row]:
    required = (affinity.get(RULES["required"]) or {}).get("nodeSelectorTerms") or ()
    for term in required:
        yield {"rule": "required", "weight": "1", "rows": _expressions(term)}
    for entry in affinity.get(RULES["preferred"]) or ():
        term = entry.get("preference") or {}
        yield {"rule": "preferred", "weight": text_of(entry.get("weight")), "rows": _expressions(term)}


def _pod_terms(kind: str, affinity: Data, labels: Data) -> Iterable[Row]:
    for term in affinity.get(RULES["required"]) or ():
        yield _pod_term(kind, "required", "1", term, labels)
    for entry in affinity.get(RULES["preferred"]) or ():
        yield _pod_term(kind, "preferred", text_of(entry.get("weight")), entry.get("podAffinityTerm") or {}, labels)


def _pod_term(kind: str, rule: str, weight: str, term: Data, labels: Data) -> Row:
    selector = term.get("labelSelector") or {}
    selected = selector.get("matchLabels") or {}
    own = selected == labels and not selector.get("matchExpressions")
    named = [] if own else [{"key": key, "operator": "In", "values": text_of(value)} for key, value in selected.items()]
    return {
        "kind": kind,
        "rule": rule,
        "weight": weight,
        "topologyKey": term.get("topologyKey") or "",
        **{name: ", ".join(term.get(name) or ()) for name in ("namespaces", "matchLabelKeys", "mismatchLabelKeys")},
        "rows": named + _expressions(selector),
    }


def _expressions(owner: Data) -> list[Row]:
    return [
        {**row_of(item, "key", "operator"), "values": ", ".join(map(text_of, item.get("values") or ()))}
        for item in owner.get("matchExpressions") or ()
    ]
