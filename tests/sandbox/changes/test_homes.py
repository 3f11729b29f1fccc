"""What a web process knows of the sandboxes that it changes, and what it notices of others that change them."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any

import pytest
from django.db import transaction

from sandbox.changes import homes, store
from sandbox.pool import engines
from sandbox.storage import statements
from sandbox.storage.records import Place
from scheduler_engine.errors import NothingToDo

pytestmark = pytest.mark.django_db(transaction=True)

TICK = {"kind": "advance", "seconds": 1}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Start without knowledge, and return the clock."""
    now = [1000.0]
    monkeypatch.setattr(homes, "_homes", OrderedDict())
    monkeypatch.setattr(homes, "_warned", float("-inf"))
    monkeypatch.setattr(homes.time, "monotonic", lambda: now[0])
    return now


def elsewhere(visitor: Any, *commands: dict[str, Any]) -> int:
    """Execute commands as another web process does. Return the revision."""
    here, homes._homes = homes._homes, OrderedDict()
    for command in commands:
        store.execute(visitor.row(), command)
    homes._homes = here
    return int(visitor.row().revision)


def test_a_home_knows_where_its_own_changes_left_a_sandbox(visitor: Any, node: Any) -> None:
    read_before = visitor.row()
    store.execute(visitor.row(), node("a"))
    store.execute(visitor.row(), TICK)
    store.go_to(visitor.row(), lambda _: 1)
    place = homes.newest_place(read_before)
    assert (place, place.size) == (Place.of(visitor.row()), visitor.row().log_bytes)


def test_a_row_that_is_newer_than_the_last_change_here_counts(visitor: Any, node: Any) -> None:
    store.execute(visitor.row(), node("a"))
    elsewhere(visitor, TICK, TICK)
    assert homes.newest_place(visitor.row()) == Place.of(visitor.row())


def test_a_command_that_read_an_old_row_is_not_refused_for_what_was_missing_then(
    visitor: Any, node: Any, pod: Any
) -> None:
    read_before = visitor.row()
    with pytest.raises(NothingToDo):
        store.execute(visitor.row(), {"kind": "stage"})
    elsewhere(visitor, node("a"), pod("web"))
    assert store.execute(read_before, {"kind": "stage"}).head == 3


@pytest.mark.parametrize("ticks", [1, 2], ids=["an ordinary command", "a command that merges with the last one"])
def test_a_command_gets_a_new_revision_if_a_note_is_stored_while_it_runs(
    visitor: Any, monkeypatch: pytest.MonkeyPatch, ticks: int
) -> None:
    playing = TICK | {"play": True}
    for _ in range(ticks - 1):
        store.execute(visitor.row(), playing)
    before, ask = visitor.row().revision, engines.ask

    def slowly(*args: Any) -> Any:
        answer = ask(*args)
        with transaction.atomic():
            store.announce(visitor.sandbox, statements.place(visitor.sandbox.pk, lock=True))
        return answer

    monkeypatch.setattr(engines, "ask", slowly)
    store.execute(visitor.row(), playing)
    assert (visitor.row().revision, visitor.row().expected_at) == (before + 2, before + 1)


def test_live_lines_move_once_after_three_changes_from_elsewhere(visitor: Any, clock: list[float]) -> None:
    key, connected = visitor.sandbox.pk, clock[0]
    clock[0] += 1
    assert [homes.note_stray(key, revision, connected) for revision in (1, 2, 2, 3, 3)] == [False] * 3 + [True] * 2
    again = clock[0] = clock[0] + 1
    assert not any(homes.note_stray(key, revision, again) for revision in range(4, 30))
    clock[0] += homes.WITHIN_SECONDS + 1
    assert [homes.note_stray(key, revision, again) for revision in (30, 31, 32)] == [False, False, True]


def test_ten_changes_from_elsewhere_within_ten_minutes_are_logged_once(
    visitor: Any, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    store.execute(visitor.row(), TICK)
    with caplog.at_level(logging.WARNING, homes.__name__):
        for number in range(1, 30):
            elsewhere(visitor, TICK)
            homes.newest_place(visitor.row())
            assert len(caplog.records) == (number >= homes.ASTRAY_AFTER)


def test_a_sandbox_that_moves_now_and_then_is_not_logged(
    visitor: Any, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    store.execute(visitor.row(), TICK)
    with caplog.at_level(logging.WARNING, homes.__name__):
        for _ in range(20):
            elsewhere(visitor, TICK)
            homes.newest_place(visitor.row())
            clock[0] += homes.WITHIN_SECONDS / 5
    assert not caplog.records


def test_the_least_recently_changed_sandbox_is_forgotten(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "MOST", 2)
    others = [store.create(name)[0] for name in "abc"]
    for sandbox in others:
        store.execute(sandbox, TICK)
    assert list(homes._homes) == [sandbox.pk for sandbox in others[1:]]
