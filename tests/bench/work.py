"""What the rows of ``make bench`` do: clusters, pods, and what happens to them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.commands import Command
from scheduler_engine.commands.kinds import MAX_CYCLES
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import controllers
from tests.engine.random_clusters import claim_of, csi_node, storage_class, volume_of

Manifest = dict[str, Any]
Pod = Callable[[int], Manifest]
Prepare = Callable[[], Simulation]
Work = Callable[[Simulation], int]
"""Works on a prepared simulation; returns how many units of work that was."""

PODS, WARM_UP = 60, 5
AT_ONCE = 500
"""Pods of production-like work that are applied and scheduled by one pair of commands."""
MOST_MANIFESTS = 2_000
"""Manifests of one command while a cluster is prepared."""
HUGE = 2**31 - 1
DRIVER, VOLUMES_PER_NODE = "csi.example.com", 20


# --- clusters ---------------------------------------------------------------------------------------------------------


def nodes(count: int) -> Iterator[Manifest]:
    for number in range(count):
        yield make_node(f"n{number}").zone(f"z{number % 3}").capacity(cpu="32", memory="64Gi", pods="110").obj()


def cluster(manifests: Iterator[Manifest], full: bool = False, configuration: Manifest | None = None) -> Simulation:
    simulation = Simulation(configuration=configuration, full=full)
    fill(simulation, manifests)
    return simulation


def fill(simulation: Simulation, manifests: Iterator[Manifest]) -> None:
    listed = [*manifests]
    for start in range(0, len(listed), MOST_MANIFESTS):
        simulation.execute(commands.Apply(tuple(listed[start : start + MOST_MANIFESTS])))


def bound(pods: int, node_count: int, cpu: str = "100m") -> Iterator[Manifest]:
    """Yield pods that are already on nodes, evenly."""
    for number in range(pods):
        yield make_pod(f"bound-{number}").node(f"n{number % node_count}").cpu(cpu).memory("128Mi").grace_period(0).obj()


def configured(**fields: Any) -> Manifest:
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **fields}


ALL_NODES = configured(percentageOfNodesToScore=100)


def _profile(name: str, config: str = "", args: Manifest | None = None, **sets: Any) -> Manifest:
    profile: Manifest = {"schedulerName": name, "plugins": sets}
    return {**profile, "pluginConfig": [{"name": config, "args": args}]} if config else profile


PROFILES = configured(
    profiles=[
        _profile("default-scheduler"),
        _profile("packing", "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated"}}),
        _profile("plain", score={"disabled": [{"name": "*"}]}),
        _profile("careless", multiPoint={"disabled": [{"name": "PodTopologySpread"}, {"name": "InterPodAffinity"}]}),
    ]
)


# --- pods -------------------------------------------------------------------------------------------------------------


def basic(number: int) -> Manifest:
    return make_pod(f"basic-{number}").label("app", "basic").cpu("100m").memory("128Mi").obj()


def zone_spread(number: int) -> Manifest:
    return make_pod(f"p{number}").label("app", "basic").cpu("100m").spread(ZONE, {"app": "basic"}).obj()


def required_anti_affinity(number: int) -> Manifest:
    return make_pod(f"p{number}").label("app", "basic").cpu("100m").anti_affinity(HOSTNAME, {"app": "basic"}).obj()


def preferred_affinity(number: int) -> Manifest:
    return make_pod(f"p{number}").label("app", "basic").cpu("100m").affinity(ZONE, {"app": "basic"}, 10).obj()


def too_large(number: int) -> Manifest:
    return make_pod(f"large-{number}").cpu(f"{40 + number}").obj()


def important(number: int) -> Manifest:
    return make_pod(f"vip-{number}").cpu("8").priority(1000).obj()


def of_a_profile(number: int) -> Manifest:
    names = [profile["schedulerName"] for profile in PROFILES["profiles"]]
    return make_pod(f"p{number}").scheduler(names[number % len(names)]).cpu("100m").obj()


def with_a_claim(number: int) -> Manifest:
    return make_pod(f"p{number}").cpu("100m").claim(f"claim-{number}").obj()


def volumes(node_count: int, claims: int) -> Iterator[Manifest]:
    """Yield claims for ``with_a_claim``: even ones wait for their first consumer, odd ones are bound in a zone."""
    yield storage_class("wait", DRIVER)
    for number in range(node_count):
        yield csi_node(f"n{number}", {DRIVER: VOLUMES_PER_NODE})
    for number in range(claims):
        name, volume = f"claim-{number}", f"volume-{number}"
        if number % 2:
            reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name}
            yield volume_of(volume, f"z{number % 3}", claimRef=reference)
            yield claim_of(name, {"volumeName": volume})
        else:
            yield claim_of(name, {})


# --- work -------------------------------------------------------------------------------------------------------------


def cycles(simulation: Simulation, *listed: Command) -> int:
    """Execute commands; return how many scheduling cycles they caused."""
    before = simulation.scheduler.cycle_count
    for command in listed:
        simulation.execute(command)
    return simulation.scheduler.cycle_count - before


def placed(simulation: Simulation, name: str) -> int:
    """Count the pods with a node whose names begin so."""
    return sum(bool(pod.node_name) and pod.name.startswith(name) for pod in simulation.api.pods())


def waiting(pod: Pod, pods: int, base: Prepare) -> Prepare:
    """Add pods to a cluster, and schedule a few of them."""

    def prepare() -> Simulation:
        simulation = base()
        fill(simulation, (pod(number) for number in range(pods + WARM_UP)))
        cycles(simulation, *[commands.PodCycle()] * WARM_UP)
        return simulation

    return prepare


def run(pods: int) -> Work:
    return lambda simulation: cycles(simulation, commands.Run(pods))


def one_by_one(simulation: Simulation) -> int:
    return cycles(simulation, *[commands.PodCycle()] * PODS)


def all_placed(name: str, pods: int) -> Work:
    """Run until every pod has a node, whatever that takes; count pods."""

    def work(simulation: Simulation) -> int:
        simulation.execute(commands.Run(MAX_CYCLES))
        assert placed(simulation, name) == pods, f"{placed(simulation, name)} of {pods} pods have a node"
        return pods

    return work


def arriving(manifests: Callable[[], tuple[Manifest, ...]]) -> Work:
    """Apply pods and schedule them, some at once; count pods."""

    def work(simulation: Simulation) -> int:
        pods = manifests()
        for start in range(0, len(pods), AT_ONCE):
            cycles(simulation, commands.Apply(pods[start : start + AT_ONCE]), commands.Run(AT_ONCE))
        return len(pods)

    return work


def churn(simulation: Simulation) -> int:
    """Schedule pods while others go, and nodes come, go and change; count cycles."""
    done = 0
    for turn in range(PODS // 5):
        new = tuple(make_pod(f"new-{turn}-{number}").cpu("200m").obj() for number in range(10))
        node, other = f"n{7 * turn}", f"n{7 * turn + 1}"
        label = {"metadata": {"labels": {"turn": str(turn)}}}
        done += cycles(simulation, commands.Apply(new), commands.Taint(node, "a", "NoSchedule"), commands.Run(5))
        done += cycles(simulation, *(commands.Delete("Pod", f"default/bound-{8 * turn + place}") for place in range(4)))
        done += cycles(simulation, commands.Patch("Node", other, label), commands.Run(5), commands.Cordon(other))
        done += cycles(simulation, commands.Delete("Node", node), commands.Apply((make_node(node).obj(),)))
    return done


def copied(simulation: Simulation) -> int:
    copy.deepcopy(simulation)
    return 1


def copied_and_changed(simulation: Simulation) -> int:
    """Copy, and schedule a pod in the copy: what is shared with the original must be separated."""
    copy.deepcopy(simulation).execute(commands.PodCycle())
    return 1


def owned(kind: str, pods: int, node_count: int) -> tuple[Prepare, Work]:
    """Create a workload, and let its pods run, and end if they do; count pods."""
    fields = {"replicas": pods} if kind.endswith("Set") or kind == "Deployment" else {}
    makers: dict[str, Callable[[], Manifest]] = {
        "Job": lambda: controllers.job("w", parallelism=pods, completions=pods),
        "Indexed Job": lambda: controllers.job("w", parallelism=pods, completions=pods, completionMode="Indexed"),
        "ReplicaSet": lambda: controllers.replica_set("w", **fields),
        "Deployment": lambda: controllers.deployment("w", **fields),
        "StatefulSet": lambda: controllers.stateful_set("w", **fields),
        "DaemonSet": lambda: controllers.daemon_set("w"),
    }

    def work(simulation: Simulation) -> int:
        cycles(simulation, commands.Apply((makers[kind](),)), commands.Run(MAX_CYCLES))
        assert placed(simulation, "w-") == pods, f"{placed(simulation, 'w-')} of {pods} pods have a node"
        return pods

    return (lambda: cluster(nodes(node_count))), work


def refused(simulation: Simulation) -> int:
    """Ask for more pods than a sandbox may hold; count commands."""
    with suppress(Rejected):
        simulation.execute(commands.Apply((controllers.job("w", parallelism=HUGE),)), is_new=True)
        raise AssertionError("the command was not refused")
    return 1


def spent(simulation: Simulation) -> int:
    """Ask for more pods than fit on the nodes, until a command has spent its budget; count commands."""
    simulation.execute(commands.Apply((controllers.job("w", parallelism=HUGE),)))
    with suppress(OverBudget):
        simulation.execute(commands.Advance(60))
        raise AssertionError("the command was not refused")
    return 1
