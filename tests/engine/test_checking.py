"""A text of manifests is checked as a whole: each error at its place, whatever the text, and nothing changes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.checking import check_text
from scheduler_engine.api.loading import load_manifests, located
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import validate
from scheduler_engine.errors import MOST_ERRORS, FieldError, Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node
from tests.engine.test_validation import VALUES, Data, mutated

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels:
    tier: front
    app: {label}
spec:
{spec}
  containers:
  - name: c
    image: i
"""


def pod(spec: str = "", label: str = "web") -> str:
    return POD.format(spec=spec, label=label)


def places_of_errors(text: str) -> list[tuple[int, int, str]]:
    return [(error.line, error.column, error.path) for error in check_text(text).errors]


PLACES: dict[str, tuple[str, list[tuple[int, int, str]]]] = {
    "a value, an unknown field and a wrong type at once": (
        pod("  priority: high\n  tolerationz: []\n  restartPolicy: Sometimes"),
        [(9, 3, "spec.priority"), (10, 3, "spec.tolerationz"), (11, 3, "spec.restartPolicy")],
    ),
    "the invalid label, not its mapping": (pod(label="a b"), [(7, 5, "metadata.labels")]),
    "a repeated field, beside other errors": (
        pod("  nodeName: a\n  nodeName: b\n  dnsPolicy: Mine"),
        [(10, 3, "spec.nodeName"), (11, 3, "spec.dnsPolicy")],
    ),
    "no second error for a misspelt field": (
        pod().replace("containers:", "contianers:"),
        [(10, 3, "spec.contianers")],
    ),
    "no second error for an unreadable value": (
        pod("  topologySpreadConstraints: none").replace("  - name: c", "  - name: [c]"),
        [(9, 3, "spec.topologySpreadConstraints"), (11, 5, "spec.containers[0].name")],
    ),
    "a taint, which Kubernetes places elsewhere": (
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec:\n  taints:\n  - key: k\n    effect: Never\n",
        [(7, 5, "metadata.taints[0].effect")],
    ),
    "the annotations of a template, which Kubernetes names differently": (
        "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec:\n  template:\n    metadata:\n"
        "      labels: {a: b}\n      annotations:\n        a b: c\n    spec: {containers: [{name: c, image: i}]}\n",
        [(9, 9, "spec.template.annotations")],
    ),
    "several documents": (
        f"{pod('  priority: high')}---\n- a list\n---\n{pod('  priority: low')}",
        [(9, 3, "spec.priority"), (14, 1, ""), (24, 3, "spec.priority")],
    ),
    "nothing": ("", [(0, 0, "")]),
}


@pytest.mark.parametrize("words", PLACES)
def test_each_error_has_its_place(words: str) -> None:
    text, expected = PLACES[words]
    assert places_of_errors(text) == expected


IN_QUOTES = {
    "a letter that YAML reads as true": (
        "y",
        'must be a text, not true or false (YAML reads y as true); write it in quotes: "y"',
    ),
    "a word that YAML reads as false": (
        "Off",
        'must be a text, not true or false (YAML reads Off as false); write it in quotes: "Off"',
    ),
    "true itself": ("true", 'must be a text, not true or false; write it in quotes: "true"'),
    "a version that YAML reads as a number": ("1.50", 'must be a text, not a number (1.5); write it in quotes: "1.50"'),
    "a number of base 16": ("0x10", 'must be a text, not a number (16); write it in quotes: "0x10"'),
    "a number behind an anchor": ("&a 010", 'must be a text, not a number (8); write it in quotes: "010"'),
}


@pytest.mark.parametrize(("label", "message"), IN_QUOTES.values(), ids=IN_QUOTES)
def test_a_hint_suggests_quotes_around_the_value(label: str, message: str) -> None:
    [error] = check_text(pod(label=label)).errors
    assert (error.line, error.path, error.message) == (7, "metadata.labels.app", message)


