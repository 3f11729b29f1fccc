"""InterPodAffinity: required and preferred terms of both sides, namespaces, the first pod of a group."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_engine.testing import PREFERRED, REQUIRED, Builder, NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, object_of, pod_of

WEB = {"app": "web"}
CACHE = {"app": "cache"}
AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


def web(name: str = "web", namespace: str = "default") -> PodBuilder:
    return make_pod(name, namespace).labels(WEB)


def cache(name: str = "cache", namespace: str = "default") -> PodBuilder:
    return make_pod(name, namespace).labels(CACHE)


def zoned(name: str, zone: str, *pods: PodBuilder) -> NodeInfo:
    return node_info(make_node(name).label("zone", zone), *pods)


def required(pod: PodBuilder, side: str, *terms: dict[str, Any]) -> PodBuilder:
    """Return ``pod`` with required terms written out in full."""
    return pod.spec(affinity={side: {REQUIRED: list(terms)}})


def term(selector: dict[str, Any] | None = None, key: str = "zone", **more: Any) -> dict[str, Any]:
    return {"topologyKey": key, **({} if selector is None else {"labelSelector": selector}), **more}


def world_of(infos: Sequence[NodeInfo]) -> World:
    """Return a world with the namespaces default (no labels), team-a and team-b (labelled with their team)."""
    world = World(*infos)
    world.add(object_of(Builder("v1", "Namespace", "default")))
    for team in ("a", "b"):
        world.add(object_of(Builder("v1", "Namespace", f"team-{team}").label("team", team)))
    return world


def verdicts(pod: PodBuilder, infos: Sequence[NodeInfo]) -> dict[str, str]:
    """Return node → reason, "" for nodes that pass."""
    state, plugin, incoming = CycleState(), InterPodAffinity({}, world_of(infos).handle), pod_of(pod)
    _, status = plugin.pre_filter(state, incoming, infos)
    if status is not None:
        assert status.is_skip
        return dict.fromkeys((info.name for info in infos), "")
    statuses: dict[str, Status | None] = {info.name: plugin.filter(state, incoming, info) for info in infos}
    return {name: "" if verdict is None else verdict.message for name, verdict in statuses.items()}


def two_zones(*pods_in_a: PodBuilder) -> list[NodeInfo]:
    """Return nodes a1 (with the pods) and a2 in zone A, b in zone B."""
    return [zoned("a1", "A", *pods_in_a), zoned("a2", "A"), zoned("b", "B")]


BOTH_WANTED = web().affinity("zone", CACHE).affinity("zone", {"tier": "x"})

FILTERS: dict[str, tuple[PodBuilder, list[NodeInfo], dict[str, str]]] = {
    "Affinity requires the domain of a matching pod, not its node": (
        web().affinity("zone", CACHE),
        two_zones(cache()),
        {"a1": "", "a2": "", "b": AFFINITY},
    ),
    "Anti-affinity excludes the domain of a matching pod": (
        web().anti_affinity("zone", CACHE),
        two_zones(cache()),
        {"a1": ANTI_AFFINITY, "a2": ANTI_AFFINITY, "b": ""},
    ),
    "Anti-affinity of a running pod excludes the new pod, too": (
        web(),
        two_zones(cache().anti_affinity("zone", WEB)),
        {"a1": EXISTING, "a2": EXISTING, "b": ""},
    ),
    "Affinity of a running pod binds only that pod": (
        web(),
        two_zones(cache().affinity("zone", WEB)),
        {"a1": "", "a2": "", "b": ""},
    ),
    "Without any match a pod that does not match itself has no node": (
        web().affinity("zone", CACHE),
        two_zones(),
        {"a1": AFFINITY, "a2": AFFINITY, "b": AFFINITY},
    ),
    "The first pod of a group that matches itself may go anywhere": (
        cache().affinity("zone", CACHE),
        two_zones(),
        {"a1": "", "a2": "", "b": ""},
    ),
    "The first pod of a group still needs the topology label": (
        cache().affinity("zone", CACHE),
        [node_info(make_node("unlabelled"))],
        {"unlabelled": AFFINITY},
    ),
    "The second pod of a group must join the first": (
        cache("second").affinity("zone", CACHE),
        two_zones(cache()),
        {"a1": "", "a2": "", "b": AFFINITY},
    ),
    "One existing pod must match every affinity term": (
        BOTH_WANTED,
        two_zones(cache("one"), make_pod("two").label("tier", "x")),
        {"a1": AFFINITY, "a2": AFFINITY, "b": AFFINITY},
    ),
    "An existing pod that matches every affinity term counts": (
        BOTH_WANTED,
        two_zones(cache().label("tier", "x")),
        {"a1": "", "a2": "", "b": AFFINITY},
    ),
    "For anti-affinity one matching term is enough": (
        web().anti_affinity("zone", CACHE).anti_affinity("zone", {"tier": "x"}),
        two_zones(cache()),
        {"a1": ANTI_AFFINITY, "a2": ANTI_AFFINITY, "b": ""},
    ),
    "A node without the topology label passes anti-affinity": (
        web().anti_affinity("zone", CACHE),
        [node_info(make_node("n"), cache())],
        {"n": ""},
    ),
    "Affinity is judged before anti-affinity": (
        web().affinity("zone", {"app": "none"}).anti_affinity("zone", CACHE),
        two_zones(cache()),
        {"a1": AFFINITY, "a2": AFFINITY, "b": AFFINITY},
    ),
    "A pod's own anti-affinity is judged before that of others": (
        web().anti_affinity("zone", CACHE),
        two_zones(cache().anti_affinity("zone", WEB)),
        {"a1": ANTI_AFFINITY, "a2": ANTI_AFFINITY, "b": ""},
    ),
    "Each web server of the redis example goes beside a cache and away from others": (
        web("web-2").anti_affinity("kubernetes.io/hostname", WEB).affinity("kubernetes.io/hostname", CACHE),
        [
            node_info(make_node("n1"), cache("c1"), web("web-1").anti_affinity("kubernetes.io/hostname", WEB)),
            node_info(make_node("n2"), cache("c2")),
            node_info(make_node("n3")),
        ],
        {"n1": ANTI_AFFINITY, "n2": "", "n3": AFFINITY},
    ),
}


@pytest.mark.parametrize(("pod", "infos", "expected"), FILTERS.values(), ids=FILTERS)
def test_filter(pod: PodBuilder, infos: list[NodeInfo], expected: dict[str, str]) -> None:
    assert verdicts(pod, infos) == expected


MATCH = {"matchLabels": CACHE}
TEAM_B = {"matchLabels": {"team": "b"}}
NO_TEAM = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}

NAMESPACES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "Without namespaces a term selects the pod's own": (term(MATCH), "team-a", True),
    "Without namespaces a term selects no other": (term(MATCH), "team-b", False),
    "A named namespace is selected": (term(MATCH, namespaces=["team-b"]), "team-b", True),
    "A named namespace replaces the pod's own": (term(MATCH, namespaces=["team-b"]), "team-a", False),
    "A namespace that the selector matches is selected": (term(MATCH, namespaceSelector=TEAM_B), "team-b", True),
    "A namespace that the selector does not match is not": (term(MATCH, namespaceSelector=TEAM_B), "team-a", False),
    "Names and selector add up": (term(MATCH, namespaces=["team-a"], namespaceSelector=TEAM_B), "team-a", True),
    "An empty selector selects every namespace": (term(MATCH, namespaceSelector={}), "team-b", True),
    "An empty selector selects even a missing namespace": (term(MATCH, namespaceSelector={}), "gone", True),
    "A selector for the absence of a label selects every namespace, as existing pods' namespaces are not read": (
        term(MATCH, namespaceSelector=NO_TEAM),
        "team-b",
        True,
    ),
    "A label selector that is left out matches no pod": (term(), "team-a", False),
    "An empty label selector matches every pod": (term({}), "team-a", True),
}


@pytest.mark.parametrize(("wanted", "namespace", "meant"), NAMESPACES.values(), ids=NAMESPACES)
@pytest.mark.parametrize("side", ["podAffinity", "podAntiAffinity"])
def test_namespaces_of_the_incoming_pod(side: str, wanted: dict[str, Any], namespace: str, meant: bool) -> None:
    pod = required(make_pod("p", "team-a"), side, wanted)
    passes = verdicts(pod, [zoned("n", "A", cache("c", namespace))])["n"] == ""
    assert passes is (meant if side == "podAffinity" else not meant)


EXISTING_NAMESPACES: dict[str, tuple[dict[str, Any], bool]] = {
    "A running pod's selector is applied to the new pod's namespace": (
        term({"matchLabels": WEB}, namespaceSelector=TEAM_B),
        False,
    ),
    "A selector that matches the new pod's namespace holds": (
        term({"matchLabels": WEB}, namespaceSelector={"matchLabels": {"team": "a"}}),
        True,
    ),
    "A selector for the absence of a label uses the real labels": (
        term({"matchLabels": WEB}, namespaceSelector=NO_TEAM),
        False,
    ),
    "A running pod's term selects its own namespace if none is named": (term({"matchLabels": WEB}), False),
}


@pytest.mark.parametrize(("wanted", "rejects"), EXISTING_NAMESPACES.values(), ids=EXISTING_NAMESPACES)
def test_namespaces_of_running_pods(wanted: dict[str, Any], rejects: bool) -> None:
    running = required(cache("c", "team-b"), "podAntiAffinity", wanted)
    assert verdicts(web("w", "team-a"), [zoned("n", "A", running)]) == {"n": EXISTING if rejects else ""}


def test_only_affinity_is_unresolvable() -> None:
    infos = two_zones(cache().anti_affinity("zone", {"meant": "yes"}))
    codes = {}
    for name, pod in {
        AFFINITY: web().affinity("zone", {"app": "none"}),
        ANTI_AFFINITY: web().anti_affinity("zone", CACHE),
        EXISTING: make_pod("p").label("meant", "yes"),
    }.items():
        plugin, state = InterPodAffinity({}, world_of(infos).handle), CycleState()
        plugin.pre_filter(state, pod_of(pod), infos)
        status = plugin.filter(state, pod_of(pod), infos[0])
        assert status is not None
        codes[name] = (status.code, status.message)
    assert codes == {
        AFFINITY: (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, AFFINITY),
        ANTI_AFFINITY: (Code.UNSCHEDULABLE, ANTI_AFFINITY),
        EXISTING: (Code.UNSCHEDULABLE, EXISTING),
    }


PREFILTER_SKIPS: dict[str, tuple[PodBuilder, list[NodeInfo]]] = {
    "No pod has terms": (web(), two_zones(cache())),
    "Only preferences": (web().affinity("zone", CACHE, weight=1), two_zones(cache())),
    "Running pods' anti-affinity does not match the pod": (web(), two_zones(cache().anti_affinity("zone", CACHE))),
}


@pytest.mark.parametrize(("pod", "infos"), PREFILTER_SKIPS.values(), ids=PREFILTER_SKIPS)
def test_prefilter_skips(pod: PodBuilder, infos: list[NodeInfo]) -> None:
    plugin = InterPodAffinity({}, world_of(infos).handle)
    _, status = plugin.pre_filter(CycleState(), pod_of(pod), infos)
    assert status is not None
    assert status.is_skip


def changed(pod: PodBuilder, running: PodBuilder) -> list[str]:
    """Return the verdicts on the running pod's node: before, without it, with it again, and on the original state."""
    infos = two_zones(running)
    plugin, state, incoming = InterPodAffinity({}, world_of(infos).handle), CycleState(), pod_of(pod)
    plugin.pre_filter(state, incoming, infos)
    trial, node = state.clone(), infos[0]
    results = [plugin.filter(state, incoming, node)]
    plugin.remove_pod(trial, incoming, node.pods[0], node)
    results.append(plugin.filter(trial, incoming, node))
    plugin.add_pod(trial, incoming, node.pods[0], node)
    results += [plugin.filter(trial, incoming, node), plugin.filter(state, incoming, node)]
    return ["" if status is None else status.message for status in results]


