"""The facts of Reserve and PreBind: which volume for which claim, why this one, and for whom the pod waits."""

from __future__ import annotations

from typing import Any

from scheduler_engine import commands, wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.scheduler.explaining import pre_bind_facts, reserve_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.random_clusters import claim_of, storage_class, volume_of

LOCAL, CSI = "kubernetes.io/no-provisioner", "csi.example.com"
PLUGIN = "VolumeBinding"


def disk(name: str, gib: int, **fields: Any) -> dict[str, Any]:
    return volume_of(name, storageClassName="local", capacity={"storage": f"{gib}Gi"}, **fields)


def after(stage: str, *items: Any) -> Simulation:
    """Return a simulation in which the pod ``db``, with the claim ``data``, has finished a stage."""
    simulation = Simulation()
    nodes = make_node("n1").capacity(cpu="4", memory="8Gi", pods="10").obj()
    pod = make_pod("db").claim("data").obj()
    simulation.execute(commands.Apply((storage_class("local", LOCAL), storage_class("csi", CSI), *items, nodes, pod)))
    while not any(getattr(entry.event, "stage", "") == stage for entry in simulation.recorder.entries):
        simulation.execute(commands.Stage())
    return simulation


def claim(name: str = "data", gib: int = 2, class_name: str = "local", **fields: Any) -> dict[str, Any]:
    return claim_of(name, {"storageClassName": class_name, "gib": gib, **fields})


def reserved(simulation: Simulation) -> Facts:
    facts = reserve_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    return facts


def in_words(facts: Facts) -> tuple[str, list[tuple[str, str, str]]]:
    return wording.sentence(facts), [(line.label, line.formula, line.note) for line in wording.lines(facts)]


def test_the_smallest_volume_that_fits_is_reserved_with_the_sizes_that_were_compared() -> None:
    simulation = after("Reserve", disk("large", 9), disk("small", 1), disk("middle", 5), claim())
    note = "the smallest of 2 volumes that suit on n1: middle 5Gi; large 9Gi"
    assert in_words(reserved(simulation)) == (
        "middle is reserved for db.",
        [("claim data", "takes middle: 2Gi ≤ 5Gi", note)],
    )


def test_the_only_volume_is_named_as_such() -> None:
    assert in_words(reserved(after("Reserve", disk("only", 9), claim())))[1] == [
        ("claim data", "takes only: 2Gi ≤ 9Gi", "the only volume that suits on n1")
    ]


def test_a_claim_without_a_volume_gets_a_new_one() -> None:
    assert in_words(reserved(after("Reserve", claim(class_name="csi")))) == (
        "db gets a new volume for the claim data, provisioned on n1.",
        [("claim data", "new volume of 2Gi, class csi", "no volume suits on n1")],
    )


def test_a_bound_claim_leaves_nothing_to_reserve_or_write() -> None:
    bound = claim(volumeName="there")
    simulation = after("PreBind", disk("there", 5, claimRef={"name": "data", "namespace": "default"}), bound)
    assert in_words(reserved(simulation)) == (
        "db has only bound claims, so there is nothing to reserve.",
        [("claim data", "bound to there", "")],
    )
    facts = pre_bind_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    assert in_words(facts) == ("db had only bound claims, so there is nothing to write.", [])


def test_pre_bind_says_for_which_claim_it_waits_and_until_when() -> None:
    simulation = after("PreBind", disk("small", 2), claim())
    facts = pre_bind_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    assert in_words(facts) == (
        "db waits until the volume controller has bound the claim data, at most until 600 s.",
        [("volume small", "claimRef: data", "")],
    )
    simulation.execute(commands.Advance(3))
    facts = pre_bind_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    assert wording.sentence(facts) == "db can be bound: the volume controller has bound all its claims."
    assert wording.sentence(reserved(simulation)) == "small is reserved for db."


def test_a_binding_that_cannot_succeed_says_why() -> None:
    simulation = after("PreBind", claim(class_name="csi"))
    simulation.execute(commands.Delete("PersistentVolumeClaim", "default/data"))
    simulation.execute(commands.Advance(2))
    facts = pre_bind_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    assert facts.status is not None
    assert wording.sentence(facts).startswith("db cannot be bound: binding volumes: ")


def test_a_binding_cycle_answers_while_later_cycles_run() -> None:
    simulation = after("PreBind", disk("small", 2), claim())
    simulation.execute(commands.Apply((make_pod("next").obj(),)))
    while simulation.scheduler.latest is not None and simulation.scheduler.latest.number < 2:
        simulation.execute(commands.Stage())
    assert wording.sentence(reserved(simulation)) == "small is reserved for db."


def test_before_reserve_nothing_is_known() -> None:
    simulation = after("Assume", disk("small", 2), claim())
    assert reserve_facts(simulation.scheduler, 1, PLUGIN) is None
    assert pre_bind_facts(simulation.scheduler, 1, PLUGIN) is None
    assert reserve_facts(simulation.scheduler, 7, PLUGIN) is None
