"""One elector: construction, the three steps of a try, release, the kinds of lock. Seed 003."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.errors import Rejected
from scheduler_engine.leaderelection.client import ApiServerClient
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.leaderelection.elector import SECOND_NS, LeaderElectionConfig, new_leader_elector, validate
from scheduler_engine.leaderelection.locks import ANNOTATION, ResourceLock, new_lock, v1_34_refusal
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import Recorder
from tests.engine.election_world import KEY, LOCK_OBJECTS, World


@pytest.fixture(autouse=True)
def kinds_of_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in LOCK_OBJECTS.values():
        monkeypatch.setitem(KINDS, kind.name, kind)


# --- construction ----------------------------------------------------------------------------------------------------

OK = LeaderElectionConfig(ResourceLock("leases", "n", "l", "a", ApiServerClient(ApiServer(Recorder()))), print, print)
INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "15 s, 10 s and 2 s are fine": ({}, ""),
    "a lease as long as the renew deadline is refused": (
        {"lease_duration_ns": 10 * SECOND_NS},
        "leaseDuration must be greater than renewDeadline",
    ),
    "a renew deadline of 1.2 retry periods is refused": (
        {"renew_deadline_ns": 2_400_000_000},
        "renewDeadline must be greater than retryPeriod*JitterFactor",
    ),
    "a renew deadline one nanosecond longer is fine": ({"renew_deadline_ns": 2_400_000_001}, ""),
    "a lease below zero is refused": (
        {"lease_duration_ns": 0, "renew_deadline_ns": -1, "retry_period_ns": -SECOND_NS},
        "leaseDuration must be greater than zero",
    ),
    "a renew deadline of zero is refused": (
        {"renew_deadline_ns": 0, "retry_period_ns": -1},
        "renewDeadline must be greater than zero",
    ),
    "a retry period of zero is refused": ({"retry_period_ns": 0}, "retryPeriod must be greater than zero"),
    "a missing start callback is refused": ({"on_started_leading": None}, "OnStartedLeading callback must not be nil"),
    "a missing stop callback is refused": ({"on_stopped_leading": None}, "OnStoppedLeading callback must not be nil"),
    "a missing lock is refused": ({"lock": None}, "Lock must not be nil."),
    "a candidate without a name is refused": (
        {"lock": replace(OK.lock, identity="")},
        "Lock identity is empty",
    ),
    "the durations are checked first": (
        {"lock": None, "on_started_leading": None, "retry_period_ns": 0},
        "retryPeriod must be greater than zero",
    ),
    "the order of the durations is checked before their signs": (
        {"lease_duration_ns": 0, "renew_deadline_ns": 0, "retry_period_ns": 0},
        "leaseDuration must be greater than renewDeadline",
    ),
}


@pytest.mark.parametrize(("changes", "message"), INVALID.values(), ids=INVALID)
def test_construction(changes: dict[str, Any], message: str) -> None:
    config = replace(OK, **changes)
    clock = ElectorClock(Timeline(Recorder()))
    assert validate(config) == message
    if message:
        with pytest.raises(Rejected, match=message.replace("*", r"\*")):
            new_leader_elector(config, clock)
    else:
        assert not new_leader_elector(config, clock).is_leader()


# --- the three steps of a try ----------------------------------------------------------------------------------------

FIRST = {
    "holderIdentity": "a",
    "leaseDurationSeconds": 15,
    "acquireTime": "2026-01-01T00:00:00.000000Z",
    "renewTime": "2026-01-01T00:00:00.000000Z",
    "leaseTransitions": 0,
}


def test_step_1_a_missing_lock_is_created_by_the_first_candidate() -> None:
    world = World().add("a")
    assert world.tries("a")
    assert world.spec == FIRST
    assert world.believers() == ["a"]


def test_step_2_a_candidate_leaves_a_held_lock_alone() -> None:
    world = World().add("a", "b")
    assert (world.tries("a"), world.tries("b")) == (True, False)
    assert (world.version, world.electors["b"].get_leader()) == ("2", "a")
    assert world.electors["b"].last_message == "lock is held by a and has not yet expired"


def test_step_2_an_observed_change_restarts_the_wait() -> None:
    world = World().add("a", "b")
    world.tries("a")
    world.tries("b")
    world.to(10).tries("a")
    world.to(14).tries("b")
    assert world.electors["b"].observed_time_us == 14 * SECOND_US
    assert not world.to(28.9).tries("b")
    assert world.to(29).tries("b")


def test_step_3_a_renewal_keeps_acquire_time_and_transitions() -> None:
    world = World().add("a")
    world.tries("a")
    assert world.to(2.5).tries("a")
    assert world.spec == {**FIRST, "renewTime": "2026-01-01T00:00:02.500000Z"}


def test_step_3_a_takeover_counts_a_transition_and_sets_the_acquire_time() -> None:
    world = World().add("a", "b")
    world.tries("a")
    world.tries("b")
    assert world.to(15).tries("b")
    now = "2026-01-01T00:00:15.000000Z"
    assert world.spec == {
        **FIRST,
        "holderIdentity": "b",
        "acquireTime": now,
        "renewTime": now,
        "leaseTransitions": 1,
    }


EXPIRY = {
    "one microsecond before the lease ends the lock is still held": (14.999999, False),
    "exactly when the lease ends the lock can be taken": (15, True),
    "after the lease the lock can be taken": (20, True),
}


@pytest.mark.parametrize(("second", "taken"), EXPIRY.values(), ids=EXPIRY)
def test_takeover(second: float, taken: bool) -> None:
    world = World().add("a", "b")
    world.tries("a")
    world.tries("b")
    assert world.to(second).tries("b") is taken


def test_expiry_counts_from_the_candidates_observation_not_from_the_written_time() -> None:
    world = World().add("a", "b")
    world.tries("a")
    world.to(100)
    assert not world.tries("b")
    assert not world.to(114.9).tries("b")
    assert world.to(115).tries("b")


def test_renewals_within_one_second_go_unnoticed_and_the_lease_is_stolen() -> None:
    world = World().add("a", "b", lease_duration_ns=SECOND_NS, renew_deadline_ns=SECOND_NS // 2, retry_period_ns=1000)
    world.to(1.0).tries("a")
    world.tries("b")
    assert world.to(1.9).tries("a")
    assert not world.tries("b")
    assert world.to(2.0).tries("b")
    assert world.believers() == ["a", "b"]


def test_leader_whose_write_conflicts_reads_and_writes_again() -> None:
    world = World().add("a")
    world.tries("a")
    world.edit({"metadata": {"labels": {"changed": "by-someone"}}})
    assert world.to(1).tries("a")
    assert world.manifest["metadata"]["labels"] == {"changed": "by-someone"}
    assert world.spec == {**FIRST, "renewTime": "2026-01-01T00:00:01.000000Z"}


def test_leader_whose_write_conflicts_with_another_holder_stops_believing() -> None:
    world = World().add("a")
    world.tries("a")
    world.edit({"spec": {"holderIdentity": "b"}})
    assert not world.to(2).tries("a")
    assert (world.electors["a"].get_leader(), world.believers()) == ("b", [])


def test_leader_that_writes_over_an_emptied_lock_keeps_its_old_acquire_time() -> None:
    world = World().add("a")
    world.tries("a")
    world.edit({"spec": {"holderIdentity": ""}})
    assert world.to(2).tries("a")
    assert world.spec == {**FIRST, "renewTime": "2026-01-01T00:00:02.000000Z", "leaseTransitions": 1}


def test_unreachable_server_makes_a_try_fail_and_changes_no_belief() -> None:
    world = World().add("a")
    world.tries("a")
    world.clients["a"].reachable = False
    assert not world.to(2).tries("a")
    assert world.electors["a"].is_leader()
    assert world.electors["a"].last_message == f"error retrieving resource lock {KEY}: connection refused"


# --- release ---------------------------------------------------------------------------------------------------------


def test_release_leaves_no_holder_a_duration_of_one_second_and_the_transitions() -> None:
    world = World().add("a", "b")
    world.tries("a")
    assert world.to(3).electors["a"].release()
    now = "2026-01-01T00:00:03.000000Z"
    assert world.spec == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": now,
        "renewTime": now,
        "leaseTransitions": 0,
    }
    assert world.believers() == []
    assert world.tries("b")
    assert (world.spec["holderIdentity"], world.spec["leaseTransitions"]) == ("b", 1)


def test_taking_its_own_released_lock_counts_a_transition_too() -> None:
    world = World().add("a")
    world.tries("a")
    world.electors["a"].release()
    assert world.tries("a")
    assert world.spec["leaseTransitions"] == 1


def test_release_by_a_candidate_succeeds_and_writes_nothing() -> None:
    world = World().add("a", "b")
    world.tries("a")
    assert world.electors["b"].release()
    assert (world.version, world.spec) == ("2", FIRST)


def test_release_of_a_missing_lock_fails() -> None:
    world = World().add("a")
    assert not world.electors["a"].release()
    assert world.electors["a"].last_message == f"lease lock not found: {KEY}"


HEALTH = {
    "a leader is healthy as long as its lease": (15, 0, ""),
    "a leader that did not renew for longer is not": (
        15.000001,
        0,
        "failed election to renew leadership on lease kube-scheduler",
    ),
    "the tolerance is added": (35, 20, ""),
}


@pytest.mark.parametrize(("second", "tolerance", "text"), HEALTH.values(), ids=HEALTH)
def test_health_check(second: float, tolerance: int, text: str) -> None:
    world = World().add("a", "b")
    world.tries("a")
    world.to(second)
    assert world.electors["a"].check(tolerance * SECOND_US) == text
    assert world.electors["b"].check(tolerance * SECOND_US) == ""


# --- the three kinds of lock -----------------------------------------------------------------------------------------

WRITTEN = (
    '{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-01-01T00:00:00Z",'
    '"renewTime":"2026-01-01T00:00:02Z","leaderTransitions":0}'
)


@pytest.mark.parametrize(
    "lock_type", LOCK_OBJECTS, ids=[f"an election over {name} takes its course" for name in LOCK_OBJECTS]
)
def test_lock_kinds(lock_type: str) -> None:
    world = World(lock_type).add("a", "b").start().to(20)
    assert world.leaders() == ["a"]
    world.elections["a"].kill()
    assert world.to(60).leaders() == ["b"]
    world.elections["b"].cancel()
    record, raw = world.electors["a"].lock.get()
    assert (record.holder_identity, record.lease_duration_seconds, record.leader_transitions) == ("", 1, 1)
    assert json.loads(raw)["holderIdentity"] == ""


@pytest.mark.parametrize("lock_type", ["endpoints", "configmaps"])
def test_older_locks_keep_the_record_in_an_annotation_in_whole_seconds(lock_type: str) -> None:
    world = World(lock_type).add("a")
    world.tries("a")
    world.to(2.7).tries("a")
    assert world.manifest["kind"] == LOCK_OBJECTS[lock_type].name
    assert world.manifest["metadata"]["annotations"] == {ANNOTATION: WRITTEN}
    assert "spec" not in world.manifest


def test_lock_takes_over_an_existing_object_and_keeps_its_content() -> None:
    world = World("configmaps").add("a")
    world.server.put(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"namespace": "kube-system", "name": "kube-scheduler", "annotations": {"owner": "me"}},
            "data": {"key": "value"},
        }
    )
    assert world.tries("a")
    assert world.manifest["data"] == {"key": "value"}
    assert world.manifest["metadata"]["annotations"]["owner"] == "me"
    assert json.loads(world.manifest["metadata"]["annotations"][ANNOTATION])["leaderTransitions"] == 1


UNREADABLE = {
    "text that is not JSON": ("configmaps", {"metadata": {"annotations": {ANNOTATION: "oops"}}}),
    "JSON that is not a record": ("endpoints", {"metadata": {"annotations": {ANNOTATION: "[]"}}}),
    "a number for a name": ("leases", {"spec": {"holderIdentity": 7}}),
    "a time without a zone": ("leases", {"spec": {"renewTime": "2026-01-01T00:00:00"}}),
    "a boolean for a number": ("leases", {"spec": {"leaseTransitions": True}}),
}


@pytest.mark.parametrize(
    ("lock_type", "changes"), UNREADABLE.values(), ids=[f"{name} lets tries fail" for name in UNREADABLE]
)
def test_unreadable_record(lock_type: str, changes: dict[str, Any]) -> None:
    world = World(lock_type).add("a", "b")
    world.tries("a")
    world.edit(changes)
    assert not world.tries("b")
    assert world.electors["b"].last_message.startswith(f"error retrieving resource lock {KEY}: ")
    assert world.electors["b"].get_leader() == ""


REFUSALS = {
    "v1.34 takes leases": ("leases", ""),
    "v1.34 has no endpoints lock any more": ("endpoints", "endpoints lock is removed, migrate to leases"),
    "v1.34 has no configmaps lock any more": ("configmaps", "configmaps lock is removed, migrate to leases"),
    "v1.34 has none of the locks for migration": (
        "configmapsleases",
        "configmapsleases lock is removed, migrated to leases",
    ),
    "v1.34 knows no other lock": ("secrets", "Invalid lock-type secrets"),
}


@pytest.mark.parametrize(("lock_type", "text"), REFUSALS.values(), ids=REFUSALS)
def test_v1_34_refusal(lock_type: str, text: str) -> None:
    assert v1_34_refusal(lock_type) == text


@pytest.mark.parametrize("lock_type", ["endpointsleases", "secrets"])
def test_unknown_lock_is_refused(lock_type: str) -> None:
    with pytest.raises(Rejected, match="lock"):
        new_lock(lock_type, "kube-system", "kube-scheduler", ApiServerClient(ApiServer(Recorder())), "a")


def test_update_before_any_read_fails_without_a_call() -> None:
    world = World().add("a")
    world.tries("a")
    lock = replace(world.electors["a"].lock, held=None)
    with pytest.raises(ApiError, match="lease not initialized, call get or create first"):
        lock.update(world.electors["a"].observed_record)
