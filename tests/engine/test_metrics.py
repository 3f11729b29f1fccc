"""The counters agree with the engine's state, and Prometheus can read the text."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.metrics import FAMILIES, families_in, render
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.counters import Counters, Histogram
from scheduler_engine.trace.events import StageFinished
from tests.engine.cluster import COMMANDS, GATES, node, pod

DEFAULT = "default-scheduler"
BREAKING: st.SearchStrategy[Command] = st.one_of(
    COMMANDS,
    st.builds(commands.Fault, st.just("DefaultBinder"), st.just("bind")),
    st.builds(
        commands.Fault, st.just("NodeResourcesFit"), st.just("permit"), st.just("wait"), seconds=st.sampled_from([3, 9])
    ),
    st.just(commands.Configure({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"})),
)


def samples_of(simulation: Simulation) -> dict[str, float]:
    """Return ``name{label="value",…}`` → value, as Prometheus' own parser reads it; labels sorted."""
    results = {}
    for family in text_string_to_metric_families(render(simulation)):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            results[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
    return results


def ran(*manifests: dict, then: Iterable[Command] = (commands.Run(),)) -> Simulation:  # type: ignore[type-arg]
    simulation = Simulation()
    for command in (commands.Apply(manifests), *then):
        simulation.execute(command)
    return simulation


@pytest.mark.parametrize("rules", ["v1.34", "design-doc"])
@given(wanted=st.lists(BREAKING, max_size=40))
@settings(max_examples=100, deadline=None)
def test_the_trace_counts_what_the_queue_counts(rules: str, wanted: list[Command]) -> None:
    simulation, counters, before = Simulation(seed=1, queue_rules=rules), Counters(), 0
    for command in wanted:
        try:
            simulation.execute(command)
        except Rejected:
            continue
        for entry in simulation.recorder.entries[before:]:
            counters.apply(entry)
        before = len(simulation.recorder.entries)
        queue = simulation.scheduler.queue
        assert counters.incoming == queue.incoming_pods
        assert counters.pending == queue.pending_pods()
        waiting = [info for lane in queue.lanes().values() for info in lane]
        under_way = [cycle.pod.uid for cycle in (simulation.scheduler.cycle, *simulation.scheduler.bindings) if cycle]
        assert set(counters.first_us) <= {*(info.pod.uid for info in waiting), *under_way}, "no other pod is remembered"
        for info in waiting:
            assert counters.first_us.get(info.pod.uid) == info.initial_attempt_us
    assert len(list(text_string_to_metric_families(render(simulation)))) == len(families_in(simulation.rules))


def test_a_new_simulation_has_every_metric_of_kubernetes() -> None:
    names = {family.name for family in text_string_to_metric_families(render(Simulation()))}
    assert names == {
        "scheduler_cache_size",
        "scheduler_inflight_events",
        "scheduler_pending_pods",
        "scheduler_permit_wait_duration_seconds",
        "scheduler_pod_scheduling_attempts",
        "scheduler_pod_scheduling_sli_duration_seconds",
        "scheduler_preemption_attempts",
        "scheduler_preemption_victims",
        "scheduler_queue_incoming_pods",
        "scheduler_schedule_attempts",
        "scheduler_unschedulable_pods",
    }


def test_the_families_are_sorted_as_kubernetes_serves_them() -> None:
    assert [family.name for family in FAMILIES] == sorted(family.name for family in FAMILIES)


def test_pods_are_counted_in_the_queue_where_they_wait() -> None:
    pods = [pod("big-1", "9"), pod("gated-1", schedulingGates=GATES), pod("web-1"), pod("web-2")]
    simulation = ran(node("n1"), *pods, then=[commands.PodCycle()])
    values = samples_of(simulation)
    assert {queue: values[f'scheduler_pending_pods{{queue="{queue}"}}'] for queue in ("active", "backoff")} == {
        "active": 2,
        "backoff": 0,
    }
    assert values['scheduler_pending_pods{queue="unschedulable"}'] == 1
    assert values['scheduler_pending_pods{queue="gated"}'] == 1
    assert values['scheduler_queue_incoming_pods_total{event="UnschedulablePodAdd",queue="active"}'] == 3
    assert values['scheduler_queue_incoming_pods_total{event="UnschedulablePodAdd",queue="unschedulable"}'] == 1
    assert values['scheduler_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"}'] == 1
    assert values[f'scheduler_unschedulable_pods{{plugin="NodeResourcesFit",profile="{DEFAULT}"}}'] == 1
    assert values[f'scheduler_unschedulable_pods{{plugin="SchedulingGates",profile="{DEFAULT}"}}'] == 1


def test_attempts_are_counted_by_result() -> None:
    simulation = ran(node("n1"), pod("big-1", "9"), pod("web-1"), pod("web-2"), then=[commands.Settle()])
    values = samples_of(simulation)
    assert values[f'scheduler_schedule_attempts_total{{profile="{DEFAULT}",result="scheduled"}}'] == 2
    assert values[f'scheduler_schedule_attempts_total{{profile="{DEFAULT}",result="unschedulable"}}'] == 1
    assert values["scheduler_pod_scheduling_attempts_count"] == 2
    assert values['scheduler_pod_scheduling_attempts_bucket{le="1"}'] == 2


def test_an_attempt_is_counted_as_scheduled_when_bind_is_done_and_not_before() -> None:
    simulation = ran(node("n1"), pod("web-1"), then=[])
    while not Counters.fold(simulation.recorder.entries).attempts:
        simulation.execute(commands.Stage())
    stages = [entry.event.stage for entry in simulation.recorder.entries if isinstance(entry.event, StageFinished)]
    assert stages[-1] == "Bind"


def test_a_failed_bind_is_an_error_and_the_sli_has_the_simulated_time_until_the_second_one() -> None:
    fault = commands.Fault("DefaultBinder", "bind")
    simulation = ran(node("n1"), pod("web-1"), then=[fault, commands.Settle(), commands.Advance(5)])
    values = samples_of(simulation)
    assert values[f'scheduler_schedule_attempts_total{{profile="{DEFAULT}",result="error"}}'] == 1
    assert values['scheduler_pod_scheduling_attempts_bucket{le="1"}'] == 0
    assert values['scheduler_pod_scheduling_attempts_bucket{le="2"}'] == 1
    assert values["scheduler_pod_scheduling_attempts_sum"] == 2
    taken = [entry.at_us for entry in simulation.recorder.entries if "Scheduled" in repr(entry.event)][-1] / 1e6
    assert taken > 0
    assert values['scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="2"}'] == taken
    assert values['scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="2",le="5242.88"}'] == 1
    assert values['scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="2",le="0.64"}'] == 0


def test_a_bind_that_waits_is_counted_once_when_it_is_through() -> None:
    fault = commands.Fault("DefaultBinder", "bind", "wait", seconds=3)
    simulation = ran(node("n1"), pod("web-1"), then=[fault, commands.Settle()])
    assert samples_of(simulation)["scheduler_pod_scheduling_attempts_count"] == 0
    simulation.execute(commands.Advance(5))
    assert samples_of(simulation)["scheduler_pod_scheduling_attempts_count"] == 1
    assert samples_of(simulation)['scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="1"}'] == 3


def test_a_pod_popped_from_backoff_counts_in_the_active_queue_as_in_kubernetes() -> None:
    simulation = ran(node("n1"), pod("big-1", "6"), then=[commands.Settle()])
    simulation.execute(commands.Apply((node("n2", cpu="8"),)))
    simulation.execute(commands.Settle())
    values = samples_of(simulation)
    assert values['scheduler_queue_incoming_pods_total{event="NodeAdd",queue="backoff"}'] == 1
    assert values['scheduler_queue_incoming_pods_total{event="PopFromBackoffQ",queue="active"}'] == 1
    assert Counters.fold(simulation.recorder.entries).incoming == simulation.scheduler.queue.incoming_pods


def test_a_pod_of_the_same_name_starts_its_own_clock() -> None:
    simulation = ran(pod("web-1"), then=[commands.Advance(30), commands.Delete("Pod", "default/web-1")])
    simulation.execute(commands.Apply((pod("web-1"), node("n1"))))
    simulation.execute(commands.Advance(40))
    sums = [value for name, value in samples_of(simulation).items() if "sli_duration_seconds_sum" in name]
    assert sums == [0]


def test_the_end_of_a_deleted_pods_attempt_is_not_its_namesakes() -> None:
    simulation = ran(pod("web-1"), node("n1"), then=[commands.Stage(), commands.Delete("Pod", "default/web-1")])
    simulation.execute(commands.Apply((pod("web-1", schedulingGates=GATES),)))
    simulation.execute(commands.PodCycle())
    counters = Counters.fold(simulation.recorder.entries)
    assert counters.pending == simulation.scheduler.queue.pending_pods()
    assert counters.pending["gated"] == 1


def test_waiting_on_permit_is_timed() -> None:
    fault = commands.Fault("NodeResourcesFit", "permit", "wait", seconds=10)
    simulation = ran(node("n1"), pod("web-1"), then=[fault, commands.Settle(), commands.Advance(10)])
    values = samples_of(simulation)
    assert values['scheduler_permit_wait_duration_seconds_sum{result="Unschedulable"}'] == 10
    assert values['scheduler_permit_wait_duration_seconds_count{result="Unschedulable"}'] == 1


def test_preemption_is_counted_with_its_victims() -> None:
    small = [pod(f"small-{number}", "1") for number in range(4)]
    simulation = ran(node("n1"), *small)
    simulation.execute(commands.Apply((pod("vip-1", "2", 1000), pod("huge-1", "99", 1000))))
    simulation.execute(commands.Settle())
    values = samples_of(simulation)
    assert values[f'scheduler_schedule_attempts_total{{profile="{DEFAULT}",result="unschedulable"}}'] == 2
    assert values["scheduler_preemption_attempts_total"] == 2, "one had victims, the other had none"
    assert values["scheduler_preemption_victims_count"] == 1
    assert values["scheduler_preemption_victims_sum"] == 2
    assert values['scheduler_preemption_victims_bucket{le="1"}'] == 0
    assert values['scheduler_preemption_victims_bucket{le="2"}'] == 1


def test_metrics_in_the_middle_of_a_cycle_count_cache_and_events_in_flight() -> None:
    simulation = ran(node("n1"), pod("web-1"), then=[commands.Stage()])
    simulation.execute(commands.Apply((node("n2"),)))
    values = samples_of(simulation)
    assert values['scheduler_inflight_events{event="PodPopped"}'] == 1
    assert values['scheduler_inflight_events{event="NodeAdd"}'] == 1
    assert values['scheduler_cache_size{type="nodes"}'] == 2
    while values['scheduler_cache_size{type="assumed_pods"}'] == 0:
        simulation.execute(commands.Stage())
        values = samples_of(simulation)
    assert values['scheduler_cache_size{type="pods"}'] == 1


def test_an_earlier_copy_has_the_earlier_counts() -> None:
    simulation = ran(node("n1"), pod("web-1"), then=[])
    before, text = copy.deepcopy(simulation), render(simulation)
    simulation.execute(commands.Run())
    assert render(before) == text != render(simulation)


def test_names_from_outside_are_escaped() -> None:
    profile = 'odd"\\name'
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": profile}],
    }
    simulation = Simulation(configuration=configuration)
    simulation.execute(commands.Apply((node("n1"), pod("web-1", schedulerName=profile))))
    simulation.execute(commands.Run())
    labels = [
        sample.labels["profile"]
        for family in text_string_to_metric_families(render(simulation))
        for sample in family.samples
        if "profile" in sample.labels
    ]
    assert labels == [profile]


@pytest.mark.parametrize(
    ("value", "counts"),
    [(0, [1, 0, 0]), (1, [1, 0, 0]), (2, [0, 1, 0]), (3, [0, 0, 1])],
    ids=lambda value: f"{value}",
)
def test_a_bound_belongs_to_its_bucket(value: int, counts: list[int]) -> None:
    histogram = Histogram((1, 2))
    histogram.observe(value)
    assert histogram.counts == counts
