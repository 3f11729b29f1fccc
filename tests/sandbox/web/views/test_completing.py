"""The editors' completion data, over HTTP."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import store
from sandbox.web.schema.document import DIGESTS, TEXTS
from sandbox.web.schema.lessons import lesson_digests, lesson_texts
from sandbox.web.views.completing import CACHED_FOREVER
from scheduler_engine.lesson.schema import SCHEMAS
from scheduler_engine.versions import DEFAULT, VERSIONS

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_of_a_version_is_cached_under_its_own_address(version: str) -> None:
    answer = Client().get(f"/schema/{DIGESTS[version]}/")
    assert answer.status_code == 200
    assert answer.content.decode() == TEXTS[version]
    assert answer["Cache-Control"] == CACHED_FOREVER
    assert answer["Content-Type"] == "application/json"
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    of_lessons = Client().get(f"/schema/{lesson_digests()[version]}/")
    assert of_lessons.content.decode() == lesson_texts()[version]
    assert of_lessons["Cache-Control"] == CACHED_FOREVER


def test_under_an_older_address_it_is_not_cached() -> None:
    answer = Client().get("/schema/0123456789abcdef/")
    assert answer.content.decode() == TEXTS[DEFAULT]
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_of_files_is_the_one_of_the_engine(kind: str) -> None:
    answer = Client().get(f"/schema/{kind}.json")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/schema+json"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert json.loads(answer.content) == SCHEMAS[kind]()
    assert not answer.cookies


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_schema_of_scenarios_is_only_read(method: str) -> None:
    assert getattr(Client(), method)("/schema/scenario.json").status_code == 405


def test_the_schema_is_only_read() -> None:
    assert Client().post(f"/schema/{DIGESTS[DEFAULT]}/").status_code == 405


def test_the_page_names_the_address_for_each_version_and_which_one_holds(visitor: Any) -> None:
    page = unescape(visitor.get().content.decode())
    addresses = re.search('data-schemas="(\\{.*?\\})"', page)
    assert addresses is not None
    assert json.loads(addresses[1]) == {version: f"/schema/{digest}/" for version, digest in DIGESTS.items()}
    assert f'data-kubernetes="{DEFAULT}"' in page


def test_the_toolbar_names_the_version_of_the_present_also_in_the_past(visitor: Any) -> None:
    visitor.post("do/kubernetes/", version="v1.36")
    assert 'data-kubernetes="v1.36"' in visitor.get("panel/toolbar/?at=0").content.decode()


def test_the_offers_come_from_the_present_cluster(visitor: Any, node: Any) -> None:
    assert visitor.get("offers/").json()["nodes"] == []
    store.execute(visitor.sandbox, node("a"))
    data = visitor.get("offers/").json()
    assert (data["nodes"], data["schedulers"]) == (["a"], ["default-scheduler"])


def test_watchers_may_read_them_and_strangers_may_not(visitor: Any) -> None:
    assert visitor.watching().get("offers/").status_code == 200
    assert Client().get(visitor.url("offers/").replace(visitor.token, "wrong")).status_code == 404