def test_quotes_are_suggested_around_a_json_value() -> None:
    [error] = check_text('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": 1.50}}').errors
    assert error.message == 'must be a text, not a number (1.5); write it in quotes: "1.50"'


def test_defaults_are_filled_in_once_for_errors_and_warnings() -> None:
    names: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        checked = check_text(pod("  nodeSelector: {beta.kubernetes.io/os: linux}"))
    finally:
        sys.setprofile(before)
    assert (len(checked.errors), len(checked.warnings)) == (0, 1)
    assert names.count("with_defaults") == 1


def test_an_update_that_is_refused_has_a_place_too() -> None:
    [manifest] = load_manifests("apiVersion: v1\nkind: PersistentVolume\nspec:\n  volumeMode: Block\n")
    error = FieldError("volumeMode", "FieldValueInvalid", 'Invalid value: "Block": field is immutable')
    assert [(place.line, place.column) for place in located([error], [manifest])] == [(4, 3)]


# --- never a crash ----------------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
KINDED = st.builds(
    lambda kind, fields: {"apiVersion": KINDS[kind].api_versions[0], "kind": kind, **fields},
    st.sampled_from(list(KINDS)),
    st.dictionaries(st.sampled_from(["metadata", "spec", "status", "value", "data", "subsets"]), ANYTHING),
)


@given(st.lists(ANYTHING | KINDED | mutated(), max_size=4))
def test_any_json_gives_a_judgement_with_places_in_the_text(documents: list[Any]) -> None:
    text = "\n".join(json.dumps(document) for document in documents)
    checked = check_text(text)
    assert checked.errors or checked.manifests
    for problem in [*checked.errors, *checked.warnings]:
        assert problem.message
        assert 0 <= problem.line <= text.count("\n") + 1


