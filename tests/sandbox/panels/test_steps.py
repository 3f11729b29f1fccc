"""Steps of a scenario: the ones done, the next one, and the sentence on it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from sandbox.content.scenarios import command, guide, scenarios, story_of, story_text
from sandbox.panels import TABS, View, World
from sandbox.panels.inspector import panel as inspector
from sandbox.panels.model.steps import next_steps, steps_done
from scheduler_engine.scenario import Scenario, command_of
from scheduler_engine.testing import make_pod
from tests.sandbox.scenarios import advance, delete, evict, looking_back, panel_html, world_after

html = partial(panel_html, "sentence")

SLUG = "eviction-answers"
REFUSING = "pod-overhead-refused"


def guided(slug: str, *steps: dict[str, Any]) -> World:
    world = world_after(slug, *steps)
    world.guide = guide(slug)
    return world


def step(slug: str, number: int) -> dict[str, Any]:
    next_command = command(slug, "", number)
    assert next_command is not None
    return next_command


@pytest.mark.parametrize(
    ("slug", "steps", "number"),
    [
        pytest.param(SLUG, [], 0, id="no step counts at the opening"),
        pytest.param(SLUG, [evict("db-0")], 1, id="a step counts whoever took it"),
        pytest.param(SLUG, [advance(5), evict("db-0"), advance(3)], 1, id="other commands between them do not count"),
        pytest.param(SLUG, [evict("db-1"), advance(31)], 0, id="a later step does not count before the first one"),
        pytest.param(SLUG, [evict("db-0"), evict("db-1"), advance(31)], 3, id="steps count in their order"),
        pytest.param(REFUSING, [step(REFUSING, 4)], 4, id="refused steps leave no trace and are skipped"),
        pytest.param("pod-affinity-s1-s2", [{"kind": "run"}], 0, id="a scenario with only a setup has none"),
    ],
)
def test_steps_are_taken_in_order(slug: str, steps: list[dict[str, Any]], number: int) -> None:
    assert steps_done(guided(slug, *steps)) == number


def web(cpu: str) -> dict[str, Any]:
    return {"kind": "apply", "manifests": [make_pod("web").cpu(cpu).obj()]}


CONFIGURE = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
CONFIGURED = {"kind": "configure", "configuration": {**CONFIGURE, "percentageOfNodesToScore": 50}}
SAME = [
    pytest.param(web("1"), web("1"), 1, id="the same manifest"),
    pytest.param(web("1"), web("8"), 0, id="a manifest with a larger request"),
    pytest.param(CONFIGURED, {"kind": "configure"}, 0, id="another configuration"),
    pytest.param({"kind": "run", "cycles": 1000}, {"kind": "run"}, 1, id="an explicit default"),
    pytest.param(advance(1) | {"play": True}, advance(3) | {"play": True}, 1, id="a tick of playing, however long"),
]


@pytest.mark.parametrize(("step", "command", "number"), SAME)
def test_a_step_is_taken_by_a_command_with_the_same_content(
    step: dict[str, Any], command: dict[str, Any], number: int
) -> None:
    story = story_of(Scenario("s", "s", then=(step, {"kind": "settle"})))
    world = world_after(SLUG, command)
    world.guide = replace(guide("", story_text(story)), setup=len(world.commands) - 1)
    assert steps_done(world) == number


def test_the_next_step_is_offered_until_all_are_taken() -> None:
    first = {"number": 1, "text": "evict db-0"}
    assert next_steps(guided(SLUG)) == {"first": first, "more": [], "of": 5, "over": False}
    steps = [command_of(step) for step in scenarios()[SLUG].then]
    assert next_steps(guided(SLUG, *steps)) == {"first": None, "more": [], "of": 5, "over": True}


def test_behind_steps_that_will_be_refused_the_next_ones_are_offered_too() -> None:
    completions = next_steps(guided(REFUSING))
    assert (completions["first"]["number"], [row["number"] for row in completions["more"]]) == (1, [2, 3, 4])


def test_a_sandbox_without_a_scenario_offers_nothing() -> None:
    assert next_steps(World()) == {"first": None, "more": [], "of": 0, "over": False}


def test_a_scenario_of_an_older_version_has_no_steps_any_more() -> None:
    assert guide("long-gone").steps == ()
    assert command("long-gone", "", 1) is None


@pytest.mark.parametrize("number", [-1, 0, 6])
def test_a_missing_step_has_no_command(number: int) -> None:
    assert command(SLUG, "", number) is None


@pytest.mark.parametrize("slug", [slug for slug in scenarios() if guide(slug).steps])
def test_every_step_has_words_that_fit_on_its_button(slug: str) -> None:
    for offer in guide(slug).steps:
        assert 0 < len(offer.text) <= 60
        assert "default/" not in offer.text


WORDS_OF_BUTTONS = {
    "stage": r"press Stage\b",
    "pod": r"press Pod\b",
    "settle": r"press Settle\b",
    "advance": r"let .+ pass\b",
    "run": r"let .+ run\b",
    "delete": r"delete \w",
    "evict": r"evict \w",
    "drain": r"drain \w",
    "cordon": r"(un)?cordon \w",
    "scale": r"scale \w",
    "kill": r"kill \w",
    "release": r"release\b",
    "resume": r"resume \w",
    "heal": r"heal \w",
}
"""Commands and replica actions with a button on the page. Several buttons let time pass."""


@pytest.mark.parametrize("slug", [slug for slug in scenarios() if guide(slug).steps])
def test_a_step_has_its_own_text_and_that_of_the_button_with_the_same_effect(slug: str) -> None:
    for step in scenarios()[slug].then:
        words = WORDS_OF_BUTTONS.get(step.get("action", step["kind"]), "")
        assert re.match(words, step["say"]), step["say"]


def test_no_step_of_the_leader_that_is_killed_stays_on_the_button_forever() -> None:
    world = guided("leader-killed", *map(command_of, scenarios()["leader-killed"].then[:4]))
    assert steps_done(world) == 4
    assert [command.summary for command in world.commands[world.guide.setup :]][-1] == "settle"
    assert next_steps(world)["first"]["text"] == "let 10 s pass: the lease still counts"


def test_only_an_editor_sees_the_button_and_only_in_the_present() -> None:
    world = guided(SLUG, evict("db-0"))
    assert "Step 2 of 5" in html(world)
    assert "evict db-1 as well" in html(world)
    assert "now-step" not in html(world, can_edit=False)
    assert "now-step" not in html(looking_back(world, world.by_number[1].last_entry))


def test_the_inspector_makes_room_for_the_scenario_until_somebody_does_something() -> None:
    world = guided(SLUG)
    assert inspector.stats(world, View())["kind"] == "none"
    assert inspector.stats(world, View(pod="default/db-0"))["kind"] == "pod"
    assert inspector.stats(guided(SLUG, advance(1)), View())["kind"] == "pod"


def test_a_scenario_opens_on_a_tab_that_the_workbench_has() -> None:
    assert {scenario.tab for scenario in scenarios().values()} <= {"", *TABS}
    assert scenarios()[SLUG].tab == "evictions"


def test_the_words_of_a_step_are_its_own_or_those_of_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (delete("Pod", "web-1"), advance(31), advance(5) | {"say": "let 5 s pass: nothing moves"})
    own = Scenario("with-few-words", "t", "D1", "a", "o", "s", then=steps)
    monkeypatch.setattr("sandbox.content.scenarios.scenarios", lambda: {own.slug: own})
    texts = [offer.text for offer in guide(own.slug).steps]
    assert texts == ["delete Pod web-1", "let 31 s pass", "let 5 s pass: nothing moves"]


def test_a_deletion_is_the_command_of_its_step() -> None:
    assert delete("PodDisruptionBudget", "forgotten") == command("eviction-two-budgets", "", 2)
