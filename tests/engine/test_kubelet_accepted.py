"""What kubelets keep of the pods that they have accepted: the sums of a new count, at less cost."""

from __future__ import annotations

import copy
import pickle
from random import Random
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.kubelet.accepted import Accepted, sum_of
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.counting import calls

MOST_CALLS = 4
"""Calls per pod that is already there: to see that it has not changed."""


def pod(pick: Random, number: int) -> Pod:
    built = make_pod(f"p{number}").node("n1").cpu(f"{pick.randrange(5)}00m")
    manifest = (built.host_port(80 + pick.randrange(2)) if pick.random() < 0.3 else built).obj()
    phase = pick.choice(["Pending", "Running", "Running"])
    metadata = {"namespace": "default", **manifest["metadata"], "uid": f"u{pick.randrange(40)}"}
    return Pod({**manifest, "metadata": metadata, "status": {"phase": phase}})


def content(info: NodeInfo) -> Any:
    pods = sorted(item.pod.key for item in info.pods)
    return pods, info.requested, info.used_ports.keys(), info.allocatable, info.name


@pytest.mark.parametrize("seed", range(30))
def test_the_sums_are_those_of_a_new_count(seed: int) -> None:
    pick, accepted = Random(seed), Accepted()
    there: dict[str, Pod] = {}
    for _ in range(30):
        node = Node(make_node("n1").capacity(cpu=f"{pick.randrange(1, 4)}").obj())
        for _ in range(pick.randrange(4)):
            new = pod(pick, pick.randrange(8))
            taken = {item.uid for key, item in there.items() if key != new.key}
            if new.uid not in taken:
                there[new.key] = new
        for key in pick.sample([*there], pick.randrange(min(2, len(there) + 1))):
            del there[key]
        asked = pick.choice([*there.values(), pod(pick, 99)])
        others = [item for item in there.values() if item.uid != asked.uid]
        if asked.key in there or not any(item.uid == asked.uid for item in there.values()):
            assert content(accepted.beside(asked, node, there)) == content(sum_of(node, others))


@pytest.mark.parametrize("how", [copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))], ids=["copy", "pickle"])
def test_a_copy_starts_without(how: Any) -> None:
    accepted = Accepted()
    accepted.beside(pod(Random(1), 1), Node(make_node("n1").obj()), {})
    assert how(accepted).sums == {}


def cost_of_a_pod(number: int) -> int:
    """Count the calls to start a pod on a node that runs ``number`` pods."""
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu="100", pods="1000").obj(),)))
    pods = [make_pod(f"p{place}").node("n1").cpu("1m").obj() for place in range(number + 2)]
    simulation.execute(commands.Apply(tuple(pods[:-1])))
    return calls(lambda: simulation.execute(commands.Apply((pods[-1],))))


def test_a_pod_starts_without_counting_the_others_again() -> None:
    assert cost_of_a_pod(200) - cost_of_a_pod(100) <= MOST_CALLS * 100
