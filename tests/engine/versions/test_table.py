"""The table of rules: complete, explained, with gates, and carried into a simulation and its log."""

from __future__ import annotations

import ast
import copy
import pickle
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import scheduler_engine
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest, trace_lines
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.versions import (
    DEFAULT,
    GATES,
    NEEDS,
    ROWS,
    UNSIMULATED,
    VERSIONS,
    Rules,
    explanation,
    minor,
    rules_for,
)
from scheduler_engine.versions.gates import ABSENT, LOCKED, OFF, ON

OTHERS = VERSIONS[1:]
POD_GROUPS = ("GangScheduling", "GenericWorkload", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption")


def test_every_row_is_a_field_and_every_field_a_row() -> None:
    names = [item.name for item in fields(Rules)]  # type: ignore[arg-type]
    assert names == ["kubernetes", "feature_gates", *(row.name for row in ROWS)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_a_value_per_version_or_a_gate_a_sentence_and_a_source(row: Any) -> None:
    assert len(row.values) == len(VERSIONS) or (row.values == () and (row.gate or row.gates))
    assert row.gate in {"", *GATES}
    assert {*row.gates} <= {*GATES, *UNSIMULATED}
    assert explanation(row).endswith(".")
    assert row.source


@pytest.mark.parametrize("row", [row for row in ROWS if row.values], ids=lambda row: row.name)
def test_a_row_differs_between_versions(row: Any) -> None:
    assert len(dict.fromkeys(row.values)) > 1


@pytest.mark.parametrize("gate", GATES.values(), ids=lambda gate: gate.name)
def test_a_gate_has_a_default_per_version_and_a_rule_unless_it_is_locked(gate: Any) -> None:
    assert len(gate.defaults) == len(VERSIONS)
    assert {*gate.defaults} <= {ABSENT, OFF, ON, LOCKED}
    has_rule = any(gate.name in (row.gate, *row.gates) for row in ROWS)
    assert {*gate.defaults} == {LOCKED} or has_rule or gate.name in NEEDS or gate.name in str(NEEDS.values())


@pytest.mark.parametrize(
    ("kubernetes", "gates", "message"),
    [
        pytest.param(
            "v1.33", {}, "unknown Kubernetes version 'v1.33'; known are v1.34 or v1.35 or v1.36", id="version"
        ),
        pytest.param("v1.36", {"Magic": True}, "unrecognized feature gate: Magic", id="a gate that nobody knows"),
        pytest.param(
            "v1.34",
            {"OpportunisticBatching": True},
            "unrecognized feature gate: OpportunisticBatching",
            id="a later gate",
        ),
        pytest.param(
            "v1.34",
            {"DRADeviceBindingConditions": True},
            "the feature gate DRADeviceBindingConditions cannot be turned on: what it does is not simulated",
            id="a gate that changes nothing here yet",
        ),
        *(
            pytest.param(
                "v1.36",
                {gate: True},
                f"the feature gate {gate} cannot be turned on: what it does is not simulated",
                id=f"pod groups: {gate}",
            )
            for gate in POD_GROUPS
        ),
        *(
            pytest.param("v1.34", {gate: True}, f"unrecognized feature gate: {gate}", id=f"v1.34 has no {gate}")
            for gate in POD_GROUPS
        ),
        pytest.param(
            "v1.35",
            {"SchedulerPopFromBackoffQ": False},
            "the feature gate SchedulerPopFromBackoffQ cannot be turned off: the scheduler without it is not simulated",
            id="a gate that is always on here",
        ),
        pytest.param(
            "v1.36",
            {"InPlacePodVerticalScaling": False},
            "cannot set feature gate InPlacePodVerticalScaling to false, feature is locked to true",
            id="a locked gate that changes nothing here",
        ),
        pytest.param(
            "v1.36",
            {"SchedulerQueueingHints": False},
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
            id="a locked gate",
        ),
    ],
)
def test_unknown_versions_and_gates_are_refused(kubernetes: str, gates: dict[str, bool], message: str) -> None:
    with pytest.raises(Rejected) as refusal:
        Simulation(kubernetes=kubernetes, feature_gates=gates)
    assert str(refusal.value) == message


def test_a_gate_overrides_the_default_of_its_version() -> None:
    off = {"NominatedNodeNameForExpectation": False}
    assert rules_for("v1.35").nominates_before_binding
    assert not rules_for("v1.35", off).nominates_before_binding
    assert rules_for("v1.35", off).feature_gates == (("NominatedNodeNameForExpectation", False),)


@pytest.mark.parametrize("row", [row for row in ROWS if row.gate and row.values], ids=lambda row: row.name)
@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_rule_with_values_and_a_gate_needs_both(row: Any, kubernetes: str) -> None:
    value = row.values[VERSIONS.index(kubernetes)]
    possible = GATES[row.gate].defaults[VERSIONS.index(kubernetes)] != ABSENT
    assert getattr(rules_for(kubernetes, {row.gate: True} if possible else {}), row.name) == (value and possible)
    assert not getattr(rules_for(kubernetes, {row.gate: False} if possible else {}), row.name)


def test_no_version_has_a_gate_in_both_tables() -> None:
    twice = GATES.keys() & UNSIMULATED.keys()
    pairs = [zip(GATES[name].defaults, UNSIMULATED[name].defaults, strict=True) for name in sorted(twice)]
    assert all(ABSENT in pair for pair in chain(*pairs))


def test_a_gate_set_to_its_default_changes_nothing() -> None:
    unchanged = {name: gate.defaults[-1] in (ON, LOCKED) for name, gate in UNSIMULATED.items()}
    there = {name: on for name, on in unchanged.items() if UNSIMULATED[name].defaults[-1] != ABSENT}
    gates = {"NodeDeclaredFeatures": True, "SchedulerQueueingHints": True, **there}
    assert rules_for("v1.36", gates) == rules_for("v1.36")


EITHER_WAY = [
    (kubernetes, gate.name, on)
    for gate in GATES.values()
    for kubernetes, default in zip(VERSIONS, gate.defaults, strict=True)
    for on in (False, True)
    if default != ABSENT and (on or default != LOCKED)
]


@pytest.mark.parametrize(("kubernetes", "gate", "on"), EITHER_WAY)
def test_every_version_runs_with_each_of_its_gates_on_or_off(kubernetes: str, gate: str, on: bool) -> None:
    simulation = Simulation(kubernetes=kubernetes, feature_gates={gate: on})
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("p").obj(), make_pod("q").cpu("64").obj())))
    simulation.execute(commands.Settle())
    assert [simulation.api.pod(f"default/{name}").node_name for name in "pq"] == ["n1", ""]  # type: ignore[union-attr]


