"""Who may do what: each row of the tables beside this file, tried with every link in it.

A refused request changes no row in the database. An allowed one changes some exactly if the table says so: otherwise
its refusals would prove nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.web import uploads
from sandbox.web.api.routes import api
from sandbox.web.forms import FORMS
from sandbox.web.schema.document import DIGESTS
from sandbox.web.views.commands import COMMANDS, MOVES
from sandbox.web.views.lessons import VERBS
from sandbox.worker.jobs.exporting import FORMS as EXPORTS
from sandbox.workshop import room as rooms
from sandbox.workshop.models import Participant, Workshop
from scheduler_engine.testing import make_node
from tests.sandbox.authority import world
from tests.sandbox.authority.links import PAUSED, of_room, of_sandbox
from tests.sandbox.authority.requests import BY_API, FORM, ON_OTHERS, ON_ROOMS, ON_SANDBOXES, ROOMS_BY_API, Request
from tests.sandbox.authority.table import LINK, Row, every_route, filled, methods, route, table
from tests.sandbox.authority.world import STEPS, World

pytestmark = pytest.mark.django_db

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
MOST_QUERIES = 8
"""Queries of one request before which something is deleted."""
API, ROOM_API = "/api/v1/sandboxes/", "/api/v1/rooms/"
NO_METHOD = {"405", "403"}
"""Cells of a method that an address does not have. Django refuses most with 403 first, because they lack its token."""
BY_LINK = ("/s/", "/w/", "/api/v1/sandboxes/", "/api/v1/rooms/", "/join/", "/import/")
PRIVATE = {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
"""Headers of every answer at an address that is a key."""
EXAMPLES = {
    "{panel}": "status",
    "{kind}": "Node",
    "{form}": "scenario",
    "{key}": "{expectation}",
    "{branch}": "{branch}",
}
"""Parameter of a path in the API's document → its value in the tables."""


