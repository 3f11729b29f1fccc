"""Nominations: which pods are nominated to which node. Seed 002 §7."""

from __future__ import annotations

from scheduler_engine.api.objects import Pod
from scheduler_engine.trace.events import NominationChanged
from tests.engine.counting import calls
from tests.engine.queue_world import World, pod


def nominated(name: str, node_name: str) -> Pod:
    return pod(name).evolve({"status": {"nominatedNodeName": node_name}})


def on(world: World, node_name: str) -> list[str]:
    return [info.pod.name for info in world.queue.nominator.nominated_pods_for_node(node_name)]


def test_new_pod_with_a_nomination_is_known() -> None:
    assert on(World().add(nominated("p", "n1"), nominated("q", "n1")), "n1") == ["p", "q"]


def test_new_nomination_replaces_the_old_one_and_goes_to_the_end() -> None:
    world = World().add(nominated("p", "n1"), nominated("q", "n2"))
    world.queue.nominator.add_nominated_pod(pod("p"), "n2")
    assert (on(world, "n1"), on(world, "n2")) == ([], ["q", "p"])


def test_without_a_node_the_pods_own_status_counts() -> None:
    world = World().add(pod("p"))
    world.queue.nominator.add_nominated_pod(pod("p"))
    assert world.queue.nominator.nodes == {}
    world.queue.nominator.add_nominated_pod(nominated("p", "n1"))
    assert on(world, "n1") == ["p"]


def test_deleted_or_bound_pod_is_not_nominated() -> None:
    world = World().add(pod("placed"))
    world.store.pods["default/placed"] = pod("placed").evolve({"spec": {"nodeName": "n9"}})
    world.queue.nominator.add_nominated_pod(pod("placed"), "n1")
    world.queue.nominator.add_nominated_pod(pod("gone"), "n1")
    assert on(world, "n1") == []


def test_update_without_a_nomination_keeps_the_schedulers_own() -> None:
    world = World().add(pod("p"))
    world.queue.nominator.add_nominated_pod(pod("p"), "n1")
    world.update(pod("p", x="1"))
    assert on(world, "n1") == ["p"]


def test_update_that_drops_the_nomination_ends_it() -> None:
    world = World().add(nominated("p", "n1")).update(pod("p"))
    assert on(world, "n1") == []


def test_deleted_pod_is_no_longer_nominated() -> None:
    world = World().add(nominated("p", "n1"))
    world.queue.delete(pod("p"))
    assert on(world, "n1") == []


def test_nominated_pod_is_the_one_that_waits_and_without_spec_when_none_does() -> None:
    world = World().add(nominated("p", "n1"))
    waiting = world.queue.nominator.nominated_pods_for_node("n1")[0]
    assert waiting is world.queue.lanes()["activeQ"][0].pod_info
    world.pop()
    assert world.queue.nominator.nominated_pods_for_node("n1")[0].pod.spec == {}


def test_trace_records_only_changes() -> None:
    world = World().add(nominated("p", "n1"))
    world.queue.nominator.add_nominated_pod(pod("p"), "n1")
    world.queue.nominator.add_nominated_pod(pod("p"), "")
    events = [event for event in world.events() if isinstance(event, NominationChanged)]
    assert events == [NominationChanged("default/p", "n1"), NominationChanged("default/p", "")]


class Uid(str):
    """A uid that is hashed as usual, but whose comparisons are calls that can be counted."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return str.__ne__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_a_pod_loses_its_nomination_without_a_look_at_the_others() -> None:
    def cost(number: int) -> int:
        pods = [pod(f"p{place}") for place in range(number)]
        for item in pods:
            item.uid = Uid(item.uid)
        world = World().add(*pods)
        for item in pods:
            world.queue.nominator.add_nominated_pod(item, "")
        return calls(lambda: world.queue.nominator.delete_nominated_pod_if_exists(pods[number // 2]))

    assert cost(200) == cost(20)
