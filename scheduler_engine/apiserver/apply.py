"""``kubectl apply``: the stored, the applied and the last applied manifest, merged.

Source: upstream ``kubectl apply`` (client side) and the update strategies of the registry. Lists are replaced whole. A
field that only holds the default for the last applied manifest is computed again, so that another ``strategy`` does not
inherit the parameters of the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.fields import without_unknown
from scheduler_engine.api.objects import KubeObject, Pod, merge
from scheduler_engine.apiserver.admission import admit
from scheduler_engine.apiserver.errors import bad_request
from scheduler_engine.apiserver.store import KEPT_METADATA, ApiServer, identity

Data = Mapping[str, Any]

KEPT_POD_SPEC = ("priority", "preemptionPolicy", "overhead", "nodeName")
NOT_CLEARED = ("nodeName", "overhead")
"""Fields of a pod's spec that admission does not set again in an update: clearing one is refused as a change."""
KEPT_STORAGE_SPEC = {"PersistentVolume": ("claimRef",), "PersistentVolumeClaim": ("volumeName", "storageClassName")}


def applied_over(api: ApiServer, manifest: Data) -> tuple[KubeObject, dict[str, Any]]:
    """Return the stored object, and the result of applying a manifest (as written).

    An object that was never applied before is replaced. Raises ApiError when there is none.
    """
    defaulted = set_defaults(manifest)
    live = api.existing(*identity(defaulted))
    last = api.applied.get(live.uid)
    if last is None:
        return desired(api, defaulted, cleared=cleared_in(live, manifest))
    merged = set_defaults(three_way(live.manifest, manifest, last.manifest))
    return desired(api, merged, cleared=cleared_in(live, merged, missing=True))


def patched(api: ApiServer, kind: str, key: str, changes: Data) -> tuple[KubeObject, dict[str, Any]]:
    """Return a stored object, and the result of a JSON merge patch on it, without new defaults.

    Stored fields that the version does not know are dropped, as when an API server reads them.
    Raises ApiError when the object does not exist, or would get another identity.
    """
    live = api.existing(kind, key)
    new = merge(without_unknown(live.manifest, kind, api.rules), changes)
    check_same(live, new)
    return live, new


def cleared_in(live: KubeObject, manifest: Data, missing: bool = False) -> tuple[str, ...]:
    """Return the ``NOT_CLEARED`` fields of a pod that ``manifest`` clears: null, "" or (``missing``) absent."""
    spec = manifest.get("spec")
    if not isinstance(live, Pod) or not isinstance(spec, Mapping):
        return ()
    held = [name for name in NOT_CLEARED if live.spec.get(name)]
    return tuple(name for name in held if (not spec.get(name) if missing else spec.get(name, ...) in (None, "")))


def check_same(live: KubeObject, new: Mapping[str, Any]) -> None:
    """Raises ApiError when kind, name or namespace of a manifest differ from the object it updates."""
    metadata = new.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    if new.get("kind") != live.kind:
        text = f'{new.get("kind", "")} in version "{new.get("apiVersion", "")}" cannot be handled as a {live.kind}'
        raise bad_request(text)
    for what, wanted in (("name", live.name), ("namespace", live.namespace)):
        value = metadata.get(what) or ""
        if value != wanted:
            where = "URL" if what == "name" else "request"
            raise bad_request(f"the {what} of the object ({value}) does not match the {what} on the {where} ({wanted})")


def three_way(live: Data, manifest: Data, last: Data) -> dict[str, Any]:
    """Set the present fields, remove fields that are no longer present, keep fields that others wrote.

    ``live`` is the stored object; the others are as written, without defaults. A status is taken unchanged.
    """
    stored = {name: value for name, value in live.items() if name != "status"}
    return _merged(stored, manifest, last, set_defaults(last))


def _merged(live: Data, applied: Data, last: Data, defaulted: Data) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in applied.items():
        held = live.get(name)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            result[name] = _merged(held, value, _part(last, name), _part(defaulted, name))
        else:
            result[name] = value
    for name, held in live.items():
        if name in applied or name in last or held == defaulted.get(name):
            continue
        if isinstance(held, Mapping) and isinstance(defaulted.get(name), Mapping):
            held = _merged(held, {}, {}, defaulted[name])
        result[name] = held
    return result


def _part(data: Data, name: str) -> Data:
    part = data.get(name)
    return part if isinstance(part, Mapping) else {}


def desired(
    api: ApiServer, manifest: Mapping[str, Any], subresource: str = "", cleared: Sequence[str] = ()
) -> tuple[KubeObject, dict[str, Any]]:
    """Return the stored object, and the result of an update with ``manifest``.

    It keeps identity, what admission and the scheduler set on a pod, the binding of a volume and its claim, and a
    missing status. Fields that the version does not know are dropped. ``cleared`` names fields of a pod's spec to drop;
    they become null. Raises ApiError when the object does not exist.
    """
    kind, key = identity(manifest)
    old = api.existing(kind, key)
    kept = {name: old.metadata.get(name) for name in KEPT_METADATA}
    new = merge(admit(dict(manifest), api, old, subresource), {"metadata": kept})
    if isinstance(old, Pod):
        held = {name: old.spec[name] for name in KEPT_POD_SPEC if name in old.spec}
        new["spec"] = {**held, **(new.get("spec") or {}), **dict.fromkeys(cleared)}
        new["status"] = merge(old.status, new.get("status") or {})
    elif kind in KEPT_STORAGE_SPEC:
        held = {name: old.spec[name] for name in KEPT_STORAGE_SPEC[kind] if name in old.spec}
        new = merge({"metadata": {"annotations": old.annotations}, "spec": held}, new)
        new["status"] = old.status
    elif old.status and not new.get("status"):
        new["status"] = old.status
    elif kind == "Node" and old.status.get("conditions"):
        new["status"] = {"conditions": old.status["conditions"], **new["status"]}
    return old, without_unknown(new, kind, api.rules)
