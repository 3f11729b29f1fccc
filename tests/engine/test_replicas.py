"""Scheduler replicas in a simulation: the leader, the others, two leaders at once. Seed 003."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.commands import (
    Advance,
    Allow,
    Apply,
    Command,
    Configure,
    Fault,
    PodCycle,
    Replica,
    Replicas,
    Run,
    Settle,
    Stage,
)
from scheduler_engine.errors import Rejected
from scheduler_engine.leaderelection.locks import ANNOTATION
from scheduler_engine.metrics import render
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line
from scheduler_engine.words import say
from tests.engine.soundness import described, several_have_scheduled_at_once

ONE, TWO, THREE = "kube-scheduler-1", "kube-scheduler-2", "kube-scheduler-3"
LOCK = "kube-system/kube-scheduler"
NODES = Apply((make_node("n1").capacity(cpu="8").obj(), make_node("n2").capacity(cpu="8").obj()))


def pods(*names: str, **more: Any) -> Apply:
    return Apply(tuple(make_pod(name).cpu("100m").spec(**more).obj() for name in names))


def does(action: str, replica: str = ONE, **more: Any) -> Replica:
    return Replica(replica, action, **more)


def world(*steps: Command, seed: int = 42) -> Simulation:
    simulation = Simulation(seed=seed)
    return do(simulation, NODES, *steps)


def do(simulation: Simulation, *steps: Command) -> Simulation:
    for command in steps:
        simulation.execute(command)
    return simulation


def leaders(simulation: Simulation) -> list[str]:
    return [replica.name for replica in simulation.replicas.leaders()]


def node_of(simulation: Simulation, name: str) -> str:
    pod = simulation.api.pod(f"default/{name}")
    assert pod is not None
    return pod.node_name


def events_of(simulation: Simulation, kind: type[ev.Event]) -> list[Any]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, kind)]


def lease(simulation: Simulation) -> dict[str, Any]:
    stored = simulation.api.get("Lease", LOCK)
    assert stored is not None
    return stored.spec


def refusal(simulation: Simulation, command: Command) -> str:
    before = described(simulation), leaders(simulation), trace_digest(simulation)
    with pytest.raises(Rejected) as refused:
        simulation.execute(command)
    assert (described(simulation), leaders(simulation), trace_digest(simulation)) == before
    return str(refused.value)


def two_leaders() -> Simulation:
    """Cut off the first replica, skew the second one's clock, then reconnect the first."""
    simulation = world(Replicas(2), Advance(20.5), does("partition"), Advance(4.5), does("skew", TWO, seconds=600))
    return do(simulation, Advance(4), does("heal"))


# --- one leader ------------------------------------------------------------------------------------------------------


def test_only_the_leader_schedules_and_its_work_carries_its_name() -> None:
    simulation = world(Replicas(3), pods("web-1"), Settle())
    assert leaders(simulation) == [ONE]
    assert node_of(simulation, "web-1")
    doers = {entry.replica for entry in simulation.recorder.entries if isinstance(entry.event, ev.StageFinished)}
    assert doers == {ONE}
    assert simulation.recorder.replica == ""


def test_leader_schedules_the_pods_that_waited_for_the_one_before() -> None:
    simulation = world(pods("web-1", "web-2"), Replicas(2), Settle())
    assert node_of(simulation, "web-1")
    assert node_of(simulation, "web-2")


@pytest.mark.parametrize("lock", ["leases", "endpoints", "configmaps"])
def test_record_is_in_the_lock_object(lock: str) -> None:
    simulation = world(Replicas(2, lock=lock), Advance(5))
    kind = {"leases": "Lease", "endpoints": "Endpoints", "configmaps": "ConfigMap"}[lock]
    stored = simulation.api.get(kind, LOCK)
    assert stored is not None
    assert ONE in (stored.spec["holderIdentity"] if lock == "leases" else stored.annotations[ANNOTATION])
    assert events_of(simulation, ev.ReplicasConfigured) == [
        ev.ReplicasConfigured((ONE, TWO), True, lock, LOCK, 15_000_000, 10_000_000, 2_000_000, True)
    ]


def test_killed_leader_is_followed_after_the_lease_duration() -> None:
    simulation = world(Replicas(3), Advance(10), does("kill"), pods("web-1"))
    do(simulation, Advance(14))
    assert (leaders(simulation), node_of(simulation, "web-1")) == ([], "")
    do(simulation, Advance(10))
    [taken] = leaders(simulation)
    assert taken != ONE
    assert node_of(simulation, "web-1")
    assert (lease(simulation)["holderIdentity"], lease(simulation)["leaseTransitions"]) == (taken, 1)


