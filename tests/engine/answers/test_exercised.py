"""Which rules a run came across: each rule's own scenario does, and a run without it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import compare
from scheduler_engine.answers.exercised import IMPOSSIBLE, TRIGGERS, rule_uses, rules_met
from scheduler_engine.cli import main
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario, command_of, load_scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import ROWS, VERSIONS, rules_for

FOLDER = Path(__file__).parents[3] / "fixtures" / "versions"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}
OLD, MIDDLE, NEW = VERSIONS


def played(scenario: Scenario) -> tuple[Simulation, int]:
    """Play a scenario without its expectations. Return its simulation, and how many commands were refused."""
    simulation = Simulation(
        seed=scenario.seed,
        configuration=scenario.configuration,
        kubernetes=scenario.kubernetes,
        feature_gates=scenario.feature_gates,
    )
    refused = 0
    for command in (*scenario.setup, *map(command_of, scenario.then)):
        try:
            simulation.execute(commands.from_json(dict(command)))
        except Rejected:
            refused += 1
    return simulation, refused


def test_each_rule_has_a_trigger_or_is_impossible_here() -> None:
    rules = [row.name for row in ROWS]
    assert sorted({trigger.rule for trigger in TRIGGERS} | set(IMPOSSIBLE)) == sorted(rules)
    assert {trigger.rule for trigger in TRIGGERS}.isdisjoint(IMPOSSIBLE)
    assert sorted(FILES) == sorted(set(rules) - set(IMPOSSIBLE)), "each possible rule has a scenario"


@pytest.mark.parametrize("rule", FILES)
def test_the_scenario_of_a_rule_comes_across_it_and_shows_it(rule: str) -> None:
    scenario = load_scenario(FILES[rule])
    first, refused = played(scenario)
    assert refused == 0
    others = [version for version in VERSIONS if getattr(rules_for(version), rule) != getattr(first.rules, rule)]
    seconds = [played(replace(scenario, kubernetes=version, feature_gates=None)) for version in others]
    assert seconds
    for second, refusals in seconds:
        comparison = compare(first, second)
        use = next(use for use in comparison.rules if use.rule == rule)
        assert (use.exercised, use.possible) == (True, True)
        differs = [entry.event for entry in first.recorder.entries] != [
            entry.event for entry in second.recorder.entries
        ]
        assert differs or refusals


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_plain_run_comes_across_no_rule(kubernetes: str) -> None:
    """One node, so nothing is scored; no zone, no taint, and a pod that is bound at once."""
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), make_pod("p")).settle()
    cluster.apply(make_pod("q").cpu("64")).settle().delete("Pod", "p").settle().advance(60)
    assert rules_met(cluster.simulation.recorder.entries) == {*()}


def test_two_runs_of_one_version_differ_in_no_rule() -> None:
    one, other = Simulation(kubernetes=NEW), Simulation(kubernetes=NEW)
    assert rule_uses(one, other) == ()
    assert [*phrases.rules(compare(one, other))] == []


def test_the_rules_are_those_that_differ_in_the_order_of_the_table() -> None:
    uses = rule_uses(Simulation(kubernetes=MIDDLE), Simulation(kubernetes=NEW))
    names = [use.rule for use in uses]
    assert names == [row.name for row in ROWS if row.name in names]
    assert "draws_among_equals" not in names
    assert "scores_change_of_balance" in names
    assert not any(use.exercised for use in uses)


def test_feature_gates_are_rules_too() -> None:
    uses = rule_uses(
        Simulation(kubernetes=NEW), Simulation(kubernetes=NEW, feature_gates={"OpportunisticBatching": False})
    )
    assert [use.rule for use in uses] == ["reuses_rankings"]


def test_diff_says_what_was_tried_even_if_nothing_changes(tmp_path: Path, capsys: Any) -> None:
    path = FILES["dynamic_resources_weight"]
    assert main(["diff", str(path), "--kubernetes", "1.34,1.35"]) == 1
    output = capsys.readouterr().out
    assert output.startswith("Nothing changes for the pods: under both versions every attempt decides the\nsame.\n")
    came_up, others = output.split("rules did not come up.")
    assert "2 of the 32 rules that differ came up in these runs:" in came_up
    assert "  - DynamicResources scores nodes, with weight 2.\n" in came_up
    assert "  - The message about an untolerated taint names the taint.\n" in others
    assert "5 rules cannot come up here, because no run shows what they are about:" in others
    assert max(map(len, output.splitlines())) <= 80


def test_diff_lists_the_rules_after_the_differences(capsys: Any) -> None:
    assert main(["diff", str(FILES["names_untolerated_taint"]), "--kubernetes", "1.34,1.36"]) == 1
    output = capsys.readouterr().out
    assert output.index("figures at the end") < output.index("rules that differ came up in these runs:")
    assert main(["diff", str(FILES["names_untolerated_taint"]), "--kubernetes", "1.34,1.36", "--output", "json"]) == 1
    assert (
        '"rule": "names_untolerated_taint",\n      "exercised": true,\n      "possible": true'
        in capsys.readouterr().out
    )
