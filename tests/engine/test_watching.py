"""Watchers get the changes that they want, and only those."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import Pod, merge
from scheduler_engine.apiserver import watching
from scheduler_engine.apiserver.watching import Wants, Watch, Watches, WatchEvent
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

PLAIN = make_pod("p").metadata(uid="1").obj()


def pod(**changes: Any) -> Pod:
    return Pod(merge(PLAIN, changes))


BOUND = pod(spec={"nodeName": "n"})
GOING = pod(metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"})
NEXT = pod(metadata={"uid": "2"})
LABELED = pod(metadata={"labels": {"a": "b"}})


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        pytest.param(None, pod(), {"every_change", "is_creation"}, id="a new pod"),
        pytest.param(pod(), None, {"every_change", "is_deletion"}, id="a deleted pod"),
        pytest.param(pod(), NEXT, {"every_change", "is_creation"}, id="another pod of the same name"),
        pytest.param(pod(), BOUND, {"every_change"}, id="a bound pod"),
        pytest.param(pod(), GOING, {"every_change"}, id="a pod that is being deleted"),
        pytest.param(pod(), LABELED, {"every_change"}, id="a pod with a new label"),
    ],
)
def test_tests_tell_changes_apart(old: Pod | None, new: Pod | None, wanted: set[str]) -> None:
    event = WatchEvent("Pod", old, new)
    names = ("every_change", "is_creation", "is_deletion")
    assert {name for name in names if getattr(watching, name)(event)} == wanted


def watches(*wants: Wants) -> tuple[Watches, list[Watch]]:
    watches = Watches()
    listed = [watches.add(item) for item in wants]
    for turn, watch in enumerate(listed):
        watch.turn = turn
    return watches, listed


def test_only_those_who_want_a_change_are_due() -> None:
    hub, (nodes, ends, all_pods) = watches(
        watching.all_of("Node"), {"Pod": watching.is_deletion}, watching.all_of("Pod", "Node")
    )
    event = WatchEvent("Pod", pod(), LABELED)
    hub.publish(event)
    assert [list(watch.unread) for watch in (nodes, ends, all_pods)] == [[], [], [event]]
    assert list(hub.due) == [2]
    hub.remove(all_pods)
    hub.publish(event)
    assert (len(all_pods.unread), hub.published) == (1, 2)


def test_a_checkpoint_takes_back_later_changes_only() -> None:
    hub, (watch,) = watches(watching.all_of("Pod"))
    before, later = WatchEvent("Pod", None, pod()), WatchEvent("Pod", pod(), BOUND)
    hub.publish(before)
    checkpoint = hub.checkpoint()
    hub.publish(later)
    hub.restore(checkpoint)
    assert (list(watch.unread), hub.published) == ([before], 1)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda hub: pickle.loads(pickle.dumps(hub))], ids=["copy", "pickle"])
def test_a_copy_hands_changes_to_its_own_watchers(copied: Any) -> None:
    hub, (watch,) = watches(watching.all_of("Pod"))
    other = copied(hub)
    other.publish(WatchEvent("Pod", None, pod()))
    assert (len(watch.unread), [len(item.unread) for item in other.listed]) == (0, [1])


def test_a_new_pod_is_no_work_for_those_who_watch_nodes_and_volumes() -> None:
    simulation = Simulation()
    simulation.api.create(set_defaults(make_pod("p").obj()))
    due = {type(simulation.workers[turn]).__name__ for turn in simulation.api.watches.due}
    assert {"Replicas", "Kubelet", "JobController"} <= due
    idle = {"TaintEvictionController", "PodGarbageCollector", "EphemeralVolumeController", "Drainer", "Provisioner"}
    assert not due & idle


def test_a_note_on_a_pod_is_work_for_few() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n").obj(), make_pod("p").obj())))
    simulation.execute(commands.Run(1))
    simulation.api.patch("Pod", "default/p", {"metadata": {"annotations": {"a": "b"}}})
    due = [type(simulation.workers[turn]).__name__ for turn in sorted(simulation.api.watches.due)]
    assert due == ["Replicas", "Kubelet", "JobController"]


def test_nobody_is_due_when_the_cluster_rests() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n").obj(), make_pod("p").obj())))
    simulation.execute(commands.Run(1))
    assert not simulation.api.watches.due
