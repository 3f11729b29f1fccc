from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, transaction

from sandbox.changes import store
from sandbox.limits.quotas import OverQuota
from sandbox.storage import statements
from sandbox.storage.models import CommandRecord, Sandbox
from sandbox.storage.records import Position
from sandbox.worker import simulations
from scheduler_engine.errors import Rejected
from tests.sandbox.inside import live, present

pytestmark = pytest.mark.django_db

SETTLE = {"kind": "settle"}


def tick(seconds: float = 1, play: bool = True) -> dict[str, Any]:
    return {"kind": "advance", "seconds": seconds} | ({"play": True} if play else {})


def nodes(sandbox: Sandbox) -> list[str]:
    """Return the nodes at the present head, as this worker sees them."""
    sandbox.refresh_from_db()
    return sorted(present(sandbox).nodes)


def test_a_command_is_appended_and_moves_the_head(visitor: Any, node: Any) -> None:
    position = store.execute(visitor.sandbox, node("a"), who="Ada")
    record = CommandRecord.objects.get(sandbox=visitor.sandbox)
    assert (record.n, record.who) == (1, "Ada")
    assert position == Position(record.pk, 1, 1) == Position.of(visitor.row())


def test_a_refused_command_leaves_log_row_and_simulation_as_they_were(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    before, entries = visitor.row(), len(live(visitor.sandbox).simulation.recorder.entries)
    with pytest.raises(Rejected):
        store.execute(visitor.row(), node(""))
    assert Position.of(visitor.row()) == Position.of(before)
    assert len(visitor.log()) == 1
    assert len(live(visitor.sandbox).simulation.recorder.entries) == entries


def test_an_engine_that_breaks_down_half_way_does_no_harm(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.execute(visitor.sandbox, node("a"))
    whole = simulations.execute

    def half(simulation: Any, text: str, is_new: bool = False) -> None:
        whole(simulation, text, is_new)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(simulations, "execute", half)
        with pytest.raises(ZeroDivisionError):
            store.execute(visitor.row(), node("b"))
    assert nodes(visitor.sandbox) == ["a"]
    store.execute(visitor.row(), node("c"))
    assert nodes(visitor.sandbox) == ["a", "c"]


def test_a_commit_that_fails_does_no_harm(visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.execute(visitor.sandbox, node("a"))
    row = visitor.row()
    with monkeypatch.context() as patch:
        patch.setattr(statements, "SECOND", "UPDATE a_table_that_is_missing SET n = 1")
        with pytest.raises(OperationalError):
            store.execute(row, node("b"))
    assert len(visitor.log()) == 1
    assert nodes(visitor.sandbox) == ["a"]
    store.execute(visitor.row(), node("c"))
    assert nodes(visitor.sandbox) == ["a", "c"]


def test_another_worker_sees_every_command_and_its_own_go_behind_them(
    visitor: Any, node: Any, on_worker: Any, trace: Callable[[Sandbox], list[str]]
) -> None:
    for worker, name in (("a", "n1"), ("b", "n2"), ("b", "n3"), ("a", "n4")):
        with on_worker(worker):
            store.execute(visitor.row(), node(name))
    for worker in "ab":
        with on_worker(worker):
            assert nodes(visitor.sandbox) == ["n1", "n2", "n3", "n4"]
            entries = live(visitor.sandbox).simulation.recorder.entries
            assert [repr(entry) for entry in entries] == trace(visitor.sandbox)


def test_a_request_that_read_the_row_before_another_workers_command_still_goes_behind_it(
    visitor: Any, node: Any, on_worker: Any
) -> None:
    stale = visitor.row()
    with on_worker("b"):
        store.execute(visitor.row(), node("theirs"))
    store.execute(stale, node("ours"))
    assert nodes(visitor.sandbox) == ["ours", "theirs"]


def test_back_and_forward_walk_the_log_and_stop_at_its_ends(visitor: Any, node: Any) -> None:
    for name in "abc":
        store.execute(visitor.row(), node(name))
    observed = []
    for step in (-1, -1, -1, -1, 1, 1, 1, 1):
        store.go_to(visitor.sandbox, lambda position, step=step: position.head + step)
        observed.append("".join(nodes(visitor.sandbox)))
    assert observed == ["ab", "a", "", "", "a", "ab", "abc", "abc"]


@pytest.mark.parametrize(("n", "head"), [(0, 0), (2, 2), (3, 3), (99, 3), (-1, 0)])
def test_goto_sets_the_head_within_the_log(visitor: Any, node: Any, n: int, head: int) -> None:
    for name in "abc":
        store.execute(visitor.row(), node(name))
    assert store.go_to(visitor.sandbox, lambda _: n).head == head
    assert visitor.row().length == 3


def test_a_command_after_going_back_replaces_the_later_ones(visitor: Any, node: Any) -> None:
    for name in "abc":
        store.execute(visitor.row(), node(name))
    store.go_to(visitor.sandbox, lambda _: 1)
    store.execute(visitor.row(), node("d"))
    assert nodes(visitor.sandbox) == ["a", "d"]
    assert visitor.row().length == len(visitor.log()) == 2


def test_another_workers_keyframes_of_a_dropped_future_are_not_used(visitor: Any, node: Any, on_worker: Any) -> None:
    with on_worker("a"):
        for name in "abc":
            store.execute(visitor.row(), node(name))
            live(visitor.sandbox).take_keyframe(at_any_price=True)
    with on_worker("b"):
        store.go_to(visitor.sandbox, lambda _: 1)
        for name in "xyz":
            store.execute(visitor.row(), node(name))
    with on_worker("a"):
        store.go_to(visitor.sandbox, lambda _: 3)
        assert nodes(visitor.sandbox) == ["a", "x", "y"]


def test_going_back_and_forward_gives_the_very_trace_of_going_straight(
    visitor: Any, node: Any, trace: Callable[[Sandbox], list[str]]
) -> None:
    commands = [node("a", "b"), SETTLE, tick(play=False), node("c"), tick(5, play=False)]
    for command in commands:
        store.execute(visitor.row(), command)
    straight = trace(visitor.sandbox)
    store.go_to(visitor.sandbox, lambda _: 2)
    nodes(visitor.sandbox)
    store.go_to(visitor.sandbox, lambda _: 5)
    nodes(visitor.sandbox)
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == straight


def test_ticks_of_playing_become_one_record_that_replays_the_same(
    visitor: Any, node: Any, trace: Callable[[Sandbox], list[str]]
) -> None:
    store.execute(visitor.row(), node("a"))
    states = [store.execute(visitor.row(), tick()).state for _ in range(3)]
    assert len(set(states)) == 3
    assert len(visitor.log()) == 2
    assert '"seconds":3' in visitor.log()[1]
    assert live(visitor.sandbox).simulation.now_us == 3_000_000
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)


@pytest.mark.parametrize(
    ("ticks", "records"),
    [
        pytest.param([tick(play=False), tick(play=False)], 2, id="two presses of a person stay two"),
        pytest.param([tick(play=False), tick()], 2, id="a tick does not join a press"),
        pytest.param([tick(), tick(play=False)], 2, id="a press does not join a tick"),
        pytest.param([tick(), SETTLE, tick()], 3, id="a command in between separates ticks"),
        pytest.param([tick(0.5), tick(0.25)], 1, id="parts of a second add up"),
    ],
)
def test_only_neighbouring_ticks_of_playing_merge(visitor: Any, ticks: list[dict[str, Any]], records: int) -> None:
    for command in ticks:
        store.execute(visitor.row(), command)
    assert len(visitor.log()) == records


ELECTION = {"kind": "replicas", "count": 5, "lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}


@pytest.mark.parametrize(
    ("first", "ticks", "records"),
    [
        pytest.param([], [1.4e-6] * 40, 1, id="forty times 1.4 microseconds"),
        pytest.param([], [43_200] * 3, 2, id="a day and a half"),
        pytest.param([ELECTION], [6.25] * 6, 3, id="longer than competing replicas allow at once"),
    ],
)
def test_however_long_somebody_plays_the_log_replays(
    visitor: Any,
    node: Any,
    first: list[dict[str, Any]],
    ticks: list[float],
    records: int,
    trace: Callable[[Sandbox], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scheduler_engine.replicas.MAX_TRIES", 250)
    monkeypatch.setattr("scheduler_engine.effort.MERGING_SHARE", 1)
    for command in (*first, *map(tick, ticks)):
        store.execute(visitor.row(), command)
    assert len(visitor.log()) == records
    store.execute(visitor.row(), node("late"))  # Its entry has the time.
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)


def test_a_tick_after_going_back_to_a_tick_continues_there_and_replaces_the_later_ones(
    visitor: Any, node: Any, trace: Callable[[Sandbox], list[str]]
) -> None:
    for command in (tick(), node("a")):
        store.execute(visitor.row(), command)
    store.go_to(visitor.sandbox, lambda _: 1)
    store.execute(visitor.row(), tick(0.1))
    assert len(visitor.log()) == visitor.row().length == 1
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)


def test_the_number_of_a_record_is_the_number_of_its_command_in_the_trace(visitor: Any, node: Any) -> None:
    for command in (node("a"), tick(), tick(), tick(play=False), tick(), node("b"), tick(), tick()):
        store.execute(visitor.row(), command)
    assert live(visitor.sandbox).simulation.recorder.command == visitor.row().head == len(visitor.log())


def test_a_sandbox_is_created_with_its_setup_as_first_commands(db: None, node: Any) -> None:
    sandbox, _ = store.create("Two", setup=[node("a"), node("b")])
    assert nodes(sandbox) == ["a", "b"]
    assert sandbox.records.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_setup_that_is_refused_leaves_no_sandbox_behind(node: Any) -> None:
    with pytest.raises(Rejected):
        store.create("Bad", setup=[node("a"), {"kind": "apply", "manifests": [{"kind": "Node", "metadata": {}}]}])
    assert not Sandbox.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_browsers_hear_of_a_change_only_after_it_is_committed(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bool] = []
    monkeypatch.setattr(
        store, "_publish", lambda sandbox_id, place: heard.append(transaction.get_connection().in_atomic_block)
    )
    store.execute(visitor.row(), node("a"))
    assert heard == [False]


@pytest.mark.django_db(transaction=True)
def test_a_command_counts_even_if_no_one_can_be_notified(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_publish", lambda sandbox_id, place: 1 / 0)
    store.execute(visitor.row(), node("a"))
    assert len(visitor.log()) == 1


# --- several commands of one button ---


@pytest.mark.django_db(transaction=True)
def test_several_commands_are_one_change(visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr(store, "_publish", lambda sandbox_id, place: heard.append(place.revision))
    before = visitor.row().revision
    positions = store.execute_all(visitor.row(), [node("a"), SETTLE, node("b")], who="Ada")
    assert [position.head for position in positions] == [1, 2, 3]
    assert (heard, visitor.row().revision) == ([before + 1], before + 1)
    assert [record.who for record in visitor.sandbox.records.all()] == ["Ada"] * 3
    assert positions[-1] == Position.of(visitor.row())
    assert nodes(visitor.sandbox) == ["a", "b"]


@pytest.mark.django_db(transaction=True)
def test_if_a_later_command_is_refused_none_is_executed(
    visitor: Any, node: Any, trace: Callable[[Sandbox], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.execute(visitor.row(), node("a"))
    heard: list[int] = []
    monkeypatch.setattr(store, "_publish", lambda sandbox_id, place: heard.append(place.revision))
    before, log = visitor.row(), visitor.log()
    with pytest.raises(Rejected, match='nodes "gone" not found'):
        store.execute_all(visitor.row(), [node("b"), {"kind": "cordon", "node": "gone", "on": True}])
    assert (visitor.log(), visitor.row().revision, heard) == (log, before.revision, [])
    assert nodes(visitor.sandbox) == ["a"]
    store.execute(visitor.row(), node("c"))
    assert nodes(visitor.sandbox) == ["a", "c"]
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)


def test_several_commands_together_may_not_exceed_the_quota(visitor: Any, node: Any, settings: Any) -> None:
    settings.QUOTAS = {"nodes": 2}
    with pytest.raises(OverQuota):
        store.execute_all(visitor.row(), [node("a", "b"), node("c")])
    assert (visitor.log(), nodes(visitor.sandbox)) == ([], [])
    with pytest.raises(OverQuota):
        store.create("Three", setup=[node("a", "b"), node("c")])


@pytest.mark.parametrize(
    ("before", "commands", "heads", "records"),
    [
        pytest.param([], [tick(), tick(), SETTLE], [1, 1, 2], 2, id="ticks among them merge"),
        pytest.param([tick()], [tick(), SETTLE, tick()], [1, 2, 3], 3, id="the first one merges with the last tick"),
        pytest.param([SETTLE], [SETTLE, tick(), tick()], [2, 3, 3], 3, id="the last ones merge"),
    ],
)
def test_several_commands_merge_as_if_they_came_one_by_one(
    visitor: Any,
    before: list[dict[str, Any]],
    commands: list[dict[str, Any]],
    heads: list[int],
    records: int,
    trace: Callable[[Sandbox], list[str]],
) -> None:
    for command in before:
        store.execute(visitor.row(), command)
    positions = store.execute_all(visitor.row(), commands)
    assert [position.head for position in positions] == heads
    assert len(visitor.log()) == visitor.row().length == records
    assert live(visitor.sandbox).is_at(Position.of(visitor.row()))
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)


def test_a_command_whose_refusal_is_expected_is_left_out(
    visitor: Any, node: Any, trace: Callable[[Sandbox], list[str]]
) -> None:
    cordon = {"kind": "cordon", "node": "gone", "on": True}
    positions = store.execute_all(visitor.row(), [node("a"), cordon, node("b")], refusals=["", "not found", ""])
    assert [position.head for position in positions] == [1, 1, 2]
    assert [repr(entry) for entry in live(visitor.sandbox).simulation.recorder.entries] == trace(visitor.sandbox)
    (position,) = store.execute_all(visitor.row(), [cordon], refusals=["not found"])
    assert position == Position.of(visitor.row())
    with pytest.raises(Rejected):
        store.execute_all(visitor.row(), [node("c"), cordon], refusals=["", "another reason"])
    assert nodes(visitor.sandbox) == ["a", "b"]


def test_several_commands_may_begin_at_an_earlier_place(visitor: Any, node: Any) -> None:
    for name in "abc":
        store.execute(visitor.row(), node(name))
    before = visitor.row().revision
    with pytest.raises(Rejected):
        store.execute_all(visitor.row(), [node("d"), node("")], after=1)
    assert (visitor.row().revision, visitor.row().head) == (before, 3)
    store.execute_all(visitor.row(), [node("d"), node("e")], after=1)
    assert nodes(visitor.sandbox) == ["a", "d", "e"]
    assert visitor.row().revision == before + 1
