"""Drains as ``kubectl drain``: what its filters refuse, how often it retries an eviction, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.critical_pods import MIRROR
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from scheduler_engine.trace.events import DrainChanged, EvictionAnswered
from scheduler_engine.wording.entries import line
from tests.engine import controllers as world

Manifest = dict[str, Any]
APP = {"app": "db"}
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def db(number: int, healthy: bool = True, node: str = "n1") -> Manifest:
    """Return a pod of a controller that the cluster does not have, so that no pod replaces it."""
    owner = {"apiVersion": "example.com/v1", "kind": "Database", "name": "db", "uid": "u", "controller": True}
    builder = make_pod(f"db-{number}").label("app", "db").node(node).grace_period(10)
    builder = builder.metadata(ownerReferences=[owner])
    return builder.obj() if healthy else builder.annotation("sandbox/ready", "false").obj()


def bare(name: str, namespace: str = "default", **spec: Any) -> Manifest:
    manifest = make_pod(name).node("n1").grace_period(10).metadata(namespace=namespace).obj()
    manifest["spec"].update(spec)
    return manifest


def finished(manifest: Manifest, phase: str) -> Manifest:
    return {**manifest, "status": {"phase": phase}}


def of_daemon_set(name: str, owner: str, api_version: str = "apps/v1") -> Manifest:
    reference = {"apiVersion": api_version, "kind": "DaemonSet", "name": owner, "uid": "u", "controller": True}
    return make_pod(name).node("n1").grace_period(10).metadata(ownerReferences=[reference]).obj()


def scratch(manifest: Manifest) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "volumes": [{"name": "scratch", "emptyDir": {}}]}}


def mirror(name: str) -> Manifest:
    return make_pod(name).node("n1").annotation(MIRROR, "hash").obj()


def cluster(*manifests: Manifest) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_node("n2").obj(), *manifests)))
    simulation.execute(commands.Settle())
    return simulation


def answers(simulation: Simulation) -> list[EvictionAnswered]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, EvictionAnswered)]


def asked(simulation: Simulation) -> list[tuple[str, int]]:
    return [(answer.pod.removeprefix("default/"), answer.code) for answer in answers(simulation)]


def drains(simulation: Simulation) -> list[DrainChanged]:
    events = (entry.event for entry in simulation.recorder.entries)
    return [event for event in events if isinstance(event, DrainChanged)]


def turns(simulation: Simulation) -> list[str]:
    return [event.what for event in drains(simulation)]


def cordoned(simulation: Simulation) -> bool:
    node = simulation.api.get("Node", "n1")
    return node is not None and bool(node.spec.get("unschedulable"))


def unable(reason: str) -> str:
    return f'error: unable to drain node "n1" due to error: {reason}, continuing command...'


NO_CONTROLLER = "cannot delete cannot delete Pods that declare no controller (use --force to override)"
OF_DAEMONS = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL = "cannot delete Pods with local storage (use --delete-emptydir-data to override)"
ORPHAN = 'cannot delete daemonsets.apps "gone" not found'


@pytest.mark.parametrize(
    ("manifests", "flags", "reason", "helps"),
    [
        pytest.param((bare("a"),), {}, f"{NO_CONTROLLER}: default/a", ("force",), id="a pod without a controller"),
        pytest.param(
            (bare("b"), bare("a")),
            {"ignore_daemonsets": True, "delete_emptydir_data": True},
            f"{NO_CONTROLLER}: default/a, default/b",
            ("force",),
            id="several of them, by name, whatever the other flags",
        ),
        pytest.param(
            (world.daemon_set("agent"),),
            {"force": True, "delete_emptydir_data": True},
            f"{OF_DAEMONS}: default/agent-",
            ("ignore_daemonsets",),
            id="a pod of a DaemonSet",
        ),
        pytest.param(
            (of_daemon_set("lost", "gone"),),
            {"ignore_daemonsets": True},
            f"{ORPHAN}: default/lost",
            ("force",),
            id="a pod of a DaemonSet that is gone",
        ),
        pytest.param(
            (scratch(db(0)),),
            {"force": True},
            f"{LOCAL}: default/db-0",
            ("delete_emptydir_data",),
            id="a pod with an emptyDir volume",
        ),
        pytest.param(
            (scratch(bare("a")),),
            {},
            f"{LOCAL}: default/a",
            ("delete_emptydir_data",),
            id="a pod gets the message of its first filter",
        ),
        pytest.param(
            (bare("z"), scratch(db(0)), bare("a")),
            {},
            f"[{NO_CONTROLLER}: default/a, default/z, {LOCAL}: default/db-0]",
            ("force", "delete_emptydir_data"),
            id="several errors, in the order of their first pods",
        ),
    ],
)
def test_what_kubectl_refuses(
    manifests: tuple[Manifest, ...], flags: dict[str, bool], reason: str, helps: tuple[str, ...]
) -> None:
    simulation = cluster(*manifests)
    simulation.execute(commands.Drain("n1", **flags))
    simulation.execute(commands.Advance(60))
    assert turns(simulation) == ["started", "failed"]
    failed = drains(simulation)[-1]
    start, _, end = unable(reason).partition(", continuing")
    assert failed.message.startswith(start)
    assert failed.message.endswith(end)
    assert failed.flags == helps
    assert failed.pods
    assert asked(simulation) == []
    assert not any(pod.terminating for pod in simulation.api.pods())
    assert cordoned(simulation)


@pytest.mark.parametrize(
    ("manifests", "flags", "gone", "warning"),
    [
        pytest.param((db(0),), {}, ["db-0"], "", id="a pod of some controller"),
        pytest.param(
            (bare("b"), bare("a")),
            {"force": True},
            ["a", "b"],
            "Warning: deleting Pods that declare no controller: default/a, default/b",
            id="pods without a controller, with the flag",
        ),
        pytest.param(
            (scratch(db(0)),),
            {"delete_emptydir_data": True},
            ["db-0"],
            "",
            id="a pod with an emptyDir volume: a later filter drops the warning",
        ),
        pytest.param(
            (scratch(bare("a")),),
            {"delete_emptydir_data": True, "force": True},
            ["a"],
            "Warning: deleting Pods that declare no controller: default/a",
            id="the last filter warns of a pod",
        ),
        pytest.param(
            (of_daemon_set("lost", "gone"),), {"force": True}, ["lost"], "", id="a pod of a DaemonSet that is gone"
        ),
        pytest.param((finished(bare("a"), "Succeeded"),), {}, ["a"], "", id="a pod that has succeeded"),
        pytest.param((finished(scratch(bare("a")), "Failed"),), {}, ["a"], "", id="a pod that has failed"),
        pytest.param(
            (finished(of_daemon_set("done", "gone"), "Failed"),), {}, ["done"], "", id="a failed pod of a DaemonSet"
        ),
        pytest.param(
            (of_daemon_set("old", "gone", "extensions/v1beta1"),),
            {},
            ["old"],
            "",
            id="a DaemonSet of another API group is some controller",
        ),
        pytest.param((mirror("static"),), {}, [], "", id="a mirror pod stays"),
        pytest.param((), {}, [], "", id="an empty node"),
    ],
)
def test_what_kubectl_evicts(
    manifests: tuple[Manifest, ...], flags: dict[str, bool], gone: list[str], warning: str
) -> None:
    simulation = cluster(*manifests)
    before = len(simulation.api.pods())
    simulation.execute(commands.Drain("n1", **flags))
    simulation.execute(commands.Advance(40))
    assert asked(simulation) == [(name, 200) for name in gone]
    assert len(simulation.api.pods()) == before - len(gone)
    assert drains(simulation)[0].message == warning
    assert turns(simulation)[-1] == "finished"


def test_pods_of_daemon_sets_stay_with_the_flag() -> None:
    simulation = cluster(world.daemon_set("agent"), db(0))
    simulation.execute(commands.Drain("n1", ignore_daemonsets=True))
    simulation.execute(commands.Advance(11))
    (agent,) = [pod.key for pod in simulation.api.pods_on("n1")]
    assert drains(simulation)[0].message == f"Warning: ignoring DaemonSet-managed Pods: {agent}"
    assert drains(simulation)[-1] == DrainChanged("n1", "finished", kept=(agent,))


def test_the_trace_has_a_failed_drain_in_kubectls_words() -> None:
    simulation = cluster(bare("a"))
    simulation.execute(commands.Drain("n1"))
    (message,) = [
        line(entry.event) for entry in simulation.recorder.entries if getattr(entry.event, "what", "") == "failed"
    ]
    assert message == f"Drain of n1 failed: default/a; {unable(f'{NO_CONTROLLER}: default/a')}"


def test_a_drain_asks_again_until_it_is_done() -> None:
    simulation = cluster(db(0), db(1), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    assert cordoned(simulation)
    simulation.execute(commands.Advance(14))
    assert asked(simulation) == [("db-0", 200), ("db-1", 429), ("db-1", 429), ("db-1", 429)]
    simulation.execute(commands.Apply((db(2, node="n2"),)))
    simulation.execute(commands.Advance(12))
    assert turns(simulation) == ["started", "waiting", "waiting", "waiting", "evicted", "finished"]
    assert simulation.api.pod("default/db-1") is None
    assert simulation.timeline.has_work() is False


def test_a_500_fails_its_pod_and_the_others_go_on() -> None:
    two = (make_budget("b", APP, minAvailable=0), make_budget("c", APP, minAvailable=0))
    other = make_pod("other").node("n1").grace_period(10).label("app", "x").obj()
    simulation = cluster(db(0), db(1), other, *two, make_budget("x", {"app": "x"}, minAvailable=1))
    simulation.execute(commands.Drain("n1", force=True))
    simulation.execute(commands.Advance(12))
    assert asked(simulation) == [("db-0", 500), ("db-1", 500), ("other", 429), ("other", 429), ("other", 429)]
    simulation.execute(commands.Delete("PodDisruptionBudget", "default/x"))
    simulation.execute(commands.Advance(20))
    assert asked(simulation)[-1] == ("other", 200)
    assert turns(simulation) == ["started", "waiting", "waiting", "waiting", "evicted", "failed"]
    each = [f'error when evicting pods/"db-{number}" -n "default": {SEVERAL}' for number in (0, 1)]
    assert drains(simulation)[-1].message == unable(f"[{', '.join(each)}]")
    assert simulation.api.pod("default/other") is None


def test_a_403_fails_its_pod_at_once() -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    changes = {"status": {"disruptionsAllowed": -1}}
    simulation.api.patch("PodDisruptionBudget", "default/b", changes)
    simulation.execute(commands.Drain("n1"))
    text = 'poddisruptionbudgets.policy "b" is forbidden: pdb disruptions allowed is negative'
    assert drains(simulation)[-1].message == unable(f'error when evicting pods/"db-0" -n "default": {text}')


def test_a_pod_missing_at_the_next_request_is_done() -> None:
    pod = db(0)
    pod["spec"]["terminationGracePeriodSeconds"] = 1
    simulation = cluster(pod, make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Delete("Pod", "default/db-0"))
    simulation.execute(commands.Advance(6))
    assert turns(simulation) == ["started", "waiting", "finished"]
    assert asked(simulation) == [("db-0", 429)]


def test_a_pod_on_its_way_out_is_asked_for_and_waited_for() -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Delete("Pod", "default/db-0"))
    simulation.execute(commands.Drain("n1"))
    assert asked(simulation) == [("db-0", 200)]
    assert turns(simulation) == ["started", "evicted"]
    simulation.execute(commands.Advance(11))
    assert turns(simulation)[-1] == "finished"


def test_a_finalizer_holds_a_drain_until_it_goes() -> None:
    pod = db(0)
    pod["metadata"]["finalizers"] = ["example.com/hold"]
    simulation = cluster(pod)
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Advance(600))
    assert turns(simulation) == ["started", "evicted"]
    simulation.execute(commands.Patch("Pod", "default/db-0", {"metadata": {"finalizers": None}}))
    assert turns(simulation)[-1] == "finished"


def test_pods_that_come_later_are_left_alone() -> None:
    simulation = cluster(db(0))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Apply((db(1),)))
    simulation.execute(commands.Advance(60))
    assert asked(simulation) == [("db-0", 200)]
    assert turns(simulation)[-1] == "finished"
    assert simulation.api.pod("default/db-1") is not None


def test_a_new_pod_of_the_same_name_ends_the_wait_for_the_old_one() -> None:
    simulation = cluster(world.stateful_set("db", 1, pod={"nodeName": "n1", "terminationGracePeriodSeconds": 10}))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Advance(60))
    assert asked(simulation) == [("db-0", 200)]
    assert turns(simulation) == ["started", "evicted", "finished"]
    assert simulation.api.pod("default/db-0") is not None


def test_a_request_names_a_pod_and_not_its_uid() -> None:
    pod = {"terminationGracePeriodSeconds": 1}
    simulation = cluster(world.stateful_set("db", 1, pod=pod), make_budget("b", {"app": "db"}, minAvailable=1))
    (first,) = simulation.api.pods()
    simulation.execute(commands.Drain(first.node_name))
    simulation.execute(commands.Delete("Pod", first.key))
    simulation.execute(commands.Delete("PodDisruptionBudget", "default/b"))
    simulation.execute(commands.Advance(3))
    (second,) = simulation.api.pods()
    assert second.node_name not in ("", first.node_name)
    simulation.execute(commands.Advance(2))
    assert asked(simulation) == [("db-0", 429), ("db-0", 200)]
    assert turns(simulation)[-1] == "finished"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(commands.Cordon("n1", on=False), id="uncordon"),
        pytest.param(commands.Delete("Node", "n1"), id="deletion of the node"),
    ],
)
def test_nothing_about_the_node_stops_a_drain(change: commands.Command) -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(change)
    simulation.execute(commands.Advance(9))
    assert turns(simulation) == ["started", "waiting", "waiting"]
    assert not cordoned(simulation)
    simulation.execute(commands.Delete("PodDisruptionBudget", "default/b"))
    simulation.execute(commands.Advance(120))
    assert turns(simulation)[-2:] == ["evicted", "finished"]


@pytest.mark.parametrize("gone", [False, True], ids=["of a node", "of a deleted node"])
def test_a_person_stops_a_drain(gone: bool) -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    if gone:
        simulation.execute(commands.Delete("Node", "n1"))
    simulation.execute(commands.Drain("n1", on=False))
    simulation.execute(commands.Advance(60))
    assert turns(simulation) == ["started", "waiting", "stopped"]
    assert len(answers(simulation)) == 1
    assert not cordoned(simulation)


def test_stopping_without_a_drain_uncordons() -> None:
    simulation = cluster()
    simulation.execute(commands.Cordon("n1"))
    simulation.execute(commands.Drain("n1", on=False))
    assert not cordoned(simulation)
    assert drains(simulation) == []
    with pytest.raises(Rejected, match='nodes "n9" not found'):
        simulation.execute(commands.Drain("n9", on=False))


def test_a_new_drain_takes_the_place_of_one_under_way() -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Apply((bare("a"),)))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Advance(20))
    assert turns(simulation) == ["started", "waiting", "started", "failed"]
    simulation.execute(commands.Drain("n1", force=True))
    assert turns(simulation)[-2:] == ["started", "waiting"]
    assert asked(simulation) == [("db-0", 429), ("a", 200), ("db-0", 429)]


def test_draining_a_node_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Rejected, match='nodes "n9" not found'):
        cluster().execute(commands.Drain("n9"))


def test_run_does_not_wait_for_a_drain_that_is_stuck() -> None:
    simulation = cluster(db(0), make_budget("b", APP, minAvailable=1))
    simulation.execute(commands.Drain("n1"))
    simulation.execute(commands.Run())
    assert simulation.now_us == 0


@pytest.mark.parametrize("flag", commands.DRAIN_FLAGS)
def test_a_flag_is_true_or_false(flag: str) -> None:
    with pytest.raises(Rejected, match=f'drain: "{flag}" must be true or false'):
        commands.from_json({"kind": "drain", "node": "n1", flag: "yes"})


def test_the_summary_names_the_flags_as_kubectl_does() -> None:
    every = commands.Drain("n1", force=True, ignore_daemonsets=True, delete_emptydir_data=True)
    assert every.summary == "drain n1 --force --ignore-daemonsets --delete-emptydir-data"
    assert commands.Drain("n1").summary == "drain n1"
