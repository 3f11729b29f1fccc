"""A scenario is written, read and written again: the same scenario, and the same text byte for byte."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_engine.commands import from_json
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario, read_scenario
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.writing import dump
from tests.engine import histories
from tests.installed import SCENARIOS


def comes_back(scenario: Scenario) -> str:
    """Return a scenario's text. Assert that reading it gives the same scenario and the same text."""
    text = dump(scenario)
    again = read_scenario(text, f"{scenario.slug}.yaml")
    assert again == scenario
    assert dump(again) == text
    return text


@pytest.mark.parametrize("slug", SCENARIOS)
def test_a_scenario_of_this_installation_comes_back(slug: str) -> None:
    comes_back(SCENARIOS[slug])


def test_repeated_data_is_written_twice() -> None:
    twice = {"a": [1, 2], "b": {"c": "d " * 60}}
    text = comes_back(scenario_with({"first": twice, "second": twice}))
    assert not [event for event in yaml.parse(text) if getattr(event, "anchor", None)]


def scenario_with(value: Any) -> Scenario:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": value}
    step = {"kind": "patch", "object_kind": "ConfigMap", "key": "default/x", "changes": manifest}
    return Scenario("s", "t", setup=(step,))


ODD = [
    "", " ", "on", "yes", "No", "y", "null", "~", "1e3", "0x1", "010", "0o7", "1_000", "1:30", "2026-01-01", "1.", ".5",
    ".inf", "-.INF", ".nan", "=", "<<", "- a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", "?",
    "? a", "{a", "[a", "a,b", "a]", "'a'", '"a"', "a\\b", "a\nb", "a\n\nb\n", "\na", " a\nb", "a \nb", "a\n", "a\tb",
    "\t", "a\r\nb", "\x85", "a\u2028b", "\ufeff", "\xa0", "é", "日本語", "😀", "a" * 300, "word " * 40,
    "word " * 40 + "end", "two  spaces " * 20, "---", "...", "--- a", "true", "False", "NULL", "+1", "-0",
    "0b1", "1e", "e1", "\x7f", "\x1b[0m", "line: with: colons and # marks " * 5, "a: |\n  b", "\\n", "word\n" * 40,
    "x" * 130 + ": y",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD, ids=repr)
def test_an_odd_text_comes_back_as_value_and_as_key(text: str) -> None:
    comes_back(scenario_with({"a": text, "b": [text, {"c": text}], "d": {text or "k": 1}}))
    comes_back(Scenario("s", text, about=text, expect=({"trace": [text]},)))


@pytest.mark.parametrize(
    "number",
    [
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**63,
        2**64,
        10**30,
        0.1,
        1e-7,
        1.5e-300,
        1e22,
        5.0,
        -0.0,
        1.7976931348623157e308,
        True,
    ],
)
def test_a_number_comes_back_as_it_is(number: float) -> None:
    scenario = scenario_with({"a": number})
    (step,) = read_scenario(comes_back(scenario), "s.yaml").setup
    value = step["changes"]["data"]["a"]
    assert (type(value), repr(value)) == (type(number), repr(number))


def test_a_number_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(Rejected, match="more than 40 digits"):
        dump(scenario_with({"a": [{"b": 10**41}]}))


TEXTS = st.one_of(
    st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=120)
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), TEXTS
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@given(value=st.dictionaries(TEXTS, VALUES, max_size=5))
@example(value={"on": {"true": "yes"}})
def test_any_json_value_comes_back(value: Any) -> None:
    comes_back(scenario_with(value))


@given(
    title=TEXTS,
    tags=st.lists(st.from_regex("[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), max_size=3),
    texts=st.lists(TEXTS, min_size=5, max_size=5),
    seed=st.integers(),
    opened=st.lists(st.just({"clock": 0}), max_size=2),
    then=st.lists(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["run", "stage", "settle"])},
            optional={
                "say": TEXTS.filter(lambda text: len(text) <= 60),
                "refused": TEXTS,
                "expect": st.lists(st.just({"gone": "default/a"}), max_size=2).map(tuple),
            },
        ),
        max_size=3,
    ),
)
def test_any_scenario_comes_back(
    title: str, tags: list[str], texts: list[str], seed: int, opened: list[Any], then: list[Any]
) -> None:
    group, about, outcome, source, tab = texts
    named = [{**step, "name": f"step {number}"} for number, step in enumerate(then)]
    said = (title, group, (*tags,), about, outcome, source)
    comes_back(Scenario("s", *said, seed % 10**40, tab=tab, opened=(*opened,), then=(*named,)))


