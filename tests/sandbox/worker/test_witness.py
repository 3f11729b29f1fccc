"""Plugins of a live sandbox are asked about the attempt in view, however long ago it was."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.explain import explain_filter, explain_stage
from sandbox.panels.facts.skew import skews
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.worker import earlier, rendering, witness
from sandbox.worker.live import Live
from scheduler_engine.testing import ZONE, make_node, make_pod
from scheduler_engine.wording import sentence as wording_sentence
from tests.engine.random_clusters import claim_of, storage_class, volume_of
from tests.sandbox.inside import live

pytestmark = pytest.mark.django_db
FIT = "NodeResourcesFit"


def do(visitor: Any, *manifests: Any) -> None:
    """Apply, and let the scheduler settle."""
    store.execute(visitor.row(), {"kind": "apply", "manifests": [item.obj() for item in manifests]})
    store.execute(visitor.row(), {"kind": "settle"})


def here(visitor: Any, **view: Any) -> tuple[Live, World]:
    held = live(visitor.sandbox)
    held.move_to(Position.of(visitor.row()))
    return held, rendering.world_in_view(held, View(**view))


def sentence(world: World, number: int, node: str = "n1") -> str:
    return explain_filter(world, world.by_number[number], node, FIT).sentence


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the simulations created by replaying."""
    created: list[Any] = []
    original = earlier._replay
    monkeypatch.setattr(earlier, "_replay", lambda *arguments: (created.append(arguments[1]), original(*arguments))[1])
    return created


@pytest.fixture
def tried(visitor: Any) -> Any:
    """Create three pods, tried in order. n1 has room for one."""
    do(visitor, make_node("n1").capacity(cpu="2").zone("a"), make_pod("first").cpu("1500m"))
    for name in ("second", "third"):
        do(visitor, make_pod(name).cpu("1"))
    return visitor


