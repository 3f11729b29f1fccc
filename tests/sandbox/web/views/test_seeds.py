"""A sandbox played with many seeds, as a page shows it: what is luck, and what differs by more."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.storage import branches
from sandbox.words.say import say
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.web.views.test_differences import PACKING, SETTLE, apply, configure, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def equal(visitor: Any) -> Any:
    """Return a visitor with three equal nodes and two pods. Packing puts both on one node, which the seed draws."""
    nodes = [make_node(f"n{number}").capacity(cpu="4", memory="8Gi", pods="9") for number in (1, 2, 3)]
    pods = [make_pod(name).cpu("1") for name in ("first", "second")]
    for command in (apply(*nodes), configure(PACKING), apply(*pods), SETTLE):
        store.execute(visitor.sandbox, command)
    return visitor


def shown(visitor: Any, **query: str) -> str:
    answer = visitor.get("differences/", **{"seeds": "10", **query})
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def data_of(html: str) -> Any:
    return json.loads(re.search(r'id="seeds-data"[^>]*>(.*?)</script>', html)[1])  # type: ignore[index]


def verdict(html: str) -> str:
    return re.search(r'id="verdict">(.*?)</b>', html)[1]  # type: ignore[index]


def test_this_run_alone_says_whose_place_is_luck(equal: Any) -> None:
    html = shown(equal)
    assert verdict(html) == say("seeds.some-luck", count=2, pods=2)
    assert say("seeds.alone", count=10) in html
    places = text_of(html, "placements")
    assert sum(int(count) for count in re.findall(r"n\d \((\d+)\)", places)) == 20
    assert say("differences.second") not in text_of(html, "figures")
    assert len(data_of(html)["heat"]["sides"]) == 1
    assert len(equal.log()) == 4


def test_packing_differs_from_the_default_by_more_than_luck(equal: Any) -> None:
    html = shown(equal, configuration="default")
    assert verdict(html) == say("seeds.larger")
    assert say("seeds.two", name=say("differences.configuration-default"), count=10) in html
    row = re.search(r'<th scope="row">cpu: standard deviation</th>(.*?)</tr>', html)
    assert row is not None
    assert say("seeds.lower", count=10, seeds=10) in row[1]
    assert say("seeds.beyond") in row[1]


def test_charts_count_the_seeds_of_each_value(equal: Any) -> None:
    data = data_of(shown(equal, configuration="default"))
    deviation = next(chart for chart in data["charts"] if chart["label"] == "cpu: standard deviation")
    assert [sum(side) for side in deviation["counts"]] == [10, 10]
    assert all(len(side) == len(deviation["bars"]) for side in deviation["counts"])
    heat = data["heat"]
    assert heat["pods"] == ["default/first", "default/second"]
    assert [[sum(row) for row in side] for side in heat["sides"]] == [[10, 10], [10, 10]]


def test_the_chart_of_pods_has_a_scale_with_numbers(equal: Any) -> None:
    html = shown(equal, configuration="default")
    heat = data_of(html)["heat"]
    assert heat["most"] == max(count for side in heat["sides"] for row in side for count in row)
    legend = html.partition('id="scale"')[2].partition("</p>")[0]
    counts = [int(count) for count in re.findall(r"</i>(\d+)</span>", legend)]
    assert counts == sorted({*counts})
    assert (counts[0], counts[-1]) == (0, heat["most"])
    shares = [float(share) for share in re.findall(r"--share: ([\d.]+)%", legend)]
    assert (shares[0], shares[-1]) == tuple(heat["ink"])
    assert shares == sorted(shares)
    assert say("seeds.heat-scale") in legend


def test_two_runs_that_draw_differ_by_luck(equal: Any) -> None:
    """Both runs bind both pods to one node; the branch has drawn for one more pod before."""
    store.go_to(equal.sandbox, lambda position: 2)
    store.execute(equal.sandbox, apply(make_pod("before").cpu("1")))
    store.execute(equal.sandbox, {"kind": "run"})
    store.execute(equal.sandbox, {"kind": "delete", "object_kind": "Pod", "key": "default/before"})
    store.execute(equal.sandbox, {"kind": "advance", "seconds": 60})
    store.execute(equal.sandbox, apply(*(make_pod(name).cpu("1") for name in ("first", "second"))))
    store.execute(equal.sandbox, {"kind": "run"})
    (branch,) = branches.branches_of(equal.row())
    html = shown(equal, branch=str(branch.key), seeds="20")
    assert verdict(html) == say("seeds.luck")
    assert 'id="fixed"' not in html


def test_the_same_run_has_no_differences(equal: Any) -> None:
    store.go_to(equal.sandbox, lambda position: 2)
    store.execute(equal.sandbox, apply(*(make_pod(name).cpu("1") for name in ("first", "second"))))
    store.execute(equal.sandbox, SETTLE)
    (branch,) = branches.branches_of(equal.row())
    assert verdict(shown(equal, branch=str(branch.key))) == say("seeds.same")


def test_without_equal_nodes_luck_decides_nothing(visitor: Any) -> None:
    store.execute(visitor.sandbox, apply(make_node("n1").capacity(cpu="4", pods="9"), make_pod("only").cpu("1")))
    store.execute(visitor.sandbox, SETTLE)
    html = shown(visitor)
    assert verdict(html) == say("seeds.no-luck")
    assert say("seeds.fixed", count=1) in html
    assert data_of(html) == {"charts": [], "heat": None}


def test_an_empty_sandbox_has_an_answer(visitor: Any) -> None:
    html = shown(visitor)
    assert verdict(html) == say("seeds.no-luck")
    assert say("seeds.no-pods-because") in html
    assert 'id="placements"' not in html


def test_runs_that_take_too_long_are_counted(equal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.seeds.MOST_SECONDS", 0)
    for query in ({}, {"configuration": "default"}):
        html = shown(equal, **query)
        assert say("seeds.not-all", count=1, wanted=10) in html
        assert verdict(html) == say("seeds.few", count=1)
    assert 'id="not-all"' not in shown_in_time(equal, monkeypatch)


def shown_in_time(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sandbox.worker.seeds.MOST_SECONDS", 600)
    return shown(visitor)


def test_too_many_values_and_places_have_shared_bars_and_no_chart(equal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.seeds.MOST_BARS", 1)
    monkeypatch.setattr("sandbox.worker.seeds.MOST_NODES", 2)
    monkeypatch.setattr("sandbox.worker.seeds.LISTED_PLACES", 1)
    html = shown(equal, configuration="default")
    data = data_of(html)
    assert data["heat"] is None
    assert data["charts"]
    assert all(chart["counts"] == [[10], [10]] and len(chart["bars"]) == 1 for chart in data["charts"])
    assert say("seeds.more-places", count=2) in text_of(html, "placements")


def test_a_run_that_takes_too_much_work_is_a_problem(equal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(equal)
    monkeypatch.setattr("scheduler_engine.effort.MOST_ENTRIES", 20)
    html = shown(equal)
    assert say("seeds.problem") in html
    assert 'id="verdict"' not in html


def test_without_a_change_of_the_configuration_there_is_no_earlier_one(visitor: Any) -> None:
    assert say("differences.not-configured") in shown(visitor, configuration="before")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"seeds": "11"}, 400),
        ({"seeds": ""}, 400),
        ({"seeds": "-10"}, 400),
        ({"seeds": "1000"}, 400),
        ({"cycle": "1", "node": "n2"}, 400),
        ({"branch": "77"}, 404),
    ],
    ids=str,
)
def test_what_cannot_be_played_is_refused(visitor: Any, query: dict[str, str], status: int) -> None:
    answer = visitor.get("differences/", **{"seeds": "10", **query})
    assert answer.status_code == status
    if status == 400:
        assert say("errors.seeds", counts="10, 20, 50, 100") in answer.content.decode()


def test_those_who_only_watch_may_play(equal: Any) -> None:
    assert verdict(shown(equal.watching()))


def test_the_choice_keeps_what_is_compared(equal: Any) -> None:
    html = equal.get("differences/", configuration="default").content.decode()
    assert '<input type="hidden" name="configuration" value="default">' in html
    assert '<option value="50" selected>' in html
    html = shown(equal, configuration="default", seeds="20")
    assert '<option value="20" selected>' in html
    assert 'href="?configuration=before&amp;seeds=20"' in html
    assert re.search(r'href="\?configuration=default&amp;seeds=20" aria-current="page"', html)


def test_the_scores_lead_to_many_seeds_at_their_moment(equal: Any) -> None:
    panel = equal.watching().get("panel/scores/", cycle="1").content.decode()
    assert 'href="differences/?seeds=20"' in panel
    panel = equal.get("panel/scores/", cycle="1", at="4.30").content.decode()
    assert re.search(r'href="differences/\?seeds=20&amp;at=4\.\d+"', panel)


def test_runs_end_at_an_earlier_moment(equal: Any) -> None:
    html = shown(equal, at="2.9999")
    assert say("seeds.no-pods-because") in html
    assert say("common.of-earlier-moment") in html
    assert html.count('<input type="hidden" name="at" value="2.9999">') == 4
    assert 'href="?configuration=default&amp;seeds=10&amp;at=2.9999"' in html
