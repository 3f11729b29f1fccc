"""DynamicResources: verdicts, devices, what it writes, and when a pod is tried again."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import wording
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.device_pools import indexed
from scheduler_engine.api.devices import ResourceClaim
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.scheme import view
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, NodeToStatus, PluginError
from scheduler_engine.framework.state_text import state_text
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.dynamic_resources import DynamicResources, ScoringDynamicResources, allocator
from scheduler_engine.plugins.dynamic_resources.allocator import MOST_STEPS
from scheduler_engine.plugins.dynamic_resources.plugin import DEALLOCATED, NOT_AVAILABLE, NOT_ENOUGH, TIMED_OUT
from scheduler_engine.sharing import Table
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.versions import DEFAULT, VERSIONS, rules_for
from tests.engine.plugins.world import World, events_of, hint_of, node_info, pod_of

PLAIN = pod_of(make_pod("p"))
CLAIMING = pod_of(make_pod("p").spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}]))
OWN = [{"name": "gpu", "resourceClaimTemplateName": "template"}]
GENERATED = pod_of(make_pod("p").spec(resourceClaims=OWN)).evolve(
    {"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "gpus"}]}}
)
NODES = tuple(node_info(make_node(name).zone(zone)) for name, zone in (("n1", "a"), ("n2", "b")))


def made(kind: str, name: str, **fields: Any) -> KubeObject:
    metadata = {"name": name, "uid": f"uid-{name}", **fields.pop("metadata", {})}
    if kind == "ResourceClaim":
        metadata["namespace"] = "default"
    return view(set_defaults({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, **fields}))


def device_class(name: str = "any", *expressions: str) -> KubeObject:
    return made("DeviceClass", name, spec={"selectors": [{"cel": {"expression": text}} for text in expressions]})


def offered(name: str, *devices: str | dict[str, Any], generation: int = 1, count: int = 1, **place: Any) -> KubeObject:
    listed = [item if isinstance(item, dict) else {"name": item} for item in devices]
    pool = {"name": place.pop("pool", name), "generation": generation, "resourceSliceCount": count}
    return made("ResourceSlice", name, spec={"driver": "d", "pool": pool, "devices": listed, **place})


def wanting(name: str = "r", **fields: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "any", **fields}}


def claim(*requests: dict[str, Any], name: str = "gpus", **fields: Any) -> KubeObject:
    devices = {"requests": list(requests or (wanting(),)), **fields.pop("devices", {})}
    return made("ResourceClaim", name, spec={"devices": devices}, **fields)


def got(*devices: str, selector: Any = None) -> dict[str, Any]:
    results = [
        {"request": "r", "driver": "d", "pool": item.split("/")[0], "device": item.split("/")[1]} for item in devices
    ]
    return {"devices": {"results": results}} | ({"nodeSelector": selector} if selector else {})


def on_node(name: str) -> dict[str, Any]:
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}


class Case:
    """A pod in a world of objects, after PreFilter."""

    def __init__(
        self,
        *objects: KubeObject,
        pod: Pod = CLAIMING,
        kubernetes: str = DEFAULT,
        gates: dict[str, bool] | None = None,
        **args: Any,
    ) -> None:
        self.world = World(*NODES)
        self.world.handle.rules = rules_for(kubernetes, gates)
        self.world.add(pod, *objects)
        self.plugin = DynamicResources(args, self.world.handle)
        self.state, self.pod = CycleState(), pod
        self.refused = self.plugin.pre_filter(self.state, pod, NODES)[1]

    def verdicts(self) -> list[Status | None]:
        return [self.plugin.filter(self.state, self.pod, info) for info in NODES]

    def devices(self, node: str = "n1") -> list[str]:
        """Reserve on a node, and return which devices the claim gets."""
        info = next(info for info in NODES if info.name == node)
        assert self.plugin.filter(self.state, self.pod, info) is None
        self.plugin.reserve(self.state, self.pod, node)
        pending = self.world.handle.scheduler.pending_claims["uid-gpus"]
        results = pending.status["allocation"]["devices"].get("results", [])
        return [f"{item['request']}: {item['pool']}/{item['device']}" for item in results]

    def told(self, node: str = "n1") -> list[str]:
        """Return what the facts about a node say."""
        info = next(info for info in NODES if info.name == node)
        facts = self.plugin.explain_filter(self.state, self.pod, info)
        assert facts.status == self.plugin.filter(self.state, self.pod, info)
        lines = wording.lines(facts)
        return [
            wording.sentence(facts),
            *(" | ".join(filter(None, (item.label, item.formula, item.note))) for item in lines),
        ]


def test_a_pod_without_claims_is_skipped_and_has_nothing_to_deallocate() -> None:
    case = Case(pod=PLAIN)
    assert case.refused is not None
    assert case.refused.is_skip
    _, status = case.plugin.post_filter(case.state, PLAIN, NodeToStatus(Status(Code.UNSCHEDULABLE)))
    assert status == Status(Code.UNSCHEDULABLE, ("no new claims to deallocate",))


def test_without_prefilter_the_other_points_fail() -> None:
    plugin = DynamicResources({}, World(*NODES).handle)
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin.post_filter(CycleState(), PLAIN, NodeToStatus(Status(Code.UNSCHEDULABLE)))
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin.filter(CycleState(), PLAIN, NODES[0])
    with pytest.raises(PluginError, match=r"^not found$"):
        plugin.reserve(CycleState(), PLAIN, "n1")


OWNER = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}]
REFUSED: dict[str, tuple[Pod, list[KubeObject], str, str]] = {
    "A claim does not exist": (
        CLAIMING,
        [],
        'could not find ResourceClaim "default/gpus"',
        "p uses the claim default/gpus, which does not exist.",
    ),
    "A claim is being deleted": (
        CLAIMING,
        [claim(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        'resourceclaim "gpus" is being deleted',
        "p uses the claim default/gpus, which is being deleted.",
    ),
    "A claim was not made yet": (
        pod_of(make_pod("p").spec(resourceClaims=OWN)),
        [],
        'pod "default/p": ResourceClaim not created yet',
        "The claim gpu of p has not been created yet; the resource claim controller does that.",
    ),
    "A claim was made for another pod": (
        GENERATED,
        [claim()],
        "ResourceClaim default/gpus was not created for pod default/p (pod is not owner)",
        "p needs the claim default/gpus for itself, but it was not created for p.",
    ),
    "A class does not exist": (
        CLAIMING,
        [claim({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "none"}]})],
        "request r/s: device class none does not exist",
        "The request r/s of the claim default/gpus names the device class none, which does not exist.",
    ),
}


@pytest.mark.parametrize(("pod", "objects", "text", "told"), REFUSED.values(), ids=REFUSED)
def test_what_prefilter_refuses(pod: Pod, objects: list[KubeObject], text: str, told: str) -> None:
    case = Case(*objects, pod=pod)
    assert case.refused == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    facts = case.plugin.explain_pre_filter(case.state, pod, NODES)
    assert facts.status == case.refused
    assert wording.sentence(facts) == told


@pytest.mark.parametrize(("version", "kind"), [*zip(VERSIONS, ("pod", "pod", "Pod"), strict=True)])
def test_a_version_names_the_kind_of_the_owner(version: str, kind: str) -> None:
    text = f"ResourceClaim default/gpus was not created for {kind} default/p ({kind} is not owner)"
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    case = Case(claim(), pod=GENERATED, kubernetes=version)
    assert (case.refused, case.plugin.pre_enqueue(GENERATED)) == (refused, refused)


@pytest.mark.parametrize("version", VERSIONS)
def test_alternatives_are_refused_where_their_gate_is_off(version: str) -> None:
    wanted = claim({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "any"}]})
    case = Case(device_class(), wanted, kubernetes=version, gates={"DRAPrioritizedList": False})
    text = "resource claim default/gpus, request r: has subrequests, but the DRAPrioritizedList feature is disabled"
    assert case.refused == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    assert wording.sentence(case.plugin.explain_pre_filter(case.state, CLAIMING, NODES)) == (
        "The request r of the claim default/gpus lists alternatives, but the feature gate DRAPrioritizedList is off."
    )


@pytest.mark.parametrize("wanted", [True, False])
def test_admin_access_is_an_error_where_its_gate_is_off(wanted: bool) -> None:
    case = Case(device_class(), claim(wanting(adminAccess=wanted)), gates={"DRAAdminAccess": False})
    with pytest.raises(PluginError) as caught:
        case.verdicts()
    assert str(caught.value) == "claim default/gpus, request r: admin access is requested, but the feature is disabled"


def test_preenqueue_holds_back_a_pod_until_its_claims_exist() -> None:
    assert Case(claim()).plugin.pre_enqueue(CLAIMING) is None
    held = Case().plugin.pre_enqueue(CLAIMING)
    assert held == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ('could not find ResourceClaim "default/gpus"',))
    assert Case(claim(metadata={"ownerReferences": OWNER}), pod=GENERATED).plugin.pre_enqueue(GENERATED) is None


GPUS = [
    {
        "name": "small",
        "attributes": {"model": {"string": "t4"}, "numa": {"int": 0}},
        "capacity": {"memory": {"value": "16Gi"}},
    },
    {
        "name": "large",
        "attributes": {"model": {"string": "a100"}, "numa": {"int": 1}},
        "capacity": {"memory": {"value": "40Gi"}},
    },
    {
        "name": "other",
        "attributes": {"model": {"string": "a100"}, "numa": {"int": 1}},
        "capacity": {"memory": {"value": "40Gi"}},
    },
]
LARGE = [{"cel": {"expression": 'device.attributes["d"].model == "a100"'}}]
ON_N1 = offered("n1", *GPUS, nodeName="n1")

CHOICES: dict[str, tuple[list[KubeObject], list[str]]] = {
    "The first device": ([claim()], ["r: n1/small"]),
    "As many as requested": ([claim(wanting(count=2))], ["r: n1/small", "r: n1/large"]),
    "What the selector allows": ([claim(wanting(selectors=LARGE))], ["r: n1/large"]),
    "All that match": ([claim(wanting(selectors=LARGE, allocationMode="All"))], ["r: n1/large", "r: n1/other"]),
    "What another claim has is not free": (
        [claim(), claim(name="held", status={"allocation": got("n1/small")})],
        ["r: n1/large"],
    ),
    "With admin access it does not matter who has a device": (
        [claim(wanting(adminAccess=True)), claim(name="held", status={"allocation": got("n1/small")})],
        ["r: n1/small"],
    ),
    "The first alternative that works": (
        [
            claim(
                {
                    "name": "r",
                    "firstAvailable": [
                        {"name": "many", "deviceClassName": "any", "count": 4},
                        {"name": "two", "deviceClassName": "any", "count": 2, "selectors": LARGE},
                    ],
                }
            )
        ],
        ["r/two: n1/large", "r/two: n1/other"],
    ),
    "Devices with an equal attribute: the search goes back": (
        [claim(wanting(count=2), devices={"constraints": [{"matchAttribute": "d/numa"}]})],
        ["r: n1/large", "r: n1/other"],
    ),
    "A request that must wait for a device of another one": (
        [claim(wanting("a", count=2), wanting("b", selectors=[{"cel": {"expression": "true"}}]))],
        ["a: n1/small", "a: n1/large", "b: n1/other"],
    ),
}


@pytest.mark.parametrize(("objects", "expected"), CHOICES.values(), ids=CHOICES)
def test_which_devices_a_claim_gets(objects: list[KubeObject], expected: list[str]) -> None:
    case = Case(device_class(), ON_N1, *objects)
    assert case.devices() == expected
    assert case.verdicts()[1] == NOT_ENOUGH


def test_a_class_selects_devices_too() -> None:
    case = Case(device_class("any", 'device.attributes["d"].model == "a100"'), ON_N1, claim())
    assert case.devices() == ["r: n1/large"]


ZONE_A = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}
    ]
}
REACH: dict[str, tuple[dict[str, Any], list[bool], Any]] = {
    "one node": ({"nodeName": "n2"}, [False, True], on_node("n2")),
    "a zone": ({"nodeSelector": ZONE_A}, [True, False], ZONE_A),
    "all nodes": ({"allNodes": True}, [True, True], None),
}


@pytest.mark.parametrize(("place", "passes", "selector"), REACH.values(), ids=REACH)
def test_which_nodes_reach_a_pool(place: dict[str, Any], passes: list[bool], selector: Any) -> None:
    case = Case(device_class(), offered("pool", "x", **place), claim())
    assert [status is None for status in case.verdicts()] == passes
    node = NODES[passes.index(True)].name
    case.plugin.reserve(case.state, CLAIMING, node)
    allocation = case.world.handle.scheduler.pending_claims["uid-gpus"].status["allocation"]
    assert allocation.get("nodeSelector") == selector


def test_a_newer_generation_replaces_the_older_slices_of_a_pool() -> None:
    older, newer = (offered(f"s{n}", f"g{n}", pool="p", generation=n, allNodes=True) for n in (1, 2))
    assert Case(device_class(), older, newer, claim()).devices() == ["r: p/g2"]
    assert Case(device_class(), newer, older, claim(wanting(count=2))).verdicts()[0] == NOT_ENOUGH


ERRORS: dict[str, tuple[list[KubeObject], str]] = {
    "All devices of an incomplete pool": (
        [offered("p", "x", count=2, allNodes=True), claim(wanting(allocationMode="All"))],
        "claim default/gpus, request r: asks for all devices, but resource pool d/p is currently being updated",
    ),
    "A pool with two devices of one name": (
        [
            offered("s1", "x", pool="p", count=2, allNodes=True),
            offered("s2", "x", pool="p", count=2, allNodes=True),
            claim(),
        ],
        "pool p is invalid: duplicate device name x",
    ),
    "An expression that fails": (
        [offered("p", "x", allNodes=True), claim(wanting(selectors=LARGE))],
        "claim default/gpus: selector #0: CEL runtime error: no such key: model",
    ),
    "All devices, but their attributes differ": (
        [
            offered("p", *GPUS, allNodes=True),
            claim(wanting(allocationMode="All"), devices={"constraints": [{"matchAttribute": "d/numa"}]}),
        ],
        "claim default/gpus, request r: cannot add device d/p/large because a claim constraint would not be satisfied",
    ),
    "More devices than a claim can hold": (
        [offered("p", "x", allNodes=True), claim(wanting("a", count=20), wanting("b", count=20))],
        "claim default/gpus: number of requested devices 40 exceeds the claim limit of 32",
    ),
}


@pytest.mark.parametrize(("objects", "text"), ERRORS.values(), ids=ERRORS)
def test_what_is_an_error(objects: list[KubeObject], text: str) -> None:
    case = Case(device_class(), *objects)
    with pytest.raises(PluginError) as caught:
        case.verdicts()
    assert str(caught.value) == text


def test_a_hopeless_search_ends() -> None:
    devices = [{"name": f"x{n}", "attributes": {"n": {"int": n}}} for n in range(24)]
    constraint = {"constraints": [{"matchAttribute": "d/n", "requests": ["last"]}]}
    wanted = claim(wanting("first", count=12), wanting("last", count=2), devices=constraint)
    case = Case(device_class(), offered("p", *devices, allNodes=True), wanted)
    assert case.verdicts()[0] == TIMED_OUT
    assert case.told()[0] == "The search for devices on n1 took too long."


NUMBERS = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
LONG = f"{NUMBERS}.all(a, {NUMBERS}.all(b, {NUMBERS}.all(c, {NUMBERS}.all(d, a + b + c + d >= 0))))"
SLOW_SEARCHES: dict[str, tuple[KubeObject, list[dict[str, Any]]]] = {
    "a constraint that many devices fail": (
        claim(wanting(count=32), devices={"constraints": [{"matchAttribute": "d/n"}]}),
        [{"name": f"x{n}", "attributes": {"n": {"int": n % 5}}} for n in range(128)],
    ),
    "an expression that takes long": (
        claim(wanting(selectors=[{"cel": {"expression": f"!({LONG})"}}])),
        [{"name": f"x{n}"} for n in range(128)],
    ),
}


@pytest.mark.parametrize("slow", SLOW_SEARCHES)
def test_a_slow_search_ends_on_every_node(slow: str) -> None:
    request, devices = SLOW_SEARCHES[slow]
    case = Case(device_class(), offered("p", *devices, allNodes=True), request)
    assert case.verdicts() == [TIMED_OUT, TIMED_OUT]


SHORT_SEARCH = (
    claim(
        wanting("first", count=4),
        wanting("last", count=2),
        devices={"constraints": [{"matchAttribute": "d/n", "requests": ["last"]}]},
    ),
    offered("p", *({"name": f"x{n}", "attributes": {"n": {"int": n}}} for n in range(8)), allNodes=True),
)
"""Takes more than a thousandth of a second, and ends within the ten that are the most."""


@pytest.mark.parametrize(
    ("timeout", "gates", "status"),
    [
        pytest.param("1ms", {}, TIMED_OUT, id="too short"),
        pytest.param("10s", {}, NOT_ENOUGH, id="long enough"),
        pytest.param("0s", {}, NOT_ENOUGH, id="none"),
        pytest.param("1h", {}, NOT_ENOUGH, id="more than the most"),
        pytest.param("1ms", {"DRASchedulerFilterTimeout": False}, NOT_ENOUGH, id="its gate is off"),
    ],
)
def test_the_time_of_a_search_is_limited(timeout: str, gates: dict[str, bool], status: Status) -> None:
    case = Case(device_class(), *SHORT_SEARCH, gates=gates, filterTimeout=timeout)
    assert case.verdicts() == [status, status]


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_a_search_that_takes_too_long_rejects_the_node(version: str) -> None:
    case = Case(device_class(), *SHORT_SEARCH, kubernetes=version, filterTimeout="1ms")
    assert case.verdicts()[0] == TIMED_OUT


def test_a_search_that_takes_too_long_is_an_error_in_v1_36() -> None:
    case = Case(device_class(), *SHORT_SEARCH, kubernetes=VERSIONS[2], filterTimeout="1ms")
    with pytest.raises(PluginError, match=r"^node n1: timed out trying to allocate devices$"):
        case.verdicts()
    facts = case.plugin.explain_filter(case.state, case.pod, NODES[0])
    assert facts.status == Status(Code.ERROR, ("node n1: timed out trying to allocate devices",))


@pytest.mark.parametrize(("devices", "status"), [(8, NOT_ENOUGH), (9, NOT_ENOUGH), (10, TIMED_OUT)])
def test_one_device_too_few_is_tried_in_every_order(devices: int, status: Status) -> None:
    """Kubernetes v1.34.1 takes 0.7 s, 6 s, and its limit of 10 s for it."""
    wanted = claim(wanting(count=devices + 1))
    case = Case(device_class(), offered("p", *({"name": f"x{n}"} for n in range(devices)), allNodes=True), wanted)
    assert case.verdicts()[0] == status


ANY = {"deviceClassName": "any"}


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param([claim(wanting(count=7))], id="one claim"),
        pytest.param([claim(wanting(count=4)), claim(wanting(count=3), name="b")], id="two claims"),
        pytest.param(
            [
                claim(
                    {
                        "name": "r",
                        "firstAvailable": [{"name": "a", **ANY, "count": 7}, {"name": "b", **ANY, "count": 8}],
                    }
                )
            ],
            id="alternatives",
        ),
        pytest.param(
            [claim(wanting("a", count=3), wanting("b", count=2), devices={"constraints": [{"matchAttribute": "d/n"}]})],
            id="a constraint",
        ),
    ],
)
def test_a_part_that_fails_again_is_not_done_again_but_counts(
    wanted: list[KubeObject], monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = ({"name": f"x{n}", "attributes": {"n": {"int": n % 2}}} for n in range(6))
    case = Case(device_class(), offered("p", *devices, allNodes=True), *wanted)
    objects, node = case.world.handle.objects, NODES[0].node
    assert node is not None
    searched = allocator.Allocator(objects, indexed(objects.list("ResourceSlice")), Table())
    claims = [item for item in wanted if isinstance(item, ResourceClaim)]
    short, whole = allocator.Film(), allocator.Film()
    assert searched.allocate(node, claims, short) is None
    with monkeypatch.context() as patched:
        patched.setattr(allocator, "MOST_STEPS", 10**9)
        assert searched.allocate(node, claims, whole) is None
    assert (len(short.steps) + short.more, whole.more) == (len(whole.steps), 0)
    assert short.more > 0
    assert short.steps[:MOST_STEPS] == whole.steps[:MOST_STEPS]


def test_no_timeout_is_longer_than_the_most() -> None:
    wanted = [Case(filterTimeout=text).plugin.most_effort for text in ("1h", "0s", "10s")]
    assert wanted == [100_000_000] * 3


def test_a_claim_with_devices_keeps_the_pod_near_them_until_postfilter_takes_them_away() -> None:
    held = claim(status={"allocation": got("n1/small", selector=on_node("n1"))})
    case = Case(device_class(), ON_N1, held)
    assert case.verdicts() == [None, NOT_AVAILABLE]
    assert case.told("n2") == [
        "The claim gpus has devices that n2 cannot use.",
        "claim gpus | has n1/small | the node cannot use them",
    ]
    nothing = NodeToStatus(Status(Code.UNSCHEDULABLE), {"n2": Status(Code.UNSCHEDULABLE, ("Insufficient cpu",))})
    assert case.plugin.post_filter(case.state, CLAIMING, nothing)[1].message == "still not schedulable"
    away = NodeToStatus(Status(Code.UNSCHEDULABLE), {"n2": NOT_AVAILABLE.by("DynamicResources")})
    assert case.plugin.post_filter(case.state, CLAIMING, away)[1] == DEALLOCATED
    empty = {"reservedFor": None, "allocation": None, "devices": None}
    assert case.world.calls == [("patch", "ResourceClaim", "default/gpus", {"status": empty})]


def test_nobody_takes_devices_from_another_pod() -> None:
    consumer = {"resource": "pods", "name": "q", "uid": "uid-q"}
    held = claim(status={"allocation": got("n1/small", selector=on_node("n1")), "reservedFor": [consumer]})
    case = Case(held)
    away = NodeToStatus(Status(Code.UNSCHEDULABLE), {"n2": NOT_AVAILABLE.by("DynamicResources")})
    assert case.plugin.post_filter(case.state, CLAIMING, away)[1].message == "still not schedulable"


def test_devices_are_kept_from_reserve_on_and_written_in_prebind() -> None:
    case = Case(device_class(), ON_N1, claim())
    assert case.devices() == ["r: n1/small"]
    state = CycleState()
    refused = case.plugin.pre_filter(state, CLAIMING, NODES)[1]
    assert refused is not None
    assert refused.message == "resource claim default/gpus is in the process of being allocated"
    case.plugin.pre_bind(case.state, CLAIMING, "n1")
    consumer = {"resource": "pods", "name": "p", "uid": "uid-p"}
    allocation = got("n1/small", selector=on_node("n1"))
    finalizers = ["resource.kubernetes.io/delete-protection"]
    assert case.world.calls == [
        ("patch", "ResourceClaim", "default/gpus", {"metadata": {"finalizers": finalizers}}),
        ("patch", "ResourceClaim", "default/gpus", {"status": {"allocation": allocation, "reservedFor": [consumer]}}),
    ]
    assert not case.world.handle.scheduler.pending_claims


def test_the_trace_shows_of_the_state_what_is_in_use_and_nothing_of_the_api_server() -> None:
    held = claim(name="other", status={"allocation": got("s/a")})
    case = Case(offered("s", "a", "b", nodeName="n1"), device_class(), claim(), held)
    assert state_text(case.state.read("DynamicResources")) == (
        "claims (default/gpus), allocator (allocated (d/s/a none)), allocations (), reserved (), written ()"
    )


def test_unreserve_gives_devices_back() -> None:
    case = Case(device_class(), ON_N1, claim())
    case.devices()
    case.plugin.unreserve(case.state, CLAIMING, "n1")
    assert not case.world.handle.scheduler.pending_claims
    assert case.world.calls == []


def test_prebind_notices_that_the_claim_has_changed() -> None:
    case = Case(device_class(), ON_N1, claim())
    case.devices()
    case.world.add(claim(status={"allocation": got("n1/large")}))
    with pytest.raises(PluginError, match=r"^claim default/gpus got allocated elsewhere in the meantime$"):
        case.plugin.pre_bind(case.state, CLAIMING, "n1")


def test_facts_name_every_device_that_was_tried_and_what_was_against_it() -> None:
    memory = [{"cel": {"expression": 'device.capacity["d"].memory.isGreaterThan(quantity("20Gi"))'}}]
    wanted = claim(wanting(count=2, selectors=memory), name="gpus")
    case = Case(device_class(), ON_N1, wanted, claim(name="held", status={"allocation": got("n1/other")}))
    assert case.told() == [
        "n1 does not have all devices that p claims.",
        "gpus, r | needs 2 devices of class any",
        'gpus, r | not n1/small: device.capacity["d"].memory.isGreaterThan(quantity("20Gi")) | is false: memory = 16Gi',
        "gpus, r | tried n1/large | but then something else was missing",
        "gpus, r | not n1/other | another claim has it",
    ]


def test_what_the_search_has_itself_is_not_said_to_be_of_another_claim() -> None:
    case = Case(device_class(), offered("n1", {"name": "only"}, nodeName="n1"), claim(wanting("a"), wanting("b")))
    assert case.told()[3:] == [
        "gpus, a | tried n1/only | but then something else was missing",
        "gpus, b | not n1/only | the search has taken it already",
    ]


def test_a_claim_that_asks_for_no_devices_has_none() -> None:
    nothing = made("ResourceClaim", "gpus", spec={"devices": {"requests": []}})
    case = Case(device_class(), offered("n1", {"name": "x"}, nodeName="n1"), nothing)
    assert case.told() == ["n1 has the devices that p claims."]
    state = case.state
    case.plugin.reserve(state, CLAIMING, "n1")
    assert case.plugin.explain_reserve(state, CLAIMING, "n1").says.key == "devices.nothing-to-set-aside"
    case.plugin.pre_bind(state, CLAIMING, "n1")
    lines = wording.lines_of(case.plugin.explain_pre_bind(state, CLAIMING, "n1").shown)
    assert [line.formula for line in lines] == ["asks for no devices, and has none"]


def of_model(name: str, model: str) -> dict[str, Any]:
    return {"name": name, "attributes": {"model": {"string": model}}}


PAIR = claim(wanting(count=2), devices={"constraints": [{"matchAttribute": "d/model"}]})
MODELS = offered("s", of_model("a", "x"), of_model("b", "y"), of_model("c", "y"), nodeName="n1")


def test_a_search_is_told_step_by_step_with_what_it_has_at_that_time() -> None:
    case = Case(MODELS, device_class(), PAIR)
    found = case.plugin.explain_search(case.state, CLAIMING, NODES[0])
    assert found is not None
    assert (found.devices, found.used, found.got, found.more) == (("s/a", "s/b", "s/c"), frozenset(), (1, 2), 0)
    assert [line.formula for line in wording.lines_of(found.needs)] == ["needs 2 devices of class any"]
    assert [(found.devices[step.device], step.outcome, step.held) for step in found.steps] == [
        ("s/a", "taken", (0,)),
        ("s/a", "held", (0,)),
        ("s/b", "constraint", (0,)),
        ("s/c", "constraint", (0,)),
        ("s/a", "given-back", ()),
        ("s/b", "taken", (1,)),
        ("s/a", "constraint", (1,)),
        ("s/b", "held", (1,)),
        ("s/c", "taken", (1, 2)),
    ]
    assert found.facts == case.plugin.explain_filter(case.state, CLAIMING, NODES[0])
    own, differs = wording.lines_of([step.said for step in found.steps[1:3]])
    assert (own.formula, own.note) == ("not s/a", "the search has taken it already")
    assert (differs.label, differs.formula) == ("gpus, r", "not s/b: d/model must be equal")
    assert differs.note == "y and x"


def test_a_long_search_is_told_from_its_beginning() -> None:
    many = offered("s", *(of_model(f"d{number:03}", f"m{number}") for number in range(20)), nodeName="n1")
    case = Case(many, device_class(), PAIR)
    found = case.plugin.explain_search(case.state, CLAIMING, NODES[0])
    assert found is not None
    assert found.facts.status == NOT_ENOUGH
    assert (len(found.steps), found.more, found.got) == (MOST_STEPS, 20 * 22 - MOST_STEPS, ())


def test_without_a_claim_that_needs_devices_there_is_no_search() -> None:
    held = claim(status={"allocation": got("s/a")})
    for case in (Case(pod=PLAIN), Case(MODELS, device_class(), held)):
        assert case.plugin.explain_search(case.state, case.pod, NODES[0]) is None


def test_facts_name_what_each_request_and_alternative_needs() -> None:
    listed = {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "any", "count": 3}]}
    case = Case(device_class(), claim(wanting("a"), listed))
    assert case.told()[1:] == ["gpus, a | needs 1 device of class any", "gpus, b/s | needs 3 devices of class any"]
    every = Case(device_class(), offered("n1", "d", nodeName="n1"), claim(wanting(allocationMode="All"), wanting("b")))
    assert "gpus, r | needs all devices of class any" in every.told()


def test_facts_of_a_node_that_has_the_devices() -> None:
    case = Case(device_class(), ON_N1, claim())
    assert case.told() == ["n1 has the devices that p claims.", "gpus, r | takes n1/small"]
    case.devices()
    facts = case.plugin.explain_reserve(case.state, CLAIMING, "n1")
    assert wording.sentence(facts) == "The devices are set aside for p, so that no other pod gets them."


def test_events() -> None:
    assert events_of(DynamicResources({}, World().handle)) == {
        "Node/ADD, UPDATE_NODE_ALLOCATABLE, UPDATE_NODE_LABEL": False,
        "resource.k8s.io/ResourceClaim/ADD, UPDATE": True,
        "Pod/UPDATE_POD_GENERATED_RESOURCE_CLAIM": True,
        "resource.k8s.io/DeviceClass/ADD, UPDATE": False,
        "resource.k8s.io/ResourceSlice/ADD, UPDATE": False,
    }


CLAIM = "resource.k8s.io/ResourceClaim"
USED, OTHER = claim(), claim(name="other")
HAS, OTHER_HAS = (item.evolve({"status": {"allocation": got("n1/small")}}) for item in (USED, OTHER))
HINTS: dict[str, tuple[str, KubeObject | None, KubeObject, Hint]] = {
    "The claim is created": (CLAIM, None, USED, Hint.QUEUE),
    "Another claim is created": (CLAIM, None, OTHER, Hint.SKIP),
    "The claim gets devices": (CLAIM, USED, HAS, Hint.QUEUE),
    "Another claim gets devices": (CLAIM, OTHER, OTHER_HAS, Hint.SKIP),
    "Another claim loses devices": (CLAIM, OTHER_HAS, OTHER, Hint.QUEUE),
    "The claim changes, but not its status": (
        CLAIM,
        USED,
        USED.evolve({"metadata": {"labels": {"a": "b"}}}),
        Hint.SKIP,
    ),
    "The pod's claims are generated": ("Pod", CLAIMING, CLAIMING, Hint.QUEUE),
    "Another pod's claims are generated": ("Pod", CLAIMING, pod_of(make_pod("q")), Hint.SKIP),
}


@pytest.mark.parametrize(("resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(resource: str, old: KubeObject | None, new: KubeObject, expected: Hint) -> None:
    assert hint_of(Case(claim()).plugin, resource, CLAIMING, old, new) is expected


def test_a_pod_that_cannot_use_its_claims_is_not_woken() -> None:
    assert hint_of(Case().plugin, CLAIM, CLAIMING, OTHER_HAS, OTHER) is Hint.SKIP
    assert hint_of(Case().plugin, "Pod", CLAIMING, CLAIMING, CLAIMING) is Hint.SKIP


def listing(name: str, *classes: str) -> dict[str, Any]:
    return {
        "name": name,
        "firstAvailable": [{"name": f"s{number}", "deviceClassName": text} for number, text in enumerate(classes)],
    }


FAST, SLOW = (device_class(name, f'device.attributes["d"].speed == "{name}"') for name in ("fast", "slow"))


def paced(name: str, *speeds: str) -> KubeObject:
    devices = [{"name": f"d{n}", "attributes": {"speed": {"string": speed}}} for n, speed in enumerate(speeds)]
    return offered(name, *devices, nodeName=name)


SCORES: dict[str, tuple[tuple[KubeObject, ...], Pod, list[int], list[str]]] = {
    "The first alternative is worth most": (
        (claim(listing("r", "fast", "slow")), paced("n1", "slow"), paced("n2", "slow", "fast")),
        CLAIMING,
        [7, 8],
        [
            "n1 gets points for the alternatives that requests of p take there, most for the first.",
            "gpus, r | takes s1: 8 − 1 = 7",
        ],
    ),
    "Points of several requests add up": (
        (claim(listing("a", "fast", "slow"), listing("b", "fast", "slow")), paced("n1", "slow", "fast")),
        CLAIMING,
        [15, 0],
        [
            "n1 gets points for the alternatives that requests of p take there, most for the first.",
            "gpus, a | takes s0: 8 − 0 = 8",
            "gpus, b | takes s1: 8 − 1 = 7",
        ],
    ),
    "A plain request has no points": (
        (claim(wanting()), device_class(), paced("n1", "slow"), paced("n2", "fast")),
        CLAIMING,
        [0, 0],
        ["No request of p has to choose among alternatives, so n1 gets 0."],
    ),
    "A claim that has its devices has no points": (
        (claim(listing("r", "fast"), status={"allocation": got("n1/d0")}), paced("n1", "fast")),
        CLAIMING,
        [0, 0],
        ["No request of p has to choose among alternatives, so n1 gets 0."],
    ),
    "A pod without claims has no points": ((), PLAIN, [0, 0], ["p claims no devices, so n1 gets 0."]),
}


@pytest.mark.parametrize(("objects", "pod", "points", "told"), SCORES.values(), ids=SCORES)
def test_how_nodes_score(objects: tuple[KubeObject, ...], pod: Pod, points: list[int], told: list[str]) -> None:
    case = Case(*objects, FAST, SLOW, pod=pod)
    plugin = ScoringDynamicResources({}, case.world.handle)
    case.verdicts()
    raw = {info.name: plugin.score(case.state, pod, info) for info in NODES}
    assert [*raw.values()] == points
    facts = plugin.explain_score(case.state, pod, NODES[0], raw)
    shown = [" | ".join(filter(None, (item.label, item.formula, item.note))) for item in wording.lines(facts)]
    assert [wording.sentence(facts), *shown[:-1]] == told
    assert facts.raw == points[0]


def test_without_prefilter_a_score_fails() -> None:
    with pytest.raises(PluginError, match=r"^not found$"):
        ScoringDynamicResources({}, World(*NODES).handle).score(CycleState(), PLAIN, NODES[0])


TWICE = offered("n1", "a", "a", nodeName="n1")
HALF = offered("n1", "a", nodeName="n1", count=2)
REST = offered("rest", "b", nodeName="n2", count=2, pool="n1")
NEWER = offered("newer", "b", nodeName="n2", count=2, pool="n1", generation=2)
EVERY = claim(wanting(allocationMode="All"))
POOLS: dict[str, tuple[tuple[KubeObject, ...], str, str]] = {
    "A pool that is not complete": ((claim(), HALF), "n1/a", "cannot allocate all claims"),
    "The rest of a pool is on another node": ((claim(), HALF, REST), "n1/a", "n1/a"),
    "A newer generation is on another node": ((claim(), HALF, NEWER), "n1/a", "cannot allocate all claims"),
    "All devices of a pool on two nodes": (
        (EVERY, HALF, REST),
        "claim default/gpus, request r: asks for all devices, but resource pool d/n1 is currently being updated",
        "n1/a",
    ),
    "A pool that lists a device twice": (
        (claim(), TWICE),
        "pool n1 is invalid: duplicate device name a",
        "invalid resource pools were encountered",
    ),
    "An incomplete pool that lists a device twice": (
        (claim(), offered("n1", "a", "a", nodeName="n1", count=2)),
        "pool n1 is invalid: duplicate device name a",
        "cannot allocate all claims",
    ),
    "Such a pool beside another one": (
        (claim(), TWICE, offered("other", "b", nodeName="n1")),
        "pool n1 is invalid: duplicate device name a",
        "other/b",
    ),
}


@pytest.mark.parametrize("kubernetes", ["v1.34", "v1.35"])
@pytest.mark.parametrize("words", POOLS)
def test_which_pools_are_used(words: str, kubernetes: str) -> None:
    objects, before, after = POOLS[words]
    case = Case(device_class(), *objects, kubernetes=kubernetes)
    try:
        status = case.plugin.filter(case.state, CLAIMING, NODES[0])
        result = case.devices()[0].removeprefix("r: ") if status is None else status.message
    except PluginError as problem:
        result = str(problem)
    assert result == (before if kubernetes == "v1.34" else after)
    facts = case.plugin.explain_filter(case.state, CLAIMING, NODES[0])
    assert (facts.status is None) == ("/" in result and " " not in result)


@pytest.mark.parametrize(
    ("kubernetes", "listed"),
    [("v1.34", [None, None]), ("v1.35", [["a", "b/s0"]])],
    ids=["once for each request", "once with all requests"],
)
def test_how_the_configuration_of_a_class_is_listed(kubernetes: str, listed: list[Any]) -> None:
    opaque = {"driver": "d", "parameters": {"x": 1}}
    configured = made("DeviceClass", "any", spec={"config": [{"opaque": opaque}]})
    wanted = claim(wanting("a"), listing("b", "any"))
    case = Case(wanted, configured, offered("n1", "a", "b", nodeName="n1"), kubernetes=kubernetes)
    case.devices()
    allocation = case.world.handle.scheduler.pending_claims["uid-gpus"].status["allocation"]
    found = allocation["devices"]["config"]
    assert [item.get("requests") for item in found] == listed
    assert {item["source"] for item in found} == {"FromClass"}
    assert all(item["opaque"] == opaque for item in found)