REMOVALS: dict[str, tuple[PodBuilder, PodBuilder, list[str]]] = {
    "An excluded pod is removed": (
        web().anti_affinity("zone", CACHE),
        cache(),
        [ANTI_AFFINITY, "", ANTI_AFFINITY, ANTI_AFFINITY],
    ),
    "A pod that excludes the new one is removed": (
        web(),
        cache().anti_affinity("zone", WEB),
        [EXISTING, "", EXISTING, EXISTING],
    ),
    "The required pod is removed": (web().affinity("zone", CACHE), cache(), ["", AFFINITY, "", ""]),
    "The only other pod of the group is removed, which makes the new one the first": (
        cache("new").affinity("zone", CACHE),
        cache(),
        ["", "", "", ""],
    ),
}


@pytest.mark.parametrize(("pod", "running", "expected"), REMOVALS.values(), ids=REMOVALS)
def test_removing_and_adding_pods_changes_only_the_copy(
    pod: PodBuilder, running: PodBuilder, expected: list[str]
) -> None:
    assert changed(pod, running) == expected


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["by deepcopy", "by pickle"]
)
def test_a_cycle_under_way_can_be_copied(copied: Callable[[CycleState], CycleState]) -> None:
    infos = two_zones(cache())
    plugin, state, pod = InterPodAffinity({}, world_of(infos).handle), CycleState(), pod_of(SHUNS)
    plugin.pre_filter(state, pod, infos)
    twin = copied(state)
    plugin.remove_pod(twin, pod, infos[0].pods[0], infos[0])
    assert plugin.filter(twin, pod, infos[0]) is None
    assert plugin.filter(state, pod, infos[0]) is not None


