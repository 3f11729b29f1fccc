"""Run recorded manifests, quantities and selectors: defaults, validation errors, arithmetic, matches.

Not compared: texts of the parser, the diff at the end of a refused update, and invisible parts of a defaulted object
(empty structures, a node's system information). Recorded without ``--allow-privileged``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.api.defaults import set_defaults, with_defaults
from scheduler_engine.api.fields import check_fields, written_form
from scheduler_engine.api.labels import NOTHING, Requirement, Selector, selector_from
from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.node_affinity import node_selector_from
from scheduler_engine.api.quantity import added, canonical, negated, parse_quantity, rounded_up_to_milli
from scheduler_engine.api.quantity_int64 import as_int64, scaled_value
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.api.validation import UPDATE_RULES, check_rules
from scheduler_engine.api.validation.problems import in_version
from scheduler_engine.api.validation.selector_text import (
    NotASelector,
    joined,
    label_selector_problem,
    node_selector_problems,
    parse_selector,
    to_label_selector,
)
from scheduler_engine.api.validation.selectors import label_selector
from scheduler_engine.conformance.compare import differences
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.versions import DEFAULT_RULES

Case = dict[str, Any]

MOST_STRICT_TEXTS = 100
"""Kubernetes' limit."""

UNSEEN = ("nodeInfo", "daemonEndpoints", "creationTimestamp")
OPERATOR_TEXTS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!", "Gt": "gt", "Lt": "lt"}


def run(case: Case) -> list[str]:
    """Return the differences of one case."""
    return OPS[case["op"]](case)


def _create(case: Case) -> list[str]:
    decode = case["decode"]
    try:
        document = read_documents(case["text"])[0]
        kind = kind_of(document.data).name
        strict = [*document.duplicates, *check_fields(document.data, kind)]
    except (Rejected, IndexError, AttributeError) as refusal:
        return [] if decode["error"] else [f"decode: expected nothing, got {refusal!r}"]
    if decode["error"]:
        return [] if strict else [f"decode: expected {decode['error']}, got nothing"]
    lines = _compare_strict(decode["strict"] or [], strict)
    if case.get("notObject") or any(
        error.kind != "UnknownField" for error in strict if error not in document.duplicates
    ):
        return lines
    lines += differences(_visible(case["defaulted"]), _visible(set_defaults(document.data)), "defaulted")
    return lines + _compare_errors(case, check_rules(with_defaults(document.data), allow_privileged=False))


def _compare_strict(expected: list[str], got: list[FieldError]) -> list[str]:
    """Check that each recorded problem names a field found, and that each field found is named."""
    names = [(error.path, f'key "{error.path.rpartition(".")[2]}"') for error in got]
    lines = [f"strict: expected {text}" for text in expected if not any(_names(text, name) for name in names)]
    if len(expected) < MOST_STRICT_TEXTS:
        lines += [f"strict: got {name[0]}" for name in names if not any(_names(text, name) for text in expected)]
    return lines


def _names(text: str, name: tuple[str, str]) -> bool:
    return f'"{name[0]}"' in text or name[1] in text


def _update(case: Case) -> list[str]:
    old, new = (with_defaults(read_documents(case[side]["text"])[0].data) for side in ("old", "new"))
    for manifest in (old, new):
        manifest["metadata"].setdefault("resourceVersion", "1")
    rule = UPDATE_RULES.get(old["kind"])
    if rule is None:
        return [f"no rules for updates of {old['kind']}"]
    return _compare_errors(case, list(in_version(rule(old, new), DEFAULT_RULES)))


def _visible(value: Any) -> Any:
    """Return a defaulted object without its invisible parts."""
    if isinstance(value, dict):
        inner = {name: _visible(item) for name, item in value.items() if name not in UNSEEN}
        return {name: item for name, item in inner.items() if item not in ({}, None, "")}
    return [_visible(item) for item in value] if isinstance(value, list) else value


def _compare_errors(case: Case, errors: list[FieldError]) -> list[str]:
    expected = [
        {"field": error["field"], "type": error["type"], "text": _text(error["text"])} for error in case["errors"]
    ]
    got = [{"field": error.path, "type": error.kind, "text": _text(str(error))} for error in errors]
    if not case["ordered"]:
        expected.sort(key=lambda error: error["text"])
        got.sort(key=lambda error: error["text"])
    return differences(expected, got, "errors")


def _text(text: str) -> str:
    return text.partition("\n")[0]


