"""DynamicResources without claims: its verdicts and when they come."""

from __future__ import annotations

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, NodeToStatus, PluginError
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.dynamic_resources import DynamicResources
from scheduler_engine.testing import Builder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, pod_of

PLAIN = pod_of(make_pod("p"))
CLAIMING = pod_of(make_pod("p").spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu-1"}]))


def plugin() -> DynamicResources:
    return DynamicResources({}, World().handle)


def statuses() -> NodeToStatus:
    return NodeToStatus(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE))


def test_a_pod_without_claims_is_skipped_and_has_nothing_to_deallocate() -> None:
    state = CycleState()
    _, status = plugin().pre_filter(state, PLAIN, [])
    assert status is not None
    assert status.is_skip
    assert plugin().post_filter(state, PLAIN, statuses()) == (
        None,
        Status(Code.UNSCHEDULABLE, ("no new claims to deallocate",)),
    )


def test_postfilter_fails_when_prefilter_did_not_finish() -> None:
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin().post_filter(CycleState(), PLAIN, statuses())


def test_filter_and_reserve_fail_even_for_a_pod_without_claims_when_prefilter_is_switched_off() -> None:
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin().filter(CycleState(), PLAIN, node_info(make_node("n")))
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin().reserve(CycleState(), PLAIN, "n")


def test_a_pod_with_claims_is_plainly_rejected_and_not_held_back() -> None:
    assert plugin().pre_enqueue(CLAIMING) is None
    _, status = plugin().pre_filter(CycleState(), CLAIMING, [])
    assert status is not None
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.message == "pod has resource claims, which this scheduler does not simulate"


def test_events() -> None:
    assert events_of(plugin()) == {
        "Node/ADD, UPDATE_NODE_ALLOCATABLE, UPDATE_NODE_LABEL": False,
        "resource.k8s.io/ResourceClaim/ADD, UPDATE": True,
        "Pod/UPDATE_POD_GENERATED_RESOURCE_CLAIM": True,
        "resource.k8s.io/DeviceClass/ADD, UPDATE": False,
        "resource.k8s.io/ResourceSlice/ADD, UPDATE": False,
    }


def resource_claim(allocated: bool) -> KubeObject:
    builder = Builder("resource.k8s.io/v1", "ResourceClaim", "gpu-1", "default")
    return KubeObject(builder.status(**({"allocation": {}} if allocated else {})).obj())


HINTS: dict[str, tuple[str, KubeObject | None, KubeObject, Hint]] = {
    "A claim is deallocated": (
        "resource.k8s.io/ResourceClaim",
        resource_claim(True),
        resource_claim(False),
        Hint.QUEUE,
    ),
    "A claim is allocated": ("resource.k8s.io/ResourceClaim", resource_claim(False), resource_claim(True), Hint.SKIP),
    "A claim is created": ("resource.k8s.io/ResourceClaim", None, resource_claim(False), Hint.SKIP),
    "The pod's claims are generated": ("Pod", PLAIN, PLAIN, Hint.QUEUE),
    "Another pod's claims are generated": ("Pod", PLAIN, pod_of(make_pod("q")), Hint.SKIP),
}


@pytest.mark.parametrize(("resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(resource: str, old: KubeObject | None, new: KubeObject, expected: Hint) -> None:
    assert hint_of(plugin(), resource, PLAIN, old, new) is expected
