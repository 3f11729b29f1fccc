"""Measure how many pods per second the engine schedules: ``make bench``. No test asserts a duration.

Rows: workload × nodes × sampling × trace. ``extra_info`` holds ``pods/s`` and microseconds per cycle. Also: copies of a
large simulation.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.bench import traces

PODS = 60
AT_ONCE = 500
"""Pods of production-like work that are applied and scheduled by one pair of commands."""
WARM_UP = 5
Manifest = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def basic(number: int) -> Manifest:
    return make_pod(f"basic-{number}").label("app", "basic").cpu("100m").memory("128Mi").obj()


def zone_spread(number: int) -> Manifest:
    return with_spec(
        basic(number),
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "basic"}},
            }
        ],
    )


def term(key: str) -> Manifest:
    return {"labelSelector": {"matchLabels": {"app": "basic"}}, "topologyKey": key}


def required_anti_affinity(number: int) -> Manifest:
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(HOSTNAME)]}}
    return with_spec(basic(number), affinity=affinity)


def preferred_affinity(number: int) -> Manifest:
    wish = {"weight": 10, "podAffinityTerm": term(ZONE)}
    return with_spec(
        basic(number), affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
    )


def with_spec(manifest: Manifest, **spec: Any) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], **spec}}


WORKLOADS = {
    "basic pods": basic,
    "zone spread, DoNotSchedule": zone_spread,
    "required anti-affinity by hostname": required_anti_affinity,
    "preferred affinity by zone": preferred_affinity,
}
PERCENTAGES = {"default sampling": None, "all nodes evaluated": 100}


def prepared(nodes: int, percentage: int | None, full: bool, workload: str) -> Simulation:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **({} if percentage is None else {"percentageOfNodesToScore": percentage}),
    }
    simulation = Simulation(configuration=configuration, full=full)
    simulation.execute(
        commands.Apply(
            tuple(
                make_node(f"n{number}").zone(f"z{number % 3}").capacity(cpu="32", memory="64Gi", pods="110").obj()
                for number in range(nodes)
            )
        )
    )
    pods = tuple(WORKLOADS[workload](number) for number in range(PODS + WARM_UP))
    simulation.execute(commands.Apply(pods))
    for _ in range(WARM_UP):
        simulation.execute(commands.PodCycle())
    return simulation


@pytest.mark.parametrize("trace", ["lean", "full"])
@pytest.mark.parametrize("sampling", PERCENTAGES)
@pytest.mark.parametrize("nodes", [100, 1000, 5000])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_throughput(benchmark: BenchmarkFixture, workload: str, nodes: int, sampling: str, trace: str) -> None:
    def setup() -> tuple[tuple[Simulation], dict[str, Any]]:
        return (prepared(nodes, PERCENTAGES[sampling], trace == "full", workload),), {}

    def run(simulation: Simulation) -> None:
        simulation.execute(commands.Run(PODS))

    benchmark.pedantic(run, setup=setup, rounds=1 if nodes == 5000 else 3)
    seconds = benchmark.stats.stats.median
    benchmark.extra_info["pods/s"] = round(PODS / seconds)
    benchmark.extra_info["us per cycle"] = round(seconds / PODS * 1_000_000)


@pytest.mark.parametrize(("nodes", "pods"), [(100, 400), (1_000, 4_000), (1_523, 8_152), (5_000, 8_000)])
def test_production_like_work(benchmark: BenchmarkFixture, nodes: int, pods: int) -> None:
    """Measure from apply to bound: many shapes, GPUs, affinity, spreading, and pods that find no place."""

    def setup() -> tuple[tuple[Simulation], dict[str, Any]]:
        simulation = Simulation(full=False)
        simulation.execute(commands.Apply(traces.nodes(nodes)))
        return (simulation,), {}

    def run(simulation: Simulation) -> None:
        manifests = traces.pods(pods)
        for start in range(0, pods, AT_ONCE):
            simulation.execute(commands.Apply(manifests[start : start + AT_ONCE]))
            simulation.execute(commands.Run(AT_ONCE))

    benchmark.pedantic(run, setup=setup, rounds=1)
    benchmark.extra_info["pods/s"] = round(pods / benchmark.stats.stats.median)
    benchmark.extra_info["us per cycle"] = round(benchmark.stats.stats.median / pods * 1_000_000)


@pytest.mark.parametrize(("nodes", "pods"), [(5_000, 20_000)], ids=["copy at 5,000 nodes, 20,000 pods"])
def test_copies(benchmark: BenchmarkFixture, nodes: int, pods: int) -> None:
    """Measure how long a copy of a simulation takes, as before a step back or a trial."""
    simulation = prepared(nodes, None, False, "basic pods")
    bound = tuple(
        make_pod(f"bound-{number}").node(f"n{number % nodes}").cpu("100m").memory("128Mi").obj()
        for number in range(pods)
    )
    for start in range(0, pods, 4 * AT_ONCE):
        simulation.execute(commands.Apply(bound[start : start + 4 * AT_ONCE]))
    benchmark.pedantic(copy.deepcopy, args=(simulation,), rounds=20, warmup_rounds=1)
