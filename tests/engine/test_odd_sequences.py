"""Changes in the middle of scheduling: cases from random histories, one test each."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import CycleFinished, MoveRequested, PodMoved
from tests.engine.soundness import nominations_are_of_pods_that_wait, scheduler_views

WEB = make_pod("web-1").cpu("1").obj()
KEY = "default/web-1"


def cluster(*manifests: dict[str, Any], **more: Any) -> Simulation:
    simulation = Simulation(**more)
    simulation.execute(commands.Apply((make_node("n1").obj(), *manifests)))
    return simulation


def stages(simulation: Simulation, number: int) -> None:
    for _ in range(number):
        simulation.execute(commands.Stage())


def waiting(*manifests: dict[str, Any], seconds: float = 60) -> Simulation:
    """Return a simulation whose first pod waits on Permit."""
    simulation = cluster(*manifests)
    simulation.execute(commands.Fault("NodeName", "permit", "wait", seconds))
    simulation.execute(commands.PodCycle())
    assert [binding.stage for binding in simulation.scheduler.bindings] == ["WaitOnPermit"]
    return simulation


def lanes(simulation: Simulation) -> dict[str, list[str]]:
    items = simulation.scheduler.queue.lanes().items()
    return {lane: [info.pod.name for info in infos] for lane, infos in items if infos}


def last_outcome(simulation: Simulation) -> tuple[str, str]:
    events = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, CycleFinished)]
    return events[-1].outcome, events[-1].message


def sound(simulation: Simulation) -> None:
    simulation.scheduler.queue.check()
    simulation.scheduler.cache.check()
    stored = {pod.uid for pod in simulation.api.pods()}
    assert not stored & set(simulation.scheduler.queue.active_q.in_flight.pods)
    assert not simulation.scheduler.cache.assumed_pods


# --- pods deleted while they are being scheduled ----------------------------------------------------------------------


def test_a_pod_that_took_the_name_of_one_being_bound_is_scheduled_once_when_the_old_binding_fails() -> None:
    simulation = waiting(WEB)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((WEB,)))
    simulation.execute(commands.Run())
    pod = simulation.api.pod(KEY)
    assert pod is not None
    assert pod.node_name == "n1"
    assert simulation.scheduler.cache.pod_count() == 1
    sound(simulation)


def test_the_failed_attempt_of_a_deleted_pod_does_not_end_the_attempt_of_its_namesake() -> None:
    simulation = waiting(WEB, seconds=5)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web-1").cpu("64").obj(),)))
    simulation.execute(commands.Run())
    assert lanes(simulation) == {"unschedulablePods": ["web-1"]}
    sound(simulation)


def test_an_event_is_noted_once_for_a_pod_and_its_namesake_in_flight() -> None:
    simulation = waiting(WEB, seconds=5)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((WEB,)))
    stages(simulation, 2)
    simulation.execute(commands.Apply((make_node("n2").obj(),)))
    assert len(simulation.scheduler.queue.active_q.in_flight.pods) == 2
    requests = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, MoveRequested)]
    assert (requests[-1].cluster_event, requests[-1].in_flight) == ("NodeAdd", (KEY,))


def test_a_pod_that_takes_the_name_of_one_whose_attempt_fails_gets_its_condition() -> None:
    """As upstream: the queue already has the new pod, and the old one's place in flight is never released."""
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    assert simulation.scheduler.cycle is not None
    old = simulation.scheduler.cycle.pod.uid
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web-1").cpu("1").gate("example.com/later").obj(),)))
    for _ in range(3):
        simulation.execute(commands.Stage())
        if simulation.scheduler.cycle is None:
            break
    outcome, message = last_outcome(simulation)
    assert outcome == "unschedulable"
    assert message.endswith("; Pod default/web-1 is already present in unschedulable queue")
    new = simulation.api.pod(KEY)
    assert new is not None
    written = (new.condition("PodScheduled") or {})["message"]
    assert written.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert "already present" not in written
    assert list(simulation.scheduler.queue.active_q.in_flight.pods) == [old]
    sound(simulation)


