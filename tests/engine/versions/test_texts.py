"""Texts about wrong keys and values where no manifest has them: configurations, and selectors in requests."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.validation.selector_text import NotASelector, parse_selector, preferred_terms_problem
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.versions import VERSIONS, rules_for

Data = dict[str, Any]
OLD, MIDDLE, NEW = VERSIONS
LONG = "x" * 64
UNITS = dict(zip(VERSIONS, ("characters", "bytes", "bytes"), strict=True))
KINDS = dict(zip(VERSIONS, ("a qualified name", "a valid label key", "a valid label key"), strict=True))
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def with_args(name: str, **args: Any) -> Data:
    return {**HEAD, "profiles": [{"pluginConfig": [{"name": name, "args": args}]}]}


def spreading(key: str) -> Data:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}
    return with_args("PodTopologySpread", defaultingType="List", defaultConstraints=[constraint])


def attracted(key: str, *values: str) -> Data:
    expression = {"key": key, "operator": "In", "values": [*values]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return with_args("NodeAffinity", addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": required})


def extended(name: str) -> Data:
    extender = {"urlPrefix": "http://e", "filterVerb": "f", "managedResources": [{"name": name}]}
    return {**HEAD, "extenders": [extender]}


CONFIGURATIONS: dict[str, tuple[Data, str]] = {
    "a topology key": (spreading(LONG), "name part must be no more than 63 {unit}"),
    "a key of added affinity": (attracted(LONG, "a"), "name part must be no more than 63 {unit}"),
    "a value of added affinity": (attracted("a", LONG), "must be no more than 63 {unit}"),
    "a resource that Fit ignores": (
        with_args("NodeResourcesFit", ignoredResources=[LONG]),
        "name part must be no more than 63 {unit}",
    ),
    "a resource group that Fit ignores": (
        with_args("NodeResourcesFit", ignoredResourceGroups=[LONG]),
        "name part must be no more than 63 {unit}",
    ),
    "a resource of an extender": (extended("a/b/c"), "{kind} must consist of"),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("words", CONFIGURATIONS)
def test_an_error_in_a_configuration_is_worded_as_in_its_version(words: str, version: str) -> None:
    configuration, text = CONFIGURATIONS[words]
    with pytest.raises(Rejected) as refusal:
        Cluster(configuration, kubernetes=version)
    assert text.format(unit=UNITS[version], kind=KINDS[version]) in str(refusal.value)
    others = [other for other in VERSIONS if UNITS[other] != UNITS[version]]
    assert not any(text.format(unit=UNITS[other], kind=KINDS[other]) in str(refusal.value) for other in others)


UNABLE = "unable to parse requirement: "
SELECTORS = {
    f"{LONG}=a": UNABLE + '<nil>: Invalid value: "{long}": name part must be no more than 63 {unit}',
    f"a={LONG}": UNABLE + 'values[0][a]: Invalid value: "{long}": must be no more than 63 {unit}',
    "a/b/c": UNABLE + '<nil>: Invalid value: "a/b/c": {kind} must consist of',
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("text", SELECTORS)
def test_an_error_in_a_selector_is_worded_as_in_its_version(text: str, version: str) -> None:
    with pytest.raises(NotASelector) as problem:
        parse_selector(text, rules_for(version))
    assert str(problem.value).startswith(SELECTORS[text].format(long=LONG, unit=UNITS[version], kind=KINDS[version]))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_attempt_with_broken_affinity_fails_in_the_words_of_its_version(version: str) -> None:
    wrong = [{"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": [LONG]}]}}]
    text = preferred_terms_problem(wrong, rules_for(version))
    assert f"must be no more than 63 {UNITS[version]}" in text
    cluster = Cluster(kubernetes=version).apply(make_node("n1"), make_node("n2"))
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wrong}}
    cluster.simulation.api.create(set_defaults(make_pod("p").spec(affinity=affinity).obj()))
    cluster.settle().run()
    [condition] = cluster.pod("p").conditions
    assert text in condition["message"]


@pytest.mark.parametrize("text", ["a in (b,,)", "a in (,,)", "a notin (b,,c,,)"])
def test_values_may_end_with_two_commas_since_v1_35(text: str) -> None:
    with pytest.raises(NotASelector, match=r"found '\)', expected: ',', or identifier"):
        parse_selector(text, rules_for(OLD))
    for version in (MIDDLE, NEW):
        [requirement] = parse_selector(text, rules_for(version)).requirements
        assert "" in requirement.values
    for version in VERSIONS:
        [requirement] = parse_selector("a in (b,,c)", rules_for(version)).requirements
        assert requirement.values == ("", "b", "c")
