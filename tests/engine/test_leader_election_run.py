"""Elections from start to stop: waiting, losing, cancelling, wrong clocks, copies. Seed 003."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from scheduler_engine.api.scheme import KINDS
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import EventRecorded, Recorder
from tests.engine.election_world import KEY, LOCK_OBJECTS, World


@pytest.fixture(autouse=True)
def kinds_of_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in LOCK_OBJECTS.values():
        monkeypatch.setitem(KINDS, kind.name, kind)


# --- clocks ----------------------------------------------------------------------------------------------------------


def test_wrong_clock_that_runs_evenly_does_no_harm() -> None:
    world = World().add("a", "b")
    world.electors["b"].clock.jump(-3600 * SECOND_US)
    world.start()
    for second in range(120):
        assert world.to(second).leaders() == ["a"]


def test_clock_that_runs_ten_times_as_fast_takes_the_lock_from_a_healthy_leader() -> None:
    world = World().add("a", "b")
    world.electors["b"].clock.set_rate(Fraction(10))
    world.start().to(60)
    [(taken, _)] = world.happened("b started leading")
    [(ended, _)] = world.happened("a stopped leading")
    assert taken < 2
    assert ended == 12
    assert world.elections["a"].outcome == "Leaderelection lost"


CUT_OFF = {
    "a clock that runs twice as fast takes over while the cut off leader still works": (2, 0),
    "a clock that is set forward takes over while the cut off leader still works": (1, 15),
}


@pytest.mark.parametrize(("rate", "jump"), CUT_OFF.values(), ids=CUT_OFF)
def test_skewed_clock_gives_two_leaders(rate: int, jump: int) -> None:
    world = World().add("a", "b")
    world.electors["b"].clock.set_rate(Fraction(rate))
    world.start().to(20.5)
    world.clients["a"].reachable = False
    world.to(25)
    world.electors["b"].clock.jump(jump * SECOND_US)
    both = [world.to(25 + tenth / 10).leaders() for tenth in range(150)]
    assert ["a", "b"] in both
    assert both[-1] == ["b"]
    assert world.happened("a stopped leading") == [(32.0, "a stopped leading")]


def test_equal_clocks_never_have_two_leaders_when_the_leader_is_cut_off() -> None:
    for cut in range(20, 30):
        world = World().add("a", "b").start().to(cut / 2)
        world.clients["a"].reachable = False
        world.to(60)
        [(ended, _)] = world.happened("a stopped leading")
        [(taken, _)] = world.happened("b started leading")
        assert ended < taken


CLOCKS = {
    "a clock that runs evenly counts what passes": (Fraction(1), 10_000_000, 10_000_000),
    "a fast clock gains": (Fraction("1.1"), 10_000_000, 11_000_000),
    "a slow clock loses": (Fraction(1, 3), 10_000_000, 3_333_333),
}


@pytest.mark.parametrize(("rate", "passed_us", "shown_us"), CLOCKS.values(), ids=CLOCKS)
def test_clock(rate: Fraction, passed_us: int, shown_us: int) -> None:
    timeline = Timeline(Recorder())
    clock = ElectorClock(timeline, own_us=500)
    timeline.move_to(1000)
    clock.set_rate(rate)
    timeline.move_to(1000 + passed_us)
    assert clock.now_us() == 1500 + shown_us
    timeline.move_to(1000 + clock.simulated_us(shown_us))
    assert clock.now_us() == 1500 + shown_us


def test_clock_cannot_stand_still() -> None:
    with pytest.raises(ValueError, match="greater than zero"):
        ElectorClock(Timeline(Recorder())).set_rate(Fraction(0))


# --- from start to stop ----------------------------------------------------------------------------------------------


def writes_and_reads(world: World, name: str) -> list[float]:
    """Return the seconds at which an elector tries, measured by stepping through every timer."""
    seconds, elector = [], world.electors[name]
    while (next_us := world.timeline.next_us()) is not None and next_us <= 30 * SECOND_US:
        before = elector.observed_record, world.elections[name].wake_serial
        world.timeline.fire_next()
        if (elector.observed_record, world.elections[name].wake_serial) != before:
            seconds.append(world.timeline.now_us / SECOND_US)
    return seconds


def test_leader_renews_every_retry_period_without_jitter() -> None:
    assert writes_and_reads(World().add("a").start(), "a") == [float(second) for second in range(2, 31, 2)]


def test_candidate_retries_every_retry_period_with_a_jitter_of_up_to_1_2_periods() -> None:
    seconds = writes_and_reads(World().add("a", "b").start(), "b")
    gaps = [later - earlier for earlier, later in zip([0.0, *seconds], seconds, strict=False)]
    assert all(2 <= gap < 4.4 for gap in gaps)
    assert len({round(gap, 6) for gap in gaps}) == len(gaps) > 5


def test_leader_that_cannot_renew_gives_up_at_its_renew_deadline() -> None:
    world = World().add("a").start().to(5)
    world.clients["a"].reachable = False
    world.to(15.999999)
    assert world.leaders() == ["a"]
    world.to(16)
    assert world.leaders() == []
    assert world.elections["a"].outcome == "Leaderelection lost"
    assert world.log == [(0.0, "a sees a"), (0.0, "a started leading"), (16.0, "a stopped leading")]


def test_leader_that_can_write_again_before_its_deadline_continues() -> None:
    world = World().add("a").start().to(5)
    world.clients["a"].reachable = False
    world.to(13)
    world.clients["a"].reachable = True
    world.to(60)
    assert world.leaders() == ["a"]
    assert world.spec["leaseTransitions"] == 0


def test_cancelled_leader_releases_and_another_takes_over_without_waiting_for_expiry() -> None:
    world = World().add("a", "b").start().to(20)
    world.elections["a"].cancel()
    assert (world.elections["a"].outcome, world.spec["holderIdentity"]) == ("cancelled", "")
    world.to(24.5)
    assert world.leaders() == ["b"]


def test_cancelled_leader_without_release_leaves_its_lease_to_expire() -> None:
    world = World().add("a", "b", release_on_cancel=False).start().to(20)
    world.elections["a"].cancel()
    assert world.spec["holderIdentity"] == "a"
    assert world.to(30).leaders() == []
    assert world.to(45).leaders() == ["b"]


def test_cancelled_candidate_gets_the_stop_callback() -> None:
    world = World().add("a", "b").start().to(3)
    world.elections["b"].cancel()
    world.to(60)
    assert world.happened("b stopped leading") == [(3.0, "b stopped leading")]
    assert world.spec["holderIdentity"] == "a"


def test_killed_leader_says_nothing_and_its_lease_expires() -> None:
    world = World().add("a", "b").start().to(20)
    world.elections["a"].kill()
    world.to(60)
    assert world.happened("a stopped leading") == []
    [(taken, _)] = world.happened("b started leading")
    assert 20 + 15 - 2 < taken < 20 + 15 + 4.4 + 4.4
    assert world.spec["leaseTransitions"] == 1


def test_paused_leader_wakes_up_as_one_of_two_leaders() -> None:
    world = World().add("a", "b").start().to(20)
    world.pause("a")
    assert world.to(50).leaders() == ["a", "b"]
    world.resume("a")
    assert (world.leaders(), world.believers()) == (["a", "b"], ["b"])
    world.to(60)
    assert world.leaders() == ["b"]
    assert world.happened("a stopped leading") == [(60.0, "a stopped leading")]


def test_leader_paused_within_a_renewal_gives_up_as_soon_as_it_wakes() -> None:
    world = World().add("a").start().to(3)
    world.clients["a"].reachable = False
    world.to(5)
    world.pause("a")
    world.to(100)
    world.resume("a")
    assert world.happened("a stopped leading") == [(100.0, "a stopped leading")]


def test_short_pause_goes_unnoticed() -> None:
    world = World().add("a", "b").start().to(20)
    world.pause("a")
    world.to(21)
    world.resume("a")
    assert world.to(60).leaders() == ["a"]
    assert world.spec["leaseTransitions"] == 0


def test_each_replica_hears_of_a_new_leader_once() -> None:
    world = World().add("a", "b").start().to(60)
    assert world.happened("a sees a", "b sees a") == [(0.0, "a sees a"), (0.0, "b sees a")]


def test_kubernetes_events_report_who_became_and_who_stopped_leading() -> None:
    world = World().add("a", "b").start().to(20)
    world.elections["a"].cancel()
    world.to(30)
    recorded = [entry.event for entry in world.timeline.recorder.entries if isinstance(entry.event, EventRecorded)]
    assert [event.message for event in recorded] == ["a became leader", "a stopped leading", "b became leader"]
    assert {(event.regarding_kind, event.regarding, event.reason) for event in recorded} == {
        ("Lease", KEY, "LeaderElection")
    }


def test_election_does_not_keep_a_simulation_from_being_idle() -> None:
    assert not World().add("a", "b").start().timeline.has_work()


def live(world: World, first: int) -> Iterator[int]:
    """Run a hundred seconds with some faults, from second ``first`` on."""
    for second in range(first, 100):
        world.to(second)
        yield second
        if second == 12:
            world.clients["a"].reachable = False
        elif second == 33:
            world.pause("b")
        elif second == 70:
            world.resume("b")


def pickled(world: World) -> World:
    copied: World = pickle.loads(pickle.dumps(world))
    return copied


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["a copy continues identically", "so does a pickle"])
def test_copies_at_any_moment(copied: Callable[[World], World]) -> None:
    world = World().add("a", "b", "c").start()
    copies = [(second, copied(world)) for second in live(world, 0)]
    assert len(world.happened("a started leading", "b started leading", "c started leading")) > 2
    for first, item in copies:
        list(live(item, first))
        assert (item.log, item.manifest) == (world.log, world.manifest)
