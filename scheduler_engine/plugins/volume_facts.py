"""Facts shared by the volume plugins: the state of a claim, and why a pod was refused before Filter."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.noted_objects import ObjectGetter
from scheduler_engine.framework.status import unresolvable
from scheduler_engine.plugins.volume_references import ClaimProblem, fully_bound, storage_class_of


def refused_early(pod: Pod, problem: object, objects: ObjectGetter, names: Iterable[str]) -> Facts:
    """Explain an early refusal. ``names``: the pod's claims in the order checked, which ended at the faulty one.

    Raises:
        PluginError: ``problem`` is not a ``ClaimProblem``, so the pod was not refused.
    """
    if not isinstance(problem, ClaimProblem):
        raise PluginError("the pod was not refused")
    checked: dict[str, None] = {}
    for name in names:
        checked[name] = None
        if name == problem.claim:
            break
    shown = tuple(claim_fact(name, objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")) for name in checked)
    says = fact(f"volumes.{problem.row}", False, pod=Keys((pod.key,)), claim=problem.claim or '""', other=problem.other)
    return Facts(says, shown, unresolvable(problem.text))


def claim_fact(name: str, claim: KubeObject | None) -> Fact:
    """Return the state of a claim."""
    if claim is None:
        return fact("volumes.claim-missing", False, claim=name)
    volume, class_name = claim.spec.get("volumeName") or "", storage_class_of(claim)
    if claim.status.get("phase") == "Lost":
        row = "claim-lost"
    elif claim.terminating:
        row = "claim-deleted"
    elif fully_bound(claim):
        row = "claim-bound"
    elif volume:
        row = "claim-half-bound"
    else:
        row = "claim-unbound" if class_name else "claim-unbound-without-class"
    return fact(f"volumes.{row}", claim=name, volume=volume, name=class_name)
