"""The scheduler cache (seed 001): what each operation does, what it refuses, and what a snapshot copies."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.cache.cache import Cache, CacheCorrupted, CacheError
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import CacheNodeChanged, CachePodChanged, NodeTreeChanged, Recorder, SnapshotTaken

SECOND_US = 1_000_000


def pod(name: str, node_name: str = "n1", uid: str | None = None, build: PodBuilder | None = None) -> Pod:
    builder = (build or make_pod(name)).metadata(uid=name if uid is None else uid).node(node_name)
    return Pod(builder.obj())


def node(name: str, build: NodeBuilder | None = None) -> Node:
    return Node((build or make_node(name).zone("a")).obj())


@pytest.fixture
def cache() -> Cache:
    built = Cache(Recorder())
    built.add_node(node("n1"))
    built.add_node(node("n2"))
    return built


def names(snapshot: Snapshot) -> list[str]:
    return [info.name for info in snapshot.list()]


# --- a pod's lifecycle -----------------------------------------------------------------------------------------------


def test_assumed_pod_counts_on_its_node_before_the_api_server_knows(cache: Cache) -> None:
    cache.assume_pod(pod("p", build=make_pod("p").cpu("500m")))
    assert cache.is_assumed_pod(pod("p"))
    assert cache.nodes["n1"].requested.milli_cpu == 500
    cache.check()


def test_add_confirms_an_assumed_pod_once(cache: Cache) -> None:
    cache.assume_pod(pod("p"))
    cache.add_pod(pod("p"))
    assert not cache.is_assumed_pod(pod("p"))
    assert cache.pod_count() == 1
    cache.check()


def test_pod_confirmed_on_another_node_moves_there(cache: Cache) -> None:
    cache.assume_pod(pod("p", "n1"))
    cache.add_pod(pod("p", "n2"))
    assert [len(cache.nodes[name].pods) for name in ("n1", "n2")] == [0, 1]
    cache.check()


def test_forgotten_pod_gives_its_resources_back(cache: Cache) -> None:
    cache.assume_pod(pod("p", build=make_pod("p").cpu("500m")))
    cache.forget_pod(pod("p"))
    assert cache.nodes["n1"].requested.milli_cpu == 0
    assert cache.pod_count() == 0
    cache.check()


def test_pod_without_node_name_is_removed_from_where_it_is(cache: Cache) -> None:
    cache.add_pod(pod("p"))
    cache.remove_pod(pod("p", ""))
    assert cache.pod_count() == 0


@pytest.mark.parametrize(
    ("ttl_s", "finish", "now_s", "expired"),
    [
        pytest.param(30, True, 31, True, id="It expires once more than the ttl has passed since binding finished"),
        pytest.param(30, True, 30, False, id="At the very end of the ttl it is still assumed"),
        pytest.param(30, False, 1000, False, id="It does not expire while binding runs"),
        pytest.param(0, True, 1000, False, id="A ttl of 0, the scheduler's own setting, means never"),
    ],
)
def test_expiry_of_assumed_pods(ttl_s: int, finish: bool, now_s: int, expired: bool) -> None:
    cache = Cache(ttl_us=ttl_s * SECOND_US)
    cache.assume_pod(pod("p"))
    if finish:
        cache.finish_binding(pod("p"), 0)
    cache.cleanup_assumed_pods(now_s * SECOND_US)
    assert (cache.pod_count() == 0) is expired


REFUSED = [
    pytest.param(
        lambda cache: cache.assume_pod(pod("known")),
        "pod known(default/known) is in the cache, so can't be assumed",
        id="A known pod cannot be assumed",
    ),
    pytest.param(
        lambda cache: cache.forget_pod(pod("known")),
        "pod known(default/known) wasn't assumed so cannot be forgotten",
        id="Only an assumed pod can be forgotten",
    ),
    pytest.param(
        lambda cache: cache.forget_pod(pod("assumed", "n2")),
        "pod assumed(default/assumed) was assumed on n2 but assigned to n1",
        id="Forgetting names the assumed node first, as Kubernetes does",
    ),
    pytest.param(
        lambda cache: cache.add_pod(pod("known")),
        "pod known(default/known) was already in added state",
        id="A pod is added once",
    ),
    pytest.param(
        lambda cache: cache.update_pod(pod("new"), pod("new")),
        "pod new(default/new) is not added to scheduler cache, so cannot be updated",
        id="An unknown pod cannot be updated",
    ),
    pytest.param(
        lambda cache: cache.update_pod(pod("assumed"), pod("assumed")),
        "assumed pod assumed(default/assumed) should not be updated",
        id="An assumed pod is not updated",
    ),
    pytest.param(
        lambda cache: cache.remove_pod(pod("new")),
        "pod new(default/new) is not found in scheduler cache, so cannot be removed from it",
        id="An unknown pod cannot be removed",
    ),
    pytest.param(
        lambda cache: cache.get_pod(pod("new")),
        "pod new(default/new) does not exist in scheduler cache",
        id="An unknown pod cannot be read",
    ),
    pytest.param(
        lambda cache: cache.add_pod(pod("new", uid="")),
        "cannot get cache key for pod with empty UID",
        id="A pod without uid has no key",
    ),
    pytest.param(
        lambda cache: cache.remove_node(node("n9")), "node n9 is not found", id="An unknown node cannot be removed"
    ),
    pytest.param(
        lambda cache: cache.remove_node(node("n1", make_node("n1").zone("b"))),
        'node "n1" in group ":\\x00:b" was not found',
        id="A node is searched in the zone of its labels",
    ),
]


@pytest.mark.parametrize(("operation", "text"), REFUSED)
def test_refused_with_kubernetes_text(cache: Cache, operation: Callable[[Cache], object], text: str) -> None:
    cache.add_pod(pod("known"))
    cache.assume_pod(pod("assumed"))
    with pytest.raises(CacheError) as caught:
        operation(cache)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(lambda cache: cache.update_pod(pod("p"), pod("p", "n2")), id="Updating a pod onto another node"),
        pytest.param(lambda cache: cache.remove_pod(pod("p", "n2")), id="Removing a pod from a node it is not on"),
    ],
)
def test_where_the_real_scheduler_exits_the_cache_is_called_corrupted(
    cache: Cache, operation: Callable[[Cache], object]
) -> None:
    cache.add_pod(pod("p"))
    with pytest.raises(CacheCorrupted):
        operation(cache)
    cache.check()


# --- nodes -----------------------------------------------------------------------------------------------------------


def test_removed_node_with_pods_stays_as_a_ghost_until_its_last_pod_goes(cache: Cache) -> None:
    cache.add_pod(pod("p"))
    cache.remove_node(node("n1"))
    assert list(cache.node_tree.list()) == ["n2"]
    assert (cache.node_count(), cache.pod_count()) == (2, 1)
    cache.check()
    cache.remove_pod(pod("p"))
    assert (cache.node_count(), cache.pod_count()) == (1, 0)
    cache.check()


def test_ghost_comes_back_with_its_pods(cache: Cache) -> None:
    cache.add_pod(pod("p", build=make_pod("p").cpu("1")))
    cache.remove_node(node("n1"))
    assert cache.add_node(node("n1")).requested.milli_cpu == 1000
    cache.check()


def test_pod_on_an_unknown_node_waits_on_a_ghost(cache: Cache) -> None:
    cache.add_pod(pod("early", "n3"))
    assert cache.nodes["n3"].node is None
    assert cache.add_node(node("n3")).pods[0].pod.name == "early"
    cache.check()


def test_returned_node_info_is_a_copy(cache: Cache) -> None:
    returned = cache.add_node(node("n3"))
    returned.add_pod(pod("p", "n3"))
    assert cache.pod_count() == 0


def test_most_recently_changed_node_is_at_the_head(cache: Cache) -> None:
    assert list(cache.nodes) == ["n2", "n1"]
    cache.add_pod(pod("p", "n1"))
    assert list(cache.nodes) == ["n1", "n2"]
    cache.update_node(node("n2"), node("n2"))
    assert list(cache.nodes) == ["n2", "n1"]
    cache.check()


def test_image_is_counted_per_node_and_keeps_its_first_size(cache: Cache) -> None:
    cache.add_node(node("n3", make_node("n3").image("img:1", 500)))
    cache.add_node(node("n4", make_node("n4").image("img:1", 999)))
    states = [cache.dump().nodes[name].image_states["img:1"] for name in ("n3", "n4")]
    assert [(state.size, state.num_nodes) for state in states] == [(500, 2), (500, 2)]
    cache.remove_node(node("n3", make_node("n3").image("img:1", 500)))
    assert cache.dump().nodes["n4"].image_states["img:1"].num_nodes == 1
    cache.update_node(node("n4"), node("n4"))
    assert not cache.image_states.states


# --- snapshots -------------------------------------------------------------------------------------------------------


def test_second_snapshot_copies_only_changes(cache: Cache) -> None:
    snapshot = Snapshot()
    assert cache.update_snapshot(snapshot) == ("n2", "n1")
    cache.add_pod(pod("p", "n1"))
    assert cache.update_snapshot(snapshot) == ("n1",)
    assert cache.update_snapshot(snapshot) == ()


def test_snapshot_does_not_follow_the_cache(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.add_node(node("n3", make_node("n3").image("img:1", 500)))
    cache.update_snapshot(snapshot)
    cache.add_pod(pod("p", "n3"))
    cache.add_node(node("n4", make_node("n4").image("img:1", 500)))
    info = snapshot.get("n3")
    assert info is not None
    assert (len(info.pods), info.image_states["img:1"].num_nodes) == (0, 1)


def test_map_and_lists_have_the_refreshed_copy_and_the_former_one_does_not_change(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.update_snapshot(snapshot)
    held = snapshot.get("n1")
    cache.add_pod(pod("p", "n1"))
    cache.update_snapshot(snapshot)
    assert held is not None
    assert (held.pods, [info is snapshot.get(info.name) for info in snapshot.list()]) == ([], [True, True])


def test_affinity_lists_and_used_claims_follow_the_pods(cache: Cache) -> None:
    snapshot = Snapshot()
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    loner = pod("p", build=make_pod("p").spec(affinity=apart, volumes=[volume]))
    cache.update_snapshot(snapshot)
    cache.add_pod(loner)
    cache.update_snapshot(snapshot)
    assert [info.name for info in snapshot.have_pods_with_affinity()] == ["n1"]
    assert [info.name for info in snapshot.have_pods_with_required_anti_affinity()] == ["n1"]
    assert snapshot.is_pvc_used_by_pods("default/data")
    cache.remove_pod(loner)
    cache.update_snapshot(snapshot)
    assert not snapshot.have_pods_with_affinity()
    assert not snapshot.have_pods_with_required_anti_affinity()
    assert not snapshot.is_pvc_used_by_pods("default/data")


def test_order_stays_stale_after_a_change_of_zone_until_a_node_comes_or_goes(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.add_node(node("n3", make_node("n3").zone("b")))
    cache.update_snapshot(snapshot)
    assert names(snapshot) == ["n1", "n3", "n2"]
    cache.update_node(node("n1"), node("n1", make_node("n1").zone("b")))
    cache.update_snapshot(snapshot)
    assert names(snapshot) == ["n1", "n3", "n2"]
    cache.add_node(node("n4", make_node("n4").zone("c")))
    cache.update_snapshot(snapshot)
    assert names(snapshot) == ["n2", "n3", "n4", "n1"]


def test_removed_node_leaves_the_snapshot_though_its_ghost_stays(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.add_pod(pod("p", "n1"))
    cache.update_snapshot(snapshot)
    cache.remove_node(node("n1"))
    cache.update_snapshot(snapshot)
    assert names(snapshot) == ["n2"]
    assert snapshot.get("n1") is None


def test_snapshot_at_odds_with_the_tree_is_reported_and_mended(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.update_snapshot(snapshot)
    snapshot.node_info_list = snapshot.node_info_list[:0]
    with pytest.raises(CacheError, match=r"^snapshot state is not consistent, length of NodeInfoList=0 not equal to"):
        cache.update_snapshot(snapshot)
    cache.update_snapshot(snapshot)
    assert names(snapshot) == ["n1", "n2"]


# --- trace -----------------------------------------------------------------------------------------------------------


def test_trace_records_what_a_snapshot_walked_over_and_rebuilt(cache: Cache) -> None:
    snapshot = Snapshot()
    cache.update_snapshot(snapshot, 1)
    cache.add_pod(pod("p", "n1"))
    cache.update_snapshot(snapshot, 2)
    assert cache.recorder is not None
    first, second = (entry.event for entry in cache.recorder.entries if isinstance(entry.event, SnapshotTaken))
    lists = ("havePodsWithAffinityNodeInfoList", "havePodsWithRequiredAntiAffinityNodeInfoList", "usedPVCSet")
    assert first == SnapshotTaken(1, 2, ("n2", "n1"), "", 2, ("nodeInfoList", *lists), ("n1", "n2"))
    assert second == SnapshotTaken(2, 3, ("n1",), "n2", 2, (), None)


def test_trace_records_pods_nodes_and_tree(cache: Cache) -> None:
    assert cache.recorder is not None
    cache.assume_pod(pod("p"))
    cache.add_pod(pod("p"))
    cache.remove_node(node("n1"))
    cache.remove_pod(pod("p"))
    assert [entry.event for entry in cache.recorder.entries[4:]] == [
        CachePodChanged("default/p", "n1", "assumed", "p", (("n1", 3),)),
        CachePodChanged("default/p", "n1", "confirmed", "p", (("n1", 5),)),
        CacheNodeChanged("n1", "ghost", 6),
        NodeTreeChanged(((":\0:a", ("n2",)),), ("n2",)),
        CacheNodeChanged("n1", "removed", 7),
        CachePodChanged("default/p", "n1", "removed", "p"),
    ]


def test_lean_trace_records_the_tree_only_when_a_snapshot_is_taken() -> None:
    recorder = Recorder(full=False)
    cache = Cache(recorder)
    for name in ("n1", "n2", "n3"):
        cache.add_node(node(name))
    cache.update_snapshot(Snapshot())
    kinds = [type(entry.event).__name__ for entry in recorder.entries]
    assert kinds == ["CacheNodeChanged"] * 3 + ["NodeTreeChanged", "SnapshotTaken"]
