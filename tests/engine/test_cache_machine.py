"""Random consistent histories of cache and snapshot: invariants, incremental against plain, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.cache.cache import Cache
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import Recorder

NODE_NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])
ZONES = st.sampled_from(["a", "b", "c"])
IMAGES = st.lists(st.sampled_from(["img:1", "img:2"]), unique=True)
AFFINITIES: list[dict[str, Any]] = [
    {},
    {"podAffinity": {}},
    {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
]
CLAIMS = st.lists(st.sampled_from(["data", "logs"]), unique=True)


def node(name: str, zone: str, images: list[str]) -> Node:
    builder = make_node(name).zone(zone)
    for image in images:
        builder.image(image, 100)
    return Node(builder.obj())


def described(info: NodeInfo, image_counts: bool = True) -> tuple[Any, ...]:
    """``image_counts=False`` omits how many nodes have an image: a snapshot updates that only with the node."""
    return (
        info.node.manifest if info.node else None,
        [pod.pod.manifest for pod in info.pods],
        [pod.pod.uid for pod in info.pods_with_affinity],
        [pod.pod.uid for pod in info.pods_with_required_anti_affinity],
        sorted(info.used_ports),
        info.requested,
        info.non_zero_requested,
        {name: (state.size, state.num_nodes * image_counts) for name, state in info.image_states.items()},
        info.pvc_ref_counts,
        info.generation,
    )


def content(cache: Cache) -> tuple[Any, ...]:
    """Return all visible state of a cache, in order."""
    dump = cache.dump()
    return (
        [(name, described(info)) for name, info in dump.nodes.items()],
        dump.assumed_pods,
        cache.node_tree.zones(),
        {
            uid: (state.pod.manifest, state.binding_finished, state.deadline_us)
            for uid, state in cache.pod_states.items()
        },
        {name: sorted(nodes) for name, nodes in cache.image_states.nodes.items()},
    )


class CacheMachine(RuleBasedStateMachine):
    """Send the cache only what could be true, and take snapshots in between."""

    pods = Bundle("pods")
    assumed = Bundle("assumed")

    def __init__(self) -> None:
        super().__init__()
        self.cache = Cache(Recorder(), ttl_us=10)
        self.snapshot = Snapshot()
        self.nodes: dict[str, Node] = {}
        self.serial = 0
        self.now_us = 0

    def new_pod(self, node_name: str, kind: int, claims: list[str], port: int) -> Pod:
        self.serial += 1
        builder = make_pod(f"p{self.serial}").metadata(uid=f"u{self.serial}").node(node_name).cpu("100m")
        volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
        builder.spec(affinity=AFFINITIES[kind], volumes=volumes)
        return Pod((builder.host_port(port) if port else builder).obj())

    @rule(name=NODE_NAMES, zone=ZONES, images=IMAGES)
    def node_comes_or_changes(self, name: str, zone: str, images: list[str]) -> None:
        new = node(name, zone, images)
        if name in self.nodes:
            self.cache.update_node(self.nodes[name], new)
        else:
            self.cache.add_node(new)
        self.nodes[name] = new

    @rule(name=NODE_NAMES)
    def node_goes(self, name: str) -> None:
        if name in self.nodes:
            self.cache.remove_node(self.nodes.pop(name))

    @rule(target=pods, name=NODE_NAMES, kind=st.integers(0, 2), claims=CLAIMS, port=st.sampled_from([0, 80]))
    def pod_comes(self, name: str, kind: int, claims: list[str], port: int) -> Pod:
        pod = self.new_pod(name, kind, claims, port)
        self.cache.add_pod(pod)
        return pod

    @rule(target=assumed, name=NODE_NAMES, kind=st.integers(0, 2), claims=CLAIMS)
    def pod_is_assumed(self, name: str, kind: int, claims: list[str]) -> Pod:
        pod = self.new_pod(name, kind, claims, 0)
        self.cache.assume_pod(pod)
        return pod

    @rule(target=pods, pod=consumes(assumed), name=NODE_NAMES)
    def assumed_pod_is_confirmed(self, pod: Pod, name: str) -> Pod:
        """Confirm a pod, even one that has expired, and maybe on another node."""
        confirmed = pod.evolve({"spec": {"nodeName": name}})
        self.cache.add_pod(confirmed)
        return confirmed

    @rule(pod=consumes(assumed))
    def assumed_pod_is_forgotten(self, pod: Pod) -> None:
        if self.cache.is_assumed_pod(pod):
            self.cache.forget_pod(pod)

    @rule(pod=assumed)
    def binding_finishes(self, pod: Pod) -> None:
        self.cache.finish_binding(pod, self.now_us)

    @rule(seconds=st.integers(1, 8))
    def time_passes(self, seconds: int) -> None:
        self.now_us += seconds
        self.cache.cleanup_assumed_pods(self.now_us)

    @rule(target=pods, pod=consumes(pods), cpu=st.sampled_from(["100m", "2"]))
    def pod_changes(self, pod: Pod, cpu: str) -> Pod:
        containers = [{**pod.containers[0], "resources": {"requests": {"cpu": cpu}}}]
        changed = pod.evolve({"spec": {"containers": containers}})
        self.cache.update_pod(pod, changed)
        return changed

    @rule(pod=consumes(pods))
    def pod_goes(self, pod: Pod) -> None:
        self.cache.remove_pod(pod)

    @rule()
    def snapshot_equals_a_new_one(self) -> None:
        self.cache.update_snapshot(self.snapshot)
        plain = Snapshot()
        self.cache.update_snapshot(plain)
        assert {name: described(info, False) for name, info in self.snapshot.node_info_map.items()} == {
            name: described(info, False) for name, info in plain.node_info_map.items()
        }
        # The order may be stale (a zone changed), the listed nodes may not.
        for mine, fresh in (
            (self.snapshot.list(), plain.list()),
            (self.snapshot.have_pods_with_affinity(), plain.have_pods_with_affinity()),
            (
                self.snapshot.have_pods_with_required_anti_affinity(),
                plain.have_pods_with_required_anti_affinity(),
            ),
        ):
            assert sorted(info.name for info in mine) == sorted(info.name for info in fresh)
        assert all(self.snapshot.get(info.name) is info for info in self.snapshot.list())
        assert self.snapshot.used_pvc_set.keys() == plain.used_pvc_set.keys()

    @precondition(lambda self: self.cache.nodes)
    @rule(pickled=st.booleans())
    def copy_takes_over(self, pickled: bool) -> None:
        """Continue the history with a copy, which must be equal. The original must not change with it."""
        pair = (self.cache, self.snapshot)
        cache, snapshot = pickle.loads(pickle.dumps(pair)) if pickled else copy.deepcopy(pair)
        before = content(self.cache)
        assert content(cache) == before
        assert all(snapshot.get(info.name) is info for info in snapshot.list())
        cache.add_pod(self.new_pod(next(iter(cache.nodes)), 1, ["data"], 80))
        assert content(self.cache) == before
        self.cache, self.snapshot = pickle.loads(pickle.dumps(pair)) if pickled else copy.deepcopy(pair)

    @invariant()
    def cache_is_sound(self) -> None:
        self.cache.check()


CacheMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestCacheMachine = CacheMachine.TestCase


def test_five_thousand_nodes_can_be_copied_without_deep_recursion() -> None:
    cache = Cache(Recorder(full=False))
    for number in range(5000):
        cache.add_node(node(f"n{number}", "abc"[number % 3], ["img:1"]))
    snapshot = Snapshot()
    cache.update_snapshot(snapshot)
    copied, _ = copy.deepcopy((cache, snapshot))
    restored, _ = pickle.loads(pickle.dumps((cache, snapshot)))
    assert list(copied.nodes) == list(restored.nodes) == list(cache.nodes)