@pytest.fixture(scope="module")
def people(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Create the world once, and undo it after the last test of this file."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield world.create()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def own_drafts(settings: Any, tmp_path: Path) -> None:
    """Keep drafts of imports in a folder that other tests do not use."""
    settings.VAR_DIR = tmp_path


@contextmanager
def undone() -> Iterator[None]:
    """Undo what happens in the database. Then forget all simulations if later records get the keys of these again."""
    with transaction.atomic():
        before = last_keys()
        yield
        stored = last_keys() != before
        transaction.set_rollback(True)
    if stored:
        engines._engines = engines.Inside()


def last_keys() -> list[Any]:
    """Return the last key that each table has given to a record."""
    with connection.cursor() as cursor:
        return cursor.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall()


def everything() -> dict[str, list[Any]]:
    """Return table → its rows, and the drafts of imports."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        rows = {name: cursor.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    return rows | {"drafts": sorted((path.name, path.read_bytes()) for path in uploads.folder().iterdir())}


def send(method: str, path: str, request: Request, ids: Mapping[str, str]) -> HttpResponse:
    values = {name: ids.get(text, text) for name, text in request.fields.items()}
    path = re.sub("{.*}", lambda place: ids[place[0]], path)
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    if method == "GET":
        answer = client.get(path, values)
    else:
        body, kind = urlencode(values), FORM
        if path.startswith("/api/") or "/kube/" in path:
            body, kind = (
                in_body(request.body, ids),
                request.content_type or (MERGE_PATCH if method == "PATCH" else JSON),
            )
        answer = client.generic(method, f"{path}?{request.query}", body, kind)
    assert not client.cookies
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    if path.startswith(BY_LINK):
        assert {name: answer[name] for name in PRIVATE} == PRIVATE
    return answer


def in_body(body: str, ids: Mapping[str, str]) -> str:
    """Return a body with the keys of rows that it names."""
    for name, text in ids.items():
        body = body.replace(name, text)
    return body


def asked(method: str, path: str, request: Request, ids: Mapping[str, str]) -> tuple[str, str]:
    """Return the cell of a request, and the text of the answer."""
    with undone():
        before = everything()
        answer = send(method, path, request, ids)
        after = everything()
        changed = [name for name in before if before[name] != after[name]]
    text = answer.content.decode(errors="replace")
    if answer.status_code < 400:
        return ("changes" if changed else "yes"), text
    return f"{answer.status_code}{f' but changed {changed}' if changed else ''}", text


def other_methods(path: str, shown: str, ids: Mapping[str, str]) -> dict[str, str]:
    """Return method → cell of the methods that the tables do not have for a path, asked with a link that may all."""
    return {method: asked(method, shown, Request(), ids)[0] for method in sorted(METHODS - methods(path))}


def request_of(row: Row) -> Request:
    """Return the request of a row about a sandbox or a room."""
    start, _, below = row.path.partition(LINK)
    of_start = {API: BY_API, ROOM_API: ROOMS_BY_API, "/s/": ON_SANDBOXES, "/w/": ON_ROOMS}[start]
    return of_start.get(f"{row.method} {below if start in (API, ROOM_API) else below.removeprefix('/')}", Request())


def check(row: Row, cells: Mapping[str, tuple[str, str]]) -> None:
    assert {who: cell for who, (cell, _) in cells.items()} == row.cells, {
        who: cells[who][1][:300] for who in row.cells if cells[who][0] != row.cells[who]
    }


@pytest.mark.parametrize("row", table("sandboxes").requests, ids=str)
def test_what_a_link_of_a_sandbox_allows(people: World, row: Row) -> None:
    request = request_of(row)
    links = of_sandbox(people, request.desk)
    cells, refused = {}, set()
    for who in row.cells:
        with undone():
            rooms.set_frozen(people.room, who in PAUSED)
            answers = [asked(row.method, filled(row.path, link), request, people.ids) for link in links[who]]
        assert len({cell for cell, _ in answers}) == 1
        cells[who] = answers[0]
        refused |= {text for cell, text in answers if cell == "404" and who not in ("nobody", "watcher")}
    check(row, cells)
    assert len(refused) == 1, "the answer tells a wrong token from an unknown sandbox"
    others = other_methods(row.path, filled(row.path, links["owner"][0]), people.ids)
    assert set(others.values()) <= NO_METHOD


@pytest.mark.parametrize("row", table("rooms").requests, ids=str)
def test_what_a_link_of_a_room_allows(people: World, row: Row) -> None:
    request = request_of(row)
    links = of_room(people, request.desk)
    cells = {who: asked(row.method, filled(row.path, links[who]), request, people.ids) for who in row.cells}
    check(row, cells)
    refused = {cells[who][1] for who in ("wrong", "foreign", "sandbox", "left", "gone")}
    assert len(refused) == 1, "the answer tells a wrong token from an unknown room"
    assert set(other_methods(row.path, filled(row.path, links["trainer"]), people.ids).values()) <= NO_METHOD


class Gone:
    """Let ``after`` queries pass, then have somebody else delete something, as soon as no transaction holds it."""

    def __init__(self, after: int, delete: Callable[[], object]) -> None:
        self.left, self.delete = after, delete
        self.depth = len(connection.savepoint_ids)

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        self.left -= 1
        if self.left < 0 and len(connection.savepoint_ids) == self.depth and self.delete is not None:
            delete, self.delete = self.delete, None
            delete()
        return execute(*arguments)


def statuses_while_deleted(row: Row, path: str, people: World, delete: Callable[[], object]) -> Iterator[int]:
    """Yield the status of a request during which something is deleted: before its second query, its third, …"""
    request = request_of(row)
    for after in range(1, MOST_QUERIES):
        with undone():
            gone = Gone(after, delete)
            with connection.execute_wrapper(gone):
                yield send(row.method, path, request, people.ids).status_code
        if gone.delete is not None:
            return


@pytest.mark.parametrize("row", table("sandboxes").requests, ids=str)
def test_a_sandbox_that_is_pruned_during_a_request_causes_no_crash(people: World, row: Row, caplog: Any) -> None:
    desk = people.desks[request_of(row).desk]
    path = filled(row.path, f"{desk.sandbox.pk}/{desk.owner}")
    delete = Sandbox.objects.filter(pk=desk.sandbox.pk).delete
    assert max(statuses_while_deleted(row, path, people, delete)) < 500
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize("row", table("rooms").requests, ids=str)
@pytest.mark.parametrize("what", ["room", "participant"])
def test_a_room_or_a_person_deleted_during_a_request_causes_no_crash(
    people: World, row: Row, what: str, caplog: Any
) -> None:
    links, ada = of_room(people, request_of(row).desk), people.desks["cluster"].row.pk
    path = filled(row.path, links["participant" if row.cells["participant"] == "changes" else "trainer"])
    delete = {
        "room": Workshop.objects.filter(pk=people.room.pk).delete,
        "participant": Participant.objects.filter(pk=ada).delete,
    }[what]
    assert max(statuses_while_deleted(row, path, people, delete)) < 500
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.fixture
def keys(people: World) -> dict[str, dict[str, str]]:
    """Return the name of a part of an address → who → the part."""
    draft, expired = (new_draft() for _ in range(2))
    path = uploads.draft_path(expired)
    assert path is not None
    os.utime(path, (0, 0))
    uploads.sweep()
    code = {"anybody": people.room.code, "wrong": "XXXXXX", "gone": people.closed[0].code}
    return {
        "<code>": code,
        "{code}": code,
        "<digest>": {"anybody": DIGESTS["v1.34"]},
        "<key>": {"anybody": draft, "wrong": "x" * len(draft), "gone": expired},
        "<slug>": {"anybody": STEPS, "wrong": "nothing"},
        "<figure>": {"anybody": "a-pod-that-grows-1-0", "wrong": "a-pod-that-grows-99-0"},
        "<name>": {"anybody": "spread-2-7", "wrong": "nothing"},
    }


def new_draft() -> str:
    """Upload a cluster. Return the key of its draft."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [make_node("n").obj()]})
    answer = Client().post("/import/", {"text": text})
    assert answer.status_code == 201, answer.content
    return answer.content.decode().split("/")[-2]


@pytest.mark.parametrize("row", table("others").requests, ids=str)
def test_what_anybody_may_do(people: World, keys: Mapping[str, Mapping[str, str]], row: Row) -> None:
    request = ON_OTHERS.get(f"{row.method} {row.path}", Request())
    named = (row.path, request.body, *request.fields.values())
    name = next((name for name in keys if any(name in text for text in named)), "")
    links = keys.get(name, {"anybody": ""})
    cells = {
        who: asked(row.method, row.path.replace(name, links[who]), request, people.ids | {name: links[who]})
        if who in links
        else (".", "")
        for who in row.cells
    }
    check(row, cells)
    others = other_methods(row.path, row.path.replace(name, links["anybody"]), people.ids)
    assert set(others.values()) <= NO_METHOD | ({"404"} if row.cells["anybody"] == "404" else set())


@pytest.mark.parametrize("what", ["addresses", "calls of the API", "kinds of forms and buttons"])
def test_the_tables_have_all(what: str) -> None:
    rows = [row for name in ("sandboxes", "rooms", "others") for row in table(name).requests]
    paths = {row.path for row in rows}
    if what == "addresses":
        assert {route(path) for path in paths} == every_route()
    elif what == "calls of the API":
        document = api.get_openapi_schema()["paths"]
        called = {
            (method.upper(), re.sub(r"\{(sandbox|room)_id\}/\{token\}", LINK, path))
            for path, methods in document.items()
            for method in methods
        }
        known = {(row.method, row.path) for row in rows}
        assert {(method, re.sub("{.*}", lambda place: EXAMPLES[place[0]], path)) for method, path in called} <= known
    else:
        verbs = [f"do/{verb}" for verb in (*COMMANDS, *MOVES, "stop")] + [f"lesson/{verb}" for verb in VERBS]
        kinds = [f"{path}/{kind}" for path in ("add", "preview") for kind in FORMS]
        exports = [f"export/{form}" for form in EXPORTS]
        assert {f"/s/{LINK}/{path}/" for path in (*verbs, *kinds, *exports)} <= paths