def leaves(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        yield value
    else:
        for item in inner:
            yield from leaves(item)


@given(st.lists(mutated(), min_size=1, max_size=3))
def test_yaml_and_json_are_judged_alike_but_for_broken_numbers(documents: list[Data]) -> None:
    """1.0 is an integer in YAML, but not in JSON, in Kubernetes too."""
    texts = [json.dumps(document) for document in documents]
    assume(not any(isinstance(value, float) for document in documents for value in leaves(document)))
    as_json = check_text("\n".join(texts))
    as_yaml = check_text("# JSON is YAML\n---\n" + "\n---\n".join(texts))
    assert sorted(map(str, as_json.errors)) == sorted(map(str, as_yaml.errors))
    assert sorted(map(str, as_json.warnings)) == sorted(map(str, as_yaml.warnings))


@settings(max_examples=60)
@given(st.lists(mutated() | KINDED, min_size=1, max_size=4))
def test_a_refused_text_changes_nothing_and_an_invalid_one_is_refused(manifests: list[Data]) -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").zone("a").obj(),)))
    before, text_before = held(simulation), json.dumps(manifests)
    refused: list[FieldError] = []
    try:
        simulation.execute(commands.Apply(tuple(manifests)))
    except Rejected as refusal:
        refused = refusal.errors
    wrong = check_text("\n".join(json.dumps(manifest) for manifest in manifests)).errors
    assert refused or not wrong
    assert not refused or held(simulation) == before
    assert json.dumps(manifests) == text_before


def held(simulation: Simulation) -> str:
    """Return all stored objects, and the trace."""
    objects = [item.manifest for kind in KINDS for item in simulation.api.list(kind)]
    return json.dumps(objects) + str(len(simulation.recorder.entries))


MANY: dict[str, tuple[str, list[int]]] = {
    "unknown fields of one object": (pod("".join(f"  a{n}: 1\n" for n in range(5000))), [MOST_ERRORS, 0]),
    "wrong values of one object": (
        pod("  tolerations:\n" + "  - {operator: Maybe, key: a}\n" * 5000),
        [MOST_ERRORS, 0],
    ),
    "unknown kinds": ("kind: Poodle\napiVersion: v1\n---\n" * 5000, [MOST_ERRORS, 0]),
    "warnings about one object": (pod() + "    ports:\n" + "    - containerPort: 80\n" * 100, [0, MOST_ERRORS]),
    "warnings about many objects": (
        (pod("  nodeSelector: {beta.kubernetes.io/os: a}") + "---\n") * 1500,
        [0, MOST_ERRORS],
    ),
    "repeated keys": (pod() + "  hostname: a\n" * 5000, [MOST_ERRORS, 0]),
}


@pytest.mark.parametrize("words", MANY)
def test_a_long_list_of_errors_is_cut_and_says_so(words: str) -> None:
    text, numbers = MANY[words]
    checked = check_text(text)
    assert [len(checked.errors), len(checked.warnings)] == numbers
    assert [checked.more_errors, checked.more_warnings] == [number > 0 for number in numbers]
    assert all(problem.line for problem in (*checked.errors, *checked.warnings))


def test_a_refusal_says_that_it_lists_only_some_of_its_errors() -> None:
    refused = Rejected([FieldError("a", "Invalid", str(number)) for number in range(MOST_ERRORS + 1)])
    assert len(refused.errors) == MOST_ERRORS + 1
    assert refused.errors[-1].message == "Only the first 1000 errors are listed."


def test_a_long_value_is_quoted_by_its_start() -> None:
    [error] = check_text(pod(label="x" * 500_000)).errors
    assert len(error.message) < 6000
    assert "… (500000 characters): must be no more than 63 characters" in error.message


NOT_JSON = {
    "half of a surrogate pair": ({"name": "\ud800"}, "surrogate"),
    "an infinite number": ({"generation": float("inf")}, "JSON cannot hold"),
    "bytes": ({"name": b"x"}, "JSON cannot hold"),
}


@pytest.mark.parametrize("words", NOT_JSON)
def test_an_object_that_is_not_text_is_refused(words: str) -> None:
    metadata, reason = NOT_JSON[words]
    manifest: Data = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    [error] = validate(manifest)
    assert reason in error.message
    with pytest.raises(Rejected, match=reason):
        Simulation().execute(commands.Apply((manifest,)))


COLLISIONS: dict[str, tuple[list[str], list[str]]] = {
    "equal ports": (
        ["{containerPort: 80}", "{containerPort: 80}", "{containerPort: 80}"],
        ["1 duplicate 0", "2 duplicate 0", "2 duplicate 1"],
    ),
    "a host port beside none": (
        ["{containerPort: 80}", "{containerPort: 80, hostPort: 1}", "{containerPort: 80}"],
        ["1 overlapping 0", "2 duplicate 0", "2 overlapping 1"],
    ),
    "a host port with an address and without": (
        [
            "{containerPort: 80, hostPort: 1, hostIP: 1.1.1.1}",
            "{containerPort: 80, hostPort: 1}",
            "{containerPort: 80, hostPort: 2, hostIP: 1.1.1.1}",
            "{containerPort: 80, hostPort: 1, hostIP: 1.1.1.2}",
        ],
        ["1 dangerously ambiguous 0", "3 dangerously ambiguous 1"],
    ),
    "different protocols": (["{containerPort: 80}", "{containerPort: 80, protocol: UDP}"], []),
}


@pytest.mark.parametrize("words", COLLISIONS)
def test_each_pair_of_ports_that_collide_is_reported(words: str) -> None:
    ports, expected = COLLISIONS[words]
    text = pod("  hostNetwork: false") + "    ports:\n" + "".join(f"    - {port}\n" for port in ports)
    places = re.compile(r"\.ports\[(\d+)\]: (.*) port definition with .*\.ports\[(\d+)\]")
    warnings = filter(None, map(places.search, map(str, check_text(text).warnings)))
    assert [" ".join(match.groups()) for match in warnings] == expected