# --- scores ---


def scores_of(
    pod: PodBuilder, infos: Sequence[NodeInfo], args: dict[str, Any] | None = None
) -> tuple[dict[str, int], dict[str, int]] | None:
    """Return (raw, normalized) if all nodes are feasible; None if PreScore skips."""
    plugin, state, incoming = InterPodAffinity(args or {}, world_of(infos).handle), CycleState(), pod_of(pod)
    status = plugin.pre_score(state, incoming, infos)
    if status is not None:
        assert status.is_skip
        return None
    raw = {info.name: plugin.score(state, incoming, info) for info in infos}
    normalized = dict(raw)
    plugin.normalize_score(state, incoming, normalized)
    return raw, normalized


SCORES: dict[str, tuple[PodBuilder, list[NodeInfo], dict[str, Any], dict[str, int], dict[str, int]]] = {
    "A preference counts its weight for every match in the domain": (
        web().affinity("zone", CACHE, weight=10),
        two_zones(cache("one"), cache("two")),
        {},
        {"a1": 20, "a2": 20, "b": 0},
        {"a1": 100, "a2": 100, "b": 0},
    ),
    "Preferred anti-affinity counts negative": (
        web().anti_affinity("zone", CACHE, weight=7),
        two_zones(cache()),
        {},
        {"a1": -7, "a2": -7, "b": 0},
        {"a1": 0, "a2": 0, "b": 100},
    ),
    "Preferences of running pods count as well": (
        web(),
        two_zones(cache().affinity("zone", WEB, weight=5), cache("d").anti_affinity("zone", WEB, weight=2)),
        {},
        {"a1": 3, "a2": 3, "b": 0},
        {"a1": 100, "a2": 100, "b": 0},
    ),
    "A required affinity of a running pod is worth 1": (
        web(),
        two_zones(cache().affinity("zone", WEB)),
        {},
        {"a1": 1, "a2": 1, "b": 0},
        {"a1": 100, "a2": 100, "b": 0},
    ),
    "hardPodAffinityWeight changes that": (
        web(),
        two_zones(cache().affinity("zone", WEB)),
        {"hardPodAffinityWeight": 40},
        {"a1": 40, "a2": 40, "b": 0},
        {"a1": 100, "a2": 100, "b": 0},
    ),
    "Equal scores become 0": (
        web().affinity("zone", CACHE, weight=10),
        [zoned("a", "A", cache("one")), zoned("b", "B", cache("two"))],
        {},
        {"a": 10, "b": 10},
        {"a": 0, "b": 0},
    ),
    "The middle is rounded down": (
        web().affinity("kubernetes.io/hostname", CACHE, weight=1),
        [
            node_info(make_node("a"), cache("1"), cache("2"), cache("3")),
            node_info(make_node("b"), cache("4"), cache("5")),
            node_info(make_node("c")),
        ],
        {},
        {"a": 3, "b": 2, "c": 0},
        {"a": 100, "b": 66, "c": 0},
    ),
    "With its own preferences, the pod's score includes those of others even if configured to ignore them": (
        web().affinity("zone", CACHE, weight=10),
        two_zones(cache().affinity("zone", WEB, weight=5)),
        {"ignorePreferredTermsOfExistingPods": True},
        {"a1": 15, "a2": 15, "b": 0},
        {"a1": 100, "a2": 100, "b": 0},
    ),
}


