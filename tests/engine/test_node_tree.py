"""The node tree: seed 001 (ZoneA 2, ZoneB 3, ZoneC 1) and 002 §2, zone keys, additions and removals."""

from __future__ import annotations

import pytest

from scheduler_engine.api.objects import Node
from scheduler_engine.api.topology import zone_key
from scheduler_engine.cache.node_tree import EXHAUSTED, NodeTree, NodeTreeError
from scheduler_engine.testing import make_node

REGION_AND_ZONE = {"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}
BETA = {"failure-domain.beta.kubernetes.io/region": "old-r", "failure-domain.beta.kubernetes.io/zone": "old-z"}


def node(name: str, zone: str = "") -> Node:
    builder = make_node(name)
    return Node((builder.zone(zone) if zone else builder).obj())


def tree_of(*placed: tuple[str, str]) -> NodeTree:
    tree = NodeTree()
    for name, zone in placed:
        tree.add_node(node(name, zone))
    return tree


@pytest.mark.parametrize(
    ("placed", "order"),
    [
        pytest.param(
            [("A1", "a"), ("A2", "a"), ("B1", "b"), ("B2", "b"), ("B3", "b"), ("C1", "c")],
            ["A1", "B1", "C1", "A2", "B2", "B3"],
            id="Seed 001: zones of 2, 3 and 1 nodes take turns until the longest is alone",
        ),
        pytest.param(
            [("1", "1"), ("2", "1"), ("3", "1"), ("4", "1"), ("5", "2"), ("6", "2")],
            ["1", "5", "2", "6", "3", "4"],
            id="Seed 002: zones of 4 and 2 nodes give 1 5 2 6 3 4",
        ),
        pytest.param(
            [("b1", "b"), ("a1", "a"), ("b2", "b")],
            ["b1", "a1", "b2"],
            id="Zones are in order of first arrival, not of name",
        ),
        pytest.param(
            [("x", ""), ("a1", "a"), ("y", "")],
            ["x", "a1", "y"],
            id="Nodes without zone and region form a separate group",
        ),
        pytest.param([], [], id="An empty tree lists nothing"),
    ],
)
def test_nodes_of_all_zones_take_turns(placed: list[tuple[str, str]], order: list[str]) -> None:
    tree = tree_of(*placed)
    assert list(tree.list()) == order
    tree.check()


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        pytest.param(REGION_AND_ZONE, "r:\0:z", id="Region and zone, separated by a null character"),
        pytest.param({"topology.kubernetes.io/zone": "z"}, ":\0:z", id="A zone alone"),
        pytest.param({"topology.kubernetes.io/region": "r"}, "r:\0:", id="A region alone"),
        pytest.param({**REGION_AND_ZONE, **BETA}, "old-r:\0:old-z", id="The beta labels win"),
        pytest.param(
            {**REGION_AND_ZONE, "failure-domain.beta.kubernetes.io/zone": "old-z"},
            "r:\0:old-z",
            id="Each beta label wins by itself",
        ),
        pytest.param({}, "", id="Neither gives the empty key"),
    ],
)
def test_zone_key_comes_from_labels(labels: dict[str, str], key: str) -> None:
    assert zone_key(labels) == key


def test_emptied_zone_is_dropped_and_comes_back_last() -> None:
    tree = tree_of(("a1", "a"), ("b1", "b"))
    tree.remove_node(node("a1", "a"))
    tree.add_node(node("a2", "a"))
    assert list(tree.list()) == ["b1", "a2"]
    tree.check()


def test_node_that_changes_its_zone_goes_to_the_end_of_the_new_one() -> None:
    tree = tree_of(("a1", "a"), ("a2", "a"), ("b1", "b"))
    assert tree.update_node(node("a1", "a"), node("a1", "b"))
    assert [(zone[-1], nodes) for zone, nodes in tree.zones()] == [("a", ("a2",)), ("b", ("b1", "a1"))]
    tree.check()


def test_update_within_a_zone_changes_nothing() -> None:
    tree = tree_of(("a1", "a"), ("a2", "a"))
    assert not tree.update_node(node("a1", "a"), node("a1", "a"))
    assert list(tree.list()) == ["a1", "a2"]


def test_adding_a_node_twice_counts_once() -> None:
    tree = tree_of(("a1", "a"))
    assert not tree.add_node(node("a1", "a"))
    assert tree.num_nodes == 1


def test_removing_a_node_from_a_zone_it_is_not_in_is_refused_with_kubernetes_text() -> None:
    tree = tree_of(("a1", "a"))
    with pytest.raises(NodeTreeError, match=r'^node "a1" in group ":\\x00:b" was not found$'):
        tree.remove_node(node("a1", "b"))
    assert tree.num_nodes == 1


def test_tree_with_more_nodes_counted_than_named_says_that_zones_are_exhausted() -> None:
    tree = tree_of(("a1", "a"))
    tree.num_nodes = 2
    assert list(tree.list()) == ["a1"]
    assert tree.list_error == EXHAUSTED
    with pytest.raises(AssertionError):
        tree.check()
