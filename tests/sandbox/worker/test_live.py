from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.storage.records import Database, Plan, Position, Record
from sandbox.worker.live import Live, StateGone, _most_dispensable
from tests.sandbox.inside import live

pytestmark = pytest.mark.django_db


def thinned(last: int, room: int) -> list[int]:
    """Return the remaining keyframes after ``last`` commands, each of which added one."""
    places: list[int] = []
    for n in range(1, last + 1):
        places.append(n)
        if len(places) > room:
            places.remove(_most_dispensable(places))
    return places


def test_the_newest_keyframes_stay_and_older_ones_thin_out_with_age() -> None:
    places = thinned(1000, 24)
    assert places[-10:] == list(range(991, 1001))
    gaps = [after - before for before, after in pairwise(places)]
    assert max(gaps[:7]) > 20 > max(gaps[-12:])


@pytest.mark.parametrize("room", [1, 2, 3, 10, 11, 12, 24])
def test_thinning_works_for_any_room(room: int) -> None:
    assert len(thinned(200, room)) == room
    assert thinned(200, room)[-1] == 200


def test_the_least_recently_used_simulation_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "MOST_SIMULATIONS", 2)
    one, two, three = (store.create(name)[0] for name in ("one", "two", "three"))
    kept = live(one)
    live(two)
    assert live(one) is kept
    live(three)
    assert live(one) is kept
    assert list(engines.started().lives) == [three.pk, one.pk]


def test_stepping_back_uses_a_keyframe_instead_of_replaying_everything(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcd":
        store.execute(visitor.row(), node(name))
        live(visitor.sandbox).take_keyframe(at_any_price=True)
    replayed: list[int] = []
    original = Live._replay
    monkeypatch.setattr(Live, "_replay", lambda self, record: (replayed.append(record.n), original(self, record)))
    store.go_to(visitor.sandbox, lambda _: 3)
    here = live(visitor.sandbox)
    here.move_to(Position.of(visitor.row()))
    assert replayed == []
    assert sorted(here.world.nodes) == ["a", "b", "c"]


def test_a_keyframe_does_not_change_after_going_back_to_it(visitor: Any, node: Any) -> None:
    for name in "ab":
        store.execute(visitor.row(), node(name))
        live(visitor.sandbox).take_keyframe(at_any_price=True)
    for name in "xyz":
        store.go_to(visitor.sandbox, lambda _: 1)
        store.execute(visitor.row(), node(name))
        assert sorted(live(visitor.sandbox).world.nodes) == ["a", name]


def test_a_state_that_the_log_no_longer_has_is_reported_as_gone(visitor: Any, node: Any) -> None:
    gone = store.execute(visitor.row(), node("a"))
    store.go_to(visitor.sandbox, lambda _: 0)
    store.execute(visitor.row(), node("b"))
    with pytest.raises(StateGone):
        Live(Plan.of(visitor.sandbox), Database()).move_to(gone)


def test_the_world_knows_its_position_in_the_log(visitor: Any, node: Any) -> None:
    for name, who in (("a", "Ada"), ("b", "Bob")):
        store.execute(visitor.row(), node(name), who)
    store.go_to(visitor.sandbox, lambda _: 1)
    here = live(visitor.sandbox)
    here.move_to(Position.of(visitor.row()))
    assert (here.world.head, here.world.length, here.world.who) == (1, 2, "Ada")


def test_news_of_another_engines_commands_are_not_taken_for_ones_own(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    store.execute(visitor.sandbox, node("b"))
    first, second = (Record(row.n, row.pk, row.command, row.who) for row in visitor.sandbox.records.order_by("n"))
    fresh = Live(Plan.of(visitor.sandbox), Database())
    fresh.arrive_from(first.key, [second])
    assert (fresh.n, fresh.state) == (0, 0)
    fresh.move_to(Position(first.key, 1, 2))
    fresh.execute([second.command])
    fresh.arrive_from(0, [second])
    assert fresh.n == 1
    fresh.arrive_from(first.key, [second])
    assert (fresh.n, fresh.state) == (2, second.key)