@pytest.mark.parametrize(("builder", "where"), [(make_pod("web-1").cpu("1"), "the active queue")])
def test_the_queue_says_where_the_new_pod_is(builder: PodBuilder, where: str) -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((builder.obj(),)))
    while simulation.scheduler.cycle is not None:
        simulation.execute(commands.Stage())
    assert last_outcome(simulation)[1].endswith(f"; Pod default/web-1 is already present in {where}")
    simulation.execute(commands.Run())
    pod = simulation.api.pod(KEY)
    assert pod is not None
    assert (pod.node_name, pod.condition_status("PodScheduled")) == ("n1", "True")
    sound(simulation)


def test_moves_of_namesakes_differ_by_their_uids() -> None:
    simulation = waiting(WEB)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((WEB,)))
    simulation.execute(commands.Run())
    moves = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, PodMoved)]
    assert len({move.uid for move in moves}) == 2
    for uid in dict.fromkeys(move.uid for move in moves):
        own = [move for move in moves if move.uid == uid]
        assert [move.target for move in own[:-1]] == [move.source for move in own[1:]]


def test_a_pod_that_ends_while_its_scheduling_attempt_fails_is_not_queued_again() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    simulation.execute(commands.Apply((make_pod("web-1").cpu("64").status(phase="Failed").obj(),)))
    simulation.execute(commands.Run())
    assert lanes(simulation) == {}
    assert not simulation.scheduler.queue.nominator.nodes
    sound(simulation)


def test_a_pod_that_ends_during_its_attempt_cannot_preempt_and_still_gets_the_condition() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    simulation.execute(commands.Apply((make_pod("web-1").cpu("64").status(phase="Failed").obj(),)))
    simulation.execute(commands.Run())
    message = '0/1 nodes are available: 1 Insufficient cpu. preemption: pod "web-1" not found'
    assert last_outcome(simulation) == ("unschedulable", message)
    pod = simulation.api.pod(KEY)
    assert pod is not None
    assert (pod.condition("PodScheduled") or {})["message"] == message


def test_a_failed_attempt_keeps_a_nomination_written_meanwhile() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    simulation.api.patch("Pod", KEY, {"status": {"nominatedNodeName": "n1"}})
    simulation.execute(commands.Run())
    pod = simulation.api.pod(KEY)
    assert pod is not None
    assert pod.nominated_node_name == "n1"
    assert list(simulation.scheduler.queue.nominator.nominated_pods) == ["n1"]


def test_an_attempt_that_finds_nothing_new_keeps_its_own_nomination_till_the_pod_is_updated() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    simulation.execute(commands.Run())
    simulation.execute(commands.Apply((make_node("n2").capacity(cpu="99").obj(),)))
    simulation.execute(commands.Delete("Node", "n2"))
    stages(simulation, 1)
    simulation.execute(commands.Apply((make_pod("web-1").cpu("64").status(nominatedNodeName="n1").obj(),)))
    simulation.execute(commands.Run())
    pod, nominator = simulation.api.pod(KEY), simulation.scheduler.queue.nominator
    assert pod is not None
    assert (pod.nominated_node_name, nominator.nodes) == ("n1", {pod.uid: ""})
    [view] = scheduler_views(simulation)
    nominations_are_of_pods_that_wait(view)
    simulation.execute(commands.Apply((make_pod("web-1").label("app", "web").cpu("64").obj(),)))
    assert nominator.nodes == {pod.uid: "n1"}
    del nominator.nodes[pod.uid]
    with pytest.raises(AssertionError):
        nominations_are_of_pods_that_wait(view)


