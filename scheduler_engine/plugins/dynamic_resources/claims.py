"""The claims of a pod: finding them, and what keeps them from being used.

Source: upstream ``dynamic-resource-allocation/resourceclaim``, ``plugins/dynamicresources/{dra_manager,
allocateddevices}.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.devices import DeviceId, ResourceClaim, claim_of_entry, unusable
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.interface import ObjectReader
from scheduler_engine.records import record
from scheduler_engine.sharing import Table
from scheduler_engine.versions import Rules


@record(frozen=True, slots=True)
class ClaimProblem:
    """``kind``: ``not-created``, ``missing``, ``terminating``, ``foreign``, ``pending``, ``alternatives`` or
    ``no-class``. ``name``: the entry in the pod's spec, or the request; ``claim``: the ResourceClaim, "" if there is
    none; ``other``: the class.
    """

    kind: str
    name: str
    claim: str
    text: str
    other: str = ""


class ClaimsUnusable(Exception):
    """The pod cannot use one of its claims."""

    def __init__(self, problem: ClaimProblem) -> None:
        super().__init__(problem.text)
        self.problem = problem


def claim_name(pod: Pod, entry: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the name of the claim of an entry of the pod's spec, and whether it was made for the pod.

    None: the entry needs no claim. Raises ClaimsUnusable if the claim was not created yet.
    """
    name, own = claim_of_entry(pod, entry)
    if name == "":
        text = f'pod "{pod.key}": ResourceClaim not created yet'
        raise ClaimsUnusable(ClaimProblem("not-created", entry["name"], "", text))
    return name, own


def claims_of(pod: Pod, objects: ObjectReader, rules: Rules) -> Iterator[tuple[str, ResourceClaim]]:
    """Yield name of the entry and claim, in the order of the pod's spec. Raises ClaimsUnusable."""
    for entry in pod.spec.get("resourceClaims") or ():
        name, own = claim_name(pod, entry)
        if name is None:
            continue
        found = objects.get("ResourceClaim", f"{pod.namespace}/{name}")
        if not isinstance(found, ResourceClaim):
            text = f'could not find ResourceClaim "{pod.namespace}/{name}"'
            raise ClaimsUnusable(ClaimProblem("missing", entry["name"], f"{pod.namespace}/{name}", text))
        problem = unusable(found, pod, own)
        if problem:
            kind = "Pod" if rules.names_kind_of_claim_owner else "pod"
            text = f"ResourceClaim {found.key} was not created for {kind} {pod.key} ({kind} is not owner)"
            text = f'resourceclaim "{found.name}" is being deleted' if problem == "terminating" else text
            raise ClaimsUnusable(ClaimProblem(problem, entry["name"], found.key, text))
        yield entry["name"], found


def allocated_devices(objects: ObjectReader, pending: Mapping[str, KubeObject]) -> Table[DeviceId, None]:
    """Return the devices that claims have, or are about to get."""
    found: Table[DeviceId, None] = Table()
    for claim in (*objects.list("ResourceClaim"), *pending.values()):
        if isinstance(claim, ResourceClaim):
            found.update(dict.fromkeys(claim.exclusive_devices()))
    return found
