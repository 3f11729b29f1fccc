"""Feature gates that need others: refused where somebody chooses them now, kept where a log has them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay
from scheduler_engine.scenario import read_scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster
from scheduler_engine.versions import GATES, NEEDS, VERSIONS, chosen_rules, rules_for
from scheduler_engine.versions.gates import ABSENT, default_of

OLD, MIDDLE, NEW = VERSIONS
DECLARED = "NodeDeclaredFeatures"
UNDECLARED = {DECLARED: False}
DEPENDENT = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
UNTOLD = {"DRAResourceClaimDeviceStatus": False}
ABOUT_DEVICES = ("DRADeviceBindingConditions", "DRAResourceClaimGranularStatusAuthorization")
BOTH = "RestartAllContainersOnContainerExits"


def lacking(gate: str, *needed: str) -> str:
    return f"{gate} is enabled, but depends on features that are disabled: [{' '.join(needed)}]"


REFUSED: dict[str, tuple[str, dict[str, bool], str]] = {
    "one that others need": (NEW, UNDECLARED, f"[{', '.join(lacking(gate, DECLARED) for gate in DEPENDENT)}]"),
    "all but one of these": (
        NEW,
        {**UNDECLARED, **dict.fromkeys(DEPENDENT[1:], False)},
        lacking(DEPENDENT[0], DECLARED),
    ),
    "one without what it needs": (
        MIDDLE,
        {DEPENDENT[1]: True},
        lacking(DEPENDENT[1], DECLARED),
    ),
    "one of two that it needs": (MIDDLE, {BOTH: True}, lacking(BOTH, DECLARED)),
    "both that it needs": (
        MIDDLE,
        {BOTH: True, "ContainerRestartRules": False},
        lacking(BOTH, "ContainerRestartRules", DECLARED),
    ),
    "the other of the two": (NEW, {"ContainerRestartRules": False}, lacking(BOTH, "ContainerRestartRules")),
    "binding conditions of devices": (
        MIDDLE,
        {"DRADeviceBindingConditions": True, **UNTOLD},
        lacking("DRADeviceBindingConditions", *UNTOLD),
    ),
    "two that are on": (
        NEW,
        UNTOLD,
        f"[{', '.join(lacking(gate, *UNTOLD) for gate in ABOUT_DEVICES)}]",
    ),
    "bundles": (
        MIDDLE,
        {"ClusterTrustBundleProjection": True},
        lacking("ClusterTrustBundleProjection", "ClusterTrustBundle"),
    ),
}
ACCEPTED: dict[str, tuple[str, dict[str, bool]]] = {
    "without the two about devices": (NEW, {**UNTOLD, **dict.fromkeys(ABOUT_DEVICES, False)}),
    "without all that need it": (NEW, {**UNDECLARED, **dict.fromkeys(DEPENDENT, False)}),
    "with what it needs": (MIDDLE, {DEPENDENT[1]: True, DECLARED: True}),
    "v1.34 knows no needs": (OLD, {"ClusterTrustBundleProjection": True}),
    "v1.35 needs less for user namespaces": (MIDDLE, {"UserNamespacesHostNetworkSupport": True}),
    "the defaults": (NEW, {}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_gate_without_those_that_it_needs_is_refused(words: str) -> None:
    version, gates, text = REFUSED[words]
    with pytest.raises(Rejected) as refusal:
        Cluster(kubernetes=version, feature_gates=gates)
    assert str(refusal.value) == text


@pytest.mark.parametrize("words", ACCEPTED)
def test_a_gate_with_those_that_it_needs_is_accepted(words: str) -> None:
    version, gates = ACCEPTED[words]
    assert chosen_rules(version, gates) == rules_for(version, gates)


def test_a_command_is_refused_only_if_it_is_new() -> None:
    command = commands.from_json({"kind": "kubernetes", "version": NEW, "feature_gates": UNDECLARED})
    simulation = Simulation(kubernetes=MIDDLE)
    with pytest.raises(Rejected) as refusal:
        simulation.execute(command, is_new=True)
    [error] = refusal.value.errors
    assert (error.path, lacking(BOTH, DECLARED) in error.message) == ("featureGates", True)
    assert simulation.rules == rules_for(MIDDLE)
    simulation.execute(command)
    assert simulation.rules == rules_for(NEW, UNDECLARED)
    log: dict[str, Any] = make_log(42, None, [command], kubernetes=NEW, feature_gates=UNDECLARED)
    assert replay(log).rules == rules_for(NEW, UNDECLARED)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("kubernetes: v1.36\nfeature_gates: {NodeDeclaredFeatures: false}\n", "feature_gates"),
        (
            "then: [{kubernetes: {version: v1.36, feature_gates: {NodeDeclaredFeatures: false}}}]\n",
            "then[0].kubernetes.feature_gates",
        ),
    ],
)
def test_a_scenario_with_such_a_gate_is_wrong(text: str, path: str) -> None:
    with pytest.raises(Rejected) as refusal:
        read_scenario(f"title: t\n{text}")
    [error] = refusal.value.errors
    assert (error.path, lacking(BOTH, DECLARED) in error.message) == (path, True)


@pytest.mark.parametrize("gate", NEEDS)
def test_the_defaults_of_each_version_have_what_they_need(gate: str) -> None:
    for place, needed in enumerate(NEEDS[gate]):
        assert not default_of(gate, VERSIONS[place]) or all(default_of(name, VERSIONS[place]) for name in needed)
        assert all(GATES[name].defaults[place] != ABSENT for name in (gate, *needed) if needed)
