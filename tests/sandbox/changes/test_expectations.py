"""“Expect this”: the stored fact, its place when the past changes, and its export."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from django.test import override_settings

from sandbox.changes import expectations, store
from sandbox.content.scenarios import PLAIN, scenarios
from sandbox.panels.facts import expectable
from sandbox.panels.model import steps
from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.moment import Moment
from sandbox.storage.models import Expectation, Sandbox
from sandbox.storage.records import Database, Position
from sandbox.worker import expecting
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.scenario import command_of, load_scenario, run
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import FilterRan
from tests.sandbox.inside import live, present

pytestmark = pytest.mark.django_db


@pytest.fixture
def decided(visitor: Any) -> Any:
    """Create two nodes, a pod that fits and one that does not, in six commands. The last one is one second."""
    objects = [make_node("n1").obj(), make_node("n2").obj(), make_pod("web").cpu("500m").obj()]
    store.execute(visitor.row(), {"kind": "apply", "manifests": [*objects, make_pod("big").cpu("99").obj()]})
    for kind in ("stage", "pod", "pod"):
        store.execute(visitor.row(), {"kind": kind})
    for _ in range(2):
        store.execute(visitor.row(), {"kind": "advance", "seconds": 1})
    return visitor


def saved(visitor: Any) -> list[dict[str, Any]]:
    return [json.loads(row.text) for row in Database().expected(visitor.sandbox.pk)]


def outcomes(visitor: Any, at: str = "") -> list[Outcome]:
    here = live(visitor.row())
    here.move_to(Position.of(visitor.row()))
    here.look_up_expected(None)
    moment = Moment.read(at)
    return expecting.JudgedExpectations(here, here.at(moment), moment, here.expecting).outcomes()


def places(visitor: Any, at: str = "") -> list[tuple[str, bool]]:
    return [(outcome.place, outcome.red) for outcome in outcomes(visitor, at)]


def test_an_expectation_of_the_start_is_shown_where_nothing_was_done(visitor: Any) -> None:
    about = {"pod": "default/no", "node": "", "plugin": ""}
    expectations.expect(visitor.row(), "placement", about, None)
    assert [(outcome.n, outcome.counts) for outcome in outcomes(visitor)] == [(0, True)]


FACTS: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({"fact": "placement", "pod": "default/web"}, {"pod": "default/web"}),
    ({"fact": "placement", "pod": "default/big"}, {"pod": "default/big", "pending": True}),
    ({"fact": "placement", "pod": "default/no"}, {"gone": "default/no"}),
    ({"fact": "lane", "pod": "default/big"}, {"waits": "default/big", "in": "unschedulablePods"}),
    ({"fact": "nomination", "pod": "default/big"}, {"nomination": "default/big", "node": ""}),
    ({"fact": "failure", "pod": "default/big", "attempt": "1"}, {"failed": "default/big", "attempt": 1}),
    ({"fact": "victims", "pod": "default/big", "attempt": "1"}, {"victims": "default/big", "are": []}),
    (
        {"fact": "verdict", "pod": "default/big", "node": "n1", "attempt": "1"},
        {"verdict": "default/big", "node": "n1", "plugin": "NodeResourcesFit"},
    ),
    (
        {"fact": "score", "pod": "default/web", "node": "n1", "plugin": "NodeResourcesFit", "attempt": "1"},
        {"score": "default/web", "node": "n1", "plugin": "NodeResourcesFit"},
    ),
    ({"fact": "total", "pod": "default/web", "node": "n1", "attempt": "1"}, {"score": "default/web", "node": "n1"}),
    ({"fact": "winner", "pod": "default/web", "attempt": "1"}, {"winner": "default/web", "how": "draw"}),
]


@pytest.mark.parametrize(("form", "wanted"), FACTS, ids=[row[0]["fact"] + row[0]["pod"] for row in FACTS])
def test_a_fact_is_stored_as_a_scenario_writes_it_and_holds(
    decided: Any, form: dict[str, str], wanted: dict[str, Any]
) -> None:
    answer = decided.post("expect/", **form)
    assert answer.status_code == 200, answer.content
    (expectation,) = saved(decided)
    assert wanted.items() <= expectation.items()
    assert places(decided) == [(HERE, False)]


def test_a_fact_of_an_attempt_whose_number_is_not_unique_names_the_cycle(visitor: Any) -> None:
    small, large = make_pod("web").cpu("1").obj(), make_pod("web").cpu("64").obj()
    for command in (
        {"kind": "apply", "manifests": [make_node("n1").obj(), large]},
        {"kind": "settle"},
        {"kind": "delete", "object_kind": "Pod", "key": "default/web"},
        {"kind": "apply", "manifests": [small]},
        {"kind": "settle"},
    ):
        store.execute(visitor.row(), command)
    here = live(visitor.row())
    here.move_to(Position.of(visitor.row()))
    (failure,) = (one for one in expectable.of_attempt(here.at(None).by_number[1]) if one["fact"] == "failure")
    assert visitor.post("expect/", fact="failure", **failure["about"]).status_code == 200
    (expectation,) = saved(visitor)
    assert (expectation["failed"], expectation["cycle"]) == ("default/web", 1)
    assert places(visitor) == [(HERE, False)]


@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ({"fact": "score", "pod": "default/big", "node": "n1", "plugin": "NodeResourcesFit"}, 422, "no such fact"),
        ({"fact": "failure", "pod": "default/web"}, 422, "no such fact"),
        ({"fact": "placment", "pod": "default/web"}, 422, "placement"),
        ({"fact": ""}, 422, "unknown fact"),
        ({"fact": "placement", "pod": "default/web", "at": "soon"}, 400, "at must be"),
        ({"fact": "winner", "pod": "default/web", "attempt": "0"}, 400, "attempt must be"),
        ({"fact": "winner", "pod": "default/web", "attempt": "٣"}, 400, "attempt must be"),
        ({"fact": "winner", "pod": "default/web", "attempt": "9" * 4000}, 400, "attempt must be"),
    ],
)
def test_an_invalid_fact_is_refused_and_changes_nothing(
    decided: Any, form: dict[str, str], status: int, text: str
) -> None:
    before = decided.row().revision
    answer = decided.post("expect/", **form)
    assert (answer.status_code, text in answer.content.decode()) == (status, True)
    assert (saved(decided), decided.row().revision) == ([], before)


def test_markup_in_a_name_is_text(decided: Any) -> None:
    answer = decided.post("expect/", fact="placement", pod="<script>alert(1)</script>")
    assert "<script>" not in answer.content.decode()
    assert "<script>" not in decided.get("panel/expectations/").content.decode()


def test_it_is_stored_once_and_removed_once(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web")
    again = decided.post("expect/", fact="placement", pod="default/web")
    assert (again.status_code, "already" in again.content.decode()) == (422, True)
    key = str(Expectation.objects.get().pk)
    assert decided.post("take-back/", key=key).status_code == 200
    gone = decided.post("take-back/", key=key)
    assert (gone.status_code, saved(decided)) == (404, [])
    assert decided.post("take-back/", key="x").status_code == 400


def test_an_expectation_of_another_sandbox_cannot_be_removed(decided: Any) -> None:
    other, _ = store.create("Other")
    store.execute(other, {"kind": "apply", "manifests": [make_pod("web").obj()]})
    foreign = expectations.expect(Sandbox.objects.get(pk=other.pk), "placement", {"pod": "default/web"}, None)
    assert decided.post("take-back/", key=str(foreign.pk)).status_code == 404
    assert Expectation.objects.filter(pk=foreign.pk).exists()


@override_settings(QUOTAS={"expectations": 2})
def test_there_is_a_limit(decided: Any) -> None:
    for pod in ("web", "big"):
        assert decided.post("expect/", fact="placement", pod=f"default/{pod}").status_code == 200
    answer = decided.post("expect/", fact="placement", pod="default/third")
    assert (answer.status_code, "at most 2 expectations" in answer.content.decode()) == (422, True)
    assert len(saved(decided)) == 2


def test_a_very_long_expectation_is_refused(decided: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "LONGEST", 20)
    assert decided.post("expect/", fact="placement", pod="default/web").status_code == 422


def test_the_browsers_hear_of_it(decided: Any) -> None:
    before = decided.row().revision
    decided.post("expect/", fact="placement", pod="default/web")
    decided.post("take-back/", key=str(Expectation.objects.get().pk))
    assert decided.row().revision == before + 2


def test_it_is_placed_at_the_moment_in_view(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web", at="1.2")
    assert saved(decided) == [{"pod": "default/web", "pending": True}]
    assert places(decided) == [(BEHIND, False)]
    (outcome,) = outcomes(decided)
    assert outcome.differs is not None
    assert "default/web: " in outcome.differs[0]
    assert outcomes(decided, outcome.moment)[0].differs == ()
    assert places(decided, outcome.moment) == [(HERE, False)]
    assert places(decided, "0.1") == [(AHEAD, False)]


def test_the_timeline_ahead_is_not_undone_until_another_command(decided: Any) -> None:
    decided.post("expect/", fact="lane", pod="default/big")
    decided.post("do/back/")
    decided.post("do/back/")
    assert places(decided) == [(AHEAD, False)]
    store.execute(decided.row(), {"kind": "delete", "object_kind": "Pod", "key": "default/big"})
    (outcome,) = outcomes(decided)
    assert (outcome.place, outcome.red, outcome.moment) == (UNDONE, False, "")
    assert outcome.differs
    html = decided.get("panel/expectations/").content.decode()
    assert "undone: the timeline has changed since" in html
    assert 'data-red="0"' in decided.get("panel/sentence/").content.decode()
    branch = decided.sandbox.branches.get()
    decided.post("reopen/", branch=str(branch.pk))
    assert places(decided) == [(HERE, False)]


def test_going_back_to_the_middle_of_a_command_keeps_the_expectations_there(decided: Any) -> None:
    here = live(decided.row())
    start, end = here.world.starts[3], here.world.end_of(3)
    middle = next(entries for entries, _ in here.world.rests if start + 1 < entries < end)
    at = str(here.world.moment_of(middle))
    decided.post("expect/", fact="placement", pod="default/web", at=at)
    decided.post("expect/", fact="placement", pod="default/big", at=f"3.{end - start}")
    assert {outcome.place for outcome in outcomes(decided)} == {BEHIND}
    decided.post("go-back/", at=at)
    assert [outcome.place for outcome in outcomes(decided)] == [HERE, UNDONE]


def test_a_growing_tick_of_playing_keeps_its_expectations(decided: Any) -> None:
    decided.post("do/advance/", seconds="1", play="1")
    decided.post("expect/", fact="clock")
    decided.post("do/advance/", seconds="1", play="1")
    assert len(decided.log()) == 7
    (outcome,) = outcomes(decided)
    assert (outcome.place, outcome.red, outcome.counts) == (HERE, False, False), "the tick continues"
    assert "an export omits it" in decided.get("panel/expectations/").content.decode()


def test_a_fork_has_the_expectations_before_it(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web", at="1.2")
    decided.post("expect/", fact="placement", pod="default/web")
    answer = decided.post("fork/", at="3.2")
    identity = answer["HX-Redirect"].split("/")[2]
    fork = type(decided)(Sandbox.objects.get(pk=identity), "", decided.client)
    assert saved(fork) == [{"pod": "default/web", "pending": True}]
    assert [outcome.place for outcome in outcomes(fork)] == [BEHIND]


def test_expectations_go_with_their_sandbox(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web")
    decided.row().delete()
    assert not Expectation.objects.exists()


def test_another_worker_sees_it(decided: Any, on_worker: Any) -> None:
    decided.get("panel/expectations/")
    with on_worker("b"):
        decided.post("expect/", fact="placement", pod="default/web")
    assert "pod: default/web" in decided.get("panel/expectations/").content.decode()


def test_a_watcher_sees_them_and_has_no_buttons(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web", who="Ada")
    watching = decided.watching()
    html = watching.get("panel/expectations/").content.decode()
    assert "pod: default/web" in html
    assert "by Ada" in html
    assert "take-back" not in html
    for panel in ("inspector", "filter", "scores", "preemption"):
        assert "expect/" not in watching.get(f"panel/{panel}/", pod="default/big").content.decode()
        assert panel == "scores" or "expect/" in decided.get(f"panel/{panel}/", pod="default/big").content.decode()


def opened(visitor: Any, slug: str) -> Any:
    answer = visitor.client.post("/new/", {"scenario": slug})
    _, _, identity, token, _ = answer["Location"].split("/")
    return type(visitor)(Sandbox.objects.get(pk=identity), token, visitor.client)


def test_a_scenario_has_its_own_which_count_when_they_are_reached(visitor: Any) -> None:
    player = opened(visitor, "high-priority-preemption")
    before = outcomes(player)
    assert before
    assert {outcome.place for outcome in before} == {AHEAD}
    assert any(outcome.differs for outcome in before)
    assert not any(outcome.red for outcome in before)
    assert 'data-red="0"' in player.get("panel/sentence/").content.decode()
    store.execute(player.row(), {"kind": "run"})
    after = outcomes(player)
    assert {(outcome.place, outcome.red, outcome.counts) for outcome in after} == {(HERE, False, True)}
    store.execute(player.row(), {"kind": "delete", "object_kind": "Pod", "key": after[0].text.split()[1].strip(",")})
    store.execute(player.row(), {"kind": "advance", "seconds": 60})
    assert 'data-red="0"' in player.get("panel/sentence/").content.decode(), "a later expectation is no failure"
    assert any(outcome.differs for outcome in outcomes(player))
    assert "scenario: at the end" in player.get("panel/expectations/").content.decode()


def test_a_scenarios_expectation_is_red_once_its_step_led_elsewhere(visitor: Any, tmp_path: Path) -> None:
    player = opened(visitor, "high-priority-preemption")
    store.execute(player.row(), {"kind": "apply", "manifests": [make_node("spare").obj()]})
    store.execute(player.row(), {"kind": "run"})
    red = sum(outcome.red for outcome in outcomes(player))
    assert red
    for _ in range(2):
        assert f'data-red="{red}"' in player.get("panel/sentence/").content.decode()
        store.execute(player.row(), {"kind": "advance", "seconds": 60})
    assert f"{red} of them do not hold" in player.get("export/", form="scenario", expect="collected").content.decode()
    assert exported_failures(player, tmp_path) == red


def test_a_moment_within_a_command_that_cannot_end_says_so(decided: Any) -> None:
    decided.post("expect/", fact="placement", pod="default/web")
    here = live(decided.row())
    rests = {entries for entries, _ in here.world.rests}
    assert not any(here.world.starts[1] < entries < here.world.end_of(1) for entries in rests)
    assert all(outcome.differs is not None for outcome in outcomes(decided, "1.3"))


def test_collected_expectations_go_into_the_exported_scenario(decided: Any, tmp_path: Path) -> None:
    here = live(decided.row())
    filtered = next(entry.n for entry in here.world.entries if isinstance(entry.event, FilterRan))
    at = str(here.world.moment_of(here.world.rest_at(filtered)))
    decided.post("expect/", fact="placement", pod="default/web", at="1.9999")
    decided.post("expect/", fact="winner", pod="default/web", attempt="1", at="3.9999")
    decided.post("expect/", fact="verdict", pod="default/web", node="n1", attempt="1", at=at)
    decided.post("expect/", fact="placement", pod="default/web", at=at)
    decided.post("expect/", fact="lane", pod="default/big")
    answer = decided.get("export/scenario/", expect="collected", **{"from": "4"})
    data = yaml.safe_load(answer.content)
    assert len(data["setup"]) == 1
    assert data["then"][0] == {"expect": [{"pod": "default/web", "pending": True}]}
    expected = [step.get("expect", []) for step in data["then"][1:]]
    assert [len(group) for group in expected] == [0, 2, 0, 0, 1]
    path = tmp_path / "x.scenario.yaml"
    path.write_bytes(answer.content)
    assert [failure for point in run(load_scenario(path)) for failure in point.failures] == []
    html = decided.get("export/", form="scenario", expect="collected").content.decode()
    assert "4 expectations: added here" in html
    assert "One is left out" in html


def test_undone_expectations_are_not_exported(decided: Any) -> None:
    decided.post("expect/", fact="lane", pod="default/big")
    decided.post("do/back/")
    decided.post("do/stage/")
    decided.post("do/advance/", seconds="7")
    answer = decided.get("export/scenario/", expect="collected")
    assert "waits" not in answer.content.decode()


# --- red on the page, and the exported test ---


def exported_failures(visitor: Any, folder: Path, at: str = "") -> int:
    """Return how many expectations fail when the exported file runs."""
    answer = visitor.get("export/scenario/", expect="collected", **({"at": at} if at else {}))
    assert answer.status_code == 200, answer.content
    path = folder / "x.scenario.yaml"
    path.write_bytes(answer.content)
    return len({failure.path for point in run(load_scenario(path)) for failure in point.failures})


def a_moment(draw: Random, visitor: Any) -> str:
    """Return any moment at which the engine stopped."""
    world = present(visitor.row())
    entries = draw.choice([entries for entries, _ in world.rests] or [0])
    return str(world.moment_of(entries))


def _do(draw: Random, visitor: Any) -> None:
    name = f"p-{draw.randint(0, 3)}"
    possible: list[dict[str, Any]] = [
        {"kind": "stage"},
        {"kind": "pod"},
        {"kind": "advance", "seconds": draw.choice((1, 7, 40))},
        {"kind": "apply", "manifests": [make_pod(name).cpu(draw.choice(("500m", "99"))).obj()]},
        {"kind": "delete", "object_kind": "Pod", "key": "default/web"},
        {"kind": "cordon", "node": "n1", "on": draw.random() < 0.5},
    ]
    with suppress(NothingToDo, Rejected):
        store.execute(visitor.row(), draw.choice(possible))


def _expect(draw: Random, visitor: Any) -> None:
    fact = draw.choice(("placement", "placement", "lane", "clock"))
    pod = draw.choice(("web", "big", "p-0", "p-1"))
    visitor.post("expect/", fact=fact, pod=f"default/{pod}", at=draw.choice(("", a_moment(draw, visitor))))


def _back(draw: Random, visitor: Any) -> None:
    visitor.post("do/back/") if draw.random() < 0.5 else visitor.post("go-back/", at=a_moment(draw, visitor))


def _reopen(draw: Random, visitor: Any) -> None:
    if branches := list(visitor.sandbox.branches.order_by("pk")):
        visitor.post("reopen/", branch=str(draw.choice(branches).pk))


def _play(draw: Random, visitor: Any) -> None:
    visitor.post("do/advance/", seconds="1", play="1")


@pytest.mark.parametrize("seed", range(6))
def test_red_expectations_on_the_page_fail_in_the_exported_file(decided: Any, tmp_path: Path, seed: int) -> None:
    draw, visitor = Random(seed), decided
    for number in range(18):
        draw.choice((_do, _do, _expect, _expect, _back, _reopen, _play))(draw, visitor)
        if number == 11:
            fork = visitor.post("fork/", at=a_moment(draw, visitor))["HX-Redirect"].split("/")
            visitor = type(visitor)(Sandbox.objects.get(pk=fork[2]), fork[3], visitor.client)
        if number % 6 == 5:
            at = draw.choice(("", a_moment(draw, visitor)))
            results = outcomes(visitor, at)
            assert sum(outcome.red for outcome in results) == exported_failures(visitor, tmp_path, at), at
    assert outcomes(visitor)


STORIES = ("high-priority-preemption", "drain", "cordon", "taint-no-execute")


@pytest.mark.parametrize("slug", STORIES)
def test_a_scenario_played_differently_is_red_where_its_file_fails(visitor: Any, tmp_path: Path, slug: str) -> None:
    draw, player = Random(slug), opened(visitor, slug)
    story = scenarios()[slug].then or PLAIN
    for number in range(8):
        steps_done = steps.steps_done(present(player.row()))
        if steps_done < len(story) and draw.random() < 0.7:
            with suppress(NothingToDo, Rejected):
                store.execute(player.row(), command_of(story[steps_done]))
        else:
            draw.choice((_do, _expect))(draw, player)
        if number % 4 == 3:
            assert sum(outcome.red for outcome in outcomes(player)) == exported_failures(player, tmp_path)
