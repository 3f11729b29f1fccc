"""A database that fails in the middle gives a clear error, at every address and at every query of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from sandbox.storage import failures
from sandbox.storage.models import Sandbox
from sandbox.web.schema.document import DIGESTS
from sandbox.workshop import room as rooms
from sandbox.workshop import sources

MOST_QUERIES = 6
"""Queries of one request to fail, one at a time. Later ones are in the same transactions."""
SCENARIO = "node-selector"
PLACE = re.compile(r"<\w+:(\w+)>")
"""A parameter in a pattern of addresses."""


class Lost:
    """Let ``after`` queries pass, then end the connection as the database would."""

    def __init__(self, after: int) -> None:
        self.left = after
        self.came = False

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        self.left -= 1
        if self.left >= 0:
            return execute(*arguments)
        self.came = True
        raise lost(psycopg.errors.AdminShutdown("terminating connection"))


def lost(cause: Exception, kind: type[Exception] = OperationalError) -> Any:
    error = kind(str(cause))
    error.__cause__ = cause
    return error


def paths(values: dict[str, str], resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Yield every address of the site, with ``values`` as its parameters, 1 for others."""
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from paths(values, pattern, path)
        elif isinstance(pattern, URLPattern) and "^" not in path:
            yield "/" + PLACE.sub(lambda place: values.get(place[1], "1"), path)


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_reported_at_every_address(visitor: Any, settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, (1e6, 1_000_000))
    room, trainer = rooms.open_room(sources.scenario(SCENARIO))
    visitor.post("do/stage/")
    values = {
        "verb": "stage",
        "kind": "pod",
        "panel_id": "cluster",
        "slug": SCENARIO,
        "digest": DIGESTS["v1.34"],
        "key": "k" * 32,
        "sandbox_id": str(visitor.sandbox.pk),
        "room_id": str(room.pk),
        "code": room.code,
    }
    hit, client = 0, Client(raise_request_exception=False)
    tokens = {"/w/": trainer}
    for path in dict.fromkeys(paths(values | {"token": "TOKEN"}, get_resolver())):
        path = path.replace("TOKEN", next((t for start, t in tokens.items() if path.startswith(start)), visitor.token))
        for method in ("GET", "POST"):
            for after in range(MOST_QUERIES):
                losing = Lost(after)
                with connection.execute_wrapper(losing):
                    answer = client.generic(method, path, "", "application/x-www-form-urlencoded")
                if not losing.came:
                    break
                hit += 1
                answered = (answer.status_code, "lost its database" in answer.content.decode())
                assert answered == (503, True), f"{method} {path} when query {after + 1} is lost: {answered}"
    assert hit > 80
    assert Sandbox.objects.filter(pk=visitor.sandbox.pk).exists()


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        pytest.param(
            lost(psycopg.OperationalError("the connection is closed")), 503, "lost its", id="a closed connection"
        ),
        pytest.param(lost(psycopg.InterfaceError("closed"), InterfaceError), 503, "lost its", id="a closed cursor"),
        pytest.param(lost(psycopg.errors.AdminShutdown("bye")), 503, "lost its", id="a server that stops"),
        pytest.param(lost(psycopg.errors.ConnectionFailure("bye")), 503, "lost its", id="a failed connection"),
        pytest.param(lost(psycopg.errors.TooManyConnections("many")), 503, "busy", id="too many connections"),
        pytest.param(lost(psycopg.errors.DiskFull("full")), 507, "disk is full", id="a full disk"),
        pytest.param(OperationalError("database is locked"), 503, "busy", id="a locked database"),
    ],
)
def test_a_database_refusal_is_reported_by_its_reason(error: Any, status: int, words: str) -> None:
    code, sentence = failures.refusal(error)
    assert (code, words in sentence) == (status, True)


@pytest.mark.django_db(transaction=True)
def test_the_api_reports_a_lost_connection_as_json(visitor: Any) -> None:
    path = f"/api/v1/sandboxes/{visitor.sandbox.pk}/{visitor.token}"
    with connection.execute_wrapper(Lost(0)):
        answer = visitor.client.get(path)
    assert (answer.status_code, "lost its database" in answer.json()["message"]) == (503, True)
    assert visitor.client.get(path).status_code == 200
    assert visitor.client.get(f"/api/v1/sandboxes/{uuid4()}/{visitor.token}").status_code == 404
