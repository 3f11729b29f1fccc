"""The dialog that injects faults, and Allow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.view import View
from tests.sandbox.inside import fragments

pytestmark = pytest.mark.django_db


def panel(visitor: Any, name: str) -> str:
    return str(fragments(visitor.row(), View(), [name], True)[name].html)


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        pytest.param(
            {"point": "bind", "plugin": "DefaultBinder", "answer": "error", "seconds": "10"},
            {"point": "bind", "plugin": "DefaultBinder", "answer": "error", "seconds": 0},
            id="the next bind is refused",
        ),
        pytest.param(
            {"point": "bind", "plugin": "DefaultBinder", "answer": "wait", "seconds": "2.5"},
            {"point": "bind", "plugin": "DefaultBinder", "answer": "wait", "seconds": 2.5},
            id="the next bind is slow",
        ),
        pytest.param(
            {"point": "permit", "plugin": "NodeName", "answer": "deny", "profile": "default-scheduler"},
            {"point": "permit", "plugin": "NodeName", "answer": "deny", "profile": "default-scheduler"},
            id="a Permit plugin says no",
        ),
    ],
)
def test_a_wish_becomes_a_command_and_closes_the_dialog(
    visitor: Any, fields: dict[str, str], command: dict[str, Any]
) -> None:
    answer = visitor.post("break/", who="Ada", **fields)
    assert (answer.status_code, answer.headers["HX-Trigger"]) == (204, "fault-set")
    assert command.items() <= json.loads(visitor.log()[0]).items()
    assert "command 1, Ada" in panel(visitor, "faults")


def test_the_author_of_a_fault_is_known_after_going_back_and_on_another_worker(visitor: Any, on_worker: Any) -> None:
    visitor.post("break/", who="Ada", point="bind", plugin="DefaultBinder", answer="error")
    visitor.post("break/", who="Bob", point="permit", plugin="NodeName", answer="deny")
    visitor.post("do/advance/", seconds="1")
    visitor.post("do/back/")
    assert "Ada" in panel(visitor, "faults")
    with on_worker("b"):
        html = panel(visitor, "faults")
    assert "command 1, Ada" in html
    assert "command 2, Bob" in html


@pytest.mark.parametrize(
    ("point", "plugin", "fields", "words"),
    [
        pytest.param("bind", "NodeName", {}, "does not take part in bind", id="a plugin of another point"),
        pytest.param("score", "NodeAffinity", {"answer": "deny"}, "cannot answer", id="an answer of another point"),
        pytest.param("bind", "DefaultBinder", {"answer": "wait", "seconds": "x"}, "a number", id="not a number"),
        pytest.param("bind", "DefaultBinder", {"profile": "nobody"}, "no profile", id="an unknown profile"),
        pytest.param("", "", {}, "is missing", id="empty"),
    ],
)
def test_an_impossible_fault_is_reported_in_the_dialog(
    visitor: Any, point: str, plugin: str, fields: dict[str, str], words: str
) -> None:
    answer = visitor.post("break/", point=point, plugin=plugin, **fields)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert 'id="form-fault"' in answer.content.decode()
    assert visitor.log() == []


def test_the_form_offers_the_plugins_and_answers_of_the_chosen_point(visitor: Any) -> None:
    html = visitor.get("faults/", point="preBind").content.decode()
    assert '<option value="preBind" selected>' in html
    assert "<option>VolumeBinding</option>" in html
    assert '<option value="wait">' in html
    assert '<option value="wait">' not in visitor.get("faults/", point="score").content.decode()


def test_a_pod_that_waits_on_permit_is_allowed_with_one_press(visitor: Any, node: Any, pod: Any) -> None:
    store.execute(visitor.sandbox, node("n1"))
    store.execute(visitor.sandbox, pod("web"))
    visitor.post("break/", point="permit", plugin="NodeName", answer="wait", seconds="15")
    visitor.post("do/settle/")
    assert "Allow" in panel(visitor, "bindings")
    assert visitor.post("allow/", pod="default/web").status_code == 204
    visitor.post("do/settle/")
    assert "Allow" not in panel(visitor, "bindings")
    assert visitor.post("allow/", pod="default/web").status_code == 422
