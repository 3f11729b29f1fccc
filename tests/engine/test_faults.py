"""Faults on demand, waits, and a configuration that changes while the scheduler runs."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import (
    CachePodChanged,
    CycleFinished,
    FaultStruck,
    FilterRan,
    PluginsRan,
    PodMoved,
    PostFilterRan,
    StageFinished,
)
from tests.engine.cluster import node, pod


def cluster(*pods: str) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), node("n2", "b"), *(pod(name) for name in pods))))
    return simulation


def of(simulation: Simulation, kind: type) -> list:  # type: ignore[type-arg]
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, kind)]


def placed(simulation: Simulation, name: str) -> str:
    pod = simulation.api.pod(f"default/{name}")
    assert pod is not None
    return pod.node_name


def test_a_bind_that_fails_is_undone_in_reverse_order_and_the_pod_is_tried_again() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("DefaultBinder", "bind"))
    simulation.execute(commands.PodCycle())
    reserve, unreserve = (
        [verdict[0] for verdict in event.verdicts]
        for event in of(simulation, PluginsRan)
        if event.extension_point in ("Reserve", "Unreserve")
    )
    assert unreserve == list(reversed(reserve))
    assert [event.what for event in of(simulation, CachePodChanged)] == ["assumed", "forgotten"]
    finished = of(simulation, CycleFinished)[-1]
    assert (finished.outcome, finished.message) == ("error", 'running Bind plugin "DefaultBinder": injected error')
    moves = [(move.source, move.target) for move in of(simulation, PodMoved)]
    assert ("", "errorBackoffQ") in moves
    simulation.execute(commands.Run())
    assert placed(simulation, "web-1")


def test_a_wait_on_permit_ends_in_rejection_when_its_time_is_over() -> None:
    simulation = cluster("web-1", "web-2")
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=10))
    simulation.execute(commands.Settle())
    assert placed(simulation, "web-1") == ""
    assert placed(simulation, "web-2"), "another pod is scheduled beside the waiting one"
    simulation.execute(commands.Advance(10))
    messages = [event.message for event in of(simulation, CycleFinished)]
    text = "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin NodeResourcesFit."
    assert text in messages


def test_a_pod_that_waits_on_permit_binds_once_it_is_allowed() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=10))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Allow("default/web-1"))
    simulation.execute(commands.Settle())
    assert placed(simulation, "web-1")
    with pytest.raises(Rejected, match="does not wait on Permit"):
        simulation.execute(commands.Allow("default/web-1"))


def test_a_pod_deleted_while_it_waits_on_permit_gives_its_place_back() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=10))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", "default/web-1"))
    simulation.execute(commands.Settle())
    assert simulation.scheduler.cache.pod_count() == 0
    assert simulation.scheduler.bindings == []


@pytest.mark.parametrize("point", ["preBind", "bind"])
def test_a_slow_binding_cycle_runs_beside_the_next_scheduling_cycles(point: str) -> None:
    simulation = cluster("web-1", "web-2")
    plugin = "DefaultBinder" if point == "bind" else "VolumeBinding"
    simulation.execute(commands.Fault(plugin, point, "wait", seconds=5))
    simulation.execute(commands.Settle())
    assert (placed(simulation, "web-1"), bool(placed(simulation, "web-2"))) == ("", True)
    simulation.execute(commands.Advance(5))
    assert placed(simulation, "web-1")
    notes = [event.note for event in of(simulation, StageFinished) if event.pod == "default/web-1"]
    assert "a plugin is still waiting" in notes


@pytest.mark.parametrize(
    ("point", "plugin", "message"),
    [
        ("preFilter", "NodeResourcesFit", 'running PreFilter plugin "NodeResourcesFit": injected error'),
        ("filter", "NodeResourcesFit", 'running "NodeResourcesFit" filter plugin: injected error'),
        ("preScore", "TaintToleration", 'running PreScore plugin "TaintToleration": injected error'),
        ("score", "ImageLocality", 'running Score plugins: plugin "ImageLocality" failed with: injected error'),
        (
            "normalizeScore",
            "TaintToleration",
            'running Normalize on Score plugins: plugin "TaintToleration" failed with: injected error',
        ),
        ("reserve", "VolumeBinding", 'running Reserve plugin "VolumeBinding": injected error'),
        ("permit", "NodeName", 'running Permit plugin "NodeName": injected error'),
        ("preBind", "VolumeBinding", 'running PreBind plugin "VolumeBinding": injected error'),
        ("bind", "DefaultBinder", 'running Bind plugin "DefaultBinder": injected error'),
    ],
)
def test_an_error_at_any_stage_fails_only_one_attempt(point: str, plugin: str, message: str) -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault(plugin, point))
    simulation.execute(commands.PodCycle())
    assert [(event.outcome, event.message) for event in of(simulation, CycleFinished)] == [("error", message)]
    simulation.execute(commands.Run())
    assert placed(simulation, "web-1")


@pytest.mark.parametrize("answer", ["error", "deny"])
@pytest.mark.parametrize("rules", ["v1.34", "design-doc"])
def test_a_pod_kept_out_of_the_queue_waits_for_its_plugins_events(rules: str, answer: str) -> None:
    simulation = Simulation(queue_rules=rules)
    simulation.execute(commands.Apply((node("n1"),)))
    simulation.execute(commands.Fault("SchedulingGates", "preEnqueue", answer))
    simulation.execute(commands.Apply((pod("web-1"), pod("web-2"))))
    simulation.execute(commands.Advance(360))
    (gated,) = simulation.scheduler.queue.lanes()["gated"]
    assert (gated.pod.key, gated.gating_plugin) == ("default/web-1", "SchedulingGates")
    assert placed(simulation, "web-2"), "the fault is over"
    assert [event.pod for event in of(simulation, FaultStruck)] == ["default/web-1"]
    simulation.execute(commands.Configure())
    simulation.execute(commands.Run())
    assert placed(simulation, "web-1"), "a new queue asks all plugins again"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("error", "injected error"), ("deny", "no new claims to deallocate, injected denial")],
    ids=["an error counts alone", "a denial counts with the other rejections"],
)
def test_a_post_filter_that_cannot_help_leaves_the_pod_unschedulable(answer: str, reason: str) -> None:
    simulation = cluster("old-1", "old-2")
    simulation.execute(commands.Run())
    simulation.execute(commands.Fault("DefaultPreemption", "postFilter", answer))
    simulation.execute(commands.Apply((make_pod("vip-1").cpu("4").priority(100).obj(),)))
    simulation.execute(commands.Settle())
    (ran,) = of(simulation, PostFilterRan)
    assert ran.verdicts[-1] == (
        "DefaultPreemption",
        {"error": "Error", "deny": "Unschedulable"}[answer],
        ("injected error" if answer == "error" else "injected denial",),
    )
    finished = of(simulation, CycleFinished)[-1]
    assert (finished.outcome, finished.message) == (
        "unschedulable",
        f"0/2 nodes are available: 2 Insufficient cpu. {reason}",
    )
    simulation.execute(commands.Delete("Pod", "default/old-1"))
    simulation.execute(commands.Run())
    assert placed(simulation, "vip-1")


def test_an_error_after_the_pod_is_bound_has_no_effect() -> None:
    simulation = cluster("web-1", "web-2")
    simulation.execute(commands.Fault("NodeName", "postBind"))
    simulation.execute(commands.Run())
    verdicts = [event.verdicts for event in of(simulation, PluginsRan) if event.extension_point == "PostBind"]
    assert verdicts == [(("NodeName", "Error", ("injected error",)),), ()]
    assert [event.outcome for event in of(simulation, CycleFinished)] == ["bound", "bound"]
    assert placed(simulation, "web-1")


def test_two_faults_of_one_plugin_strike_one_after_the_other() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("TaintToleration", "score"))
    simulation.execute(commands.Fault("TaintToleration", "normalizeScore"))
    simulation.execute(commands.Run())
    assert [event.message.partition(":")[0] for event in of(simulation, CycleFinished)] == [
        "running Score plugins",
        "running Normalize on Score plugins",
        "",
    ]


def test_a_denial_in_filter_counts_for_one_node_and_reaches_a_cycle_under_way() -> None:
    simulation = cluster("web-1")
    for _ in range(3):
        simulation.execute(commands.Stage())
    simulation.execute(commands.Fault("NodeName", "filter", "deny"))
    simulation.execute(commands.Stage())
    (ran,) = of(simulation, FilterRan)
    assert [row[1:4] for row in ran.rows] == [("NodeName", "Unschedulable", ("injected denial",)), ("", "Success", ())]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        pytest.param(commands.Fault("Nobody", "filter"), "does not take part in filter", id="an unknown plugin"),
        pytest.param(
            commands.Fault("NodeName", "bind"), "does not take part in bind", id="a plugin without this extension point"
        ),
        pytest.param(commands.Fault("DefaultBinder", "bind", "deny"), "cannot answer 'deny'", id="an invalid answer"),
        pytest.param(
            commands.Fault("ImageLocality", "normalizeScore"),
            "does not take part in normalizeScore",
            id="a score plugin that does not normalize",
        ),
        pytest.param(commands.Fault("Nobody", "postBind"), "does not take part", id="an unknown plugin at PostBind"),
        pytest.param(commands.Fault("PrioritySort", "queueSort"), "cannot answer", id="a point without answers"),
        pytest.param(commands.Fault("NodeName", "lunch"), "cannot answer", id="an unknown extension point"),
        pytest.param(commands.Fault("NodeName", "filter", profile="x"), "no profile serves", id="an unknown profile"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(fault: commands.Fault, text: str) -> None:
    with pytest.raises(Rejected, match=text):
        cluster().execute(fault)


MOST_ALLOCATED = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
            ],
            "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
        }
    ],
}


def test_a_new_configuration_counts_from_the_next_cycle_on() -> None:
    spreading, packing = cluster("web-1", "web-2", "web-3"), cluster("web-1", "web-2", "web-3")
    spreading.execute(commands.Run())
    packing.execute(commands.Configure(MOST_ALLOCATED))
    packing.execute(commands.Run())
    names = ("web-1", "web-2", "web-3")
    assert len({placed(spreading, name) for name in names}) == 2
    assert len({placed(packing, name) for name in names}) == 1


@pytest.mark.parametrize(
    ("plugin", "problem"),
    [
        ("TaintToleration", 'failed to read "PreScoreTaintToleration" from cycleState: not found'),
        ("PodTopologySpread", 'error reading "PreScorePodTopologySpread" from cycleState: not found'),
    ],
    ids=["that reads one node", "that reads other nodes"],
)
def test_a_score_plugin_without_its_prescore_is_named_in_the_error(plugin: str, problem: str) -> None:
    simulation = cluster("web-1")
    disabled = {"preScore": {"disabled": [{"name": plugin}]}}
    simulation.execute(commands.Configure({**MOST_ALLOCATED, "profiles": [{"plugins": disabled}]}))
    simulation.execute(commands.PodCycle())
    finished = of(simulation, CycleFinished)[-1]
    assert finished.message == f'running Score plugins: plugin "{plugin}" failed with: {problem}'


def test_pods_that_wait_survive_a_change_of_configuration() -> None:
    simulation = cluster("web-1", "big-1")
    simulation.execute(commands.Apply((pod("huge-1", "64", 5),)))
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Stage())
    before = simulation.scheduler.queue.lanes()
    simulation.execute(commands.Configure(MOST_ALLOCATED))
    assert simulation.scheduler.queue.lanes() == before
    simulation.scheduler.queue.check()
    simulation.execute(commands.Run())
    assert placed(simulation, "web-1")
    assert placed(simulation, "big-1")


def test_a_wrong_configuration_is_refused_and_changes_nothing() -> None:
    simulation = cluster("web-1")
    profiles = simulation.scheduler.profiles
    wrong = {**MOST_ALLOCATED, "profiles": [{"plugins": {"score": {"enabled": [{"name": "Nobody"}]}}}]}
    with pytest.raises(Rejected, match="Nobody"):
        simulation.execute(commands.Configure(wrong))
    assert simulation.scheduler.profiles is profiles


def test_a_late_confirmation_leaves_the_pod_assumed_until_the_watch_continues() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("DefaultBinder", "bind", "late", seconds=10))
    simulation.execute(commands.Settle())
    cache = simulation.scheduler.cache
    assert placed(simulation, "web-1")
    assert [cache.pod_states[uid].pod.name for uid in cache.assumed_pods] == ["web-1"]
    assert [event.until_us for event in of(simulation, FaultStruck)] == [10_000_000]
    simulation.execute(commands.Apply((node("n3"),)))
    assert "n3" in cache.nodes, "the scheduler gets all other events"
    simulation.execute(commands.Advance(10))
    assert not cache.assumed_pods
    assert [event.what for event in of(simulation, CachePodChanged)][:2] == ["assumed", "confirmed"]
    assert of(simulation, FaultStruck)[-1].until_us is None


def test_an_assumed_pod_expires_without_confirmation_and_its_room_is_used_twice() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1", cpu="2"), pod("web-1", "1500m"))))
    simulation.execute(commands.AssumedTtl(3))
    simulation.execute(commands.Fault("DefaultBinder", "bind", "late", seconds=10))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(3))
    assert [event.what for event in of(simulation, CachePodChanged)] == ["assumed"], "not before the ttl is over"
    simulation.execute(commands.Advance(2))
    assert [event.what for event in of(simulation, CachePodChanged)][:2] == ["assumed", "expired"]
    simulation.execute(commands.Apply((pod("web-2", "1500m"),)))
    simulation.execute(commands.Advance(20))
    assert placed(simulation, "web-1") == placed(simulation, "web-2") == "n1"
    phases = [pod.status["phase"] for pod in simulation.api.pods()]
    assert phases == ["Running", "Failed"], "the kubelet refuses it: OutOfcpu"


def test_assumed_pods_never_expire_by_themselves() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.AssumedTtl(3))
    simulation.execute(commands.AssumedTtl(0))
    simulation.execute(commands.Fault("DefaultBinder", "bind", "late", seconds=600))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(500))
    assert simulation.scheduler.cache.assumed_pods
    with pytest.raises(Rejected, match="seconds: must be from 0"):
        simulation.execute(commands.AssumedTtl(-1))


def test_a_pod_that_goes_before_the_scheduler_sees_its_binding_leaves_the_cache_late() -> None:
    simulation = cluster("web-1")
    simulation.execute(commands.Fault("DefaultBinder", "bind", "late", seconds=10))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", "default/web-1"))
    simulation.execute(commands.Advance(9))
    assert simulation.scheduler.cache.assumed_pods
    simulation.execute(commands.Advance(40))
    assert not simulation.scheduler.cache.pod_states
    assert [event.what for event in of(simulation, CachePodChanged)][-1] == "removed"


@pytest.mark.parametrize("rules", ["v1.34", "design-doc"])
@pytest.mark.parametrize("backs_off", [True, False], ids=["into backoffQ", "into activeQ"])
def test_a_parked_pod_that_a_gate_holds_back_counts_as_gated(rules: str, backs_off: bool) -> None:
    simulation = Simulation(queue_rules=rules)
    simulation.execute(commands.Apply((make_node("n1").taint("dedicated", "gpu").obj(), make_pod("p").obj())))
    simulation.execute(commands.Run())
    if not backs_off:
        simulation.execute(commands.Advance(20))
    simulation.execute(commands.Fault("SchedulingGates", "preEnqueue", "deny"))
    manifest = simulation.api.pod("default/p").manifest
    tolerations = [*manifest["spec"]["tolerations"], {"operator": "Exists"}]
    simulation.execute(commands.Apply(({**manifest, "spec": {**manifest["spec"], "tolerations": tolerations}},)))
    assert [info.pod.name for info in simulation.scheduler.queue.lanes()["gated"]] == ["p"]
    moves = [(move.source, move.target) for move in of(simulation, PodMoved)]
    assert moves[-1] == ("unschedulablePods", "gated")