def test_the_newest_attempt_is_explained_without_a_replay(tried: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    replays = counted(monkeypatch)
    _, world = here(tried)
    assert world.cycle is not None
    assert sentence(world, world.cycle.number) == "n1 does not have enough cpu left for third."
    assert replays == []


def test_an_old_attempt_is_explained_once_it_is_in_view(tried: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    replays = counted(monkeypatch)
    _, world = here(tried, cycle=1)
    assert [sentence(world, number) for number in (1, 1, 2)] == [
        "Everything that first requests is free on n1.",
        "Everything that first requests is free on n1.",
        "n1 does not have enough cpu left for second.",
    ]
    assert len(replays) == 2


def test_a_past_moment_is_explained_as_it_was(tried: Any) -> None:
    store.execute(tried.row(), {"kind": "delete", "object_kind": "Pod", "key": "default/first"})
    held, _ = here(tried)
    _, world = here(tried, at=Moment(4, held.world.end_of(4) - held.world.starts[4]))
    assert world.cycle is not None
    assert sentence(world, world.cycle.number) == "n1 does not have enough cpu left for second."


def test_a_large_cluster_is_not_replayed_unasked(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    web = make_pod("web-1").label("app", "web").spread(ZONE, {"app": "web"})
    do(visitor, make_node("n1").zone("a"), make_node("n2").zone("b"), web)
    do(visitor, make_pod("other"))
    replays = counted(monkeypatch)
    monkeypatch.setattr(witness, "CHEAP", 1)
    _, world = here(visitor, cycle=1)
    assert skews(world, world.by_number[1], "") == {}
    assert replays == []
    assert sentence(world, 1) == "Everything that web-1 requests is free on n1."
    monkeypatch.setattr(witness, "CHEAP", 600)
    _, world = here(visitor, cycle=1)
    assert [skew["text"] for skew in skews(world, world.by_number[1], "").values()] == ["skew 1 ≤ 1"] * 2


def test_a_deleted_scheduler_is_asked_as_it_was(visitor: Any) -> None:
    store.execute(visitor.row(), {"kind": "replicas", "count": 2})
    do(visitor, make_node("n1").capacity(cpu="2"), make_pod("first").cpu("3"))
    store.execute(visitor.row(), {"kind": "replica", "replica": "kube-scheduler-1", "action": "kill"})
    _, world = here(visitor, cycle=1)
    assert sentence(world, 1) == "n1 is too small: first requests more cpu than the whole node has."


def test_a_past_dry_run_is_explained_as_it_was(visitor: Any) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    store.execute(visitor.row(), {"kind": "apply", "manifests": [high]})
    low, vip = make_pod("low").cpu("2").node("n1"), make_pod("vip").cpu("1").priority_class("high")
    do(visitor, make_node("n1").capacity(cpu="2"), low, vip)
    do(visitor, make_pod("other").cpu("3"))
    _, world = here(visitor, cycle=1)
    facts = world.witness.dry_run(world.by_number[1], "n1")
    assert facts is not None
    assert wording_sentence(facts.facts) == "n1 is a candidate: without low, vip fits."
    assert world.witness.choice(world.by_number[1]) == ()
    assert world.witness.violated(world.by_number[1], "n1") == {}
    assert world.witness.dry_run(world.by_number[1], "n2") is None


def test_a_reservation_is_explained_after_the_pod_is_bound_and_others_have_come(visitor: Any) -> None:
    kinds = (storage_class("local", "kubernetes.io/no-provisioner"), claim_of("data", {"storageClassName": "local"}))
    objects = (
        volume_of("disk", storageClassName="local"),
        *kinds,
        make_node("n1").obj(),
        make_pod("db").claim("data").obj(),
    )
    store.execute(visitor.row(), {"kind": "apply", "manifests": [*objects]})
    store.execute(visitor.row(), {"kind": "advance", "seconds": 10})
    for name in ("second", "third"):
        do(visitor, make_pod(name))
    _, world = here(visitor)
    cycle = world.attempts["default/db"][-1]
    reserve, pre_bind = (ask(cycle, "VolumeBinding") for ask in (world.witness.reserve, world.witness.pre_bind))
    assert reserve is not None
    assert pre_bind is not None
    assert wording_sentence(reserve) == "disk is reserved for db."
    assert wording_sentence(pre_bind) == "db can be bound: the volume controller has bound all its claims."


def test_a_reservation_that_was_given_back_is_explained_as_such_after_others_have_come(visitor: Any) -> None:
    """The attempt is replayed to its end, not to the end of Reserve."""
    local = {"storageClassName": "local"}
    kinds = (storage_class("local", "kubernetes.io/no-provisioner"), claim_of("data", local), claim_of("other", local))
    objects = (
        volume_of("disk", storageClassName="local"),
        *kinds,
        make_node("n1").obj(),
        make_pod("db").claim("data").obj(),
    )
    denial = {"kind": "fault", "plugin": "NodeResourcesFit", "point": "permit", "answer": "deny"}
    store.execute(visitor.row(), denial)
    store.execute(visitor.row(), {"kind": "apply", "manifests": [*objects]})
    store.execute(visitor.row(), {"kind": "settle"})
    do(visitor, make_pod("next").claim("other"))
    store.execute(visitor.row(), {"kind": "advance", "seconds": 5})
    _, world = here(visitor)
    said = [explain_stage(world, world.attempts[f"default/{name}"][0], "Reserve") for name in ("db", "next")]
    assert [item.sentence for (_, item), *_ in said] == [
        "disk was reserved for db, but Unreserve gave it back.",
        "disk is reserved for next.",
    ]


def test_an_attempt_whose_replica_was_killed_says_what_it_did_before(visitor: Any) -> None:
    store.execute(visitor.row(), {"kind": "replicas", "count": 2, "leader_elect": True})
    store.execute(visitor.row(), {"kind": "advance", "seconds": 3})
    objects = (
        storage_class("csi", "csi.example.com"),
        claim_of("data", {"storageClassName": "csi"}),
        make_node("n1").obj(),
        make_pod("db").claim("data").obj(),
    )
    store.execute(visitor.row(), {"kind": "apply", "manifests": [*objects]})
    while not (world := here(visitor)[1]).attempts.get("default/db") or world.cycle.last_stage != "PreBind":
        store.execute(visitor.row(), {"kind": "stage"})
    before, replica = explain_stage(world, world.cycle, "PreBind")[0][1].sentence, world.cycle.replica
    store.execute(visitor.row(), {"kind": "replica", "replica": replica, "action": "kill"})
    _, world = here(visitor)
    after = explain_stage(world, world.attempts["default/db"][0], "PreBind")[0][1].sentence
    assert before.startswith("db waits until the volume controller has bound the claim data")
    assert after == f"Before its scheduler stopped: {before}"


def test_what_is_asked_about_all_nodes_at_rest_is_kept_until_something_changes(visitor: Any) -> None:
    host, web = "kubernetes.io/hostname", {"app": "web"}
    pod = make_pod("web").labels(web).spread(host, web).obj()
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_node("n1").label(host, "n1").obj(), pod]})

    def domains() -> list[Any]:
        held, world = here(visitor)
        boards = witness.LiveWitness(held, world, None).spread(world.pods["default/web"].pod, None)
        assert boards is not None
        return [boards, sorted(item.name or "" for item in boards[0].domains)]

    first = domains()
    assert first[1] == ["n1"]
    assert domains()[0] is first[0]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_node("n2").label(host, "n2").obj()]})
    assert domains()[1] == ["n1", "n2"]
    store.go_to(visitor.row(), lambda position: 1)
    assert domains()[1] == ["n1"]
