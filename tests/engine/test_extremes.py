"""Numbers as large as Kubernetes allows cause no proportional work, memory or waiting."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_engine import commands, effort
from scheduler_engine.api.objects import Pod
from scheduler_engine.commands import Command
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from tests.engine import controllers as world

Manifest = dict[str, Any]

INT32, INT64 = 2**31 - 1, 2**63 - 1
ROOM = 30
"""Most pods that controllers may have here."""
KEPT = 5_000
"""Most trace entries of a whole story."""

RUN, HOUR = commands.Run(), commands.Advance(3600)
DELETE, EVICT = commands.Delete("Pod", "default/p"), commands.Evict("default/p")


def node(**amounts: str) -> Manifest:
    return make_node("n1").capacity(**{"cpu": "100", "memory": "100Gi", "pods": "1000", **amounts}).obj()


HOT = make_node("n1").taint("heat", effect="NoExecute").obj()


def applied(*manifests: Manifest) -> commands.Apply:
    return commands.Apply(manifests)


def tolerating(seconds: int) -> Manifest:
    return make_pod("p").toleration("heat", None, "NoExecute", seconds).obj()


def saying(pod: Manifest, **annotated: str) -> Manifest:
    annotations = {f"sandbox/{name.replace('_', '-')}": text for name, text in annotated.items()}
    return {**pod, "metadata": {**pod["metadata"], "annotations": annotations}}


def rolling(**numbers: Any) -> Manifest:
    return {"type": "RollingUpdate", "rollingUpdate": numbers}


def indexed(**numbers: int) -> Manifest:
    return world.job("web", completionMode="Indexed", **numbers)


def scheduler(**fields: Any) -> commands.Configure:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return commands.Configure({**head, **fields})


USING_MUCH = saying(make_pod("p").grace_period(INT64).obj(), usage_memory="2Gi")
LONG = "2562047h"
STORIES: dict[str, list[Command]] = {
    "an indexed Job with the maximum of completions": [applied(node(), indexed(completions=INT32))],
    "an indexed Job with all fields at their maximum": [
        applied(
            node(),
            indexed(completions=INT32, parallelism=100_000, backoffLimitPerIndex=INT32, maxFailedIndexes=100_000),
        )
    ],
    "a Job with the maximum of completions and parallelism": [
        applied(node(), world.job("web", completions=INT32, parallelism=INT32))
    ],
    "a Job with the maximum of parallelism and no completions": [applied(node(), world.job("web", parallelism=INT32))],
    "a Job with a deadline, limits and a ttl": [
        applied(
            node(),
            world.job("web", activeDeadlineSeconds=INT64, backoffLimit=INT32, ttlSecondsAfterFinished=INT32),
        )
    ],
    "a StatefulSet": [applied(node(), world.stateful_set("web", INT32))],
    "a StatefulSet all at once": [applied(node(), world.stateful_set("web", INT32, podManagementPolicy="Parallel"))],
    "a StatefulSet with a high start ordinal": [
        applied(node(), world.stateful_set("web", INT32, podManagementPolicy="Parallel", ordinals={"start": INT32}))
    ],
    "a StatefulSet with a partition": [
        applied(node(), world.stateful_set("web", 2, updateStrategy=rolling(partition=INT32)))
    ],
    "a ReplicaSet": [applied(node(), world.replica_set("web", INT32))],
    "a ReplicaSet with a huge minReadySeconds": [applied(node(), world.replica_set("web", 2, minReadySeconds=INT32))],
    "a Deployment": [applied(node(), world.deployment("web", INT32, revisionHistoryLimit=INT32))],
    "a Deployment that surges": [
        applied(node(), world.deployment("web", 2, strategy=rolling(maxSurge=INT32, maxUnavailable=INT32))),
        RUN,
        applied(world.deployment("web", 2, image="a:2", strategy=rolling(maxSurge=INT32, maxUnavailable=INT32))),
    ],
    "a Deployment with a far deadline": [
        applied(node(), world.deployment("web", 2, progressDeadlineSeconds=INT32, minReadySeconds=INT32 - 1))
    ],
    "a DaemonSet that surges": [
        applied(
            node(),
            world.daemon_set("web", minReadySeconds=INT32, updateStrategy=rolling(maxSurge=INT32, maxUnavailable=0)),
        )
    ],
    "a budget": [applied(node(), make_budget("b", {"app": "web"}, minAvailable=INT32), world.replica_set("web", 2))],
    "a budget of a large set": [
        applied(node(), make_budget("b", {"app": "web"}, maxUnavailable="99%"), world.replica_set("web", INT32))
    ],
    "a toleration forever": [applied(HOT, tolerating(INT64))],
    "a toleration for 68 years": [applied(HOT, tolerating(INT32))],
    "a negative toleration": [applied(HOT, tolerating(-INT64 - 1))],
    "a grace period forever": [applied(node(), make_pod("p").grace_period(INT64).obj()), RUN, DELETE],
    "a grace period forever, evicted": [applied(node(), make_pod("p").grace_period(INT64).obj()), RUN, EVICT],
    "a grace period of 68 years": [applied(node(), make_pod("p").grace_period(INT32).obj()), RUN, DELETE],
    "a negative grace period": [
        applied(node(), make_pod("p").grace_period(-INT64 - 1).obj()),
        RUN,
        DELETE,
    ],
    "a kubelet that is patient": [
        applied(node()),
        commands.KubeletConfigure(
            "n1",
            {
                "evictionSoft": {"memory.available": "99Gi"},
                "evictionSoftGracePeriod": {"memory.available": LONG},
                "evictionMaxPodGracePeriod": INT32,
                "evictionPressureTransitionPeriod": LONG,
            },
        ),
        applied(USING_MUCH),
    ],
    "a kubelet that evicts slowly": [
        applied(node()),
        commands.KubeletConfigure(
            "n1",
            {
                "evictionSoft": {"memory.available": "99Gi"},
                "evictionSoftGracePeriod": {"memory.available": "0s"},
                "evictionMaxPodGracePeriod": INT32,
                "evictionPressureTransitionPeriod": "1ns",
            },
        ),
        applied(USING_MUCH),
    ],
    "a pod that takes a year to start and a year to end": [
        applied(
            node(),
            saying(make_pod("p").spec(restartPolicy="Never").obj(), start_delay="31622400", duration="31622400"),
        )
    ],
    "a pod that takes a microsecond to start": [applied(node(), saying(make_pod("p").obj(), start_delay="0.000001"))],
    "a pod that uses everything": [
        applied(node(), saying(make_pod("p").obj(), usage_memory="1000000000000000", usage_pids="1e15"))
    ],
    "a spread": [
        applied(
            node(),
            make_pod("p")
            .label("app", "x")
            .spread("kubernetes.io/hostname", {"app": "x"}, maxSkew=INT32, minDomains=INT32)
            .obj(),
        )
    ],
    "a node": [applied(node(cpu="1e15", memory="1E", pods="1e15"), make_pod("p").cpu("1e14").obj())],
    "a backoff": [
        scheduler(podInitialBackoffSeconds=INT64, podMaxBackoffSeconds=INT64),
        applied(node(), make_pod("p").cpu("1000").obj()),
        RUN,
        applied(make_node("n2").capacity(cpu="1").obj()),
    ],
    "a lease": [commands.Replicas(2, lease_duration="2562047h47m16s", renew_deadline=LONG, retry_period="1000000h")],
}


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_engine.controllers.workload.MAX_PODS", ROOM)
    monkeypatch.setattr(effort, "MOST_STEPS", 200_000)
    monkeypatch.setattr(effort, "MOST_ENTRIES", KEPT)


@pytest.mark.parametrize("story", STORIES)
def test_large_numbers_cost_as_much_as_small_ones(story: str) -> None:
    simulation = Simulation()
    for command in (*STORIES[story], RUN, HOUR, RUN):
        simulation.execute(command)
    assert len(simulation.recorder.entries) < KEPT
    assert len(world.pods(simulation, gone=True)) <= ROOM
    copy.deepcopy(simulation).execute(commands.Advance(60))


def test_indexes_come_in_order_where_others_have_succeeded() -> None:
    simulation = Simulation()
    world.apply(simulation, node(), indexed(completions=INT32, parallelism=3))
    world.advance(simulation, 25)
    owner = world.find(simulation, "Job", "web")
    assert owner.status["completedIndexes"] == "0-5"
    running = [pod for pod in world.pods(simulation) if pod.phase == "Running"]
    assert [pod.annotations["batch.kubernetes.io/job-completion-index"] for pod in running] == ["6", "7", "8"]


def test_a_grace_period_beyond_all_calendars_ends_with_them() -> None:
    simulation = Simulation()
    for command in (applied(node(), make_pod("p").grace_period(INT64).obj()), RUN, DELETE):
        simulation.execute(command)
    pod = simulation.api.pod("default/p")
    assert isinstance(pod, Pod)
    assert pod.metadata["deletionTimestamp"] == "9999-12-31T23:59:59Z"
    assert pod.metadata["deletionGracePeriodSeconds"] == INT64


@pytest.mark.parametrize(("seconds", "at_s"), [(86_000, 86_030), (86_401, 0)], ids=["within a day", "later"])
def test_a_run_waits_for_timers_within_a_day(seconds: int, at_s: int) -> None:
    simulation = Simulation()
    world.apply(simulation, HOT, tolerating(seconds))
    world.run(simulation)
    assert simulation.now_us == at_s * 10**6
