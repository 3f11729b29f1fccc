"""Changes of manifests: edits in a form that shows a part of one, and differences as a merge patch."""

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
from sandbox.web.forms.merging import hidden_paths, merge_patch, overlay
from sandbox.web.forms.reading import READERS
from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.manifests import MANIFESTS
from scheduler_engine.api.fields import well_typed
from scheduler_engine.api.objects import merge
from scheduler_engine.api.validation import validate

ROOT = Path(__file__).resolve().parents[3]
PLAIN = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["a", "b", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
MAPPINGS = st.dictionaries(st.sampled_from("abc"), PLAIN, max_size=3)


def without_nulls(value: Any) -> Any:
    """Remove nulls: a merge patch cannot set a member to null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


@cache
def manifests() -> list[Any]:
    """Return objects that a form shows: all of the scenarios, presets and example manifests."""
    results: list[dict[str, Any]] = []
    for path in sorted(ROOT.glob("fixtures/scenarios/*.yaml")):
        scenario = yaml.load(path.read_text(), yaml.CSafeLoader)
        commands = [*(scenario.get("setup") or ()), *(scenario.get("then") or ())]
        results += [item for command in commands for item in command.get("apply") or ()]
    for preset in (*CLUSTERS, *MANIFESTS):
        results += [item for item in yaml.load_all(preset.text, yaml.CSafeLoader) if item]
    shown = {
        f"{item['kind']} {item['metadata'].get('name')}": item
        for item in results
        if item.get("kind") in READERS and not validate(item)
    }
    return [pytest.param(item, id=name) for name, item in shown.items()]


@pytest.mark.parametrize("manifest", manifests())
def test_an_untouched_form_changes_nothing(manifest: dict[str, Any]) -> None:
    before = copy.deepcopy(manifest)
    form = form_of(manifest["kind"]).of(manifest)
    assert form.is_valid(), form.errors
    assert overlay(manifest, form.manifest(), form.manifest()) == before
    labelled = form_of(manifest["kind"]).of(manifest)
    assert labelled.is_valid()
    merged = overlay(manifest, form.manifest(), labelled.manifest() | {"apiVersion": "v9"})
    assert merged == before | {"apiVersion": "v9"}


@pytest.mark.parametrize("manifest", manifests())
def test_a_form_shows_its_own_manifest_again(manifest: dict[str, Any]) -> None:
    form = form_of(manifest["kind"]).of(manifest)
    assert form.is_valid()
    again = type(form).of(form.manifest())
    assert again.is_valid(), again.errors
    assert again.manifest() == form.manifest()
    assert hidden_paths(form.manifest(), again.manifest()) == []


SLICE = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n
  pool: {name: n, generation: 1, resourceSliceCount: 1}
  devices:
  - name: g
    attributes: {driver: {version: 1.2.3}, model: {string: "16"}, ecc: {string: "true"}, cores: {int: 3}}
"""


@pytest.mark.parametrize(
    ("name", "attributes", "changed"),
    [
        ("g", "driver=1.2.4, model=16, ecc=true, cores=3", {"driver": {"version": "1.2.4"}}),
        ("g", "driver=1.2.3, model=17, ecc=true, cores=4", {"model": {"string": "17"}, "cores": {"int": 4}}),
        ("g", "driver=1.2.3, model=16, ecc=false, cores=x", {"ecc": {"string": "false"}, "cores": {"string": "x"}}),
        ("h", "driver=1.2.3, model=16, ecc=true, cores=3", {}),
    ],
)
def test_a_changed_attribute_of_a_device_keeps_its_kind(name: str, attributes: str, changed: dict[str, Any]) -> None:
    now = yaml.safe_load(SLICE)
    before = form_of("ResourceSlice").of(now)
    data = before.data.copy()
    data["device_name"], data["device_attributes"] = name, attributes
    after = type(before)(data)
    assert before.is_valid()
    assert after.is_valid()
    [device] = overlay(now, before.manifest_for(now), after.manifest_for(now))["spec"]["devices"]
    [was] = now["spec"]["devices"]
    assert device == {"name": name, "attributes": was["attributes"] | changed}


def spoilt(value: Any, draw: st.DataObject) -> Any:
    """Return the value with junk in random places."""
    if draw.draw(st.integers(0, 11)) == 0:
        return draw.draw(PLAIN)
    if isinstance(value, dict):
        return {key: spoilt(item, draw) for key, item in value.items() if draw.draw(st.integers(0, 15))}
    return [spoilt(item, draw) for item in value] if isinstance(value, list) else value


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([item.values[0] for item in manifests()]), st.data())
def test_a_form_shows_as_much_as_it_can_of_any_manifest(manifest: dict[str, Any], draw: st.DataObject) -> None:
    parts = {name: spoilt(value, draw) for name, value in manifest.items()}
    junk = parts | {"kind": manifest["kind"]}
    form = form_of(junk["kind"]).of(junk)
    if form.is_valid():
        shown = form.manifest_for(well_typed(junk, junk["kind"]))
        merged = overlay(junk, shown, shown | {"apiVersion": "v9"})
        assert merged == junk | {"apiVersion": "v9"}
        hidden_paths(junk, form.manifest())