def test_released_lock_is_taken_within_the_retry_period_and_its_jitter() -> None:
    simulation = world(Replicas(3), Advance(10), does("release"))
    assert (leaders(simulation), lease(simulation)["holderIdentity"]) == ([], "")
    do(simulation, Advance(4.4))
    assert len(leaders(simulation)) == 1
    assert lease(simulation)["leaseTransitions"] == 1


def test_lock_that_is_not_released_must_expire() -> None:
    simulation = world(Replicas(3, release_on_cancel=False), Advance(10), does("release"), Advance(10))
    assert (leaders(simulation), lease(simulation)["holderIdentity"]) == ([], ONE)


def test_new_leader_knows_the_api_servers_state_and_nothing_of_earlier_attempts() -> None:
    simulation = world(Replicas(2), pods("web-1"), Apply((make_pod("big-1").cpu("64").obj(),)), Settle())
    first = simulation.scheduler
    assert {info.pod.name: info.attempts for info in first.queue.lanes()["unschedulablePods"]} == {"big-1": 1}
    do(simulation, does("release"), pods("web-2"))
    simulation.fire_timers(simulation.now_us)
    while not leaders(simulation):
        simulation.timeline.fire_next()
    assert simulation.scheduler is not first
    queued = simulation.scheduler.queue.lanes()
    assert {info.pod.name: info.attempts for info in queued["activeQ"]} == {"big-1": 0, "web-2": 0}
    assert [state.pod.name for state in simulation.scheduler.cache.pod_states.values()] == ["web-1"]


def test_cycle_of_a_killed_leader_is_abandoned_and_its_number_is_not_used_again() -> None:
    simulation = world(Replicas(2), pods("web-1"), *[Stage()] * 10)
    assert list(simulation.scheduler.cache.assumed_pods)
    do(simulation, does("kill"), Advance(30))
    assert [event.cycle for event in events_of(simulation, ev.CycleStarted)] == [1, 2]
    assert [(event.cycle, event.outcome) for event in events_of(simulation, ev.CycleFinished)] == [(2, "bound")]
    assert not simulation.scheduler.cache.assumed_pods


def test_restarted_replica_is_a_candidate_again() -> None:
    simulation = world(Replicas(2), Advance(5), does("kill"), Advance(30), does("restart"), Advance(5))
    assert leaders(simulation) == [TWO]
    assert simulation.replicas.members[0].state == "acquiring"


def test_replica_restarted_before_its_lease_expires_takes_its_own_lock_up_again() -> None:
    simulation = world(Replicas(2), Advance(5), does("kill"), Advance(3), does("restart"))
    assert leaders(simulation) == [ONE]
    assert lease(simulation)["leaseTransitions"] == 0


def test_scheduler_that_led_last_can_be_read_while_there_is_no_leader() -> None:
    simulation = world(Replicas(2), pods("web-1"), Settle(), does("kill"))
    assert leaders(simulation) == []
    assert [state.pod.name for state in simulation.scheduler.cache.pod_states.values()] == ["web-1"]
    do(simulation, Settle(), Run())


def test_sandbox_without_replicas_shows_none() -> None:
    simulation = world(pods("web-1"), Advance(60))
    kinds = (ev.ReplicasConfigured, ev.ReplicaChanged, ev.ElectorTried, ev.LockChanged)
    assert not any(isinstance(entry.event, kinds) or entry.replica for entry in simulation.recorder.entries)


def test_one_replica_without_election_is_the_way_back_to_one_scheduler() -> None:
    simulation = world(Replicas(3), Advance(5), Replicas(1, leader_elect=False), pods("web-1"), Advance(60))
    assert leaders(simulation) == [ONE]
    assert node_of(simulation, "web-1")
    assert lease(simulation)["holderIdentity"] == ""


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(
            (Advance(2.3), Replicas(1, leader_elect=False)), id="a scheduler that started between two seconds"
        ),
        pytest.param(
            (Replicas(1, leader_elect=False), does("pause"), Advance(2.3), does("resume")), id="a paused scheduler"
        ),
    ],
)
def test_backoffs_are_flushed_at_whole_seconds_whenever_a_scheduler_began(before: tuple[Command, ...]) -> None:
    simulation = world(*before, commands.Fault("DefaultBinder", "bind", "error"), pods("web-1"), Settle(), Advance(4))
    flushed = [
        entry.at_us
        for entry in simulation.recorder.entries
        if isinstance(entry.event, ev.PodMoved) and entry.event.cause == "BackoffComplete"
    ]
    assert flushed == [4_000_000]


