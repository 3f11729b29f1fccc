"""PodTopologySpread: skew per domain, defaults from Services and controllers, scores of soft constraints."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.status import Code
from scheduler_engine.plugins.pod_topology_spread import PodTopologySpread
from scheduler_engine.plugins.pod_topology_spread.constraints import HOSTNAME, ZONE, constraints_of
from scheduler_engine.plugins.pod_topology_spread.filtering import Domains
from scheduler_engine.testing import Builder, NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, object_of, pod_of

FOO = {"foo": "bar"}
SKEW = "node(s) didn't match pod topology spread constraints"
MISSING = f"{SKEW} (missing required label)"


def foo(name: str) -> PodBuilder:
    return make_pod(name).labels(FOO)


def seed_node(name: str, zone: str, pods: int = 0) -> NodeInfo:
    """Return a node labelled as in seed 002: ``node`` and, if set, ``zone``; with pods labelled foo: bar."""
    node = make_node(name).label("node", name)
    if zone:
        node.label("zone", zone)
    return node_info(node, *(foo(f"{name}-{number}") for number in range(pods)))


def seed_cluster() -> list[NodeInfo]:
    return [
        seed_node("node1", "zoneA", 1),
        seed_node("node2", "zoneA", 1),
        seed_node("node3", "zoneB", 1),
        seed_node("node4", "zoneB"),
    ]


def conflict_cluster() -> list[NodeInfo]:
    return [seed_node("node1", "zoneA", 2), seed_node("node2", "zoneA", 1), seed_node("node3", "zoneB", 2)]


def with_zone_c() -> list[NodeInfo]:
    return [*seed_cluster(), seed_node("node5", "zoneC")]


def verdicts(plugin: PodTopologySpread, pod: Pod, infos: Sequence[NodeInfo]) -> dict[str, str]:
    """Return node → reason, "" for nodes that pass."""
    state = CycleState()
    _, status = plugin.pre_filter(state, pod, infos)
    if status is not None:
        assert status.is_skip
        return dict.fromkeys((info.name for info in infos), "")
    statuses = {info.name: plugin.filter(state, pod, info) for info in infos}
    return {name: "" if verdict is None else verdict.message for name, verdict in statuses.items()}


def feasible(pod: PodBuilder, infos: Sequence[NodeInfo]) -> list[str]:
    world = World(*infos)
    reasons = verdicts(PodTopologySpread({}, world.handle), pod_of(pod), infos)
    return [name for name, reason in reasons.items() if not reason]


ZONE_SPREAD = foo("mypod").spread("zone", FOO)
BOTH = foo("mypod").spread("zone", FOO).spread("node", FOO)

SEED_EXAMPLES: dict[str, tuple[PodBuilder, list[NodeInfo], list[str]]] = {
    "One constraint over zones leaves only the zone with fewer pods": (
        ZONE_SPREAD,
        seed_cluster(),
        ["node3", "node4"],
    ),
    "A maxSkew of 2 opens the fuller zone as well": (
        foo("mypod").spread("zone", FOO, max_skew=2),
        seed_cluster(),
        ["node1", "node2", "node3", "node4"],
    ),
    "Spreading over nodes instead of zones leaves the one empty node": (
        foo("mypod").spread("node", FOO),
        seed_cluster(),
        ["node4"],
    ),
    "ScheduleAnyway excludes no node": (
        foo("mypod").spread("zone", FOO, when="ScheduleAnyway"),
        seed_cluster(),
        ["node1", "node2", "node3", "node4"],
    ),
    "Two constraints must both hold": (BOTH, seed_cluster(), ["node4"]),
    "Two contradictory constraints leave no node": (BOTH, conflict_cluster(), []),
    "A greater maxSkew over zones ends the contradiction": (
        foo("mypod").spread("zone", FOO, max_skew=2).spread("node", FOO),
        conflict_cluster(),
        ["node2"],
    ),
    "Making the zone constraint soft ends the contradiction": (
        foo("mypod").spread("zone", FOO, when="ScheduleAnyway").spread("node", FOO),
        conflict_cluster(),
        ["node2"],
    ),
    "An empty third zone is the only one left": (ZONE_SPREAD, with_zone_c(), ["node5"]),
    "A zone that node affinity excludes does not count as empty": (
        foo("mypod").spread("zone", FOO).node_affinity("zone", ["zoneC"], "NotIn"),
        with_zone_c(),
        ["node3", "node4", "node5"],
    ),
    "Pods on a node without the topology label do not count": (
        foo("mypod").spread("zone", FOO),
        [seed_node("node1", "", 2), seed_node("node2", "zoneA"), seed_node("node3", "zoneB", 1)],
        ["node2"],
    ),
    "A pod that its own selector does not match may go where the skew is still allowed": (
        make_pod("mypod").spread("zone", FOO),
        seed_cluster(),
        ["node1", "node2", "node3", "node4"],
    ),
}


@pytest.mark.parametrize(("pod", "infos", "expected"), SEED_EXAMPLES.values(), ids=SEED_EXAMPLES)
def test_seed_examples(pod: PodBuilder, infos: list[NodeInfo], expected: list[str]) -> None:
    assert feasible(pod, infos) == expected


def zoned(name: str, zone: str, *pods: PodBuilder, node: NodeBuilder | None = None) -> NodeInfo:
    return node_info((node or make_node(name)).label("zone", zone), *pods)


def two_zones(*pods_in_a: PodBuilder) -> list[NodeInfo]:
    return [zoned("a", "A", *pods_in_a), zoned("b", "B")]


RULES: dict[str, tuple[PodBuilder, list[NodeInfo], list[str]]] = {
    "Only pods of the same namespace are counted": (
        ZONE_SPREAD,
        two_zones(make_pod("other", "team-b").labels(FOO)),
        ["a", "b"],
    ),
    "Pods that are being deleted are not counted": (
        ZONE_SPREAD,
        two_zones(foo("old").metadata(deletionTimestamp="2026-01-01T00:00:30Z")),
        ["a", "b"],
    ),
    "Too few domains for minDomains make the global minimum 0": (
        foo("mypod").spread("zone", FOO, minDomains=3),
        [zoned("a", "A", foo("x")), zoned("b", "B", foo("y"))],
        [],
    ),
    "Enough domains for minDomains do not change the global minimum": (
        foo("mypod").spread("zone", FOO, minDomains=2),
        [zoned("a", "A", foo("x")), zoned("b", "B", foo("y"))],
        ["a", "b"],
    ),
    "By default a tainted node's empty domain counts": (
        ZONE_SPREAD,
        [zoned("a", "A", foo("x")), zoned("b", "B", node=make_node("b").taint("k"))],
        ["b"],
    ),
    "With nodeTaintsPolicy Honor it does not": (
        foo("mypod").spread("zone", FOO, nodeTaintsPolicy="Honor"),
        [zoned("a", "A", foo("x")), zoned("b", "B", node=make_node("b").taint("k"))],
        ["a", "b"],
    ),
    "With nodeAffinityPolicy Ignore an excluded zone counts": (
        foo("mypod").spread("zone", FOO, nodeAffinityPolicy="Ignore").node_selector({"zone": "A"}),
        two_zones(foo("x")),
        ["b"],
    ),
    "matchLabelKeys counts only pods of the same revision": (
        foo("mypod").label("rev", "2").spread("zone", FOO, matchLabelKeys=["rev", "absent"]),
        two_zones(foo("x").label("rev", "1")),
        ["a", "b"],
    ),
    "matchLabelKeys still counts pods of the same revision": (
        foo("mypod").label("rev", "2").spread("zone", FOO, matchLabelKeys=["rev"]),
        two_zones(foo("x").label("rev", "2")),
        ["b"],
    ),
}


@pytest.mark.parametrize(("pod", "infos", "expected"), RULES.values(), ids=RULES)
def test_rules(pod: PodBuilder, infos: list[NodeInfo], expected: list[str]) -> None:
    assert feasible(pod, infos) == expected


def test_a_missing_label_is_unresolvable_and_a_skew_is_not() -> None:
    infos = [seed_node("node5", ""), *seed_cluster()]
    plugin, pod, state = PodTopologySpread({}, World(*infos).handle), pod_of(ZONE_SPREAD), CycleState()
    plugin.pre_filter(state, pod, infos)
    missing, skewed = plugin.filter(state, pod, infos[0]), plugin.filter(state, pod, infos[1])
    assert missing is not None
    assert (missing.code, missing.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (MISSING,))
    assert skewed is not None
    assert (skewed.code, skewed.reasons) == (Code.UNSCHEDULABLE, (SKEW,))


def test_removing_and_adding_pods_changes_only_the_copy() -> None:
    infos = seed_cluster()
    plugin, pod, state = PodTopologySpread({}, World(*infos).handle), pod_of(ZONE_SPREAD), CycleState()
    plugin.pre_filter(state, pod, infos)
    node1 = infos[0]
    trial = state.clone()
    plugin.remove_pod(trial, pod, node1.pods[0], node1)
    assert plugin.filter(trial, pod, node1) is None
    assert plugin.filter(state, pod, node1) is not None
    plugin.add_pod(trial, pod, node1.pods[0], node1)
    assert plugin.filter(trial, pod, node1) is not None


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["by deepcopy", "by pickle"]
)
def test_a_cycle_under_way_can_be_copied(copied: Callable[[CycleState], CycleState]) -> None:
    infos = seed_cluster()
    plugin, pod, state = PodTopologySpread({}, World(*infos).handle), pod_of(ZONE_SPREAD), CycleState()
    plugin.pre_filter(state, pod, infos)
    twin = copied(state)
    plugin.remove_pod(twin, pod, infos[0].pods[0], infos[0])
    assert plugin.filter(twin, pod, infos[0]) is None
    assert plugin.filter(state, pod, infos[0]) is not None


def test_preemption_counts_terminating_pods_although_prefilter_does_not() -> None:
    leaving = foo("old").metadata(deletionTimestamp="2026-01-01T00:00:30Z")
    infos = [zoned("a", "A", leaving, foo("x")), zoned("b", "B")]
    plugin, pod, state = PodTopologySpread({}, World(*infos).handle), pod_of(ZONE_SPREAD), CycleState()
    plugin.pre_filter(state, pod, infos)
    plugin.remove_pod(state, pod, infos[0].pods[0], infos[0])
    assert plugin.filter(state, pod, infos[0]) is None


@given(
    counts=st.dictionaries(st.sampled_from("abcde"), st.integers(0, 4)),
    min_domains=st.integers(1, 6),
    changes=st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from((-1, 1)), st.booleans())),
)
def test_the_minimum_is_right_after_any_changes_to_any_copy(
    counts: dict[str, int], min_domains: int, changes: list[tuple[str, int, bool]]
) -> None:
    pod = pod_of(foo("mypod").spread("zone", FOO, minDomains=min_domains))
    domains = Domains(constraints_of(pod.topology_spread_constraints, pod, "DoNotSchedule")[0], dict(counts), pod)
    plain = dict(counts)
    for value, delta, copies in changes:
        if copies:
            domains.clone().add(value, 5)
            domains = domains.clone()
        domains.add(value, delta)
        plain[value] = plain.get(value, 0) + delta
    lowest = min(plain.values(), default=2**31 - 1) if len(plain) >= min_domains else 0
    assert domains.minimum == lowest
    assert all(domains.skew(value) == number + 1 - lowest for value, number in plain.items())


# --- defaults ---

SERVICE = Builder("v1", "Service", "web", "default").spec(selector={"app": "web"})
WEB = make_pod("p").label("app", "web")
LIST_ARGS = {
    "defaultingType": "List",
    "defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
}


def owned(api_version: str, kind: str, name: str) -> PodBuilder:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": True}
    return make_pod("p").label("app", "web").metadata(ownerReferences=[owner])


DEFAULTS: dict[str, tuple[PodBuilder, list[Builder], list[str]]] = {
    "A pod without any selector gets no default constraint": (WEB, [], ["a", "b"]),
    "A Service makes the defaults count its pods": (WEB, [SERVICE], ["b"]),
    "A Service without a selector selects nothing": (
        WEB,
        [Builder("v1", "Service", "x", "default").spec()],
        ["a", "b"],
    ),
    "A Service of another namespace does not count": (
        WEB,
        [Builder("v1", "Service", "web", "team-b").spec(selector={"app": "web"})],
        ["a", "b"],
    ),
    "A ReplicaSet that owns the pod gives the selector": (
        owned("apps/v1", "ReplicaSet", "rs"),
        [Builder("apps/v1", "ReplicaSet", "rs", "default").spec(selector={"matchLabels": {"app": "web"}})],
        ["b"],
    ),
    "A StatefulSet that owns the pod gives the selector": (
        owned("apps/v1", "StatefulSet", "ss"),
        [Builder("apps/v1", "StatefulSet", "ss", "default").spec(selector={"matchLabels": {"app": "web"}})],
        ["b"],
    ),
    "A ReplicationController that owns the pod gives the selector": (
        owned("v1", "ReplicationController", "rc"),
        [Builder("v1", "ReplicationController", "rc", "default").spec(selector={"app": "web"})],
        ["b"],
    ),
    "An owner of another kind gives none": (owned("batch/v1", "Job", "job"), [], ["a", "b"]),
    "An owner that does not exist gives none": (owned("apps/v1", "ReplicaSet", "gone"), [], ["a", "b"]),
    "A pod with its own constraint gets no default": (
        make_pod("p").label("app", "web").spread("zone", {"app": "other"}, when="ScheduleAnyway"),
        [SERVICE],
        ["a", "b"],
    ),
}


@pytest.mark.parametrize(("pod", "objects", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_default_constraints(pod: PodBuilder, objects: list[Builder], expected: list[str]) -> None:
    infos = [zoned("a", "A", make_pod("x").label("app", "web")), zoned("b", "B")]
    world = World(*infos)
    world.add(*(KubeObject(item.obj()) for item in objects))
    reasons = verdicts(PodTopologySpread(LIST_ARGS, world.handle), pod_of(pod), infos)
    assert [name for name, reason in reasons.items() if not reason] == expected


# --- scores ---


def scores_of(
    pod: PodBuilder, infos: Sequence[NodeInfo], args: dict[str, Any] | None = None, *objects: Builder
) -> tuple[dict[str, int], dict[str, int]] | None:
    """Return (raw, normalized) if all nodes are feasible; None if PreScore skips."""
    world = World(*infos)
    world.add(*(object_of(item) for item in objects))
    plugin, state = PodTopologySpread(args or {}, world.handle), CycleState()
    status = plugin.pre_score(state, pod_of(pod), infos)
    if status is not None:
        assert status.is_skip
        return None
    raw = {info.name: plugin.score(state, pod_of(pod), info) for info in infos}
    normalized = dict(raw)
    plugin.normalize_score(state, pod_of(pod), normalized)
    return raw, normalized


def test_a_soft_constraint_prefers_the_emptier_zone() -> None:
    scores = scores_of(foo("mypod").spread("zone", FOO, when="ScheduleAnyway"), seed_cluster())
    assert scores is not None
    raw, normalized = scores
    assert raw == {"node1": round(2 * log(4)), "node2": 3, "node3": round(log(4)), "node4": 1}
    assert normalized == {"node1": 33, "node2": 33, "node3": 100, "node4": 100}


def test_hosts_are_weighed_by_the_number_of_feasible_nodes_that_take_part() -> None:
    infos = [zoned("a", "A", foo("x"), foo("y")), zoned("b", "B", foo("z")), node_info(make_node("c"))]
    pod = foo("mypod").spread(HOSTNAME, FOO, 3, "ScheduleAnyway").spread("zone", FOO, 1, "ScheduleAnyway")
    scores = scores_of(pod, infos)
    assert scores is not None
    raw, normalized = scores
    weight = log(2 + 2)
    assert raw == {"a": round(2 * weight + 2 + 2 * weight), "b": round(weight + 2 + weight), "c": 0}
    assert normalized == {"a": 100 * 5 // 8, "b": 100, "c": 0}


def test_with_nothing_to_count_every_node_is_best() -> None:
    scores = scores_of(foo("mypod").spread("zone", FOO, when="ScheduleAnyway"), two_zones())
    assert scores == ({"a": 0, "b": 0}, {"a": 100, "b": 100})


def test_the_built_in_defaults_do_without_zone_labels() -> None:
    infos = [node_info(make_node("a"), make_pod("x").label("app", "web")), node_info(make_node("b"))]
    scores = scores_of(WEB, infos, None, SERVICE)
    assert scores is not None
    raw, normalized = scores
    assert raw == {"a": round(log(4)) + 2, "b": 2}
    assert normalized == {"a": 66, "b": 100}


def test_the_built_in_defaults_count_hosts_and_zones() -> None:
    busy = node_info(make_node("a").label(ZONE, "z"), make_pod("x").label("app", "web"))
    scores = scores_of(WEB, [busy, node_info(make_node("b").label(ZONE, "y"))], None, SERVICE)
    assert scores is not None
    assert scores[0] == {"a": round(log(4) + 2 + log(4) + 4), "b": 6}


SKIPS: dict[str, tuple[PodBuilder, dict[str, Any]]] = {
    "A pod that nothing selects is not scored": (WEB, {}),
    "A pod with only hard constraints is not scored": (foo("mypod").spread("zone", FOO), {}),
    "An empty list of defaults scores nothing": (WEB, {"defaultingType": "List", "defaultConstraints": []}),
}


@pytest.mark.parametrize(("pod", "args"), SKIPS.values(), ids=SKIPS)
def test_prescore_skips(pod: PodBuilder, args: dict[str, Any]) -> None:
    assert scores_of(pod, two_zones(), args) is None


# --- events ---


def test_events() -> None:
    assert events_of(PodTopologySpread({}, World().handle)) == {
        "Pod/ADD, DELETE, UPDATE_POD_LABEL, UPDATE_POD_TOLERATION": True,
        "Node/ADD, DELETE, UPDATE_NODE_LABEL, UPDATE_NODE_TAINT": True,
    }


RUNNING = foo("x").node("a")
TAINT_WITH_TIME = {"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
HINTS: dict[str, tuple[str, PodBuilder | NodeBuilder | None, PodBuilder | NodeBuilder | None, Hint]] = {
    "A counted pod that arrives may help": ("Pod", None, RUNNING, Hint.QUEUE),
    "A counted pod that goes may help": ("Pod", RUNNING, None, Hint.QUEUE),
    "A pod without a node does not help": ("Pod", None, foo("x"), Hint.SKIP),
    "A pod of another namespace does not help": ("Pod", None, make_pod("x", "b").labels(FOO).node("a"), Hint.SKIP),
    "A pod that is not counted does not help": ("Pod", None, make_pod("x").node("a"), Hint.SKIP),
    "A pod that is no longer counted may help": ("Pod", RUNNING, make_pod("x").node("a"), Hint.QUEUE),
    "A change of other labels does not help": ("Pod", RUNNING, foo("x").label("k", "v").node("a"), Hint.SKIP),
    "New tolerations of the pod itself may help": (
        "Pod",
        foo("mypod"),
        foo("mypod").toleration("k"),
        Hint.QUEUE,
    ),
    "A new node with the label may help": ("Node", None, make_node("n").label("zone", "A"), Hint.QUEUE),
    "A new node without the label does not help": ("Node", None, make_node("n"), Hint.SKIP),
    "A node with the label that goes may help": ("Node", make_node("n").label("zone", "A"), None, Hint.QUEUE),
    "A node that gains the label may help": ("Node", make_node("n"), make_node("n").label("zone", "A"), Hint.QUEUE),
    "A node that changes its zone may help": (
        "Node",
        make_node("n").label("zone", "A"),
        make_node("n").label("zone", "B"),
        Hint.QUEUE,
    ),
    "A node whose taints change may help": (
        "Node",
        make_node("n").label("zone", "A"),
        make_node("n").label("zone", "A").taint("k"),
        Hint.QUEUE,
    ),
    "A taint that was added at another time is another taint": (
        "Node",
        make_node("n").label("zone", "A").spec(taints=[TAINT_WITH_TIME]),
        make_node("n").label("zone", "A").spec(taints=[{**TAINT_WITH_TIME, "timeAdded": "2026-01-01T00:05:00Z"}]),
        Hint.QUEUE,
    ),
    "A node that changes another label does not help": (
        "Node",
        make_node("n").label("zone", "A"),
        make_node("n").label("zone", "A").label("k", "v"),
        Hint.SKIP,
    ),
}


def view(builder: PodBuilder | NodeBuilder | None) -> Pod | Node | None:
    if builder is None:
        return None
    return pod_of(builder) if isinstance(builder, PodBuilder) else node_of(builder)


@pytest.mark.parametrize(("resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(
    resource: str,
    old: PodBuilder | NodeBuilder | None,
    new: PodBuilder | NodeBuilder | None,
    expected: Hint,
) -> None:
    pod = pod_of(foo("mypod").spread("zone", FOO, nodeTaintsPolicy="Honor"))
    assert hint_of(PodTopologySpread({}, World().handle), resource, pod, view(old), view(new)) is expected


def test_a_pod_info_can_be_added_to_a_node_that_does_not_take_part() -> None:
    infos = seed_cluster()
    plugin, pod, state = PodTopologySpread({}, World(*infos).handle), pod_of(ZONE_SPREAD), CycleState()
    plugin.pre_filter(state, pod, infos)
    outside = node_info(make_node("outside"))
    plugin.add_pod(state, pod, PodInfo(pod_of(foo("x"))), outside)
    assert plugin.filter(state, pod, infos[3]) is None
