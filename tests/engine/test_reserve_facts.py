"""The facts of Reserve and PreBind: which volume for which claim, why this one, and for whom the pod waits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import pytest

from scheduler_engine import commands, wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.why import reservation_in_words
from scheduler_engine.scheduler.explaining import filter_facts, pre_bind_facts, reserve_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.random_clusters import claim_of, storage_class, volume_of

NOT_WRITTEN = "not written after the failure"
LOCAL, CSI = "kubernetes.io/no-provisioner", "csi.example.com"
PLUGIN = "VolumeBinding"


def disk(name: str, gib: int, **fields: Any) -> dict[str, Any]:
    return volume_of(name, storageClassName="local", capacity={"storage": f"{gib}Gi"}, **fields)


def after(stage: str, *items: Any, claims: Sequence[str] = ("data",)) -> Simulation:
    """Return a simulation in which the pod ``db``, with these claims, has finished a stage."""
    simulation = Simulation()
    nodes = make_node("n1").capacity(cpu="4", memory="8Gi", pods="10").obj()
    pod = reduce(lambda builder, name: builder.claim(name), claims, make_pod("db")).obj()
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


THREE = ("data", "logs", "new")
OBJECTS = (disk("a", 2), disk("b", 3), claim(), claim("logs", 3), claim("new", class_name="csi"))


def label(kind: str, key: str) -> commands.Patch:
    """Return a change that makes the version known to the scheduler out of date."""
    return commands.Patch(kind, key, {"metadata": {"labels": {"changed": "yes"}}})


def pre_bound(simulation: Simulation) -> Facts:
    facts = pre_bind_facts(simulation.scheduler, 1, PLUGIN)
    assert facts is not None
    return facts


@pytest.mark.parametrize(
    ("changed", "ends"),
    [
        (label("PersistentVolume", "a"), ["this write failed", NOT_WRITTEN, NOT_WRITTEN]),
        (label("PersistentVolume", "b"), ["", "this write failed", NOT_WRITTEN]),
        (label("PersistentVolumeClaim", "default/new"), ["", "", "this write failed"]),
    ],
    ids=["the first write fails", "the second write fails", "the last write fails"],
)
def test_pre_bind_shows_what_it_wrote_before_the_first_failure(changed: commands.Patch, ends: list[str]) -> None:
    simulation = after("Reserve", *OBJECTS, claims=THREE)
    simulation.execute(changed)
    simulation.execute(commands.Stage())
    simulation.execute(commands.Stage())
    assert [note for _, _, note in in_words(pre_bound(simulation))[1]] == ends
    stored = [simulation.api.get("PersistentVolume", name) for name in ("a", "b")]
    written = [item is not None and "claimRef" in item.spec for item in stored]
    assert written == [note == "" for note in ends[:2]]


def test_a_failed_reserve_shows_what_it_gave_back_and_did_not_try() -> None:
    simulation = after("Assume", *OBJECTS, claims=THREE)
    simulation.execute(label("PersistentVolume", "b"))
    simulation.execute(commands.Stage())
    says, shown = in_words(reserved(simulation))
    assert says.startswith("db reserves nothing: ")
    assert shown == [
        ("claim data", "a", "reserved, then given back"),
        ("claim logs", "b", "this failed"),
        ("claim new", "new volume of 2Gi, class csi", "not tried after the failure"),
    ]


@pytest.mark.parametrize(
    ("objects", "claims", "says"),
    [
        ((disk("a", 2), claim()), THREE[:1], "a was reserved for db, but Unreserve gave it back."),
        (
            (claim("new", class_name="csi"),),
            THREE[2:],
            "db was going to get a new volume for the claim new on n1, but Unreserve undid this.",
        ),
        (
            OBJECTS,
            THREE,
            "db had taken a and b and was going to get new volumes for new on n1, but Unreserve undid this.",
        ),
    ],
    ids=["an existing volume", "a new volume", "both"],
)
def test_after_unreserve_the_reservation_is_given_back(objects: Any, claims: Sequence[str], says: str) -> None:
    simulation = after("Assume", *objects, claims=claims)
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "deny"))
    simulation.execute(commands.Stage())
    assert "Unreserve" not in wording.sentence(reserved(simulation))
    simulation.execute(commands.Stage())
    facts = reserved(simulation)
    assert (wording.sentence(facts), facts.status) == (says, None)


def test_unreserve_does_not_take_back_what_pre_bind_has_written() -> None:
    simulation = after("Reserve", *OBJECTS, claims=THREE)
    simulation.execute(label("PersistentVolume", "b"))
    simulation.execute(commands.Stage())
    simulation.execute(commands.Stage())
    assert wording.sentence(reserved(simulation)) == (
        "Unreserve gave back what db had reserved, except for data: PreBind had already written this claim."
    )


def test_if_pre_bind_has_written_all_unreserve_gives_nothing_back() -> None:
    simulation = after("PreBind", disk("a", 2), claim())
    simulation.execute(commands.Delete("PersistentVolumeClaim", "default/data"))
    simulation.execute(commands.Advance(2))
    assert wording.sentence(reserved(simulation)) == (
        "Unreserve could give nothing back: PreBind had already written everything that db had reserved."
    )


def test_an_earlier_attempt_is_explained_as_it_ended() -> None:
    """By then another binding cycle has ended, so the attempt is replayed."""
    simulation = after("Assume", disk("a", 2), claim(), claim("other"))
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "deny"))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_pod("next").claim("other").obj(),)))
    simulation.execute(commands.Run())
    attempt = RunView(simulation).attempts["default/db"][0]
    assert next(reservation_in_words(simulation, attempt)) == (
        "Reserve, VolumeBinding: a was reserved for db, but Unreserve gave it back."
    )


def test_pre_bind_waits_for_every_claim_that_is_not_bound() -> None:
    claims = [claim(name, class_name="csi") for name in ("data", "new")]
    simulation = after("PreBind", *claims, claims=("data", "new"))
    both = "db waits until the volume controller has bound the claims data and new, at most until 600 s."
    assert wording.sentence(pre_bound(simulation)) == both
    simulation.execute(commands.Delete("StorageClass", "csi"))
    simulation.execute(commands.Advance(5))
    assert wording.sentence(pre_bound(simulation)) == both


@pytest.mark.parametrize(
    ("late", "says"),
    [
        (("data", "logs"), "the claims data and logs"),
        (("logs",), "the claim logs"),
    ],
    ids=["no claim is bound", "one claim is bound"],
)
def test_a_binding_that_takes_too_long_names_the_claims_that_are_not_bound(late: Sequence[str], says: str) -> None:
    names = ("data", "logs")
    items = [claim(name, class_name="csi" if name in late else "quick") for name in names]
    simulation = after("PreBind", storage_class("quick", CSI), *items, claims=names)
    simulation.execute(commands.Delete("StorageClass", "csi"))
    simulation.execute(commands.Advance(599))
    for _ in range(2):
        simulation.execute(commands.Advance(1))
    said = in_words(pre_bound(simulation))
    assert said[0] == f"db cannot be bound: at 600 s, the volume controller had not bound {says}."
    facts = pre_bound(simulation)
    assert facts.status is not None
    assert facts.status.reasons == ("binding volumes: context deadline exceeded",)


def test_of_equal_volumes_the_first_by_name_is_taken() -> None:
    """Upstream takes the first of an unordered list."""
    simulation = after("Reserve", disk("b", 2), disk("a", 2), disk("c", 3), claim())
    note = "the first by name of the 2 smallest; 3 volumes suit on n1: a 2Gi; b 2Gi; c 3Gi"
    assert in_words(reserved(simulation))[1] == [("claim data", "takes a: 2Gi ≤ 2Gi", note)]
    filtered = filter_facts(simulation.scheduler, 1, "n1", PLUGIN)
    assert filtered is not None
    assert [line.note for line in wording.lines(filtered)] == [
        "the first by name of the 2 smallest available volumes that suit"
    ]


def test_an_attempt_whose_scheduler_stopped_no_longer_waits() -> None:
    simulation = Simulation()
    simulation.execute(commands.Replicas(count=2, leader_elect=True))
    simulation.execute(commands.Advance(3))
    pod = make_pod("db").claim("data").obj()
    node = make_node("n1").capacity(cpu="4", memory="8Gi", pods="10").obj()
    simulation.execute(commands.Apply((storage_class("csi", CSI), claim(class_name="csi"), node, pod)))
    while not any(getattr(entry.event, "stage", "") == "PreBind" for entry in simulation.recorder.entries):
        simulation.execute(commands.Stage())
    simulation.execute(commands.Replica(next(entry.replica for entry in reversed(simulation.recorder.entries)), "kill"))
    attempt = RunView(simulation).attempts["default/db"][0]
    says = [text for text in reservation_in_words(simulation, attempt) if not text.startswith(" ")]
    assert says == [
        "Reserve, VolumeBinding: Before its scheduler stopped: "
        "db gets a new volume for the claim data, provisioned on n1.",
        "PreBind, VolumeBinding: Before its scheduler stopped: "
        "db waits until the volume controller has bound the claim data, at most until 603 s.",
    ]


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
