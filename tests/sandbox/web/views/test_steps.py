"""The steps of a scenario, as their button sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from sandbox.changes.opening import open_scenario
from sandbox.content.scenarios import scenarios
from sandbox.storage.models import Sandbox
from tests.sandbox.conftest import Visitor

pytestmark = pytest.mark.django_db


def opened(slug: str) -> Visitor:
    sandbox, token = open_scenario(scenarios()[slug])
    return Visitor(sandbox, token, Client())


def commands(visitor: Visitor) -> list[dict[str, Any]]:
    """Return the commands since the scenario was opened."""
    setup = len(scenarios()[visitor.sandbox.scenario].setup)
    return [json.loads(text) for text in visitor.sandbox.records.order_by("n").values_list("command", flat=True)][
        setup:
    ]


def test_a_step_is_the_command_of_the_scenario() -> None:
    visitor = opened("eviction-answers")
    answer = visitor.post("step/", n="1")
    assert (answer.status_code, answer.content) == (204, b"")
    assert [(command["kind"], command["pod"]) for command in commands(visitor)] == [("evict", "default/db-0")]


def test_a_step_that_two_people_press_is_taken_once() -> None:
    visitor = opened("toleration-seconds")
    for number in ("1", "2", "2", "1"):
        assert visitor.post("step/", n=number).status_code == 204
    assert [command["kind"] for command in commands(visitor)] == ["apply", "advance"]


def test_after_going_back_a_step_can_be_taken_again() -> None:
    visitor = opened("toleration-seconds")
    visitor.post("step/", n="1")
    visitor.post("do/back/")
    visitor.post("step/", n="1")
    assert Sandbox.objects.get(pk=visitor.sandbox.pk).head == len(scenarios()["toleration-seconds"].setup) + 1


def test_a_step_that_must_be_refused_is_refused_in_the_words_of_kubernetes() -> None:
    visitor = opened("pod-overhead-refused")
    answer = visitor.post("step/", n="1")
    assert answer.status_code == 422
    assert "Pod Overhead set without corresponding RuntimeClass defined Overhead" in answer.content.decode()
    assert commands(visitor) == []


@pytest.mark.parametrize("number", ["0", "6", "-1", "x", "", "1" * 20, "²"])
def test_a_missing_step_is_reported(number: str) -> None:
    assert opened("eviction-answers").post("step/", n=number).status_code == 400


def test_a_sandbox_without_a_scenario_has_no_steps(visitor: Any) -> None:
    assert visitor.post("step/", n="1").status_code == 400


def test_a_watcher_makes_no_step() -> None:
    visitor = opened("eviction-answers")
    assert visitor.watching().post("step/", n="1").status_code == 403
    assert commands(visitor) == []


@pytest.mark.parametrize(
    ("slug", "query", "tab"),
    [
        pytest.param("eviction-answers", {}, "evictions", id="on the tab that the scenario names"),
        pytest.param("eviction-answers", {"tab": "events"}, "events", id="on the tab that the link names"),
        pytest.param("pod-affinity-s1-s2", {}, "", id="on that of the stage, without a name"),
    ],
)
def test_the_workbench_opens(slug: str, query: dict[str, str], tab: str) -> None:
    page = opened(slug).get(**query).content.decode()
    assert f'data-view-tab="{tab}"' in page


def test_the_page_of_a_scenario_lists_its_steps_and_mentions_the_button_only_to_editors() -> None:
    visitor = opened("eviction-answers")
    page, watched = visitor.get().content.decode(), visitor.watching().get().content.decode()
    assert "<li>let 31 s pass: db-0 is back</li>" in page
    assert "Step 1 of 5” above" in page
    assert "above does what is described" not in watched
