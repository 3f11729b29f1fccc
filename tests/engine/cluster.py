"""Small clusters for engine tests, and random but valid command sequences."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.topology import ZONE
from scheduler_engine.commands import Command
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

Manifest = dict[str, Any]


def node(name: str, zone: str = "a", cpu: str = "4", taint: str = "") -> Manifest:
    labels = {"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}
    spec = {"taints": [{"key": taint, "value": "", "effect": "NoSchedule"}]} if taint else {}
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    status = {"capacity": amounts, "allocatable": amounts}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def pod(name: str, cpu: str = "1", priority: int = 0, **spec: Any) -> Manifest:
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name.rpartition("-")[0] or name}},
        "spec": {"containers": [container], "priority": priority, **spec},
    }


def spread(app: str) -> list[Manifest]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        }
    ]


def anti_affinity(app: str) -> Manifest:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


GATES = [{"name": "example.com/quota"}]

NODES = st.builds(
    node,
    st.sampled_from(["n1", "n2", "n3", "n4"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["1", "2", "4"]),
    st.sampled_from(["", "", "gpu"]),
)
PODS = st.one_of(
    st.builds(
        pod,
        st.sampled_from(["web-1", "web-2", "api-1", "api-2"]),
        st.sampled_from(["500m", "1", "3"]),
        st.sampled_from([0, 10, 100]),
    ),
    st.builds(lambda number: pod(f"spread-{number}", topologySpreadConstraints=spread("spread")), st.integers(1, 4)),
    st.builds(lambda number: pod(f"alone-{number}", affinity=anti_affinity("alone")), st.integers(1, 4)),
    st.builds(
        lambda number: pod(f"gated-{number}", schedulingGates=[{"name": "example.com/quota"}]), st.integers(1, 2)
    ),
)
KEYS = st.sampled_from(["web-1", "web-2", "api-1", "spread-1", "alone-1", "gated-1"]).map(
    lambda name: f"default/{name}"
)
COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.builds(lambda item: commands.Apply((item,)), NODES),
    st.builds(lambda item: commands.Apply((item,)), PODS),
    st.builds(commands.Delete, st.just("Pod"), KEYS),
    st.builds(commands.Delete, st.just("Node"), st.sampled_from(["n1", "n2", "n3"])),
    st.builds(
        lambda key, cpu: commands.Patch(
            "Pod", key, {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}}, "resize"
        ),
        KEYS,
        st.sampled_from(["500m", "2"]),
    ),
    st.builds(
        lambda name, zone: commands.Patch("Node", name, {"metadata": {"labels": {ZONE: zone}}}),
        st.sampled_from(["n1", "n2", "n3"]),
        st.sampled_from(["a", "c", None]),
    ),
    st.builds(commands.Cordon, st.sampled_from(["n1", "n2"]), st.booleans()),
    st.just(commands.Stage()),
    st.just(commands.Stage()),
    st.just(commands.PodCycle()),
    st.just(commands.Settle()),
    st.builds(commands.Advance, st.sampled_from([0.5, 1, 7, 40]), st.booleans()),
    st.just(commands.Run(20)),
)


def preemptor() -> Simulation:
    """Return a simulation in which web has preempted a pod on n1 that takes 300 s to terminate."""
    low = make_pod("low").cpu("2").priority(1).node("n1").grace_period(300).obj()
    simulation = Simulation(priority_numbers=True)
    node = make_node("n1").capacity(cpu="2").obj()
    simulation.execute(commands.Apply((node, low, make_pod("web").cpu("2").priority(10).obj())))
    simulation.execute(commands.Settle())
    return simulation


def tried_again(simulation: Simulation) -> None:
    """Let a node that does not help wake the preemptor: it waits on for its victim."""
    simulation.execute(commands.Apply((make_node("n2").capacity(cpu="2").taint("x").obj(),)))
    simulation.execute(commands.Advance(20))
