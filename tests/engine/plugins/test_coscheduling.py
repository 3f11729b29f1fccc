"""Coscheduling of scheduler-plugins: the pods of a group are bound together, or none is.

The cases of who gets a node are those of upstream's ``test/integration/coscheduling_test.go``.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.coscheduling import Coscheduling
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.testing.builders import Data, PodBuilder
from scheduler_engine.trace import events as ev
from tests.engine.gangs import coscheduling, make_group, member
from tests.engine.plugins.world import World, events_of

FOUR = (make_node("n1").capacity(cpu="2"), make_node("n2").capacity(cpu="2"))
"""Room for four pods of one cpu."""
PATIENT: dict[str, int] = {"podGroupRejectPercentage": 100, "permitWaitingTimeSeconds": 10}
"""Arguments with which a failing pod does not give up its group."""


def gang(group: str, count: int, cpu: str = "1") -> list[Data]:
    return [member(group, number, cpu).obj() for number in range(count)]


def alternating(*groups: list[Data]) -> list[Data]:
    longest = max(map(len, groups))
    return [group[number] for number in range(longest) for group in groups if number < len(group)]


def bound(cluster: Cluster) -> list[str]:
    return sorted(pod.name for pod in cluster.simulation.api.list("Pod") if pod.node_name)


def seen(cluster: Cluster, kind: type[Any]) -> list[Any]:
    return [entry.event for entry in cluster.simulation.recorder.entries if isinstance(entry.event, kind)]


def counts(cluster: Cluster) -> list[tuple[str, int, int]]:
    return [(item.group, item.assigned, item.min_member) for item in seen(cluster, ev.PodGroupCounted)]


def message(cluster: Cluster, name: str) -> str:
    return str(cluster.pod(name).conditions[-1]["message"])


def queued(pod: PodBuilder, at_us: int = 1) -> QueuedPodInfo:
    """Return a pod that came to activeQ at a time."""
    return QueuedPodInfo(PodInfo(Pod(pod.obj())), initial_attempt_us=at_us)


def at_priority(pods: list[Data], priority: int) -> list[Data]:
    return [{**pod, "spec": {**pod["spec"], "priority": priority}} for pod in pods]


SINGLE = [make_pod(f"single-{number}").cpu("2").obj() for number in range(3)]
PLACES: dict[str, tuple[list[Data], list[Data], list[str]]] = {
    "one group fits, the next one does not": (
        [make_group("a", 3), make_group("b", 4)],
        [*gang("a", 3), *gang("b", 4, "2")],
        ["a-0", "a-1", "a-2"],
    ),
    "the same, their pods alternating": (
        [make_group("a", 3), make_group("b", 4)],
        alternating(gang("a", 3), gang("b", 4, "2")),
        ["a-0", "a-1", "a-2"],
    ),
    "a group with too few pods leaves room to others": (
        [make_group("a", 4)],
        alternating(gang("a", 3), SINGLE[:2]),
        ["single-0", "single-1"],
    ),
    "the group of higher priority comes first": (
        [make_group("a", 3), make_group("b", 3)],
        alternating(at_priority(gang("a", 3, "2"), 1), at_priority(gang("b", 3), 2)),
        ["b-0", "b-1", "b-2"],
    ),
    "pods of higher priority come before a group": (
        [make_group("a", 3)],
        alternating(gang("a", 3), at_priority(SINGLE, 2)),
        ["single-0", "single-1", "single-2"],
    ),
    "of three groups one fits": (
        [make_group("a", 3), make_group("b", 4), make_group("c", 4)],
        alternating(gang("a", 3), gang("b", 4, "2"), gang("c", 4, "2")),
        ["a-0", "a-1", "a-2"],
    ),
    "of three groups one fits, by their minResources": (
        [
            make_group("a", 3, minResources={"cpu": "3"}),
            make_group("b", 4, minResources={"cpu": "8"}),
            make_group("c", 4, minResources={"cpu": "8"}),
        ],
        alternating(gang("a", 3), gang("b", 4, "2"), gang("c", 4, "2")),
        ["a-0", "a-1", "a-2"],
    ),
}


@pytest.mark.parametrize("words", PLACES)
def test_a_group_gets_its_nodes_together(words: str) -> None:
    groups, pods, expected = PLACES[words]
    cluster = Cluster(coscheduling(permitWaitingTimeSeconds=3))
    cluster.apply(make_node("n").capacity(cpu="6"), *groups, *pods).advance(5)
    assert bound(cluster) == expected


def test_two_groups_block_each_other_without_it_and_not_with_it() -> None:
    pods = alternating(gang("a", 3), gang("b", 3))
    groups = make_group("a", 3), make_group("b", 3)
    assert bound(Cluster().apply(*FOUR, *groups, *pods).advance(5)) == ["a-0", "a-1", "b-0", "b-1"]
    assert bound(Cluster(coscheduling()).apply(*FOUR, *groups, *pods).advance(5)) == ["a-0", "a-1", "a-2"]


def test_permit_holds_pods_until_enough_have_a_node_then_allows_all() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, make_group("a", 3), *gang("a", 3))
    cluster.step_until(lambda cluster: len(counts(cluster)) == 2)
    assert bound(cluster) == []
    assert [wait.waits for wait in seen(cluster, ev.PermitWait)] == [(("Coscheduling", 60_000_000),)] * 2
    cluster.settle()
    assert counts(cluster) == [("default/a", 1, 3), ("default/a", 2, 3), ("default/a", 3, 3)]
    assert [wait.waits for wait in seen(cluster, ev.PermitWait)[2:]] == [(), ()]
    assert bound(cluster) == ["a-0", "a-1", "a-2"]


def test_a_copy_with_waiting_pods_continues_alone() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, make_group("a", 3), *gang("a", 3))
    cluster.step_until(lambda cluster: len(counts(cluster)) == 2)
    copied = copy.deepcopy(cluster)
    assert bound(copied.settle()) == ["a-0", "a-1", "a-2"]
    assert bound(cluster) == []


@pytest.mark.parametrize(
    ("timeout", "seconds", "waited"),
    [(4, 10, "4s"), (None, 10, "10s"), (0, 10, "10s"), (None, 0, "1m0s"), (-1, 10, "-1s")],
    ids=["the group's", "the argument's", "the group's is 0", "the default", "the group's is negative"],
)
def test_unreserve_gives_all_places_back_when_the_wait_is_over(timeout: int | None, seconds: int, waited: str) -> None:
    group = make_group("a", 3) if timeout is None else make_group("a", 3, scheduleTimeoutSeconds=timeout)
    cluster = Cluster(coscheduling(**{**PATIENT, "permitWaitingTimeSeconds": seconds}))
    cluster.apply(make_node("n").capacity(cpu="2"), group, *gang("a", 3)).advance(61)
    ends = {event.pod: event.message for event in seen(cluster, ev.CycleFinished) if "Coscheduling" in event.message}
    text = f"rejected due to timeout after waiting {waited} at plugin Coscheduling"
    assert any(text in ended for ended in ends.values())
    if timeout != -1:
        [first, *_] = [event for event in seen(cluster, ev.PermitWait) if event.rejected]
        assert first.rejected == "rejection in Unreserve"
    assert bound(cluster) == []


def test_a_pod_that_fits_nowhere_gives_up_its_group() -> None:
    cluster = Cluster(coscheduling()).apply(make_node("n").capacity(cpu="2"), make_group("a", 3), *gang("a", 3))
    cluster.step_until(lambda cluster: seen(cluster, ev.PostFilterRan))
    [ran] = seen(cluster, ev.PostFilterRan)
    text = "PodGroup default/a gets rejected due to Pod a-2 is unschedulable even after PostFilter"
    assert ran.verdicts[-1] == ("Coscheduling", "Unschedulable", (text,))
    rejected = [wait.pod for wait in seen(cluster, ev.PermitWait) if wait.rejected]
    assert rejected == ["default/a-0", "default/a-1"]


def test_a_small_gap_does_not_give_up_the_group() -> None:
    cluster = Cluster(coscheduling(podGroupRejectPercentage=34))
    cluster.apply(make_node("n").capacity(cpu="2"), make_group("a", 3), *gang("a", 3)).settle()
    [ran] = seen(cluster, ev.PostFilterRan)
    assert ran.verdicts[-1] == ("Coscheduling", "Unschedulable", ())
    assert not any(wait.rejected for wait in seen(cluster, ev.PermitWait))


def test_a_pod_beyond_the_minimum_gives_up_nothing() -> None:
    cluster = Cluster(coscheduling()).apply(make_node("n").capacity(cpu="2"), make_group("a", 2), *gang("a", 3))
    assert bound(cluster.settle()) == ["a-0", "a-1"]
    [ran] = seen(cluster, ev.PostFilterRan)
    assert ran.verdicts[-1] == ("Coscheduling", "Unschedulable", ())


def test_a_pod_without_a_group_is_told_so_where_it_fits_nowhere() -> None:
    cluster = Cluster(coscheduling()).apply(make_node("n").capacity(cpu="1"), make_pod("p").cpu("2")).settle()
    assert message(cluster, "p").endswith("can not find pod group")


PRE_FILTER: dict[str, tuple[list[Any], str]] = {
    "too few pods": (
        [make_group("a", 4), *gang("a", 3)],
        "pre-filter pod a-0 cannot find enough sibling pods, current pods number: 3, minMember of group: 4",
    ),
    "too few pods without gates": (
        [make_group("a", 3), *gang("a", 2), member("a", 2).gate("example.com/g")],
        "pre-filter pod a-0 cannot proceed due to gated pods in the same PodGroup",
    ),
    "too little in the whole cluster": (
        [make_group("a", 2, minResources={"cpu": "5", "memory": "1Gi", "example.com/gpu": 1}), *gang("a", 2)],
        "resource gap: map[cpu:{{1000 -3} {<nil>}  DecimalSI} example.com/gpu:{{1 0} {<nil>}  DecimalSI}]",
    ),
    "too few places for pods": (
        [make_group("a", 300, minResources={"cpu": "1m"}), *gang("a", 300, "1m")],
        "resource gap: map[pods:{{80 0} {<nil>}  DecimalSI}]",
    ),
}


@pytest.mark.parametrize("words", PRE_FILTER)
def test_pre_filter_refuses_a_group_that_cannot_fit(words: str) -> None:
    applied, text = PRE_FILTER[words]
    cluster = Cluster(coscheduling()).apply(*FOUR, *applied).run(1)
    [verdict] = [item for item in seen(cluster, ev.PreFilterRan)[0].verdicts if item[0] == "Coscheduling"]
    assert verdict == ("Coscheduling", "UnschedulableAndUnresolvable", (text,))


def test_own_pods_do_not_count_against_the_resources_of_a_group() -> None:
    group = make_group("a", 2, minResources={"cpu": "4"})
    cluster = Cluster(coscheduling()).apply(*FOUR, group, *gang("a", 2)).settle()
    cluster.advance(61).apply(member("a", 2)).settle()
    assert bound(cluster) == ["a-0", "a-1", "a-2"]
    cluster.advance(61).apply(make_group("b", 2, minResources={"cpu": "2"}), *gang("b", 2)).settle()
    assert "resource gap: map[cpu:{{1000 -3} {<nil>}  DecimalSI}]" in message(cluster, "b-0")


def test_a_group_that_fitted_is_not_checked_again_for_the_time_of_a_wait() -> None:
    group = make_group("a", 1, minResources={"cpu": "4"})
    cluster = Cluster(coscheduling(permitWaitingTimeSeconds=5)).apply(*FOUR, group, *gang("a", 1)).settle()
    cluster.apply(make_pod("other").cpu("1"), member("a", 1)).settle()
    assert cluster.node_of("a-1")
    cluster.advance(6).apply(member("a", 2)).settle()
    assert "resource gap" in message(cluster, "a-2")


def test_a_group_backs_off_after_it_gave_up() -> None:
    cluster = Cluster(coscheduling(podGroupBackoffSeconds=3))
    cluster.apply(make_node("n").capacity(cpu="2"), make_group("a", 3), *gang("a", 3)).settle()
    refusals = [item for ran in seen(cluster, ev.PreFilterRan) for item in ran.verdicts if item[0] == "Coscheduling"]
    assert refusals[-1] == ("Coscheduling", "UnschedulableAndUnresolvable", ("podGroup default/a failed recently",))
    cluster.advance(4).apply(make_node("m"), make_pod("some").cpu("1m")).advance(2)
    assert bound(cluster) == ["a-0", "a-1", "a-2", "some"]


def test_a_pod_whose_group_does_not_exist_is_denied_on_permit_until_it_does() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, *gang("a", 2)).settle()
    assert message(cluster, "a-0") == "0/1 nodes are available: 1 PodGroup not found."
    cluster.advance(1).apply(make_group("a", 2)).advance(2)
    assert bound(cluster) == ["a-0", "a-1"]


def test_the_last_pod_of_a_group_brings_the_others_back() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, make_group("a", 3), *gang("a", 2)).advance(20)
    assert bound(cluster) == []
    cluster.apply(member("a", 2)).settle()
    # The controller of groups writes the next phase, and Coscheduling registers for updates of groups.
    causes = {move.cause for move in seen(cluster, ev.PodMoved) if move.pod == "default/a-1"}
    assert "podgroups.v1alpha1.scheduling.x-k8s.ioUpdate" in causes
    assert bound(cluster) == ["a-0", "a-1", "a-2"]


def test_the_first_pod_on_permit_calls_its_siblings_back_at_most_once_a_second() -> None:
    cluster = Cluster(coscheduling()).apply(make_node("n").capacity(cpu="1"), make_group("a", 3), *gang("a", 3))
    cluster.settle()
    calls = [move.pod for move in seen(cluster, ev.PodMoved) if move.cause == "ForceActivate"]
    assert calls
    assert len(calls) == len(set(calls))


def test_a_group_that_does_not_fit_tries_again_each_second_until_it_does() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, make_group("a", 3), make_group("b", 3))
    cluster.apply(*gang("a", 3), *gang("b", 3)).settle()
    before = len(seen(cluster, ev.CycleStarted))
    cluster.advance(10)
    assert 20 <= len(seen(cluster, ev.CycleStarted)) - before <= 80
    for number in range(3):
        cluster.delete("Pod", f"a-{number}")
    assert bound(cluster.advance(32)) == ["b-0", "b-1", "b-2"]


def test_a_group_that_failed_goes_behind_those_that_are_older_than_its_failure() -> None:
    cluster = Cluster(coscheduling(**PATIENT)).apply(make_group("a", 3), *gang("a", 3))
    cluster.apply(make_node("n").capacity(cpu="2")).advance(5)
    less = cluster.simulation.scheduler.queue.active_q.less
    failing, single = (queued(pod) for pod in (member("a", 0), make_pod("single")))
    assert less(failing, single)
    cluster.advance(10)
    assert not less(failing, single)
    later = queued(make_pod("later"), at_us=11_000_000)
    assert less(failing, later)


def test_groups_of_one_second_are_ordered_by_the_keys_of_their_pods() -> None:
    cluster = Cluster(coscheduling()).apply(*FOUR, make_group("b", 1), make_group("a", 1))
    cluster.apply(make_pod("z").cpu("1"), *gang("b", 1), *gang("a", 1)).settle()
    assert [started.pod for started in seen(cluster, ev.CycleStarted)] == ["default/a-0", "default/b-0", "default/z"]


def test_it_registers_for_pods_and_for_groups() -> None:
    assert events_of(Coscheduling({}, World().handle)) == {
        "Pod/ADD": False,
        "podgroups.v1alpha1.scheduling.x-k8s.io/ADD, UPDATE": False,
    }


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"permitWaitingTimeSeconds": -1}, "permitWaitingTimeSeconds: Invalid value: -1: must be greater than 0"),
        ({"podGroupBackoffSeconds": -1}, "podGroupBackoffSeconds: Invalid value: -1: must be greater than 0"),
        (
            {"podGroupRejectPercentage": 101},
            "podGroupRejectPercentage: Invalid value: 101: must be between 0 and 100",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_arguments_outside_their_range_refuse_the_configuration(args: dict[str, int], text: str) -> None:
    with pytest.raises(Rejected) as refused:
        Cluster(coscheduling(**args))
    head = 'initializing profiles: creating profile for scheduler name default-scheduler: initializing plugin "Cosched'
    assert str(refused.value) == f'{head}uling": {text}'


def test_without_a_queue_order_of_its_own_the_profile_has_two() -> None:
    configuration = coscheduling()
    del configuration["profiles"][0]["plugins"]["queueSort"]
    with pytest.raises(Rejected, match="only one queue sort plugin required"):
        Cluster(configuration)


@pytest.mark.parametrize("kubernetes", ["v1.34", "v1.35", "v1.36"])
def test_it_works_under_the_rules_of_every_version(kubernetes: str) -> None:
    cluster = Cluster(coscheduling(), kubernetes=kubernetes)
    cluster.apply(*FOUR, make_group("a", 3), make_group("b", 3), *alternating(gang("a", 3), gang("b", 3))).advance(5)
    assert bound(cluster) == ["a-0", "a-1", "a-2"]