COMMANDS = st.one_of(
    histories.NEW_PODS, histories.VIPS, histories.WRITES, histories.AROUND, histories.TROUBLE, histories.STEPS,
    histories.LONGER, histories.REPLICAS, histories.MISHAPS, histories.faults(),
)  # fmt: skip


@given(commands=st.lists(COMMANDS, max_size=8), configuration=histories.CONFIGURATIONS)
def test_random_commands_come_back(commands: list[Any], configuration: Any) -> None:
    scenario = from_log(1, configuration, "v1.34", [histories.START, *commands], setup=2)
    comes_back(scenario)
    steps = [*scenario.setup, *scenario.then]
    assert [from_json(step) for step in steps] == [histories.START, *commands]


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}


def test_keys_have_a_fixed_order_and_short_values_are_on_one_line() -> None:
    scenario = Scenario(
        "s",
        "on",
        "D1",
        about="one\ntwo\n",
        seed=7,
        configuration={"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
        setup=(
            {
                "kind": "apply",
                "manifests": [
                    {
                        "apiVersion": "v1",
                        "kind": "Node",
                        "metadata": {"name": "n1"},
                        "status": {"capacity": {"cpu": "4"}},
                    }
                ],
            },
        ),
        then=({"kind": "advance", "seconds": 2.0, "say": "wait", "expect": ({"gone": "default/a"},)},),
        expect=({"pod": "default/web", "node": "n1"},),
        opened=({"clock": 0},),
        engine="0.1.0",
    )
    assert dump(scenario) == (
        "apiVersion: scheduler-sandbox/v1\nkind: Scenario\n"
        'title: "on"\ngroup: D1\nabout: |\n  one\n  two\nengine: 0.1.0\nseed: 7\n'
        "configuration: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}\n"
        "setup:\n- apply:\n  - apiVersion: v1\n    kind: Node\n    metadata: {name: n1}\n"
        '    status: {capacity: {cpu: "4"}}\n'
        "then:\n- expect:\n  - {clock: 0}\n- advance: {seconds: 2}\n  say: wait\n  expect:\n  - {gone: default/a}\n"
        "expect:\n- {pod: default/web, node: n1}\n"
    )


@pytest.mark.parametrize("slug", ["memory-pressure", "spread-conflicting-constraints", "sampling-250-nodes"])
def test_another_reader_of_yaml_reads_the_same(slug: str) -> None:
    scenario = SCENARIOS[slug]
    other = yaml.safe_load(dump(dataclasses.replace(scenario, expect=())))
    manifests = [manifest for step in scenario.setup if step["kind"] == "apply" for manifest in step["manifests"]]
    assert [manifest for step in other["setup"] for manifest in step.get("apply", ())] == manifests


def test_a_version_and_its_gates_come_back() -> None:
    gates = {"OpportunisticBatching": False}
    step = {"kind": "kubernetes", "version": "v1.35", "feature_gates": {"NodeDeclaredFeatures": True}}
    scenario = Scenario(
        "s", "t", kubernetes="v1.36", feature_gates=gates, setup=(step, {"kind": "kubernetes", "version": "v1.34"})
    )
    text = comes_back(scenario)
    assert "\nkubernetes: v1.36\nfeature_gates: {OpportunisticBatching: false}\n" in text
    assert "- kubernetes: {version: v1.34}\n" in text
    assert scenario.open().rules.kubernetes == "v1.34"


def test_the_default_version_is_not_written() -> None:
    assert "kubernetes" not in dump(Scenario("s", "t", kubernetes="v1.34"))