def test_replaced_replicas_do_nothing_more() -> None:
    simulation = world(Replicas(5), Advance(5), Replicas(2))
    watching = len(simulation.api.watches.listed)
    number = len(simulation.recorder.entries)
    do(simulation, Advance(60))
    assert {event.replica for event in events_since(simulation, number, ev.ElectorTried)} == {ONE, TWO}
    assert len(simulation.api.watches.listed) == watching == len(world().api.watches.listed)


def events_since(simulation: Simulation, number: int, kind: type[ev.Event]) -> list[Any]:
    return [entry.event for entry in simulation.recorder.entries[number:] if isinstance(entry.event, kind)]


# --- several schedule ------------------------------------------------------------------------------------------------


def test_two_leaders_schedule_the_same_pods_and_each_pod_is_bound_once() -> None:
    simulation = do(two_leaders(), pods("web-1", "web-2", "web-3"), Settle())
    assert leaders(simulation) == [ONE, TWO]
    outcomes = [(event.pod, event.outcome) for event in events_of(simulation, ev.CycleFinished)]
    for name in ("web-1", "web-2", "web-3"):
        assert sorted(outcome for pod, outcome in outcomes if pod == f"default/{name}") == ["bound", "error"]
        conflict = (
            f'running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding "{name}": '
            f'pod {name} is already assigned to node "{node_of(simulation, name)}"'
        )
        assert conflict in [event.message for event in events_of(simulation, ev.CycleFinished)]
    for replica in simulation.replicas.leaders():
        assert replica.scheduler is not None
        assert not replica.scheduler.cache.assumed_pods
        assert len(replica.scheduler.cache.pod_states) == 3
        assert not any(replica.scheduler.queue.lanes().values())


def test_two_leaders_within_one_command_are_in_the_trace() -> None:
    simulation = world(Replicas(2), Advance(5), does("rate", TWO, rate=10), Advance(20))
    assert leaders(simulation) == [TWO]
    assert several_have_scheduled_at_once(simulation)
    assert not several_have_scheduled_at_once(world(Replicas(2), Advance(5), does("kill"), Advance(30)))


def test_first_of_two_leaders_stops_at_its_renew_deadline() -> None:
    simulation = do(two_leaders(), Advance(4))
    assert leaders(simulation) == [TWO]
    assert [event.why for event in events_of(simulation, ev.ReplicaChanged) if event.state == "stopped"] == [
        "Leaderelection lost"
    ]


def test_skewed_clock_alone_does_no_harm() -> None:
    simulation = world(Replicas(3), Advance(7), does("skew", TWO, seconds=600), Advance(60))
    do(simulation, does("skew", THREE, seconds=-600), Advance(60))
    assert leaders(simulation) == [ONE]


def test_clock_that_runs_fast_takes_the_lock_from_a_healthy_leader() -> None:
    simulation = world(Replicas(2), Advance(7), does("rate", TWO, rate=10), Advance(4))
    assert leaders(simulation) == [ONE, TWO]


def test_stages_of_several_leaders_alternate() -> None:
    simulation = world(Replicas(3, leader_elect=False), pods("web-1"), *[Stage()] * 9)
    stages = [(entry.replica, entry.event.stage) for entry in simulation.recorder.entries if _is_stage(entry)]
    assert [name for name, _ in stages] == [ONE, TWO, THREE] * 3
    assert [stage for _, stage in stages] == ["Pop"] * 3 + ["Snapshot"] * 3 + ["PreFilter"] * 3


def _is_stage(entry: ev.Entry) -> bool:
    return isinstance(entry.event, ev.StageFinished)


def test_next_pod_is_one_cycle_of_one_replica() -> None:
    simulation = world(Replicas(2, leader_elect=False), pods("web-1", "web-2"), PodCycle())
    assert [event.pod for event in events_of(simulation, ev.CycleFinished)] == ["default/web-1"]
    assert (node_of(simulation, "web-1") != "", node_of(simulation, "web-2")) == (True, "")


# --- pause and partition ---------------------------------------------------------------------------------------------


