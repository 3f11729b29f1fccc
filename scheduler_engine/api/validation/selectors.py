"""Rules for label selectors, node selectors, affinity terms, spread constraints, taints and tolerations.

Source: upstream ``apimachinery/pkg/apis/meta/v1/validation`` and ``apis/core/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.labels import is_int64
from scheduler_engine.api.taints import CANONICAL, GREATER, LESS
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import labels
from scheduler_engine.api.validation.problems import (
    Errors,
    Named,
    by_version,
    duplicate,
    each,
    forbidden,
    invalid,
    map_shown,
    not_supported,
    positive,
    present,
    quoted,
    required,
    supported,
    texts,
    worded,
)

Data = Mapping[str, Any]

OPERATORS = ("Equal", "Exists")
ALL_OPERATORS = (*OPERATORS, LESS, GREATER)
"""Operators of tolerations: in all versions, and with those that compare."""
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

label_key = texts(names.qualified_name)
_label_value = texts(names.label_value)
_namespace = texts(names.dns_label)
_effect = supported(TAINT_EFFECTS)


# --- selectors --------------------------------------------------------------------------------------------------------


def label_selector(selector: Data, path: str) -> Errors:
    yield from labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    yield from each(_label_requirement)(selector.get("matchExpressions") or (), f"{path}.matchExpressions")


def selector_shown(selector: Data) -> Data:
    """Return a label selector as Go prints it: without empty parts, in Go's order."""
    expressions = [
        {field: item[field] for field in ("key", "operator", "values") if item.get(field) or field != "values"}
        for item in selector.get("matchExpressions") or ()
    ]
    parts = {"matchLabels": map_shown(selector.get("matchLabels") or {}), "matchExpressions": expressions}
    return {field: part for field, part in parts.items() if part}


def term_shown(term: Data) -> Data:
    """Return a node selector term as Go prints its internal form."""

    def listed(field: str) -> list[Data] | None:
        items = term.get(field)
        return items and [
            {"Key": item["key"], "Operator": item["operator"], "Values": item.get("values")} for item in items
        ]

    return {"MatchExpressions": listed("matchExpressions"), "MatchFields": listed("matchFields")}


def _label_requirement(requirement: Data, path: str) -> Errors:
    yield from _operator(requirement, path, single=())
    yield from label_key(requirement["key"], f"{path}.key")
    yield from each(_label_value)(requirement.get("values") or (), f"{path}.values")


def _operator(requirement: Data, path: str, single: Sequence[str]) -> Errors:
    """Check the operator and the number of its values; ``single`` are operators that take exactly one."""
    operator, values = requirement["operator"], requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in single:
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{path}.operator", Named(operator), "not a valid selector operator")


def node_selector(selector: Data, path: str) -> Errors:
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from _node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]", any_value=False)


def _node_selector_term(term: Data, path: str, any_value: bool) -> Errors:
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        yield from _operator(requirement, place, single=("Gt", "Lt"))
        yield from label_key(requirement["key"], f"{place}.key")
        if not any_value:
            yield from each(_label_value)(requirement.get("values") or (), f"{place}.values")
    yield from each(_node_field)(term.get("matchFields") or (), f"{path}.matchFields")


def _node_field(requirement: Data, path: str) -> Errors:
    values = requirement.get("values") or ()
    if requirement["operator"] not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", Named(requirement["operator"]), "not a valid selector operator")
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", text)
    if requirement["key"] != "metadata.name":
        yield invalid(f"{path}.key", requirement["key"], "not a valid field selector key")
    else:
        yield from each(texts(names.subdomain))(values, f"{path}.values")


# --- affinity ---------------------------------------------------------------------------------------------------------

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity(value: Data, path: str) -> Errors:
    yield from present(
        value, path, (("nodeAffinity", _node_affinity), ("podAffinity", _terms), ("podAntiAffinity", _terms))
    )


def _node_affinity(value: Data, path: str) -> Errors:
    yield from present(value, path, ((REQUIRED, node_selector), (PREFERRED, each(_preferred_node_term))))


def _weight(value: int, path: str) -> Errors:
    if not 1 <= value <= 100:
        yield invalid(path, value, "must be in the range 1-100")


def _preferred_node_term(term: Data, path: str) -> Errors:
    yield from _weight(term["weight"], f"{path}.weight")
    yield from _node_selector_term(term.get("preference") or {}, f"{path}.preference", any_value=True)


def _terms(value: Data, path: str) -> Errors:
    yield from present(value, path, ((REQUIRED, each(_pod_affinity_term)), (PREFERRED, each(_weighted_term))))


def _weighted_term(term: Data, path: str) -> Errors:
    yield from _weight(term["weight"], f"{path}.weight")
    yield from _pod_affinity_term(term.get("podAffinityTerm") or {}, f"{path}.podAffinityTerm")


