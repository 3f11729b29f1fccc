"""Going back exactly to a moment, saved timelines, and forks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.storage import branches
from sandbox.storage.models import Branch, CommandRecord, Sandbox
from sandbox.storage.records import Position
from tests.sandbox.inside import live, present

pytestmark = pytest.mark.django_db

SETTLE = {"kind": "settle"}
PODS = {
    "kind": "apply",
    "manifests": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}"},
            "spec": {"containers": [{"name": "main", "image": "x"}]},
        }
        for number in range(3)
    ],
}


def tick() -> dict[str, Any]:
    return {"kind": "advance", "seconds": 1, "play": True}


def summaries(sandbox: Sandbox) -> list[str]:
    return [command.summary for command in present(sandbox).commands]


def entries(sandbox: Sandbox) -> list[Any]:
    present(sandbox)
    return list(live(sandbox).simulation.recorder.entries)


@pytest.fixture
def settled(visitor: Any, node: Any) -> Any:
    """Create two nodes, three pods, and a Settle by Ada that places them."""
    store.execute(visitor.sandbox, node("n1", "n2"))
    store.execute(visitor.sandbox, PODS)
    store.execute(visitor.sandbox, SETTLE, who="Ada")
    return visitor


def inside(sandbox: Sandbox, part: float = 0.5) -> Moment:
    """Return a moment inside the last command."""
    world = present(sandbox)
    start = world.starts[-1]
    rests = [rest for rest, _ in world.rests if start < rest < len(world.entries)]
    return world.moment_of(rests[int(len(rests) * part)])


def test_one_goes_back_into_the_middle_of_a_settle_and_on_from_there(settled: Any) -> None:
    whole = entries(settled.sandbox)
    moment = inside(settled.sandbox)
    upto = present(settled.sandbox).entry_of(moment)
    store.go_to_moment(settled.sandbox, moment)
    now = entries(settled.sandbox)
    assert len(now) == upto
    assert [entry.event for entry in now[-5:]] == [entry.event for entry in whole[upto - 5 : upto]]
    assert summaries(settled.sandbox)[-1] == "settle, ended early"
    record = CommandRecord.objects.get(sandbox=settled.sandbox, branch=None, n=3)
    assert (json.loads(record.command), record.who) == ({"kind": "settle", "until": moment.entries}, "Ada")
    store.execute(settled.sandbox, SETTLE)
    ends = [entry.event for entry in entries(settled.sandbox)]
    assert ends[-10:] == [entry.event for entry in whole[-10:]]


def test_the_later_timeline_is_a_branch_that_can_be_reopened_back_and_forth(settled: Any) -> None:
    sandbox = settled.sandbox
    before = entries(sandbox)
    store.go_to_moment(sandbox, inside(sandbox))
    (left,) = branches.branches_of(settled.row())
    assert (left.after, left.count, json.loads(left.first), left.who) == (2, 1, SETTLE, "Ada")
    store.execute(sandbox, tick())
    shortened = summaries(sandbox)
    assert store.reopen(sandbox, left.key) == Position.of(settled.row())
    assert entries(sandbox) == before
    (other,) = branches.branches_of(settled.row())
    assert (other.after, other.count) == (2, 2)
    store.reopen(sandbox, other.key)
    assert summaries(sandbox) == shortened
    assert [branch.count for branch in branches.branches_of(settled.row())] == [1]


def test_a_branch_that_is_gone_has_no_commands(settled: Any) -> None:
    assert branches.commands_of(settled.sandbox.pk, 1) is None


def test_going_back_by_commands_keeps_the_future_ahead_until_something_else_is_done(settled: Any, node: Any) -> None:
    sandbox = settled.sandbox
    store.go_to_moment(sandbox, Moment(2, 10**6))
    row = settled.row()
    assert (row.head, row.length, Branch.objects.count()) == (2, 3, 0)
    store.execute(sandbox, node("n3"))
    assert [branch.count for branch in branches.branches_of(settled.row())] == [1]
    assert summaries(sandbox)[-1] == "apply Node n3"


def test_a_branch_of_a_branch_leads_through_both(settled: Any, node: Any) -> None:
    sandbox = settled.sandbox
    store.execute(sandbox, node("a"))
    store.execute(sandbox, node("b"))
    store.go_to(sandbox, lambda position: 4)
    store.execute(sandbox, node("c"))  # the timeline of b is saved, after a
    store.go_to(sandbox, lambda position: 3)
    store.execute(sandbox, node("d"))  # a and c are on saved timelines
    first = next(branch for branch in branches.branches_of(settled.row()) if branch.after == 4)
    listed = {
        branch.key: branches.commands_of(sandbox.pk, branch.key) for branch in branches.branches_of(settled.row())
    }
    for key, texts in listed.items():
        store.reopen(sandbox, key)
        assert settled.log() == texts
    store.reopen(sandbox, first.key)
    assert summaries(sandbox)[3:] == ["apply Node a", "apply Node b"]
    assert sorted((branch.after, branch.count) for branch in branches.branches_of(settled.row())) == [(3, 1), (4, 1)]
    for _ in range(3):
        for branch in branches.branches_of(settled.row()):
            store.reopen(sandbox, branch.key)
            assert sandbox.records.count() == 7
    row = settled.row()
    assert list(sandbox.records.filter(branch=None).order_by("n").values_list("n", flat=True)) == list(
        range(1, row.length + 1)
    )


def test_a_tick_that_merges_loses_no_branch(settled: Any, node: Any) -> None:
    sandbox = settled.sandbox
    store.execute(sandbox, tick())
    store.execute(sandbox, node("a"))
    store.go_to(sandbox, lambda position: 4)
    store.execute(sandbox, tick())  # merges with the first one, with which the branch begins
    assert json.loads(sandbox.records.get(branch=None, n=4).command)["seconds"] == 2
    (left,) = branches.branches_of(settled.row())
    store.reopen(sandbox, left.key)
    assert summaries(sandbox)[3:] == ["play", "apply Node a"]
    assert json.loads(sandbox.records.get(branch=None, n=4).command)["seconds"] == 1


def test_plain_playing_leaves_no_branches(settled: Any) -> None:
    for _ in range(3):
        store.execute(settled.sandbox, tick())
    assert not Branch.objects.exists()
    assert settled.sandbox.records.count() == 4


def test_the_oldest_branches_make_room(settled: Any, node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "MOST", 3)
    for number in range(6):
        store.execute(settled.sandbox, node(f"x{number}"))
        store.go_to(settled.sandbox, lambda position: 3)
    store.execute(settled.sandbox, node("last"))
    rows = branches.branches_of(settled.row())
    firsts = [json.loads(branch.first)["manifests"][0]["metadata"]["name"] for branch in rows]
    assert firsts == ["x5", "x4", "x3"]
    row = settled.row()
    assert row.log_bytes == sum(len(text) for text in row.records.values_list("command", flat=True))


def test_a_branch_that_makes_room_for_a_reopened_one_gives_its_characters_back(
    settled: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.execute(settled.sandbox, node("left-behind"))
    store.go_to(settled.sandbox, lambda position: 3)
    store.execute(settled.sandbox, node("instead"))
    monkeypatch.setattr(branches, "MOST", 0)
    store.reopen(settled.sandbox, branches.branches_of(settled.row())[0].key)
    assert summaries(settled.sandbox)[-1] == "apply Node left-behind"
    assert not Branch.objects.exists()
    row = settled.row()
    assert row.log_bytes == sum(len(text) for text in row.records.values_list("command", flat=True))


def test_branches_go_before_a_log_is_full(settled: Any, node: Any, settings: Any) -> None:
    store.execute(settled.sandbox, node("left-behind"))
    store.go_to(settled.sandbox, lambda position: 3)
    store.execute(settled.sandbox, node("instead"))
    settings.QUOTAS = {"log_bytes": settled.row().log_bytes + 10}
    store.execute(settled.sandbox, SETTLE)
    assert not Branch.objects.exists()
    row = settled.row()
    assert row.log_bytes == sum(len(text) for text in row.records.values_list("command", flat=True))


def test_a_fork_has_everything_up_to_the_moment_and_the_first_one_stays(settled: Any, client: Any) -> None:
    moment = inside(settled.sandbox)
    before = settled.row()
    answer = settled.post("fork/", at=str(moment))
    assert answer.status_code == 204
    path = answer.headers["HX-Redirect"]
    assert client.get(path).status_code == 200
    fork = Sandbox.objects.exclude(pk=settled.sandbox.pk).get()
    assert (fork.head, fork.length) == (3, 3)
    upto = present(settled.sandbox).entry_of(moment)
    assert [entry.event for entry in entries(fork)[-5:]] == [
        entry.event for entry in entries(settled.sandbox)[upto - 5 : upto]
    ]
    assert Position.of(settled.row()) == Position.of(before)
    assert CommandRecord.objects.get(sandbox=fork, n=3).who == "Ada"


def test_a_fork_of_the_present_is_the_whole_log(settled: Any) -> None:
    settled.post("fork/")
    fork = Sandbox.objects.exclude(pk=settled.sandbox.pk).get()
    assert summaries(fork) == summaries(settled.sandbox)


@pytest.mark.parametrize("at", ["", "x", "3", "3.-1", "1e3.1"])
def test_an_invalid_moment_is_refused(settled: Any, at: str) -> None:
    answer = settled.post("go-back/", at=at)
    assert answer.status_code == 400
    assert "must be a moment such as 12.40" in answer.content.decode()


def test_a_watcher_changes_nothing(settled: Any) -> None:
    watching = settled.watching()
    for path in ("go-back/", "reopen/", "fork/"):
        assert watching.post(path, at="3.10", branch="1").status_code == 403
    assert "None yet" in watching.get("branches/").content.decode()


def test_branches_are_listed_with_a_way_back(settled: Any) -> None:
    settled.post("go-back/", at=str(inside(settled.sandbox)))
    page = settled.get("branches/").content.decode()
    assert "after command 2" in page
    assert "<b>settle</b> by Ada" in page
    key = Branch.objects.get().pk
    assert "Reopen" in page
    assert "Reopen" not in settled.watching().get("branches/").content.decode()
    assert settled.post("reopen/", branch=key).status_code == 204
    assert settled.post("reopen/", branch=key).status_code == 404
    assert settled.post("reopen/", branch="x").status_code == 400


def test_the_page_of_a_link_is_drawn_for_its_moment(settled: Any) -> None:
    moment = inside(settled.sandbox, 0.2)
    page = settled.get("", at=str(moment)).content.decode()
    assert "The past, " in page
    assert f'data-now="{moment}"' in page
    assert "The past, " not in settled.get("", at="nonsense").content.decode()
    first = settled.get("yaml/Pod/", key="default/p0", at="2.99").content.decode()
    assert "nodeName" not in first
    assert "nodeName" in settled.get("yaml/Pod/", key="default/p0").content.decode()
