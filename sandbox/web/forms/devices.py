"""Manifests of devices from the values of forms, and back."""

from __future__ import annotations

from typing import Any

from sandbox.web.forms.manifests import Manifest, pairs, whole_number, without_empty
from sandbox.web.forms.members import Data, Row, Values, namespace_of, parts_of, row_of, text_of

API_VERSION = "resource.k8s.io/v1"
CLAIM_KINDS = ("ResourceClaimTemplate", "ResourceClaim")
BOOLEANS = {"true": True, "false": False}
TEXTS = ("string", "version")
"""Kinds of attributes whose text may look like that of another kind."""


def resource_slice(name: str, data: Values) -> Manifest:
    """Return a ResourceSlice: a pool of its own, named after its node."""
    pool = {"name": data["node"] or name, "generation": 1, "resourceSliceCount": 1}
    devices = [
        {
            "name": row["name"],
            "attributes": {key: _attribute(text) for key, text in pairs(row["attributes"]).items()},
            "capacity": {key: {"value": text} for key, text in pairs(row["capacity"]).items()},
        }
        for row in data["devices"]
    ]
    spec = {"driver": data["driver"], "nodeName": data["node"], "pool": pool, "devices": devices}
    return _manifest("ResourceSlice", {"name": name}, spec)


def _attribute(text: str) -> Manifest:
    """Return an attribute: a boolean or a whole number if the text is one, else a string."""
    if text in BOOLEANS:
        return {"bool": BOOLEANS[text]}
    value = whole_number(text)
    return {"int" if isinstance(value, int) else "string": value}


def with_kinds(devices: list[Manifest], existing: list[Data | None]) -> list[Manifest]:
    """Return devices whose attributes are strings or versions where they are in ``existing``.

    A device is that of its name; if there is none, the one at its place.
    """
    named = {device.get("name"): device for device in existing if device}
    at_place = dict(enumerate(existing))
    result = []
    for place, device in enumerate(devices):
        now = (named.get(device.get("name")) or at_place.get(place) or {}).get("attributes") or {}
        attributes = {
            name: _of_kind(value, now.get(name) or {}) for name, value in device.get("attributes", {}).items()
        }
        result.append(device | ({"attributes": attributes} if attributes else {}))
    return result


def _of_kind(attribute: Manifest, now: Data) -> Manifest:
    kind = next((kind for kind in TEXTS if kind in now), None)
    return attribute if kind is None else {kind: _value(attribute)}


def device_class(name: str, data: Values) -> Manifest:
    """Return a DeviceClass."""
    selectors = [_selector(row["expression"]) for row in data["expressions"]]
    return _manifest("DeviceClass", {"name": name}, {"selectors": selectors})


def device_claim(name: str, data: Values) -> Manifest:
    """Return a ResourceClaim, or a template of claims, by ``claim_kind`` in the form."""
    constraints = [{"matchAttribute": data["match_attribute"]}] if data["match_attribute"] else []
    spec = {"devices": {"requests": [_request(row) for row in data["requests"]], "constraints": constraints}}
    kind = data["claim_kind"]
    inside = {"spec": spec} if kind == "ResourceClaimTemplate" else spec
    return _manifest(kind, {"name": name, "namespace": data["namespace"]}, inside)


def _request(row: Row) -> Manifest:
    selectors = [_selector(row["expression"])] if row["expression"] else []
    wanted = {"deviceClassName": row["deviceClassName"], "selectors": selectors, "count": whole_number(row["count"])}
    return {"name": row["name"], "exactly": wanted}


def _selector(expression: str) -> Manifest:
    return {"cel": {"expression": expression}}


def _manifest(kind: str, metadata: Manifest, spec: Manifest) -> Manifest:
    manifest: Manifest = without_empty({"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec})
    return manifest | {"spec": manifest.get("spec", {})}


def slice_values(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    return {
        "name": text_of(metadata.get("name")),
        "driver": spec.get("driver") or "",
        "node": spec.get("nodeName") or "",
        "devices": [_device_row(device) for device in spec.get("devices") or ()],
    }


def _device_row(device: Data) -> Row:
    attributes = device.get("attributes") or {}
    capacity = device.get("capacity") or {}
    return {
        "name": text_of(device.get("name")),
        "attributes": ", ".join(f"{name}={_value(attribute)}" for name, attribute in attributes.items()),
        "capacity": ", ".join(f"{name}={text_of((amount or {}).get('value'))}" for name, amount in capacity.items()),
    }


def _value(attribute: Data | None) -> str:
    """Return the value of an attribute; "" if it has none, or a list."""
    value: Any = next((value for value in (attribute or {}).values() if isinstance(value, str | int)), "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def device_class_values(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    expressions = [{"expression": _expression(item)} for item in spec.get("selectors") or ()]
    return {"name": text_of(metadata.get("name")), "expressions": expressions}


def device_claim_values(manifest: Data) -> Values:
    metadata, spec, _ = parts_of(manifest)
    kind = str(manifest["kind"])
    inside = (spec.get("spec") or {}) if kind == "ResourceClaimTemplate" else spec
    devices = inside.get("devices") or {}
    constraints = devices.get("constraints") or ()
    return {
        "claim_kind": kind,
        "name": text_of(metadata.get("name")),
        **namespace_of(metadata),
        "requests": [_request_row(request) for request in devices.get("requests") or ()],
        "match_attribute": text_of(constraints[0].get("matchAttribute")) if constraints else "",
    }


def _request_row(request: Data) -> Row:
    """Return the row of a request. Only the name, if it lists alternatives; only the first of several expressions."""
    wanted = request.get("exactly") or {}
    selectors = wanted.get("selectors") or ()
    expression = _expression(selectors[0]) if selectors else ""
    return row_of(request, "name") | row_of(wanted, "deviceClassName", "count") | {"expression": expression}


def _expression(selector: Data) -> str:
    return text_of((selector.get("cel") or {}).get("expression"))