def test_paused_leader_does_nothing_and_continues_where_it_stopped() -> None:
    simulation = world(Replicas(2), pods("web-1"), *[Stage()] * 12, does("pause"))
    assert refusal(simulation, Stage()) == say("refusals.nobody-leads")
    do(simulation, Advance(60))
    assert leaders(simulation) == [ONE, TWO]
    where = node_of(simulation, "web-1")
    assert where
    number = len(simulation.recorder.entries)
    do(simulation, does("resume"), Settle())
    [refused] = events_since(simulation, number, ev.CycleFinished)
    assert refused.message.endswith(f'pod web-1 is already assigned to node "{where}"')
    do(simulation, Advance(11))
    assert leaders(simulation) == [TWO]


def test_timers_of_a_paused_scheduler_fire_late() -> None:
    simulation = world(Replicas(1), Fault("DefaultBinder", "bind"), pods("web-1"), Settle(), does("pause"), Advance(5))
    do(simulation, does("resume"), Settle())
    assert [info.pod.name for info in simulation.scheduler.queue.lanes()["errorBackoffQ"]] == ["web-1"]
    do(simulation, Advance(0.001))
    assert node_of(simulation, "web-1")


def test_leader_that_is_cut_off_cannot_bind_and_tries_again_when_it_is_back() -> None:
    simulation = world(Replicas(2), does("partition"), Apply((make_node("n3").obj(),)), Settle())
    assert "n3" not in simulation.scheduler.cache.nodes
    do(simulation, does("heal"), pods("web-1"), does("partition"), Settle())
    [failed] = events_of(simulation, ev.CycleFinished)
    assert "connection refused" in failed.message
    assert node_of(simulation, "web-1") == ""
    assert [info.pod.name for info in simulation.scheduler.queue.lanes()["errorBackoffQ"]] == ["web-1"]
    do(simulation, does("heal"), Advance(3))
    assert node_of(simulation, "web-1")
    assert leaders(simulation) == [ONE]


def test_leader_that_is_cut_off_stops_before_another_one_starts() -> None:
    simulation = world(Replicas(2), Advance(5), does("partition"), Advance(11.9))
    assert leaders(simulation) == []
    do(simulation, Advance(10))
    assert leaders(simulation) == [TWO]


def test_partitioned_replica_does_not_see_the_others_actions() -> None:
    simulation = world(Replicas(2, leader_elect=False), does("partition"), pods("web-1"), Settle())
    first, second = (replica.scheduler for replica in simulation.replicas.members)
    assert first is not None
    assert second is not None
    assert (len(first.cache.pod_states), len(second.cache.pod_states)) == (0, 1)
    do(simulation, does("heal"))
    assert len(first.cache.pod_states) == 1


def test_failed_status_write_of_a_pod_is_reported() -> None:
    simulation = world(Replicas(1), Apply((make_pod("big-1").cpu("64").obj(),)), does("partition"), Settle())
    [failed] = events_of(simulation, ev.CycleFinished)
    assert failed.message.endswith("error updating the pod's status: connection refused")


def test_nothing_is_written_when_the_pod_says_already_why_it_waits() -> None:
    simulation = world(Replicas(1, leader_elect=False), Apply((make_pod("big-1").cpu("64").obj(),)), Settle())
    do(simulation, does("partition"), Advance(400))
    first, *later = events_of(simulation, ev.CycleFinished)
    assert later
    assert {failed.message for failed in later} == {first.message}


# --- commands in progress --------------------------------------------------------------------------------------------


def test_run_ends_while_elections_continue() -> None:
    simulation = world(Replicas(3), Run())
    assert simulation.now_us == 0
    do(simulation, does("kill"), pods("web-1"), Run())
    assert simulation.now_us == 0


def test_run_lets_time_pass_up_to_the_limit_of_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_engine.replicas.MAX_TRIES", 100)
    job = make_pod("job-1").spec(restartPolicy="Never").annotation("sandbox/duration", "500").obj()
    simulation = world(Replicas(2), Apply((job,)), Run())
    assert simulation.now_us <= 100 * 1_000_000
    assert not events_of(do(simulation, *[Run()] * 6), ev.ObjectDeleted)
    pod = simulation.api.pod("default/job-1")
    assert pod is not None
    assert pod.phase == "Succeeded"


