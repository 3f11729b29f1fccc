"""Changes of manifests: what a form changes in what it shows in part, and what differs as a merge patch."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.web.forms import form_of
from sandbox.web.forms.merging import merge_patch, overlaid, unshown
from sandbox.web.forms.reading import READERS
from sandbox.web.presets import CLUSTERS, MANIFESTS
from scheduler_engine.api.fields import well_typed
from scheduler_engine.api.objects import merge
from scheduler_engine.api.validation import validate

ROOT = Path(__file__).resolve().parents[2]
PLAIN = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["a", "b", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
MAPPINGS = st.dictionaries(st.sampled_from("abc"), PLAIN, max_size=3)


def without_nulls(value: Any) -> Any:
    """A merge patch cannot set a member to null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


@cache
def manifests() -> list[Any]:
    """Objects that a form shows: all of the scenarios, presets and example manifests."""
    found: list[dict[str, Any]] = []
    for path in sorted(ROOT.glob("fixtures/scenarios/*.yaml")):
        scenario = yaml.load(path.read_text(), yaml.CSafeLoader)
        commands = [*(scenario.get("setup") or ()), *(scenario.get("then") or ())]
        found += [item for command in commands for item in command.get("apply") or ()]
    for preset in (*CLUSTERS, *MANIFESTS):
        found += [item for item in yaml.load_all(preset.text, yaml.CSafeLoader) if item]
    shown = {
        f"{item['kind']} {item['metadata'].get('name')}": item
        for item in found
        if item.get("kind") in READERS and not validate(item)
    }
    return [pytest.param(item, id=name) for name, item in shown.items()]


@pytest.mark.parametrize("manifest", manifests())
def test_a_form_that_nobody_touches_changes_nothing(manifest: dict[str, Any]) -> None:
    before = copy.deepcopy(manifest)
    form = form_of(manifest["kind"]).of(manifest)
    assert form.is_valid(), form.errors
    assert overlaid(manifest, form.made(), form.made()) == before
    labelled = form_of(manifest["kind"]).of(manifest)
    assert labelled.is_valid()
    made = overlaid(manifest, form.made(), labelled.made() | {"apiVersion": "v9"})
    assert made == before | {"apiVersion": "v9"}


@pytest.mark.parametrize("manifest", manifests())
def test_what_a_form_makes_it_shows_again(manifest: dict[str, Any]) -> None:
    form = form_of(manifest["kind"]).of(manifest)
    assert form.is_valid()
    again = type(form).of(form.made())
    assert again.is_valid(), again.errors
    assert again.made() == form.made()
    assert unshown(form.made(), again.made()) == []


def spoilt(value: Any, draw: st.DataObject) -> Any:
    """The same with junk here and there."""
    if draw.draw(st.integers(0, 11)) == 0:
        return draw.draw(PLAIN)
    if isinstance(value, dict):
        return {key: spoilt(item, draw) for key, item in value.items() if draw.draw(st.integers(0, 15))}
    return [spoilt(item, draw) for item in value] if isinstance(value, list) else value


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([item.values[0] for item in manifests()]), st.data())
def test_a_form_shows_what_it_can_of_anything(manifest: dict[str, Any], draw: st.DataObject) -> None:
    parts = {name: spoilt(value, draw) for name, value in manifest.items()}
    junk = parts | {"kind": manifest["kind"]}
    form = form_of(junk["kind"]).of(junk)
    if form.is_valid():
        shown = form.made_for(well_typed(junk, junk["kind"]))
        made = overlaid(junk, shown, shown | {"apiVersion": "v9"})
        assert made == junk | {"apiVersion": "v9"}
        unshown(junk, form.made())


@given(MAPPINGS, MAPPINGS)
def test_a_merge_patch_makes_one_of_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    before, after = without_nulls(before), without_nulls(after)
    assert merge(before, merge_patch(before, after)) == after
    assert merge_patch(before, before) == {}


@given(MAPPINGS, MAPPINGS)
def test_a_form_that_shows_everything_makes_what_it_makes(before: dict[str, Any], after: dict[str, Any]) -> None:
    made = overlaid(before, before, after)
    assert made == after


@given(PLAIN, PLAIN)
def test_what_is_not_changed_stays(now: Any, shown: Any) -> None:
    assert overlaid(now, shown, copy.deepcopy(shown)) == now


@pytest.mark.parametrize(
    ("now", "before", "after", "result"),
    [
        pytest.param({"a": 1, "x": 2}, {"a": 1}, {"a": 3}, {"a": 3, "x": 2}, id="what is not shown stays"),
        pytest.param({"a": 1, "x": 2}, {"a": 1}, {}, {"x": 2}, id="what is taken away goes"),
        pytest.param({"s": {"a": 1, "x": 2}}, {"s": {"a": 1}}, {}, {"s": {"x": 2}}, id="but for what is not shown"),
        pytest.param({}, {}, {"a": 1}, {"a": 1}, id="what is new comes"),
        pytest.param({"a": 1}, {"a": "1"}, {"a": "1"}, {"a": 1}, id="a text and its number are the same"),
        pytest.param(
            {"l": [{"k": 1, "x": 1}, {"k": 2, "x": 2}]},
            {"l": [{"k": 1}, {"k": 2}]},
            {"l": [{"k": 2}]},
            {"l": [{"k": 2, "x": 2}]},
            id="the first row goes, the second keeps what is not shown of it",
        ),
        pytest.param(
            {"l": [{"k": 1, "x": 1}]},
            {"l": [{"k": 1}]},
            {"l": [{"k": 1}, {"k": 3}]},
            {"l": [{"k": 1, "x": 1}, {"k": 3}]},
            id="a row comes",
        ),
        pytest.param(
            {"l": [{"x": 9}, {"k": 1}]},
            {"l": [{"k": 1}]},
            {"l": [{"k": 5}]},
            {"l": [{"x": 9}, {"k": 5}]},
            id="a row that is not shown keeps its place",
        ),
        pytest.param(
            {"l": [{"k": 1}, {"x": 9}]}, {"l": [{"k": 1}]}, {}, {"l": [{"x": 9}]}, id="and stays when the others go"
        ),
        pytest.param(
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            {"labelSelector": {"matchExpressions": [{"key": "a"}]}},
            {"labelSelector": {"matchExpressions": [{"key": "c"}]}},
            {"labelSelector": {"matchExpressions": [{"key": "c"}]}},
            id="a selector that is said in another way is replaced",
        ),
    ],
)
def test_what_a_form_changes(now: Any, before: Any, after: Any, result: Any) -> None:
    assert overlaid(now, before, after) == result


def test_what_is_not_shown_is_named_as_far_up_as_possible() -> None:
    whole = {"spec": {"initContainers": [{"name": "a"}], "containers": [{"name": "m", "image": "x"}, {"name": "n"}]}}
    part = {"spec": {"containers": [{"name": "m", "image": "y"}]}}
    assert unshown(whole, part) == ["spec.initContainers", "spec.containers[0].image", "spec.containers[1]"]