def _pod_affinity_term(term: Data, path: str) -> Errors:
    yield from present(term, path, (("labelSelector", label_selector), ("namespaceSelector", label_selector)))
    for name in term.get("namespaces") or ():
        yield from _namespace(name, f"{path}.namespace")
    yield from _match_label_keys(term, path)
    key = term.get("topologyKey") or ""
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from label_key(key, f"{path}.topologyKey")


def _match_label_keys(owner: Data, path: str) -> Errors:
    """Check ``matchLabelKeys`` and ``mismatchLabelKeys`` of an affinity term or spread constraint."""
    selector = owner.get("labelSelector")
    match, mismatch = owner.get("matchLabelKeys") or [], owner.get("mismatchLabelKeys") or []
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
        else:
            yield from each(label_key)(keys, f"{path}.{field}")
    if selector is not None:
        selector_keys = set(selector.get("matchLabels") or ())
        last = {key: index for index, key in enumerate(match)}
        for expression in selector.get("matchExpressions") or ():
            key = expression["key"]
            if key in last and key in selector_keys:
                yield invalid(f"{path}[{last[key]}]", key, "exists in both matchLabelKeys and labelSelector")
            selector_keys.add(key)
    others = set(mismatch)
    for index, key in enumerate(match):
        if key in others:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, text)


# --- spread -----------------------------------------------------------------------------------------------------------

_inclusion_policy = supported(("Honor", "Ignore"))
_when_unsatisfiable = supported(("DoNotSchedule", "ScheduleAnyway"))


def spread_constraints(constraints: Sequence[Data], path: str) -> Errors:
    last = {(item["topologyKey"], item["whenUnsatisfiable"]): index for index, item in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        key, when = constraint["topologyKey"], constraint["whenUnsatisfiable"]
        yield from positive(constraint["maxSkew"], f"{place}.maxSkew")
        if not key:
            yield required(f"{place}.topologyKey", "can not be empty")
        yield from _when_unsatisfiable(when, f"{place}.whenUnsatisfiable")
        if last[key, when] > index:
            yield duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        yield from _min_domains(constraint, f"{place}.minDomains")
        yield from present(
            constraint, place, (("nodeAffinityPolicy", _inclusion_policy), ("nodeTaintsPolicy", _inclusion_policy))
        )
        yield from _match_label_keys(constraint, place)
        yield from present(constraint, place, (("labelSelector", label_selector),))


def _min_domains(constraint: Data, path: str) -> Errors:
    number, when = constraint.get("minDomains"), constraint["whenUnsatisfiable"]
    if number is not None:
        yield from positive(number, path)
        if when != "DoNotSchedule":
            text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            yield invalid(path, number, text)


# --- taints -----------------------------------------------------------------------------------------------------------


def tolerations(value: Sequence[Data], path: str) -> Errors:
    yield from each(_toleration)(value, path)


def compares(toleration: Data) -> bool:
    return toleration.get("operator") in (LESS, GREATER)


def _toleration(toleration: Data, path: str) -> Errors:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        yield from label_key(key, f"{path}.key")
    elif operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", Named(operator), text)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(f"{path}.effect", Named(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("Equal", ""):
        problems = names.label_value(value)
        if problems:
            yield from worded(f"{path}.operator", value, names.joined(problems))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif compares(toleration):
        older, newer = (not_supported(f"{path}.operator", operator, listed) for listed in (OPERATORS, ALL_OPERATORS))
        wrong = _compared_value(value, f"{path}.value")
        yield from by_version((older,), ("tolerations_compare", wrong), ("knows_comparing_tolerations", (newer,)))
    else:
        yield not_supported(f"{path}.operator", operator, OPERATORS)
    if effect:
        yield from _effect(effect, f"{path}.effect")


def _compared_value(value: str, path: str) -> Errors:
    if not value:
        yield invalid(path, value, "must be non-empty")
    elif not CANONICAL.fullmatch(value):
        yield invalid(path, value, "must be a valid decimal integer in canonical form")
    if not is_int64(value):
        why = "value out of range" if re.fullmatch(r"[+-]?[0-9]+", value) else "invalid syntax"
        yield invalid(path, value, f"strconv.ParseInt: parsing {quoted(value)}: {why}")


def taints(value: Sequence[Data], path: str) -> Errors:
    pairs: set[tuple[str, str]] = set()
    for index, taint in enumerate(value):
        place, key, effect = f"{path}[{index}]", taint["key"], taint["effect"]
        yield from label_key(key, f"{place}.key")
        problems = names.label_value(taint.get("value") or "")
        if problems:
            yield from worded(f"{place}.value", taint.get("value") or "", names.joined(problems))
        if effect:
            yield from _effect(effect, f"{place}.effect")
        else:
            yield required(f"{place}.effect")
        if (key, effect) in pairs:
            shown = {
                "Key": key,
                "Value": taint.get("value") or "",
                "Effect": effect,
                "TimeAdded": taint.get("timeAdded"),
            }
            yield duplicate(place, shown, "taints must be unique by key and effect pair")
        pairs.add((key, effect))
