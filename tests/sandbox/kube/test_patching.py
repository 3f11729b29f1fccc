"""The three kinds of patches, and the merge patch that says the same."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.kube.patching import JSON_PATCH, MERGE_PATCH, MERGED_BY, STRATEGIC_PATCH, between, patched
from sandbox.kube.statuses import Refused
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.objects import merge

POD = {
    "metadata": {"name": "web", "labels": {"app": "web"}, "finalizers": ["example.com/one"]},
    "spec": {
        "containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]}, {"name": "b", "image": "b:1"}],
        "tolerations": [{"key": "old"}],
        "volumes": [{"name": "data", "emptyDir": {}}],
    },
}
A, B = POD["spec"]["containers"]  # type: ignore[index]


PORT = {"containerPort": 80, "name": "web"}
C = {"name": "c", "image": "c"}
ORDER = "$setElementOrder/containers"
IN_ORDER = [{"name": "c"}, {"name": "a"}, {"name": "b"}]
MOVED = {"name": "data", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}, "emptyDir": None}
STRATEGIC: dict[str, tuple[dict[str, Any], str, Any]] = {
    "an item merges": ({"containers": [{"name": "b", "image": "2"}]}, "containers", [A, {**B, "image": "2"}]),
    "a new item comes last": ({"containers": [C]}, "containers", [A, B, C]),
    "an item goes": ({"containers": [{"name": "a", "$patch": "delete"}]}, "containers", [B]),
    "a list is replaced as asked": ({"containers": [{"$patch": "replace"}, C]}, "containers", [C]),
    "an order alone": ({ORDER: [{"name": "b"}, {"name": "a"}]}, "containers", [B, A]),
    "an order with a new item": ({"containers": [C], ORDER: IN_ORDER}, "containers", [C, A, B]),
    "lists in items merge": (
        {"containers": [{"name": "a", "ports": [PORT]}]}, "containers", [{**A, "ports": [PORT]}, B]
    ),
    "other lists are replaced": ({"tolerations": [{"key": "new"}]}, "tolerations", [{"key": "new"}]),
    "only the named keys stay": ({"volumes": [MOVED]}, "volumes", [{"name": "data", "hostPath": {"path": "/x"}}]),
    "a mapping is replaced": ({"nodeSelector": {"$patch": "replace", "a": "b"}}, "nodeSelector", {"a": "b"}),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "field", "expected"), STRATEGIC.values(), ids=STRATEGIC)
def test_a_strategic_patch(patch: dict[str, Any], field: str, expected: Any) -> None:
    assert patched(STRATEGIC_PATCH, "Pod", POD, {"spec": patch})["spec"][field] == expected


def test_values_of_a_list_are_added_and_removed() -> None:
    more = patched(STRATEGIC_PATCH, "Pod", POD, {"metadata": {"finalizers": ["example.com/two"]}})
    assert more["metadata"]["finalizers"] == ["example.com/one", "example.com/two"]
    less = patched(
        STRATEGIC_PATCH, "Pod", more, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/one"]}}
    )
    assert less["metadata"]["finalizers"] == ["example.com/two"]


def test_the_lists_that_merge_exist() -> None:
    for path, key in MERGED_BY.items():
        of, field = path.split(".")
        assert TYPES[of][field].holds == "list"
        assert key in TYPES[TYPES[of][field].type]


def test_conditions_merge_by_their_types() -> None:
    replaced = "AllocatedDeviceStatus"  # Its list is named by types only in server-side apply.
    lists = {f"{name}.conditions" for name, fields in TYPES.items() if "conditions" in fields and name != replaced}
    assert lists == {path for path in MERGED_BY if path.endswith(".conditions")}
    ready, progressing = ({"type": name, "status": "True"} for name in ("Available", "Progressing"))
    old = {"metadata": {"name": "web"}, "status": {"conditions": [ready]}}
    new = patched(STRATEGIC_PATCH, "Deployment", old, {"status": {"conditions": [progressing]}})
    assert new["status"] == {"conditions": [ready, progressing]}


def test_other_patches() -> None:
    operations = [
        {"op": "test", "path": "/spec/containers/0/name", "value": "a"},
        {"op": "remove", "path": "/spec/volumes"},
    ]
    assert "volumes" not in patched(JSON_PATCH, "Pod", POD, operations)["spec"]
    assert patched(MERGE_PATCH, "Pod", POD, {"spec": {"volumes": None}})["spec"].keys() == {"containers", "tolerations"}


@pytest.mark.parametrize(
    ("kind", "body", "code"),
    [
        ("application/json", {}, 415),
        (JSON_PATCH, {}, 400),
        (JSON_PATCH, [{"op": "test", "path": "/metadata/name", "value": "other"}], 422),
        (JSON_PATCH, [{"op": "remove", "path": "/nothing/here"}], 422),
        (JSON_PATCH, [{"op": "conjure"}], 422),
        (JSON_PATCH, [7], 422),
        (JSON_PATCH, [{"op": "replace", "path": "", "value": 3}], 422),
        (JSON_PATCH, [{}] * 10_001, 413),
        (MERGE_PATCH, [], 400),
        (STRATEGIC_PATCH, "x", 400),
        (STRATEGIC_PATCH, {"spec": {"containers": [{"image": "x"}]}}, 400),
    ],
)
def test_what_is_no_patch(kind: str, body: Any, code: int) -> None:
    with pytest.raises(Refused) as refused:
        patched(kind, "Pod", POD, body)
    assert refused.value.code == code


PAIRS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({}, {}),
    ({"a": 1}, {}),
    ({}, {"a": {"b": [1]}}),
    ({"a": {"b": 1, "c": {"d": 2}}}, {"a": {"c": {"d": 3, "e": []}}}),
    ({"a": {"b": 1}}, {"a": [1]}),
    ({"a": [1]}, {"a": {"b": {}}}),
    ({"a": {"b": 1}}, {"a": {}}),
)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_difference_makes_one_object_of_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert merge(old, between(old, new)) == new
