"""Hostile inputs to every route, in short; ``make hostile`` sends a hundred thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_engine.commands import from_json
from tests.hostile import inputs, oddities
from tests.hostile.inputs import Plan
from tests.hostile.requests import Drawer
from tests.hostile.routes import Route, forms_of, routes
from tests.hostile.sender import judged
from tests.hostile.wire import Answer

SHORT = Plan(count=350, at_once=4, visitors=1, people=1, restarts=False)
HTML = {"content-type": "text/html; charset=utf-8"}


@pytest.mark.slow
def test_no_input_breaks_the_site_or_loses_other_peoples_work(tmp_path: Path, environment: dict[str, str]) -> None:
    report = inputs.run(SHORT, tmp_path, environment)
    assert report.wrong == []
    assert report.answers.sent == SHORT.count
    assert {route.path or "ws/" for route in routes() if route.socket} <= set(report.answers.routes)
    assert {route.path for route in routes() if not route.socket} <= set(report.answers.routes)
    assert report.clicks
    assert report.tally.answered
    assert {"open", "join", "take", "ask", "answer", "hand"} <= set(report.tally.acts)


def test_every_route_has_its_turn_and_the_same_seed_draws_the_same() -> None:
    known = routes()
    assert {"api/v1/sandboxes", "new/", "join/", "import/", "ws/w/<uuid:room_id>/<str:token>/"} <= {
        route.path for route in known
    }
    first, second = (
        [Drawer(seed, known, {}, {}).input(number) for number in range(len(known) + 50)] for seed in (1, 1)
    )
    assert first == second
    assert first != [Drawer(2, known, {}, {}).input(number) for number in range(len(first))]
    assert [item.route for item in first[: len(known)]] == [route.path or "ws/" * route.socket for route in known]


def test_fields_of_the_api_are_in_its_document() -> None:
    of_path = {route.path: route for route in routes()}
    assert of_path["api/v1/sandboxes"].usual == ("POST",)
    assert {"scenario", "seed", "commands"} <= set(of_path["api/v1/sandboxes"].fields)


@pytest.mark.parametrize("command", oddities.commands(), ids=lambda command: command["kind"])
def test_the_command_that_is_changed_is_a_command(command: dict[str, object]) -> None:
    assert from_json(command).kind == command["kind"]


def test_forms_of_a_page_lead_to_their_routes() -> None:
    page = """<form hx-post="add/node/"><input name="cpu" value="4"><select name="kind"><option value="a">
        <option value="b" selected></select><textarea name="text">x</textarea>
        <button hx-post="do/stage/" hx-vals='{"n": 1}'></button></form><button hx-post="elsewhere/">"""
    add, do = Route("s/<uuid:i>/add/<str:kind>/"), Route("s/<uuid:i>/do/<str:verb>/")
    fields = {"cpu": "4", "kind": "b", "text": "x"}
    assert list(forms_of(page, "/s/1/", [add, do])) == [
        (add, ["1", "node"], fields),
        (do, ["1", "stage"], fields | {"n": "1"}),
    ]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("", Answer(200, HTML, b"&lt;h0st1le&gt;")),
        ("", Answer(422, {"content-type": "application/json"}, b'"<h0st1le>"')),
        ("", Answer(503, HTML, b"The server is busy. Try again.")),
        ("", Answer(507, HTML, b"The server has no room left.")),
        ("", Answer(304, {}, b"")),
        ("500 oh", Answer(500, HTML, b"oh")),
        ("503", Answer(503, HTML, b"busy")),
        ("502", Answer(502, HTML, b"more words than there have to be")),
        ("reflected", Answer(404, HTML, b"<p>no <h0st1le onload=x></p>")),
        ("reflected", Answer(200, HTML, b'<input value="" h0st1le="1">')),
        ("reflected", Answer(200, HTML, b"1787569")),
        ("no content type", Answer(200, {}, b"x")),
    ],
)
def test_a_forbidden_answer_is_detected(message: str, answer: Answer) -> None:
    assert bool(judged(answer)) == bool(message)
    assert message in judged(answer)


def test_an_error_in_the_log_is_detected() -> None:
    calm = "2026-01-01 10:00:00,000 INFO sandbox: a stranger sent ERROR\n"
    error = "2026-01-01 10:00:00,000 ERROR sandbox: a command broke down\n"
    assert list(inputs.errors_in(calm)) == []
    trace = "Traceback (most recent call last):\n  File x\n"
    results = list(inputs.errors_in(f"{calm}{error}{trace}{calm}{error}"))
    assert [("a command broke down" in text, "File x" in text) for text in results] == [(True, True), (True, False)]