@pytest.mark.parametrize(("pod", "infos", "args", "raw", "normalized"), SCORES.values(), ids=SCORES)
def test_scores(
    pod: PodBuilder, infos: list[NodeInfo], args: dict[str, Any], raw: dict[str, int], normalized: dict[str, int]
) -> None:
    assert scores_of(pod, infos, args) == (raw, normalized)


PRESCORE_SKIPS: dict[str, tuple[PodBuilder, list[NodeInfo], dict[str, Any]]] = {
    "No pod has preferences": (web(), two_zones(cache()), {}),
    "The pod's preference matches no pod": (web().affinity("zone", {"app": "none"}, weight=1), two_zones(cache()), {}),
    "Others' preferences do not match the pod": (web(), two_zones(cache().affinity("zone", CACHE, weight=1)), {}),
    "Others' required affinity has weight 0": (
        web(),
        two_zones(cache().affinity("zone", WEB)),
        {"hardPodAffinityWeight": 0},
    ),
    "Others' preferences are ignored": (
        web(),
        two_zones(cache().affinity("zone", WEB, weight=5)),
        {"ignorePreferredTermsOfExistingPods": True},
    ),
}


@pytest.mark.parametrize(("pod", "infos", "args"), PRESCORE_SKIPS.values(), ids=PRESCORE_SKIPS)
def test_prescore_skips(pod: PodBuilder, infos: list[NodeInfo], args: dict[str, Any]) -> None:
    assert scores_of(pod, infos, args) is None