def test_configuration_holds_for_the_leader_and_for_those_after_it() -> None:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "mine"}],
    }
    simulation = world(Replicas(2), Configure(configuration))
    assert list(simulation.scheduler.profiles) == ["mine"]
    do(simulation, does("release"), Advance(5))
    assert leaders(simulation) == [TWO]
    assert list(simulation.scheduler.profiles) == ["mine"]


def test_fault_strikes_the_leader() -> None:
    simulation = world(Replicas(2), Fault("DefaultBinder", "bind"), pods("web-1"), Settle())
    assert [event.outcome for event in events_of(simulation, ev.CycleFinished)] == ["error"]
    assert refusal(do(simulation, does("kill")), Fault("DefaultBinder", "bind")) == say("refusals.nobody-leads")


def test_pod_that_waits_with_any_leader_can_be_allowed() -> None:
    simulation = world(Replicas(2, leader_elect=False), Fault("NodeResourcesFit", "permit", "wait", 60))
    do(simulation, pods("web-1"), does("kill", TWO), Settle(), Allow("default/web-1"), Settle())
    assert node_of(simulation, "web-1")


def test_durations_come_from_the_configuration_of_the_scheduler() -> None:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaseDuration": "30s", "renewDeadline": "20s", "resourceName": "mine"},
    }
    simulation = world(Configure(configuration), Replicas(2, retry_period="1s"))
    [configured] = events_of(simulation, ev.ReplicasConfigured)
    assert configured.lock_key == "kube-system/mine"
    assert (configured.lease_duration_us, configured.renew_deadline_us) == (30_000_000, 20_000_000)
    assert configured.retry_period_us == 1_000_000


REFUSED: dict[str, tuple[tuple[Command, ...], Command, str]] = {
    "a lease as long as the renew deadline": (
        (),
        Replicas(3, lease_duration="10s", renew_deadline="10s"),
        "leaseDuration must be greater than renewDeadline",
    ),
    "a renew deadline too short for a retry": (
        (),
        Replicas(3, renew_deadline="2400ms"),
        "renewDeadline must be greater than retryPeriod*JitterFactor",
    ),
    "a retry period of nothing": ((), Replicas(3, retry_period="0"), "retryPeriod must be greater than zero"),
    "a duration without a unit": (
        (),
        Replicas(3, lease_duration="15"),
        'leaseDuration: invalid argument "15" for "--leader-elect-lease-duration" flag: '
        'time: missing unit in duration "15"',
    ),
    "a retry period that would flood the trace": (
        (),
        Replicas(3, retry_period="1ms"),
        "retryPeriod: must be at least 500ms in a sandbox",
    ),
    "an unknown lock": ((), Replicas(3, lock="stone"), "Invalid lock-type stone"),
    "no replica": ((), Replicas(0), "replicas: must be from 1 to 5"),
    "too many replicas": ((), Replicas(6), "replicas: must be from 1 to 5"),
    "an action where there are no replicas": (
        (),
        does("kill"),
        "this sandbox has only one scheduler; start replicas first",
    ),
    "a missing replica": (
        (Replicas(2),),
        does("kill", THREE),
        'there is no replica "kube-scheduler-3"; use one of kube-scheduler-1, kube-scheduler-2',
    ),
    "an unknown action": (
        (Replicas(2),),
        does("tickle"),
        "action: must be kill, restart, pause, resume, partition, heal, skew, rate, release",
    ),
    "killing a dead one": (
        (Replicas(2), does("kill")),
        does("kill"),
        "kube-scheduler-1 has stopped; restart it first",
    ),
    "restarting a running replica": ((Replicas(2),), does("restart"), "kube-scheduler-1 is running; kill it first"),
    "pausing twice": ((Replicas(2), does("pause")), does("pause"), "kube-scheduler-1 is already paused"),
    "resuming a running replica": ((Replicas(2),), does("resume"), "kube-scheduler-1 is not paused"),
    "stopping a paused replica": (
        (Replicas(2), does("pause")),
        does("release"),
        "kube-scheduler-1 is paused and cannot react; resume it first, or kill it",
    ),
    "cutting off twice": (
        (Replicas(2), does("partition")),
        does("partition"),
        "kube-scheduler-1 is already cut off from the API server",
    ),
    "healing without a partition": (
        (Replicas(2),),
        does("heal"),
        "kube-scheduler-1 is not cut off from the API server",
    ),
    "starting without the API server": (
        (Replicas(2, leader_elect=False), does("kill"), does("partition")),
        does("restart"),
        "kube-scheduler-1 cannot start while it is cut off from the API server",
    ),
    "an empty skew": ((Replicas(2),), does("skew"), "seconds: must be from -86400 to 86400, and not 0"),
    "a stopped clock": ((Replicas(2),), does("rate", rate=0), "rate: must be from 1/10 to 10"),
    "a rate that is not a number": (
        (Replicas(2),),
        does("rate", rate="fast"),
        "rate: must be a number or a fraction such as 1/2",
    ),
    "a rate over nothing": (
        (Replicas(2),),
        does("rate", rate="1/0"),
        "rate: must be a number or a fraction such as 1/2",
    ),
    "a rate in powers of ten": (
        (Replicas(2),),
        does("rate", rate="1e999999999"),
        "rate: must be a number or a fraction such as 1/2",
    ),
    "more tries for the lock than one command may bring about": (
        (Replicas(5, retry_period="500ms"), does("rate", rate=10)),
        Advance(86_400),
        "seconds: must be at most 4285, because replicas try for the lock often",
    ),
    "a stage without a leader": ((Replicas(1), does("kill")), Stage(), say("refusals.nobody-leads")),
    "a pod without a leader": ((Replicas(1), does("kill")), PodCycle(), say("refusals.nobody-leads")),
}


