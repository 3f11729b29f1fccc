"""The node of an attempt, drawn again under other seeds, as a page shows it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.words.say import say
from scheduler_engine.answers.rerolling import reroll
from scheduler_engine.replay import replay
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.web.views.test_differences import apply

pytestmark = pytest.mark.django_db

STEPS: dict[str, list[dict[str, Any]]] = {
    "run": [{"kind": "run"}],
    "pod by pod": [{"kind": "pod"}, {"kind": "pod"}],
    "stage by stage": [{"kind": "stage"}] * 9,
    "while time passes": [{"kind": "advance", "seconds": 5}],
    "before the choice": [{"kind": "stage"}] * 3,
}


@pytest.fixture
def equal(visitor: Any) -> Any:
    """Return a visitor with three equal nodes, one smaller node, and two pods, before any step."""
    nodes = [make_node(f"n{number}").capacity(cpu="8", memory="8Gi", pods="9") for number in (1, 2, 3)]
    small = make_node("small").capacity(cpu="2", memory="8Gi", pods="9")
    store.execute(visitor.sandbox, apply(*nodes, small, make_pod("a").cpu("1"), make_pod("b").cpu("1")))
    return visitor


def shown(visitor: Any, status: int = 200, **query: str) -> str:
    answer = visitor.get("reroll/", **{"cycle": "1", **query})
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.content.decode())


def wins(html: str) -> dict[str, int]:
    rows = re.findall(r'<th scope="row">([^ <]+).*?</th><td class="n">([\d,]+)</td>', html)
    return {node: int(count.replace(",", "")) for node, count in rows}


@pytest.mark.parametrize("steps", STEPS.values(), ids=[*STEPS])
def test_each_equal_node_wins_as_often_as_the_engine_draws_it(equal: Any, steps: list[dict[str, Any]]) -> None:
    for step in steps:
        store.execute(equal.sandbox, step)
    html = shown(equal)
    counts = wins(html)
    assert (sorted(counts), sum(counts.values())) == (["n1", "n2", "n3"], 100)
    assert html.count('<td class="n">33.3%</td>') >= 3
    sandbox = equal.row()
    log = {"seed": sandbox.seed, "configuration": None, "commands": [json.loads(text) for text in equal.log()]}
    found = reroll(replay(log), 1, 100)
    assert found is not None
    assert counts == dict(found.wins)
    assert say("reroll-page.drawn", count=3) in html
    assert f"{found.node} <small>{say('reroll-page.here')}</small>" in html
    assert say("reroll-page.runner-up", node=found.runner_up, margin=found.margin) in html
    assert found.runner_up == "small"


def test_more_draws_can_be_chosen(equal: Any) -> None:
    store.execute(equal.sandbox, {"kind": "run"})
    assert sum(wins(shown(equal, draws="1000")).values()) == 1000
    assert '<option value="1000" selected>' in shown(equal, draws="1000")


def test_a_node_that_was_not_drawn_wins_always(visitor: Any) -> None:
    store.execute(visitor.sandbox, apply(make_node("n1").capacity(cpu="8", pods="9"), make_pod("a").cpu("1")))
    store.execute(visitor.sandbox, {"kind": "run"})
    html = shown(visitor)
    assert say("reroll-page.not-drawn") in html
    assert say("reroll-page.no-runner-up") in html
    assert wins(html) == {"n1": 100}


def test_an_attempt_without_a_choice_is_reported(visitor: Any) -> None:
    store.execute(visitor.sandbox, apply(make_node("n1").capacity(cpu="1", pods="9"), make_pod("a").cpu("8")))
    store.execute(visitor.sandbox, {"kind": "run"})
    html = shown(visitor)
    assert say("reroll-page.no-choice", pod="default/a") in html
    assert 'id="verdict"' not in html
    assert say("differences.no-cycle", cycle=9) in shown(visitor, 404, cycle="9")


@pytest.mark.parametrize(
    "query", [{"cycle": "0"}, {"cycle": ""}, {"cycle": "x"}, {"draws": "7"}, {"draws": "99999999"}], ids=str
)
def test_what_cannot_be_drawn_is_refused(visitor: Any, query: dict[str, str]) -> None:
    answer = visitor.get("reroll/", **{"cycle": "1", **query})
    assert answer.status_code == 400
    assert "Name the cycle of an attempt" in answer.content.decode()


@pytest.mark.parametrize("panel", ["inspector", "scores"])
def test_a_drawn_node_leads_to_the_page(equal: Any, panel: str) -> None:
    store.execute(equal.sandbox, {"kind": "run"})
    html = equal.watching().get(f"panel/{panel}/", pod="default/a", cycle="1").content.decode()
    assert 'href="reroll/?cycle=1"' in html


@pytest.mark.parametrize("panel", ["inspector", "scores"])
def test_a_node_with_the_highest_total_does_not(visitor: Any, panel: str) -> None:
    nodes = [make_node(name).capacity(cpu=cpu, memory="8Gi", pods="9") for name, cpu in (("n1", "8"), ("n2", "2"))]
    store.execute(visitor.sandbox, apply(*nodes, make_pod("a").cpu("1")))
    store.execute(visitor.sandbox, {"kind": "run"})
    assert "reroll/" not in visitor.get(f"panel/{panel}/", pod="default/a", cycle="1").content.decode()