def _quantity(case: Case) -> list[str]:
    try:
        quantity = parse_quantity(case["text"])
    except ValueError as problem:
        return differences(case["error"], str(problem), "error") + _json_round_trip(case)
    rounded, whole = rounded_up_to_milli(quantity), as_int64(quantity)
    got = {
        "error": None,
        "canonical": canonical(quantity),
        "format": quantity.notation,
        "value": str(scaled_value(quantity, 0)),
        "milliValue": str(scaled_value(quantity, -3)),
        "sign": (quantity.nano > 0) - (quantity.nano < 0),
        "zero": quantity.nano == 0,
        "asInt64": None if whole is None else str(whole),
        "roundedUpToMilli": canonical(rounded),
        "milliExact": rounded.nano == quantity.nano,
    }
    return differences({name: case[name] for name in got}, got) + _json_round_trip(case)


def _json_round_trip(case: Case) -> list[str]:
    """Check that Kubernetes' refusals are refused here. A JSON text may have blanks around the quantity."""
    try:
        got = canonical(parse_quantity(case["text"].strip(" ")))
    except ValueError:
        got = None
    return differences(case.get("json"), got, "json")


def _quantity_pair(case: Case) -> list[str]:
    left, right = parse_quantity(case["a"]), parse_quantity(case["b"])
    total, difference = added(left, right), added(left, negated(right))
    got = {
        "cmp": (left.nano > right.nano) - (left.nano < right.nano),
        "equal": left.nano == right.nano,
        "sum": canonical(total),
        "sumFormat": total.notation,
        "difference": canonical(difference),
        "differenceMilli": str(scaled_value(difference, -3)),
        "negatedA": canonical(negated(left)),
    }
    return differences({name: case[name] for name in got}, got)


def _selector(case: Case) -> list[str]:
    try:
        selector = parse_selector(case["text"])
    except NotASelector as problem:
        return differences(case["error"], str(problem), "error")
    got: Case = {"error": None, **_carried_out(case, selector)}
    try:
        got["toLabelSelector"] = to_label_selector(selector)
    except NotASelector as problem:
        got["toLabelSelectorError"] = str(problem)
    return differences({name: case.get(name) for name in got}, got)


def _label_selector(case: Case) -> list[str]:
    written = case["selector"]
    errors = [] if written is None else list(label_selector(written_form(written, "LabelSelector"), "selector"))
    lines = _compare_errors({**case, "errors": case["validation"]}, errors)
    problem = "" if written is None else label_selector_problem(written)
    if problem:
        return lines + differences([case["error"], case["formatted"]], [problem, "<error>"], "error")
    selector = selector_from(written)
    got = {"error": None, "formatted": str(selector) or "<none>", **_carried_out(case, selector)}
    return lines + differences({name: case[name] for name in got}, got)


def _carried_out(case: Case, selector: Selector) -> Case:
    requirements = [
        {"key": item.key, "operator": _operator(item), "values": sorted(dict.fromkeys(item.values))}
        for item in selector.requirements
    ]
    return {
        "string": str(selector),
        "empty": selector.empty,
        "parsed": {"requirements": requirements, "selectable": selector != NOTHING},
        "matches": [selector.matches(labels) for labels in case["labels"]],
    }


def _operator(requirement: Requirement) -> str:
    return requirement.sign or OPERATOR_TEXTS[requirement.operator]


def _node_selector(case: Case) -> list[str]:
    written, problems = case["selector"], node_selector_problems(case["selector"])
    terms = written.get("nodeSelectorTerms") or []
    sound = node_selector_from(
        {"nodeSelectorTerms": [term for term, texts in zip(terms, problems, strict=True) if not texts]}
    )
    message = joined([text for texts in problems for text in texts])
    matches = [sound.matches(node["name"], node.get("labels") or {}) for node in case["nodes"]]
    strict = {"error": message} if message else {"error": None, "matches": [{"match": match} for match in matches]}
    lazy = [{"match": match} if match or not message else {"error": message, "match": False} for match in matches]
    lines = differences(case["strict"], strict, "strict")
    return lines + differences(case["lazy"]["matches"], lazy, "lazy.matches")


OPS: dict[str, Callable[[Case], list[str]]] = {
    "create": _create,
    "update": _update,
    "quantity": _quantity,
    "quantityPair": _quantity_pair,
    "selector": _selector,
    "labelSelector": _label_selector,
    "nodeSelector": _node_selector,
}
