"""The feature gates that rules depend on, with their default in each version.

Source: upstream ``pkg/features/kube_features.go`` and ``component-base/featuregate/feature_gate.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_engine.errors import Rejected
from scheduler_engine.records import record
from scheduler_engine.versions.names import column

ABSENT, OFF, ON, LOCKED = "absent", "off", "on", "locked"
"""A gate does not exist in a version (or changes nothing there that the engine does), is off or on by default, or is on
for good.
"""


@record(frozen=True, slots=True)
class Gate:
    """``defaults``: one of the four words per version."""

    name: str
    defaults: tuple[str, ...]


GATES: dict[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate("ClearingNominatedNodeNameAfterBinding", (OFF, ON, ON)),
        Gate("DRADeviceBindingConditions", (ABSENT, OFF, ON)),
        Gate("DRAExtendedResource", (ABSENT, OFF, ON)),
        Gate("NodeDeclaredFeatures", (ABSENT, OFF, ON)),
        Gate("NominatedNodeNameForExpectation", (OFF, ON, ON)),
        Gate("OpportunisticBatching", (ABSENT, ON, ON)),
        Gate("PodTopologyLabelsAdmission", (OFF, ON, ON)),
        Gate("SchedulerQueueingHints", (LOCKED, LOCKED, LOCKED)),
    )
}


def default_of(name: str, kubernetes: str) -> bool:
    return GATES[name].defaults[column(kubernetes)] in (ON, LOCKED)


def checked(kubernetes: str, feature_gates: Mapping[str, bool]) -> dict[str, bool]:
    """Return the gates that differ from their default, by name. Raises Rejected with Kubernetes' words for a gate that
    the version or the engine does not have, and for one that is locked.
    """
    changed: dict[str, bool] = {}
    for name in sorted(feature_gates):
        gate, wanted = GATES.get(name), feature_gates[name]
        default = gate.defaults[column(kubernetes)] if gate is not None else ABSENT
        if default == ABSENT:
            raise Rejected(f"unrecognized feature gate: {name}")
        if default == LOCKED and not wanted:
            raise Rejected(f"cannot set feature gate {name} to false, feature is locked to true")
        if wanted != (default != OFF):
            changed[name] = wanted
    return changed
