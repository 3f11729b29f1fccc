"""Parse text into manifests: what is read, positions, and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_engine.api.loading import Limits, Manifest, load_manifests, located, read_documents
from scheduler_engine.errors import FieldError, Rejected

POD = """apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, "example.com/a.b": c}
spec:
  containers:
  - name: main
    image: nginx
    resources:
      requests:
        cpu: 500m
"""


def rejection(text: str | bytes, limits: Limits | None = None) -> FieldError:
    with pytest.raises(Rejected) as caught:
        load_manifests(text, limits or Limits())
    return caught.value.errors[0]


SCALARS = {
    "yes": True,
    "No": False,
    "ON": True,
    "off": False,
    "y": True,
    "N": False,
    "true": True,
    "tRUE": "tRUE",
    "~": None,
    "null": None,
    "": None,
    "010": 8,
    "0o10": 8,
    "0x1F": 31,
    "-0x1F": -31,
    "0b101": 5,
    "1_000": 1000,
    "+12": 12,
    "08": 8,
    "1.5": 1.5,
    "1e3": 1000,
    ".5": 0.5,
    "3.0": 3,
    "1e400": "1e400",
    "-9223372036854775809": -9223372036854776000,
    "9223372036854775807": 2**63 - 1,
    "18446744073709551615": 2**64 - 1,
    "2024-01-02": "2024-01-02",
    "12:30:45": "12:30:45",
    "500m": "500m",
    "1Gi": "1Gi",
    '"010"': "010",
    "'yes'": "yes",
    "!!str 10": "10",
    "!!int '10'": 10,
}


@pytest.mark.parametrize("written", SCALARS)
def test_a_plain_scalar_is_read_as_kubernetes_reads_yaml_1_1(written: str) -> None:
    [document] = read_documents(f"value: {written}\n")
    value = document.data["value"]
    assert value == SCALARS[written]
    assert type(value) is type(SCALARS[written])


KEYS = {"1": "1", "true": "true", "1.5": "1.5", "a": "a", '"y"': "y", "y": "true"}


@pytest.mark.parametrize("written", KEYS)
def test_a_key_becomes_a_text(written: str) -> None:
    assert read_documents(f"{written}: 1\n")[0].data == {KEYS[written]: 1}


def test_several_documents_are_numbered_and_empty_ones_left_out() -> None:
    loaded = load_manifests(f"---\n{POD}---\n---\n# nothing\n---\n{POD}")
    assert [manifest.document for manifest in loaded] == [0, 1]
    assert [manifest.line for manifest in loaded] == [2, 18]
    assert loaded[0].data == loaded[1].data


def test_json_and_yaml_give_the_same_manifest() -> None:
    [from_yaml] = load_manifests(POD)
    [from_json] = load_manifests(json.dumps(from_yaml.data, indent=2))
    assert from_json.data == from_yaml.data


def test_json_values_one_after_the_other_are_several_documents() -> None:
    loaded = load_manifests('{"kind": "A", "apiVersion": "v1"}\n{"kind": "B", "apiVersion": "v1"}')
    assert [manifest.data["kind"] for manifest in loaded] == ["A", "B"]


def test_yaml_in_braces_is_read_although_it_is_not_json() -> None:
    assert load_manifests("{kind: Pod, apiVersion: v1}")[0].data == {"kind": "Pod", "apiVersion": "v1"}


def test_json_escapes_are_read_and_half_a_surrogate_pair_is_replaced() -> None:
    [manifest] = load_manifests(r'{"kind": "P", "a": "\ud83d\ude00\/\u00e9", "b": "\ud83d"}')
    assert manifest.data["a"] == "😀/é"
    assert manifest.data["b"] == "\ufffd"


LISTS = {
    "List": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {}}\n",
    "NodeList whose items take over kind and version": "apiVersion: v1\nkind: NodeList\nitems:\n- metadata: {}\n",
    "List in a List": "kind: List\nitems:\n- kind: List\n  items:\n  - {apiVersion: v1, kind: Node, metadata: {}}\n",
}


@pytest.mark.parametrize("words", LISTS)
def test_a_list_is_split_into_items(words: str) -> None:
    [manifest] = load_manifests(LISTS[words])
    assert manifest.data == {"apiVersion": "v1", "kind": "Node", "metadata": {}}
    assert manifest.line >= 3


def test_an_empty_list_holds_nothing() -> None:
    assert load_manifests("kind: List\nitems: []") == []
    assert load_manifests("kind: PodList\nitems:") == []
    assert load_manifests("") == []


PLACES = {
    "metadata.name": (4, 3),
    "metadata.labels.app": (5, 12),
    "metadata.labels[example.com/a.b]": (5, 22),
    "metadata.labels.example.com/a.b": (5, 22),
    "spec.containers[0].image": (9, 5),
    "spec.containers[0].resources.requests[cpu]": (12, 9),
    "spec.containers[0].resources.requests.cpu": (12, 9),
    "spec.containers[0].ports[0].hostPort": (8, 5),
    "spec.containers[3].name": (7, 3),
    "status.phase": (1, 1),
}


@pytest.mark.parametrize("path", PLACES)
def test_a_field_path_is_located_in_the_text_or_at_its_nearest_neighbour(path: str) -> None:
    [manifest] = load_manifests(POD)
    assert manifest.place(path) == PLACES[path]


def test_errors_get_line_and_column_of_the_manifest_they_belong_to() -> None:
    manifests = load_manifests(f"{POD}---\n{POD}")
    errors = [
        FieldError("spec.containers[0].image", "FieldValueInvalid", "bad", document=1),
        FieldError("", "X", "y", 9),
    ]
    assert [(error.line, error.column) for error in located(errors, manifests)] == [(22, 5), (0, 0)]


def test_an_anchor_is_followed_and_its_fields_have_the_place_of_the_alias() -> None:
    text = "kind: A\nbase: &b {x: 1, z: 2}\nother: *b\nmerged:\n  <<: *b\n  z: 3\n"
    [manifest] = load_manifests(text)
    assert manifest.data["other"] == {"x": 1, "z": 2}
    assert manifest.data["merged"] == {"x": 1, "z": 3}
    assert manifest.place("other.x") == (3, 1)


BAD: dict[str, tuple[str | bytes, str, int, int]] = {
    "a tab as indentation": ("a:\n\tb: 1", "cannot start any token", 2, 1),
    "an open bracket": ("a: [1, 2", "did not find expected ',' or ']'", 2, 1),
    "two values on one line": ("a: b: c", "not allowed", 1, 5),
    "JSON with an extra comma": ('{"a": 1,,}', "invalid JSON", 1, 9),
    "JSON that ends too early": ('{"a": {', "ends too early", 1, 1),
    "a text instead of an object": ("hello", "must be a mapping", 1, 1),
    "a list instead of an object": ("- a\n- b", "must be a mapping", 1, 1),
    "a list whose items are not a list": ("kind: List\nitems: 3", "items must be a list", 2, 1),
    "an item that is not an object": ("kind: List\nitems: [3]", "must be an object", 2, 9),
    "a repeated key": ("kind: Pod\na: 1\nspec: {b: 1, b: 2}", 'duplicate field "spec.b"', 3, 14),
    "a repeated key in JSON": ('{"kind": "Pod",\n "kind": "Node"}', 'duplicate field "kind"', 2, 2),
    "a tag that creates objects": ("a: !!python/object/apply:os.system [ls]", "not allowed", 1, 4),
    "a custom tag": ("a: !secret x", "not allowed", 1, 4),
    "a number tag on a text": ("a: !!int x", "is not a valid !!int", 1, 4),
    "infinity": ("a: .inf", "cannot be written as JSON", 1, 4),
    "not a number": ("a: .nan", "cannot be written as JSON", 1, 4),
    "a JSON number beyond all bounds": ('{"a": 1e999}', "too large", 1, 7),
    "a null key": ("~: 1", "must not be null", 1, 1),
    "a mapping as a key": ("? {a: 1}\n: 2", "a key must be a plain text", 1, 3),
    "an unknown alias": ("a: *nobody", "unknown anchor", 1, 4),
    "an anchor that contains itself": ("a: &a [*a]", "unknown anchor", 1, 8),
    "a merge of a text": ("a:\n  <<: 3", "needs a mapping", 2, 3),
    "a control character": ("a: \x01", "does not allow", 0, 0),
    "a NUL character in JSON": (r'{"a": "\u0000"}', "U+0000", 1, 7),
    "a NUL character in YAML": (r'a: "\0"', "U+0000", 1, 4),
    "bytes that are not UTF-8": (b"\xff\xfe\x00", "not UTF-8", 0, 0),
    "half a surrogate pair in a text": ("a: \ud800", "not UTF-8", 0, 0),
}


@pytest.mark.parametrize("words", BAD)
def test_unreadable_text_is_refused_with_its_place(words: str) -> None:
    text, message, line, column = BAD[words]
    error = rejection(text)
    assert message in error.message
    assert (error.line, error.column) == (line, column)


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    with pytest.raises(Rejected) as caught:
        load_manifests("a: 1\na: 2\n---\nhello\n---\nkind: List\nitems: [3, 4]\n")
    assert len(caught.value.errors) == 4


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{after}: &{after} [{','.join(['*' + before] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP_BY_ALIAS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))
LIMITS = {
    "ten megabytes": ("a: " + "x" * 10 * 1024 * 1024, "larger than 1024 KiB"),
    "a megabyte of two-byte characters": ("a: " + "é" * 600 * 1024, "larger than 1024 KiB"),
    "a billion laughs": (BOMB, "values, aliases counted in full"),
    "a thousand aliases": ("a: &a x\nb: [" + "*a," * 2000 + "]", "more than 1000 aliases"),
    "nested brackets": ("[" * 100_000, "deeper than 60 levels"),
    "nested dashes": ("- " * 50_000 + "x", "deeper than 60 levels"),
    "nested JSON": ('{"a":' * 100_000, "deeper than 60 levels"),
    "nested aliases": (DEEP_BY_ALIAS, "deeper than 60 levels"),
    "half a million numbers": ("[" + "1," * 500_000 + "1]", "more than 75000 values"),
    "many documents": ("---\na: 1\n" * 11_000, "more than 10000 documents"),
    "many items": ("kind: List\nitems:\n" + "- {kind: A}\n" * 10_100, "more than 10000"),
}


@pytest.mark.parametrize("words", LIMITS)
def test_hostile_text_is_refused(words: str) -> None:
    text, message = LIMITS[words]
    assert message in rejection(text).message


def test_limits_can_be_set() -> None:
    assert load_manifests("kind: A\n---\nkind: B\n", Limits(documents=2))
    assert "more than 1 documents" in rejection("kind: A\n---\nkind: B\n", Limits(documents=1)).message
    assert "larger than 1 KiB" in rejection("#" * 2000, Limits(size=1024)).message


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def load_or_reject(text: str | bytes) -> list[Manifest] | None:
    try:
        return load_manifests(text)
    except Rejected:
        return None


@given(st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=5))
def test_any_json_object_is_read_unchanged_or_refused(value: dict[str, Any]) -> None:
    loaded = load_or_reject(json.dumps(value, ensure_ascii=False))
    if loaded is not None and not str(value.get("kind", "")).endswith("List"):
        assert [manifest.data for manifest in loaded] == [value]


@given(st.text() | st.binary())
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    load_or_reject(text)


@given(
    st.lists(st.sampled_from([*"&a*b: -[]{},?|>'\"!#%@`\n\t<\\0~", "<<", "- ", ": ", "&a ", "*a", "---\n", "x"])).map(
        "".join
    )
)
def test_any_mixture_of_yaml_signs_is_read_or_refused(text: str) -> None:
    load_or_reject(text)


def test_a_whole_number_in_json_is_exact_as_amounts_are_read_as_written() -> None:
    assert read_documents('{"a": 12345678901234567890123}')[0].data == {"a": 12345678901234567890123}
