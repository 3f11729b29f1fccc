"""TaintToleration: taints that exclude pods and taints that lower the score."""

from __future__ import annotations

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError
from scheduler_engine.framework.status import unresolvable
from scheduler_engine.plugins.taint_toleration import TaintToleration
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, pod_of

PLUGIN = TaintToleration({}, World().handle)


def tainted(effect: str = "NoSchedule") -> NodeBuilder:
    return make_node("n").taint("dedicated", "gpu", effect)


@pytest.mark.parametrize(
    ("pod", "node", "taint"),
    [
        pytest.param(make_pod("p"), make_node("n"), "", id="a node without taints takes every pod"),
        pytest.param(make_pod("p"), tainted(), "{dedicated: gpu}", id="NoSchedule excludes a pod"),
        pytest.param(make_pod("p"), tainted("NoExecute"), "{dedicated: gpu}", id="so does NoExecute"),
        pytest.param(make_pod("p"), tainted("PreferNoSchedule"), "", id="PreferNoSchedule does not"),
        pytest.param(
            make_pod("p").toleration("dedicated", "gpu"), tainted(), "", id="key and value tolerate the taint"
        ),
        pytest.param(make_pod("p").toleration("dedicated"), tainted(), "", id="Exists tolerates every value"),
        pytest.param(make_pod("p").toleration(""), tainted(), "", id="Exists without a key tolerates everything"),
        pytest.param(
            make_pod("p").toleration("dedicated", "web"), tainted(), "{dedicated: gpu}", id="another value does not"
        ),
        pytest.param(
            make_pod("p").toleration("dedicated", "gpu", "NoExecute"),
            tainted(),
            "{dedicated: gpu}",
            id="a toleration of another effect does not",
        ),
        pytest.param(
            make_pod("p").toleration("a"),
            make_node("n").taint("a").taint("b").taint("c", "x"),
            "{b: }",
            id="only the first untolerated taint is named, with a space for an empty value",
        ),
    ],
)
def test_filter(pod: PodBuilder, node: NodeBuilder, taint: str) -> None:
    status = PLUGIN.filter(CycleState(), pod_of(pod), node_info(node))
    assert status == (unresolvable(f"node(s) had untolerated taint {taint}") if taint else None)


def scores(pod: PodBuilder, *nodes: NodeBuilder) -> tuple[list[int], list[int]]:
    """Return (raw, normalized) per node."""
    state, wanted = CycleState(), pod_of(pod)
    infos = [node_info(node) for node in nodes]
    assert PLUGIN.pre_score(state, wanted, infos) is None
    raw = {info.name: PLUGIN.score(state, wanted, info) for info in infos}
    normalized = dict(raw)
    PLUGIN.normalize_score(state, wanted, normalized)
    return list(raw.values()), list(normalized.values())


def soft(name: str, *keys: str) -> NodeBuilder:
    node = make_node(name)
    for key in keys:
        node.taint(key, effect="PreferNoSchedule")
    return node


def test_every_soft_taint_that_is_not_tolerated_costs() -> None:
    nodes = (soft("n0"), soft("n1", "a"), soft("n2", "a", "b"), soft("n3", "a", "b", "c"))
    assert scores(make_pod("p"), *nodes) == ([0, 1, 2, 3], [100, 67, 34, 0])
    assert scores(make_pod("p").toleration("a"), *nodes) == ([0, 0, 1, 2], [100, 100, 50, 0])


def test_tolerations_of_hard_effects_do_not_help_against_soft_taints() -> None:
    raw, _ = scores(make_pod("p").toleration("a", effect="NoSchedule"), soft("n1", "a"))
    assert raw == [1]


def test_nodes_without_soft_taints_all_get_100() -> None:
    assert scores(make_pod("p"), make_node("n1"), tainted()) == ([0, 0], [100, 100])


def test_scoring_without_pre_score_is_an_error() -> None:
    with pytest.raises(PluginError, match='failed to read "PreScoreTaintToleration" from cycleState: not found'):
        PLUGIN.score(CycleState(), pod_of(make_pod("p")), node_info(make_node("n")))


FREE, TAINTED = node_of(make_node("n")), node_of(tainted())


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(None, FREE, Hint.QUEUE, id="a new node without taints helps"),
        pytest.param(None, TAINTED, Hint.SKIP, id="a new node with an untolerated taint does not help"),
        pytest.param(TAINTED, FREE, Hint.QUEUE, id="a removed taint helps"),
        pytest.param(FREE, FREE, Hint.SKIP, id="a node that had no untolerated taint before does not help"),
    ],
)
def test_node_events(old: object, new: object, verdict: Hint) -> None:
    assert hint_of(PLUGIN, "Node", pod_of(make_pod("p")), old, new) is verdict


def test_pod_events() -> None:
    pod = pod_of(make_pod("p"))
    assert events_of(PLUGIN) == {"Node/ADD, UPDATE_NODE_TAINT": True, "Pod/UPDATE_POD_TOLERATION": True}
    assert hint_of(PLUGIN, "Pod", pod, pod, pod_of(make_pod("p").toleration("x"))) is Hint.QUEUE
    assert hint_of(PLUGIN, "Pod", pod, pod, pod_of(make_pod("q").toleration("x"))) is Hint.SKIP
