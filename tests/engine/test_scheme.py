"""The table of kinds, and how a manifest selects its row."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.defaults import DEFAULTS
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.scheme import KINDS, key_of, kind_of, view
from scheduler_engine.api.validation import RULES, UPDATE_RULES
from scheduler_engine.errors import Rejected

CLUSTER_SCOPED = {
    *("Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment"),
    *("PriorityClass", "RuntimeClass", "DeviceClass", "ResourceSlice"),
}


def test_every_kind_has_its_fields_and_its_rules() -> None:
    assert set(KINDS) <= set(TYPES)
    assert set(KINDS) == set(RULES)
    assert set(UPDATE_RULES) <= set(KINDS)
    assert set(DEFAULTS) <= set(KINDS)


def test_plurals_are_distinct_and_lower_case() -> None:
    plurals = [kind.plural for kind in KINDS.values()]
    assert len(set(plurals)) == len(plurals)
    assert all(plural.islower() and plural.isalpha() for plural in plurals)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_looked_up_by_name_and_version(name: str) -> None:
    kind = KINDS[name]
    assert kind_of({"kind": name, "apiVersion": kind.api_versions[0]}) is kind
    assert kind.namespaced == (name not in CLUSTER_SCOPED)
    assert not set(kind.gone) & set(kind.api_versions)


VIEWS = {"Pod": Pod, "Node": Node, "Service": KubeObject}


@pytest.mark.parametrize("name", VIEWS)
def test_a_manifest_becomes_the_view_of_its_kind(name: str) -> None:
    assert type(view({"kind": name, "apiVersion": "v1", "metadata": {"name": "a"}})) is VIEWS[name]


KEYS = {
    "a pod with its namespace": ({"kind": "Pod", "metadata": {"name": "a", "namespace": "x"}}, "x/a"),
    "a pod without a namespace": ({"kind": "Pod", "metadata": {"name": "a"}}, "default/a"),
    "a node": ({"kind": "Node", "metadata": {"name": "a"}}, "a"),
    "a node without metadata": ({"kind": "Node"}, ""),
}


@pytest.mark.parametrize("words", KEYS)
def test_the_key_of_a_manifest(words: str) -> None:
    manifest, key = KEYS[words]
    assert key_of({"apiVersion": "v1", **manifest}) == key


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no kind": ({"apiVersion": "v1"}, "kind", "Required value"),
    "a kind that is not text": ({"apiVersion": "v1", "kind": 3}, "kind", "Required value"),
    "no version": ({"kind": "PriorityClass"}, "apiVersion", 'a PriorityClass has apiVersion "scheduling.k8s.io/v1"'),
    "an unknown kind": ({"apiVersion": "v1", "kind": "Gizmo"}, "kind", 'no matches for kind "Gizmo" in version "v1"'),
    "a kind in lower case": ({"apiVersion": "v1", "kind": "pod"}, "kind", '(did you mean "Pod"?)'),
    "a plural": ({"apiVersion": "v1", "kind": "nodes"}, "kind", '(did you mean "Node"?)'),
    "a removed version": (
        {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget"},
        "apiVersion",
        'Kubernetes no longer serves it; use "policy/v1"',
    ),
    "a version that never existed": ({"apiVersion": "apps/v1", "kind": "Pod"}, "apiVersion", 'use "v1"'),
}


@pytest.mark.parametrize("words", REFUSED)
def test_an_unknown_kind_is_refused_with_a_hint(words: str) -> None:
    manifest, path, message = REFUSED[words]
    with pytest.raises(Rejected) as caught:
        kind_of(manifest)
    [error] = caught.value.errors
    assert error.path == path
    assert message in error.message