@pytest.mark.parametrize(("setup", "command", "words"), REFUSED.values(), ids=REFUSED)
def test_impossible_commands_are_refused_and_change_nothing(
    setup: tuple[Command, ...], command: Command, words: str
) -> None:
    assert refusal(world(*setup), command) == words


def test_durations_do_not_matter_without_an_election() -> None:
    do(world(), Replicas(2, leader_elect=False, lease_duration="never", lock="stone"))


def test_metrics_are_those_of_the_process_that_leads() -> None:
    simulation = world(Replicas(2), pods("web-1", "web-2"), Settle(), does("release"), Advance(5), pods("web-3"))
    do(simulation, Settle())
    assert "scheduler_pod_scheduling_attempts_count 1\n" in render(simulation)


# --- plain data ------------------------------------------------------------------------------------------------------

LIFE: tuple[Command, ...] = (
    NODES,
    Replicas(3),
    pods("web-1", "web-2"),
    *[Stage()] * 10,
    does("pause"),
    Advance(40),
    does("resume"),
    pods("web-3"),
    *[Stage()] * 5,
    does("partition", TWO),
    does("rate", THREE, rate="1/3"),
    Advance(4),
    does("skew", THREE, seconds=-600),
    does("kill"),
    pods("web-4"),
    does("restart"),
    Advance(40),
    does("heal", TWO),
    does("release", THREE),
    Advance(20),
    Replicas(2, leader_elect=False),
    pods("web-5"),
    *[Stage()] * 3,
    Run(),
)


def pickled(simulation: Simulation) -> Simulation:
    copied: Simulation = pickle.loads(pickle.dumps(simulation))
    return copied


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["a copy continues identically", "so does a pickle"])
def test_copies_at_any_moment(copied: Callable[[Simulation], Simulation]) -> None:
    simulation = Simulation(seed=7)
    copies = []
    for number, command in enumerate(LIFE):
        if number % 3 == 1:
            copies.append((number, copied(simulation)))
        simulation.execute(command)
    for number, item in copies:
        assert trace_digest(do(item, *LIFE[number:])) == trace_digest(simulation)


def test_log_of_commands_gives_the_same_trace() -> None:
    simulation = do(Simulation(seed=7), *LIFE)
    again = replay(make_log(7, None, LIFE))
    assert trace_digest(again) == trace_digest(simulation)
    assert all(pod.spec.get("nodeName") for pod in again.api.list("Pod"))


def test_every_command_survives_its_json_form() -> None:
    for command in LIFE:
        assert commands.from_json(commands.to_json(command)) == command


def test_every_event_of_a_life_with_replicas_has_a_line() -> None:
    for entry in do(Simulation(seed=7), *LIFE).recorder.entries:
        assert line(entry.event)


@pytest.mark.parametrize("seed", range(6))
def test_no_replica_ever_sees_a_pod_bound_twice(seed: int) -> None:
    simulation = do(Simulation(seed=seed), *LIFE)
    bound = [event.pod for event in events_of(simulation, ev.CycleFinished) if event.outcome == "bound"]
    assert sorted(bound) == sorted(set(bound))
    for replica in simulation.replicas.leaders():
        assert replica.scheduler is not None
        replica.scheduler.queue.check()
        replica.scheduler.cache.check()