def test_a_pod_that_ends_while_it_is_being_bound_gives_its_place_back() -> None:
    simulation = cluster(WEB)
    simulation.execute(commands.Fault("DefaultBinder", "bind", "wait", 5))
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Apply(({**WEB, "status": {"phase": "Succeeded"}},)))
    simulation.execute(commands.Advance(10))
    assert simulation.scheduler.cache.pod_count() == 0
    sound(simulation)


def test_a_pod_deleted_while_it_waits_on_permit_cannot_be_allowed_any_more() -> None:
    simulation = waiting(WEB)
    simulation.execute(commands.Delete("Pod", KEY))
    with pytest.raises(Rejected, match="does not wait on Permit"):
        simulation.execute(commands.Allow(KEY))
    simulation.execute(commands.Settle())
    sound(simulation)


# --- Permit, PreBind and Bind -----------------------------------------------------------------------------------------


def test_a_victim_that_waits_on_permit_is_rejected_and_not_deleted() -> None:
    simulation = waiting(make_pod("web-1").cpu("3").obj())
    simulation.execute(commands.Apply((make_pod("vip-1").cpu("3").priority(100).obj(),)))
    simulation.execute(commands.Run())
    web, vip = simulation.api.pod(KEY), simulation.api.pod("default/vip-1")
    assert web is not None
    assert vip is not None
    assert (web.node_name, vip.node_name) == ("", "n1")
    messages = [entry.event.message for entry in simulation.recorder.entries if isinstance(entry.event, CycleFinished)]
    assert "0/1 nodes are available: 1 preempted." in messages
    sound(simulation)


@pytest.mark.parametrize(
    ("plugin", "point"),
    [
        pytest.param("NodeName", "permit", id="a timeout on Permit frees nothing"),
        pytest.param("DefaultBinder", "bind", id="a second binding that is refused frees nothing"),
    ],
)
def test_a_pod_bound_by_somebody_else_keeps_its_place(plugin: str, point: str) -> None:
    simulation = cluster(make_pod("web-1").cpu("3").obj())
    simulation.execute(commands.Fault(plugin, point, "wait", 5))
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Apply((make_pod("big-1").cpu("3").obj(),)))
    simulation.execute(commands.PodCycle())
    web = simulation.api.pod(KEY)
    assert web is not None
    simulation.api.bind(KEY, web.uid, "n1")
    simulation.execute(commands.Advance(10))
    assert lanes(simulation) == {"unschedulablePods": ["big-1"]}
    assert [info.attempts for info in simulation.scheduler.queue.lanes()["unschedulablePods"]] == [1]
    sound(simulation)


def test_a_rejection_in_pre_bind_counts_as_an_error_and_the_pod_backs_off() -> None:
    simulation = cluster(WEB)
    simulation.execute(commands.Fault("VolumeBinding", "preBind", "deny"))
    simulation.execute(commands.PodCycle())
    assert lanes(simulation) == {"errorBackoffQ": ["web-1"]}
    assert last_outcome(simulation) == ("unschedulable", "injected denial")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(0.5, "500ms", id="less than a second"),
        pytest.param(100, "1m40s", id="minutes and seconds"),
        pytest.param(86_400, "15m0s", id="no plugin makes a pod wait for more than 15 minutes"),
    ],
)
def test_a_wait_on_permit_is_written_as_go_writes_durations(seconds: float, text: str) -> None:
    simulation = waiting(WEB, seconds=seconds)
    simulation.execute(commands.Advance(min(seconds, 900)))
    messages = [entry.event.message for entry in simulation.recorder.entries if isinstance(entry.event, CycleFinished)]
    assert f"0/1 nodes are available: 1 rejected due to timeout after waiting {text} at plugin NodeName." in messages


# --- another configuration --------------------------------------------------------------------------------------------


def profiles(*names: str, **plugins: Any) -> dict[str, Any]:
    listed = [{"schedulerName": name, "plugins": plugins} for name in names]
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": listed}


