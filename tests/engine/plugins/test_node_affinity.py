"""NodeAffinity: selectors, required and preferred terms, narrowing, addedAffinity."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError, PreFilterResult
from scheduler_engine.framework.status import SKIP, Status, unresolvable
from scheduler_engine.plugins.node_affinity import NodeAffinity
from scheduler_engine.testing import PREFERRED, REQUIRED, NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, pod_of

WEST, EAST = make_node("west").zone("west"), make_node("east").zone("east")
ZONE = "topology.kubernetes.io/zone"
SIZE_ABOVE_LARGE = {"key": "size", "operator": "Gt", "values": ["large"]}


def plugin(added: dict[str, Any] | None = None) -> NodeAffinity:
    return NodeAffinity({"addedAffinity": added} if added else {}, World().handle)


def terms(*listed: dict[str, Any]) -> PodBuilder:
    required = {REQUIRED: {"nodeSelectorTerms": list(listed)}}
    return make_pod("p").spec(affinity={"nodeAffinity": required})


def names(*values: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "In", "values": list(values)}


def in_zone(zone: str) -> dict[str, Any]:
    return {"key": ZONE, "operator": "In", "values": [zone]}


def verdict(pod: PodBuilder, node: NodeBuilder, added: dict[str, Any] | None = None) -> Status | None:
    wanted, state, asked = pod_of(pod), CycleState(), plugin(added)
    asked.pre_filter(state, wanted, [])
    return asked.filter(state, wanted, node_info(node))


MISMATCH = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")


@pytest.mark.parametrize(
    ("pod", "status"),
    [
        pytest.param(make_pod("p").node_selector({ZONE: "west"}), None, id="a matching nodeSelector passes"),
        pytest.param(make_pod("p").node_selector({ZONE: "east"}), MISMATCH, id="a wrong nodeSelector fails"),
        pytest.param(make_pod("p").node_affinity(ZONE, ["west", "south"]), None, id="one of several values is enough"),
        pytest.param(make_pod("p").node_affinity(ZONE, ["west"], "NotIn"), MISMATCH, id="NotIn excludes"),
        pytest.param(
            make_pod("p").node_affinity(ZONE, ["east"]).node_affinity(ZONE, ["west"]), None, id="terms are ORed"
        ),
        pytest.param(
            terms({"matchExpressions": [in_zone("west"), in_zone("east")]}), MISMATCH, id="expressions are ANDed"
        ),
        pytest.param(terms({}), MISMATCH, id="an empty term matches nothing"),
        pytest.param(terms(), MISMATCH, id="no term matches nothing"),
        pytest.param(terms({"matchFields": [names("west")]}), None, id="a node's name can be required"),
        pytest.param(
            make_pod("p").node_selector({ZONE: "west"}).node_affinity(ZONE, ["east"]),
            MISMATCH,
            id="selector and affinity must both match",
        ),
    ],
)
def test_filter(pod: PodBuilder, status: Status | None) -> None:
    assert verdict(pod, WEST) == status


@pytest.mark.parametrize(
    ("pod", "node", "status"),
    [
        pytest.param(make_pod("p"), WEST, None, id="a node that the profile enforces passes"),
        pytest.param(make_pod("p"), EAST, ENFORCED, id="any other node fails with a separate message"),
        pytest.param(
            make_pod("p").node_selector({ZONE: "east"}), WEST, MISMATCH, id="the pod's own affinity counts too"
        ),
    ],
)
def test_added_affinity(pod: PodBuilder, node: NodeBuilder, status: Status | None) -> None:
    added = {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [in_zone("west")]}]}}
    assert verdict(pod, node, added) == status


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod("p"), (None, SKIP), id="a pod without affinity is skipped"),
        pytest.param(make_pod("p").node_selector({ZONE: "west"}), (None, None), id="a selector does not narrow"),
        pytest.param(
            terms({"matchFields": [names("b")]}, {"matchFields": [names("a")]}),
            (PreFilterResult(("a", "b")), None),
            id="names in every term narrow the search to all of them",
        ),
        pytest.param(
            terms({"matchFields": [names("b")]}, {"matchExpressions": [in_zone("west")]}),
            (None, None),
            id="one term without a name admits all nodes",
        ),
        pytest.param(
            terms({"matchFields": [names("a"), names("b")]}),
            (None, unresolvable("pod affinity terms conflict")),
            id="a term that names two nodes at once can never match",
        ),
        pytest.param(
            terms({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]}),
            (None, None),
            id="NotIn does not narrow",
        ),
    ],
)
def test_pre_filter(pod: PodBuilder, expected: object) -> None:
    assert plugin().pre_filter(CycleState(), pod_of(pod), []) == expected


def test_every_preferred_term_that_matches_adds_its_weight() -> None:
    """Use the example of seed 002 §2: weights 1 and 50."""
    pod = pod_of(
        make_pod("p").node_affinity("label-1", ["key-1"], weight=1).node_affinity("label-2", ["key-2"], weight=50)
    )
    nodes = [
        node_info(make_node("none")),
        node_info(make_node("one").label("label-1", "key-1")),
        node_info(make_node("fifty").label("label-2", "key-2")),
        node_info(make_node("both").label("label-1", "key-1").label("label-2", "key-2")),
    ]
    asked, state = plugin(), CycleState()
    assert asked.pre_score(state, pod, nodes) is None
    scores = {info.name: asked.score(state, pod, info) for info in nodes}
    assert scores == {"none": 0, "one": 1, "fifty": 50, "both": 51}
    asked.normalize_score(state, pod, scores)
    assert scores == {"none": 0, "one": 1, "fifty": 98, "both": 100}


def test_scores_of_0_stay_0() -> None:
    scores = {"a": 0, "b": 0}
    plugin().normalize_score(CycleState(), pod_of(make_pod("p")), scores)
    assert scores == {"a": 0, "b": 0}


def test_without_preferences_there_is_nothing_to_score() -> None:
    assert plugin().pre_score(CycleState(), pod_of(make_pod("p")), []) is SKIP


def test_a_preference_that_cannot_be_evaluated_fails_the_attempt() -> None:
    preferred = [
        {"weight": 0, "preference": {"matchExpressions": [SIZE_ABOVE_LARGE]}},
        {"weight": 5, "preference": {"matchExpressions": [in_zone("west"), SIZE_ABOVE_LARGE]}},
    ]
    pod = pod_of(make_pod("p").spec(affinity={"nodeAffinity": {PREFERRED: preferred}}))
    with pytest.raises(PluginError) as problem:
        plugin().pre_score(CycleState(), pod, [])
    assert str(problem.value) == (
        '[1].matchExpressions[1].values[0]: Invalid value: "large": '
        "for 'Gt', 'Lt' operators, the value must be an integer"
    )


@pytest.mark.parametrize(
    ("preference", "value"),
    [
        pytest.param(in_zone("a b"), "a b", id="an invalid label value"),
        pytest.param(
            {"key": SIZE_ABOVE_LARGE["key"], "operator": "Gt", "values": ["-3"]},
            "-3",
            id="an invalid label number",
        ),
    ],
)
def test_a_preference_with_an_invalid_label_value_passes_validation_and_fails_the_attempt(
    preference: dict[str, Any], value: str
) -> None:
    preferred = [{"weight": 5, "preference": {"matchExpressions": [preference]}}]
    pod = pod_of(make_pod("p").spec(affinity={"nodeAffinity": {PREFERRED: preferred}}))
    start = f'[0].matchExpressions[0].values[0][{preference["key"]}]: Invalid value: "{value}": a valid label must be'
    with pytest.raises(PluginError, match=re.escape(start)):
        plugin().pre_score(CycleState(), pod, [])


def test_a_preference_of_weight_0_is_ignored() -> None:
    preferred = [{"weight": 0, "preference": {"matchExpressions": [SIZE_ABOVE_LARGE]}}]
    pod = pod_of(make_pod("p").spec(affinity={"nodeAffinity": {PREFERRED: preferred}}))
    assert plugin().pre_score(CycleState(), pod, []) is None


def test_preferences_of_the_profile_are_added_to_every_pods() -> None:
    added = {PREFERRED: [{"weight": 7, "preference": {"matchExpressions": [in_zone("west")]}}]}
    asked, pod = plugin(added), pod_of(make_pod("p").node_affinity(ZONE, ["west"], weight=3))
    assert asked.pre_score(CycleState(), pod_of(make_pod("p")), []) is None
    assert [asked.score(CycleState(), pod, node_info(node)) for node in (WEST, EAST)] == [10, 0]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, WEST, Hint.QUEUE, id="a new node that matches helps"),
        pytest.param(None, EAST, Hint.SKIP, id="a new node that does not match does not help"),
        pytest.param(EAST, WEST, Hint.QUEUE, id="a node that matches now helps"),
        pytest.param(WEST, WEST, Hint.SKIP, id="a node that matched before does not help"),
    ],
)
def test_node_events(old: NodeBuilder | None, new: NodeBuilder, expected: Hint) -> None:
    pod = pod_of(make_pod("p").node_selector({ZONE: "west"}))
    assert events_of(plugin()) == {"Node/ADD, UPDATE_NODE_LABEL": True}
    assert hint_of(plugin(), "Node", pod, None if old is None else node_of(old), node_of(new)) is expected


@pytest.mark.parametrize(
    ("pod", "new", "broken"),
    [
        pytest.param(
            terms({"matchExpressions": [SIZE_ABOVE_LARGE]}), WEST, True, id="Gt of a word cannot be evaluated on a node"
        ),
        pytest.param(
            terms({"matchExpressions": [{"key": "size", "operator": "NotIn", "values": ["-3"]}]}),
            WEST,
            True,
            id="nor can a term with an invalid label key",
        ),
        pytest.param(
            terms({"matchExpressions": [SIZE_ABOVE_LARGE]}, {"matchExpressions": [in_zone("west")]}),
            EAST,
            True,
            id="another term that does not match does not change that",
        ),
        pytest.param(
            terms({"matchExpressions": [SIZE_ABOVE_LARGE]}).node_selector({ZONE: "west"}),
            EAST,
            False,
            id="a nodeSelector that does not match answers before the term",
        ),
    ],
)
def test_a_hint_fails_over_a_term_that_cannot_be_evaluated(pod: PodBuilder, new: NodeBuilder, broken: bool) -> None:
    """The queue treats a failed hint as Queue: Kubernetes retries such a pod after every node change."""
    if not broken:
        assert hint_of(plugin(), "Node", pod_of(pod), None, node_of(new)) is Hint.SKIP
        return
    with pytest.raises(PluginError, match="cannot be carried out"):
        hint_of(plugin(), "Node", pod_of(pod), None, node_of(new))


def test_a_matching_term_hides_one_that_cannot_be_evaluated() -> None:
    pod = pod_of(terms({"matchExpressions": [SIZE_ABOVE_LARGE]}, {"matchExpressions": [in_zone("west")]}))
    assert hint_of(plugin(), "Node", pod, None, node_of(WEST)) is Hint.QUEUE
    assert hint_of(plugin(), "Node", pod, node_of(WEST), node_of(WEST)) is Hint.SKIP


def test_a_node_outside_the_profiles_affinity_never_helps() -> None:
    added = {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [in_zone("east")]}]}}
    assert hint_of(plugin(added), "Node", pod_of(make_pod("p")), None, node_of(WEST)) is Hint.SKIP
