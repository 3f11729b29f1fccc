"""Hostile inputs to every route, in short; ``make hostile`` sends a hundred thousand."""

from __future__ import annotations

import gzip
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from scheduler_engine.commands import from_json
from tests.hostile import documented, inputs, oddities, rows
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
        ("", Answer(200, HTML, b'<script id="view" type="application/json">{"pod": "\\" h0st1le=\\"1"}</script>')),
        ("reflected", Answer(200, HTML, b'<script id="view" type="application/json">{"<h0st1le>": 1}</script>')),
        ("no content type", Answer(200, {}, b"x")),
    ],
)
def test_a_forbidden_answer_is_detected(message: str, answer: Answer) -> None:
    assert bool(judged(answer, "/s/1/t/")) == bool(message)
    assert message in judged(answer, "/s/1/t/")


def test_only_an_api_server_answers_that_a_version_is_in_the_future() -> None:
    answer = Answer(504, {"content-type": "application/json"}, b"Timeout: Too large resource version")
    assert judged(answer, "/s/1/t/kube/api/v1/pods") == ""
    assert judged(answer, "/s/1/t/") != ""


SCENARIOS, MANIFESTS = "/api/v1/scenarios", "/api/v1/sandboxes/{sandbox_id}/{token}/manifests"
JSON = {"content-type": "application/json"}
PROBLEM = b'{"message": "No.", "errors": []}'
ROW = (
    b'"name": "a", "title": "b", "about": "c", "group": "", "kubernetes": "v1.34", "steps": 0, "level": "", "shows": ""'
)
LISTED = b"[{" + ROW + b"}]"


@pytest.mark.parametrize(
    ("words", "path", "method", "answer"),
    [
        ("", SCENARIOS, "GET", Answer(200, JSON, LISTED)),
        ("", SCENARIOS, "GET", Answer(429, JSON, PROBLEM)),
        ("", SCENARIOS, "POST", Answer(405, HTML, b"")),
        ("", SCENARIOS, "GET", Answer(431, HTML, b"The address is too long.")),
        ("", "/nowhere", "GET", Answer(200, HTML, b"")),
        ("", MANIFESTS, "POST", Answer(422, JSON | {"content-encoding": "gzip"}, gzip.compress(PROBLEM))),
        ("not as documented", SCENARIOS, "GET", Answer(200, JSON, b'[{"name": 1}]')),
        ("not as documented", SCENARIOS, "GET", Answer(429, JSON, b'{"message": "No."}')),
        ("has the type text/html", SCENARIOS, "GET", Answer(404, HTML, b"<p>No.</p>")),
        ("status 418 is not documented", MANIFESTS, "POST", Answer(418, JSON, PROBLEM)),
    ],
)
def test_an_answer_that_is_not_as_documented_is_detected(words: str, path: str, method: str, answer: Answer) -> None:
    found = documented.judged(path, method, answer)
    assert (bool(found), words in found) == (bool(words), True)


def test_calls_are_drawn_from_the_document_and_the_same_again() -> None:
    first, again = (
        [documented.draw(1, number, random.Random(number), MANIFESTS) for number in range(20)] for _ in range(2)
    )
    assert first == again
    assert {call.method for call in first} == {"POST"}
    assert all(documented.LINK in call.path for call in first)
    assert len({call.body for call in first}) > 5


def test_a_change_of_a_row_is_detected(tmp_path: Path) -> None:
    sandbox, room, other = (uuid4() for _ in range(3))
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as writer:
        for table in rows.OF_SANDBOX.keys() | rows.OF_ROOM.keys():
            writer.execute(f"CREATE TABLE {table} (id, sandbox_id, workshop_id, question_id, head)")
        writer.execute("INSERT INTO sandbox_sandbox (id, head) VALUES (?, 1), (?, 1)", [sandbox.hex, other.hex])
        writer.execute("INSERT INTO workshop_seat (workshop_id, sandbox_id) VALUES (?, ?)", [room.hex, other.hex])
        writer.commit()
        reader = rows.Rows(tmp_path / "db.sqlite3")
        before = reader.of(str(sandbox), str(room))
        assert rows.changes(before, reader.of(str(sandbox), str(room))) == []
        writer.execute("UPDATE sandbox_sandbox SET head = 2")
        writer.commit()
    found = rows.changes(before, reader.of(str(sandbox), str(room)))
    assert [text.partition(":")[0] for text in found] == [
        "sandbox_sandbox of the sandbox",
        "sandbox_sandbox of the room",
    ]


def test_an_error_in_the_log_is_detected() -> None:
    calm = "2026-01-01 10:00:00,000 INFO sandbox: a stranger sent ERROR\n"
    error = "2026-01-01 10:00:00,000 ERROR sandbox: a command broke down\n"
    assert list(inputs.errors_in(calm)) == []
    trace = "Traceback (most recent call last):\n  File x\n"
    results = list(inputs.errors_in(f"{calm}{error}{trace}{calm}{error}"))
    assert [("a command broke down" in text, "File x" in text) for text in results] == [(True, True), (True, False)]