def test_a_preference_may_select_namespaces() -> None:
    pod = web("w", "team-a").spec(
        affinity={"podAffinity": {PREFERRED: [{"weight": 3, "podAffinityTerm": term(MATCH, namespaceSelector=TEAM_B)}]}}
    )
    infos = [zoned("a", "A", cache("x", "team-a")), zoned("b", "B", cache("y", "team-b"))]
    scores = scores_of(pod, infos)
    assert scores is not None
    assert scores[0] == {"a": 0, "b": 3}


# --- events ---


def test_events() -> None:
    assert events_of(InterPodAffinity({}, World().handle)) == {
        "Pod/ADD, DELETE, UPDATE_POD_LABEL": True,
        "Node/ADD, UPDATE_NODE_LABEL": True,
    }


WANTS = web().affinity("zone", CACHE)
SHUNS = web().anti_affinity("zone", CACHE)
RUNNING, OTHER = cache().node("a"), make_pod("cache").node("a")
PLAIN, IN_A, IN_B = make_node("n"), make_node("n").label("zone", "A"), make_node("n").label("zone", "B")

Change = PodBuilder | NodeBuilder | None
HINTS: dict[str, tuple[str, PodBuilder, Change, Change, Hint]] = {
    "A new matching pod may help": ("Pod", WANTS, None, RUNNING, Hint.QUEUE),
    "A new unrelated pod does not help": ("Pod", WANTS, None, OTHER, Hint.SKIP),
    "A matching pod without a node does not help": ("Pod", WANTS, None, cache(), Hint.SKIP),
    "A pod that begins to match may help": ("Pod", WANTS, OTHER, RUNNING, Hint.QUEUE),
    "A pod that still matches does not help": ("Pod", WANTS, RUNNING, RUNNING, Hint.SKIP),
    "A deleted matching pod does not help": ("Pod", WANTS, RUNNING, None, Hint.SKIP),
    "A deleted excluded pod may help": ("Pod", SHUNS, RUNNING, None, Hint.QUEUE),
    "A pod that is no longer excluded may help": ("Pod", SHUNS, RUNNING, OTHER, Hint.QUEUE),
    "A new excluded pod does not help": ("Pod", SHUNS, None, RUNNING, Hint.SKIP),
    "A deleted unrelated pod does not help": ("Pod", SHUNS, OTHER, None, Hint.SKIP),
    "A new node in a domain may help a pod with affinity": ("Node", WANTS, None, IN_A, Hint.QUEUE),
    "A new node without the label does not help a pod with affinity": ("Node", WANTS, None, PLAIN, Hint.SKIP),
    "A node that gains the label may help a pod with affinity": ("Node", WANTS, PLAIN, IN_A, Hint.QUEUE),
    "A node that changes its domain may help a pod with affinity": ("Node", WANTS, IN_A, IN_B, Hint.QUEUE),
    "A node that loses the label does not help a pod with affinity": ("Node", WANTS, IN_A, PLAIN, Hint.SKIP),
    "Any new node may help a pod with anti-affinity": ("Node", SHUNS, None, PLAIN, Hint.QUEUE),
    "A node that loses the label may help a pod with anti-affinity": ("Node", SHUNS, IN_A, PLAIN, Hint.QUEUE),
    "A node that changes its domain may help a pod with anti-affinity": ("Node", SHUNS, IN_A, IN_B, Hint.QUEUE),
    "A node that gains the label does not help a pod with anti-affinity": ("Node", SHUNS, PLAIN, IN_A, Hint.SKIP),
    "A node that stays in its domain does not help": ("Node", SHUNS, IN_A, IN_A, Hint.SKIP),
}


def view(builder: Change) -> Pod | Node | None:
    if builder is None:
        return None
    return pod_of(builder) if isinstance(builder, PodBuilder) else node_of(builder)


@pytest.mark.parametrize(("resource", "pod", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(resource: str, pod: PodBuilder, old: Change, new: Change, expected: Hint) -> None:
    assert hint_of(InterPodAffinity({}, World().handle), resource, pod_of(pod), view(old), view(new)) is expected