@given(MAPPINGS, MAPPINGS)
def test_a_merge_patch_makes_one_of_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    before, after = without_nulls(before), without_nulls(after)
    assert merge(before, merge_patch(before, after)) == after
    assert merge_patch(before, before) == {}


@given(MAPPINGS, MAPPINGS)
def test_a_complete_form_reproduces_its_manifest(before: dict[str, Any], after: dict[str, Any]) -> None:
    merged = overlay(before, before, after)
    assert merged == after


@given(PLAIN, PLAIN)
def test_unchanged_fields_stay(now: Any, shown: Any) -> None:
    assert overlay(now, shown, copy.deepcopy(shown)) == now


@pytest.mark.parametrize(
    ("now", "before", "after", "result"),
    [
        pytest.param({"a": 1, "x": 2}, {"a": 1}, {"a": 3}, {"a": 3, "x": 2}, id="hidden fields stay"),
        pytest.param({"a": 1, "x": 2}, {"a": 1}, {}, {"x": 2}, id="removed fields go"),
        pytest.param({"s": {"a": 1, "x": 2}}, {"s": {"a": 1}}, {}, {"s": {"x": 2}}, id="except hidden fields"),
        pytest.param({}, {}, {"a": 1}, {"a": 1}, id="new fields are added"),
        pytest.param({"a": 1}, {"a": "1"}, {"a": "1"}, {"a": 1}, id="a number and its text are equal"),
        pytest.param(
            {"l": [{"k": 1, "x": 1}, {"k": 2, "x": 2}]},
            {"l": [{"k": 1}, {"k": 2}]},
            {"l": [{"k": 2}]},
            {"l": [{"k": 2, "x": 2}]},
            id="the first row is removed, the second keeps its hidden fields",
        ),
        pytest.param(
            {"l": [{"k": 1, "x": 1}]},
            {"l": [{"k": 1}]},
            {"l": [{"k": 1}, {"k": 3}]},
            {"l": [{"k": 1, "x": 1}, {"k": 3}]},
            id="a row is added",
        ),
        pytest.param(
            {"l": [{"x": 9}, {"k": 1}]},
            {"l": [{"k": 1}]},
            {"l": [{"k": 5}]},
            {"l": [{"x": 9}, {"k": 5}]},
            id="a hidden row keeps its place",
        ),
        pytest.param(
            {"l": [{"k": 1}, {"x": 9}]}, {"l": [{"k": 1}]}, {}, {"l": [{"x": 9}]}, id="and stays when the others go"
        ),
        pytest.param(
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            {"labelSelector": {"matchExpressions": [{"key": "a"}]}},
            {"labelSelector": {"matchExpressions": [{"key": "c"}]}},
            {"labelSelector": {"matchExpressions": [{"key": "c"}]}},
            id="a selector in another form is replaced",
        ),
    ],
)
def test_changes_of_a_form(now: Any, before: Any, after: Any, result: Any) -> None:
    assert overlay(now, before, after) == result


def test_hidden_fields_are_named_as_far_up_as_possible() -> None:
    whole = {"spec": {"initContainers": [{"name": "a"}], "containers": [{"name": "m", "image": "x"}, {"name": "n"}]}}
    part = {"spec": {"containers": [{"name": "m", "image": "y"}]}}
    assert hidden_paths(whole, part) == ["spec.initContainers", "spec.containers[0].image", "spec.containers[1]"]
