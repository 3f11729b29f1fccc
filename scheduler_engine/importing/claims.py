"""Claims for devices in an import: who uses them, and what of the devices matters.

Claims name pods by uid, and pods get new ones. So a pod uses the claim that was made for it by name, and the resource
claim controller enters the pods again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_engine.importing.draft import Draft, controller_of

Manifest = dict[str, Any]


def settle(draft: Draft) -> None:
    """Let pods use their own claims by name, leave out claims of pods that are not here, and drop idle attributes."""
    for key, pod in draft.of("Pod").items():
        if pod["spec"].get("resourceClaims"):
            _use_by_name(draft, key, pod)
    pods = draft.of("Pod")
    for key, claim in list(draft.of("ResourceClaim").items()):
        owner = controller_of(claim)
        if owner is not None and owner.get("kind") == "Pod":
            if f"{claim['metadata'].get('namespace')}/{owner.get('name')}" not in pods:
                draft.drop("ResourceClaim", key, "device-claim-alone")
                continue
            owners = [item for item in claim["metadata"]["ownerReferences"] if item is not owner]
            claim["metadata"] = {**claim["metadata"], "ownerReferences": owners}
    _drop_idle_attributes(draft)


def _use_by_name(draft: Draft, key: str, pod: Manifest) -> None:
    status = pod.get("status") or {}
    made = {item["name"]: item.get("resourceClaimName") for item in status.get("resourceClaimStatuses") or ()}
    entries = []
    for entry in pod["spec"]["resourceClaims"]:
        name = made.get(entry["name"]) if entry.get("resourceClaimTemplateName") else None
        if name and f"{pod['metadata']['namespace']}/{name}" in draft.of("ResourceClaim"):
            entry = {"name": entry["name"], "resourceClaimName": name}
            draft.notice_log.note("device-claim", key)
        entries.append(entry)
    pod["spec"] = {**pod["spec"], "resourceClaims": entries}
    pod["status"] = {name: held for name, held in status.items() if name != "resourceClaimStatuses"}


def _drop_idle_attributes(draft: Draft) -> None:
    """Keep the attributes and capacities of devices that an expression or a constraint names: others decide nothing,
    and may identify hardware.
    """
    texts = "\n".join(_deciding_texts(draft))
    for item in draft.of("ResourceSlice").values():
        devices = item["spec"].get("devices") or ()
        item["spec"] = {**item["spec"], "devices": [_without_idle(device, texts) for device in devices]}


def _without_idle(device: Manifest, texts: str) -> Manifest:
    result = dict(device)
    for field in ("attributes", "capacity"):
        held = device.get(field)
        if held:
            result[field] = {name: value for name, value in held.items() if name.rpartition("/")[2] in texts}
    return result


def _deciding_texts(draft: Draft) -> Iterator[str]:
    """Yield all expressions, and all names of attributes that must be equal."""
    for device_class in draft.of("DeviceClass").values():
        yield from _expressions(device_class.get("spec") or {})
    specs = [item["spec"] for item in draft.of("ResourceClaim").values()]
    specs += [item["spec"].get("spec") or {} for item in draft.of("ResourceClaimTemplate").values()]
    for spec in specs:
        devices = spec.get("devices") or {}
        yield from (item.get("matchAttribute") or "" for item in devices.get("constraints") or ())
        for request in devices.get("requests") or ():
            for wanted in (request.get("exactly") or {}, *(request.get("firstAvailable") or ())):
                yield from _expressions(wanted)


def _expressions(owner: Manifest) -> Iterator[str]:
    for selector in owner.get("selectors") or ():
        yield (selector.get("cel") or {}).get("expression") or ""