def test_pods_of_a_new_profile_are_queued_and_those_of_a_removed_one_leave_the_queue() -> None:
    simulation = cluster(WEB, make_pod("other-1").scheduler("second").obj())
    assert lanes(simulation) == {"activeQ": ["web-1"]}
    simulation.execute(commands.Configure(profiles("second")))
    assert lanes(simulation) == {"activeQ": ["other-1"]}
    simulation.execute(commands.Configure())
    assert lanes(simulation) == {"activeQ": ["web-1"]}


def test_a_pod_in_flight_whose_profile_was_removed_is_dropped_when_it_fails() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj())
    stages(simulation, 3)
    simulation.execute(commands.Configure(profiles("second")))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", KEY))
    assert lanes(simulation) == {}
    assert not simulation.scheduler.queue.nominator.nodes
    sound(simulation)


def test_gates_open_and_close_with_the_plugin_that_keeps_them() -> None:
    simulation = cluster(make_pod("web-1").gate("example.com/quota").obj())
    assert lanes(simulation) == {"gated": ["web-1"]}
    without = profiles("default-scheduler", preEnqueue={"disabled": [{"name": "SchedulingGates"}]})
    simulation.execute(commands.Configure(without))
    assert lanes(simulation) == {"activeQ": ["web-1"]}
    simulation.execute(commands.Configure())
    assert lanes(simulation) == {"gated": ["web-1"]}


# --- manifests and logs -----------------------------------------------------------------------------------------------


def test_a_manifest_from_a_running_cluster_creates_a_new_pod() -> None:
    taken = make_pod("web-1").metadata(
        uid="x", resourceVersion="7", deletionTimestamp="2026-01-01T00:00:30Z", deletionGracePeriodSeconds=30
    )
    simulation = cluster(taken.obj(), make_pod("web-2").metadata(uid="x").obj())
    first, second = simulation.api.pod(KEY), simulation.api.pod("default/web-2")
    assert first is not None
    assert second is not None
    assert not first.terminating
    assert "x" not in (first.uid, second.uid)
    simulation.execute(commands.Apply((taken.label("tier", "web").obj(),)))
    simulation.execute(commands.Run())
    pod = simulation.api.pod(KEY)
    assert pod is not None
    assert (pod.terminating, pod.node_name, pod.uid) == (False, "n1", first.uid)


def test_a_log_says_by_which_rules_the_queue_went() -> None:
    simulation = cluster(make_pod("web-1").cpu("64").obj(), queue_rules="design-doc")
    for command in (commands.Run(), commands.Advance(120)):
        simulation.execute(command)
    steps = [commands.Apply((make_node("n1").obj(), make_pod("web-1").cpu("64").obj()))]
    log = make_log(42, None, [*steps, commands.Run(), commands.Advance(120)], "design-doc")
    assert trace_digest(replay(log)) == trace_digest(simulation)
    assert trace_digest(replay({**log, "queue_rules": "v1.34"})) != trace_digest(simulation)
    with pytest.raises(Rejected, match="unknown queue rules"):
        replay({**log, "queue_rules": "mine"})


# --- the nominated node -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nominated", "plugins"),
    [
        pytest.param("", "[NodeAffinity]", id="without a nomination only the plugin that narrowed is named"),
        pytest.param("n1", "[NodeAffinity NodeResourcesFit]", id="a plugin that rejects the nominated node is named"),
        pytest.param(
            "n2", "[NodeAffinity TaintToleration]", id="even if the nominated node is not among the remaining ones"
        ),
    ],
)
def test_why_nodes_were_left_out(nominated: str, plugins: str) -> None:
    nodes = make_node("n2").taint("gpu").obj(), make_node("n3").obj()
    pinned = make_pod("web-1").cpu("64").obj()
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pinned["spec"]["affinity"] = {"nodeAffinity": required}
    pinned["status"] = {"nominatedNodeName": nominated}
    simulation = cluster(*nodes, pinned)
    simulation.execute(commands.PodCycle())
    assert f"node(s) didn't satisfy plugin(s) {plugins}" in last_outcome(simulation)[1]
