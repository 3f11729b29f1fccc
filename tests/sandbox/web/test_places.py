"""Open each place that docs/coverage.md names beside lessons and scenarios, and check its text."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from click.testing import CliRunner
from django.test import Client

from sandbox.changes.opening import open_scenario
from sandbox.content.scenarios import scenarios
from sandbox.web.api.routes import api
from scheduler_engine.cli import program
from tests.sandbox.conftest import Visitor
from tests.test_coverage import ANCHORS, ROOT
from tests.test_documents import anchors

OPENED = {
    f"{row}: {anchor['says']}": anchor for row, anchors in ANCHORS.items() for anchor in anchors if "says" in anchor
}


@functools.cache
def documented() -> set[str]:
    """Return method and path of every route."""
    paths = api.get_openapi_schema()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def visitor_after(slug: str) -> Visitor:
    """Return a visitor who has opened a scenario and given a waiting pod, if any, its turn."""
    sandbox, token = open_scenario(scenarios()[slug])
    visitor = Visitor(sandbox, token, Client())
    visitor.post("do/pod/")
    return visitor


def answer(anchor: dict[str, Any]) -> str:
    """Return the page or panel of an anchor."""
    if "after" not in anchor:
        response = Client().get(anchor["page"])
    else:
        path = f"panel/{anchor['panel']}/" if "panel" in anchor else anchor["page"]
        response = visitor_after(anchor["after"]).get(path, **anchor.get("query", {}))
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("anchor", OPENED.values(), ids=OPENED)
def test_a_place_that_is_named_can_be_opened_and_shows_it(anchor: dict[str, Any]) -> None:
    if "section" in anchor:
        document, _, heading = anchor["section"].partition("#")
        assert heading in anchors(ROOT / "docs" / document)
    elif "command" in anchor:
        assert CliRunner().invoke(program, [anchor["command"], "--help"]).exit_code == 0
    elif "route" in anchor:
        assert anchor["route"] in documented()
    elif "tested" in anchor:
        file, _, test = anchor["tested"].partition("::")
        assert f"\ndef {test}(" in (ROOT / "tests" / file).read_text()
    else:
        assert anchor["holds"].lower() in answer(anchor).lower()
