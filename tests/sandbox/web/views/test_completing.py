"""The editors' completion data, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import store
from sandbox.web.schema.document import DIGEST, TEXT
from sandbox.web.views.completing import CACHED_FOREVER
from scheduler_engine.scenario.schema import schema as scenario_schema

pytestmark = pytest.mark.django_db


def test_the_schema_is_cached_under_its_own_address() -> None:
    answer = Client().get(f"/schema/{DIGEST}/")
    assert answer.status_code == 200
    assert answer.content.decode() == TEXT
    assert answer["Cache-Control"] == CACHED_FOREVER
    assert answer["Content-Type"] == "application/json"
    assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_under_an_older_address_it_is_not_cached() -> None:
    answer = Client().get("/schema/0123456789abcdef/")
    assert answer.content.decode() == TEXT
    assert answer["Cache-Control"] == "no-store"


def test_the_schema_of_scenarios_is_the_one_of_the_engine() -> None:
    answer = Client().get("/schema/scenario.json")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/schema+json"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert json.loads(answer.content) == scenario_schema()
    assert not answer.cookies


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_schema_of_scenarios_is_only_read(method: str) -> None:
    assert getattr(Client(), method)("/schema/scenario.json").status_code == 405


def test_the_schema_is_only_read() -> None:
    assert Client().post(f"/schema/{DIGEST}/").status_code == 405


def test_the_page_names_the_address(visitor: Any) -> None:
    assert f'data-schema="/schema/{DIGEST}/"' in visitor.get().content.decode()


def test_the_offers_come_from_the_present_cluster(visitor: Any, node: Any) -> None:
    assert visitor.get("offers/").json()["nodes"] == []
    store.execute(visitor.sandbox, node("a"))
    data = visitor.get("offers/").json()
    assert (data["nodes"], data["schedulers"]) == (["a"], ["default-scheduler"])


def test_watchers_may_read_them_and_strangers_may_not(visitor: Any) -> None:
    assert visitor.watching().get("offers/").status_code == 200
    assert Client().get(visitor.url("offers/").replace(visitor.token, "wrong")).status_code == 404
