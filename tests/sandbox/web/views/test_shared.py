"""Answers that are the same for everyone."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier, Event
from typing import Any

import pytest
from django.http import HttpResponse

from sandbox.web.shared import same_for_all

SHARED = ["/", "/course/", "/misconceptions/", "/challenges/", "/practice/", "/api/v1/openapi.json"]


@pytest.mark.django_db
@pytest.mark.parametrize("address", SHARED)
def test_it_is_packed_and_not_sent_again_to_a_client_that_has_it(client: Any, address: str) -> None:
    plain = client.get(address)
    packed = client.get(address, headers={"Accept-Encoding": "gzip, br"})
    assert gzip.decompress(packed.content) == plain.content
    assert (packed.headers["Content-Encoding"], "Accept-Encoding" in packed.headers["Vary"]) == ("gzip", True)
    assert packed.headers["ETag"] != plain.headers["ETag"]
    for answer in (plain, packed):
        encoding = {"Accept-Encoding": "gzip"} if "Content-Encoding" in answer.headers else {}
        again = client.get(address, headers={"If-None-Match": answer.headers["ETag"], **encoding})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get(address, headers={"If-None-Match": '"other"'}).status_code == 200


def test_it_is_created_again_when_its_key_changes(rf: Any) -> None:
    days = [date(2030, 1, 1)]
    view = same_for_all(lambda: days[0])(lambda request: HttpResponse(str(days[0])))
    assert view(rf.get("/challenges/")).content == b"2030-01-01"
    days[0] = date(2030, 1, 2)
    assert view(rf.get("/challenges/")).content == b"2030-01-02"


def test_of_many_simultaneous_requests_one_creates_it(rf: Any) -> None:
    """All others wait for the first one."""
    all_ask, calls = Barrier(9), []

    def make(request: Any) -> HttpResponse:
        go_on.wait()
        calls.append(request)
        return HttpResponse("page")

    view = same_for_all()(make)
    go_on = Event()

    def ask(_: int) -> bytes:
        all_ask.wait()
        return view(rf.get("/")).content

    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(ask, range(8))
        all_ask.wait()
        go_on.set()
        assert list(answers) == [b"page"] * 8
    assert len(calls) == 1


@pytest.mark.django_db
def test_the_document_is_created_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox.web.api.routes import api

    client.get("/api/v1/openapi.json")
    monkeypatch.setattr(api, "get_openapi_schema", lambda: pytest.fail("made again"))
    assert client.get("/api/v1/openapi.json").json()["openapi"].startswith("3.")