@pytest.mark.parametrize(("release", "version"), [("v1.35.6", "v1.35"), ("v1.34", "v1.34")])
def test_a_release_belongs_to_a_version(release: str, version: str) -> None:
    assert minor(release) == version


def played(**settings: Any) -> Simulation:
    simulation = Simulation(seed=1, **settings)
    manifests = make_node("n1").taint("dedicated", "gpu").obj(), make_pod("p").obj()
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Settle())
    return simulation


@pytest.mark.parametrize("kubernetes", OTHERS)
def test_a_log_replays_under_its_version_and_gates(kubernetes: str) -> None:
    gates = {"OpportunisticBatching": False}
    simulation = played(kubernetes=kubernetes, feature_gates=gates)
    assert simulation.history is not None
    log = make_log(1, None, simulation.history.commands, kubernetes=kubernetes, feature_gates=gates)
    assert (log["kubernetes"], log["feature_gates"]) == (kubernetes, gates)
    assert trace_digest(replay(log)) == trace_digest(simulation)
    assert trace_digest(replay({**log, "kubernetes": "v1.34", "feature_gates": {}})) != trace_digest(simulation)


def test_a_log_and_a_trace_of_the_default_version_do_not_name_it() -> None:
    simulation = played()
    assert simulation.history is not None
    assert {"kubernetes", "feature_gates"}.isdisjoint(make_log(1, None, simulation.history.commands))
    configured = next(line for line in trace_lines(simulation) if '"type": "Configured"' in line)
    assert '"kubernetes"' not in configured
    assert '"feature_gates"' not in configured
    named = next(line for line in trace_lines(played(kubernetes="v1.36")) if '"type": "Configured"' in line)
    assert '"kubernetes": "v1.36"' in named


@pytest.mark.parametrize("gates", [["OpportunisticBatching"], {"OpportunisticBatching": "yes"}])
def test_a_log_with_wrong_gates_is_refused(gates: Any) -> None:
    with pytest.raises(Rejected, match="must be a mapping of names to true or false"):
        replay({"commands": [], "kubernetes": "v1.36", "feature_gates": gates})


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_copy_and_an_undone_command_keep_the_rules(kubernetes: str) -> None:
    simulation = played(kubernetes=kubernetes)
    wanted = rules_for(kubernetes)
    for item in (copy.deepcopy(simulation), pickle.loads(pickle.dumps(simulation)), simulation.as_of(10)):
        assert (item.rules, item.scheduler.rules, item.api.rules) == (wanted, wanted, wanted)


def test_a_new_configuration_keeps_the_rules() -> None:
    simulation = played(kubernetes="v1.36")
    manifest = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    simulation.execute(commands.Configure(manifest))
    assert "NodeDeclaredFeatures" in simulation.scheduler.profiles["default-scheduler"].plugins


def test_the_default_is_the_oldest() -> None:
    assert (DEFAULT, Simulation().rules) == (VERSIONS[0], rules_for(VERSIONS[0]))


def test_code_asks_for_rules_not_for_versions() -> None:
    """Only the tables name versions. v1.34 is also the name of the queue rules, and the default of old traces."""
    engine = Path(scheduler_engine.__file__).parent
    named = [
        f"{path.relative_to(engine)}:{node.lineno}: {node.value}"
        for path in sorted(engine.rglob("*.py"))
        if path.parent.name != "versions"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in OTHERS
    ]
    compared = [
        f"{path.relative_to(engine)}:{node.lineno}"
        for path in sorted(engine.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        and any(ast.unparse(part).endswith(".kubernetes") for part in (node.left, *node.comparators))
    ]
    assert named + compared == []
