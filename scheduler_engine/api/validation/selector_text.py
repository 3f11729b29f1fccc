"""Label selectors as texts (``app in (web,db),env!=prod``), and selectors that cannot be evaluated.

Source: upstream ``apimachinery/pkg/labels/selector.go`` and ``component-helpers/scheduling/corev1/nodeaffinity``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.labels import Requirement, Selector, is_int64
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import in_version, invalid, not_supported, worded
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import DEFAULT_RULES, Rules

OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_SIGNS = "=!(),<>"

Data = Mapping[str, Any]


class NotASelector(ValueError):
    """The text is not a selector; the message comes from Kubernetes."""


def parse_selector(text: str, rules: Rules = DEFAULT_RULES) -> Selector:
    """Read a selector. ``rules``: those of the version of Kubernetes. Raises NotASelector."""
    tokens = _Tokens(text, rules)
    requirements: list[Requirement] = []
    while tokens.next:
        if not (tokens.word or tokens.next == "!"):
            raise NotASelector(f"found '{tokens.next}', expected: !, identifier, or 'end of string'")
        try:
            requirements.append(_requirement(tokens))
        except NotASelector as problem:
            raise NotASelector(f"unable to parse requirement: {problem}") from problem
        if not tokens.next:
            break
        if tokens.take() != ",":
            raise NotASelector(f"found '{tokens.last}', expected: ',' or 'end of string'")
        if not (tokens.word or tokens.next == "!"):
            raise NotASelector(f"found '{tokens.next}', expected: identifier after ','")
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


class _Tokens:
    """The tokens of a selector; ``next`` is "" at the end."""

    def __init__(self, text: str, rules: Rules) -> None:
        self.rules = rules
        self.items: list[str] = [*_TOKEN.findall(text), ""]
        self.position = 0

    @property
    def next(self) -> str:
        return self.items[min(self.position, len(self.items) - 1)]

    @property
    def last(self) -> str:
        return self.items[min(self.position, len(self.items)) - 1]

    @property
    def word(self) -> bool:
        return self.next != "" and self.next[0] not in _SIGNS

    def take(self) -> str:
        self.position += 1
        return self.last


def _requirement(tokens: _Tokens) -> Requirement:
    absent = tokens.next == "!"
    if absent:
        tokens.take()
    if not tokens.word:
        raise NotASelector(f"found '{tokens.next}', expected: identifier")
    key = tokens.take()
    for problem in in_version(_wrong(key, names.qualified_name(key), "<nil>"), tokens.rules):
        raise NotASelector(str(problem))
    if absent or tokens.next in ("", ","):
        return Requirement(key, "DoesNotExist" if absent else "Exists")
    sign = tokens.take()
    if sign not in OPERATORS:
        raise NotASelector(f"found '{sign}', expected: in, notin, =, ==, !=, gt, lt")
    values = _listed(tokens) if sign in ("in", "notin") else _single(tokens)
    written = sign if sign in ("=", "==", "!=") else ""
    requirement = Requirement(key, OPERATORS[sign], tuple(sorted(dict.fromkeys(values))), written)
    errors = requirement_problems(key, requirement.operator, list(requirement.values), "", tokens.rules)
    if errors:
        raise NotASelector(joined(errors))
    return requirement


def _single(tokens: _Tokens) -> list[str]:
    if tokens.next in ("", ","):
        return [""]
    if not tokens.word:
        raise NotASelector(f"found '{tokens.next}', expected: identifier")
    return [tokens.take()]


def _listed(tokens: _Tokens) -> list[str]:
    """Return the values in parentheses; a missing one is the empty text."""
    if tokens.take() != "(":
        raise NotASelector(f"found '{tokens.last}' expected: '('")
    if tokens.next == ")":
        tokens.take()
        return [""]
    if not (tokens.word or tokens.next == ","):
        raise NotASelector(f"found '{tokens.next}', expected: ',', ')' or identifier")
    values: list[str] = []
    while True:
        if tokens.word:
            values.append(tokens.take())
            if tokens.next == ")":
                break
            if tokens.next != ",":
                raise NotASelector(f"found '{tokens.next}', expected: ',' or ')'")
        elif tokens.take() == ",":
            if not values:
                values.append("")
            if tokens.next == ")":
                values.append("")
                break
            if tokens.next == ",":
                values.append("")
                if not tokens.rules.reads_trailing_commas:
                    tokens.take()
        else:
            raise NotASelector(f"found '{tokens.last}', expected: ',', or identifier")
    tokens.take()
    return values


# --- selectors that cannot be evaluated -------------------------------------------------------------------------------


def joined(errors: Sequence[FieldError | str]) -> str:
    """Join several errors, equal ones once, in brackets unless there is only one; "" for none."""
    lines = list(dict.fromkeys(str(error) for error in errors))
    return "".join(lines) if len(lines) < 2 else f"[{', '.join(lines)}]"


def _wrong(value: str, problems: list[str], path: str) -> Sequence[FieldError]:
    """Return one error with all that is wrong with a key or value."""
    return [*worded(path, value, names.joined(problems, "; "))] if problems else []


def requirement_problems(
    key: str, operator: str, values: Sequence[str] | None, path: str, rules: Rules
) -> list[FieldError]:
    """Return why a requirement at ``path`` cannot be evaluated (upstream ``NewRequirement``)."""
    place = f"{path}.values" if path else "values"
    errors: list[FieldError] = [*_wrong(key, names.qualified_name(key), f"{path}.key" if path else "key")]
    if operator in ("In", "NotIn") and not values:
        errors.append(invalid(place, values, "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in ("Exists", "DoesNotExist") and values:
        errors.append(invalid(place, values, "values set must be empty for exists and does not exist"))
    elif operator in ("Gt", "Lt"):
        if len(values or ()) != 1:
            errors.append(invalid(place, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
        for index, value in enumerate(values or ()):
            if not is_int64(value):
                text = "for 'Gt', 'Lt' operators, the value must be an integer"
                errors.append(invalid(f"{place}[{index}]", value, text))
    for index, value in enumerate(values or ()):
        errors += _wrong(value, names.label_value(value), f"{place}[{index}][{key}]")
    return [*in_version(errors, rules)]


def label_selector_problem(selector: Data, rules: Rules = DEFAULT_RULES) -> str:
    """Return why a ``metav1.LabelSelector`` cannot be evaluated, "" if it can."""
    for key, value in sorted((selector.get("matchLabels") or {}).items()):
        errors = requirement_problems(key, "In", [value], "", rules)
        if errors:
            return joined(errors)
    for expression in selector.get("matchExpressions") or ():
        operator = expression.get("operator") or ""
        if operator not in LABEL_OPERATORS:
            return f'"{operator}" is not a valid label selector operator'
        values = expression.get("values") or None
        errors = requirement_problems(expression.get("key") or "", operator, values, "", rules)
        if errors:
            return joined(errors)
    return ""


def node_selector_problems(selector: Data, rules: Rules = DEFAULT_RULES) -> list[list[str]]:
    """Return for every term why it cannot be evaluated, nothing if it can."""
    return [
        _term_problems(term, f"nodeSelectorTerms[{index}]", rules)
        for index, term in enumerate(selector.get("nodeSelectorTerms") or ())
    ]


def preferred_terms_problem(terms: Sequence[Data], rules: Rules = DEFAULT_RULES) -> str:
    """Return why preferred node affinity cannot be evaluated, "" if it can; ignore terms of weight 0."""
    problems = [
        text
        for index, item in enumerate(terms)
        if item.get("weight")
        for text in _term_problems(item.get("preference") or {}, f"[{index}]", rules)
    ]
    return joined(problems)


def _term_problems(term: Data, path: str, rules: Rules) -> list[str]:
    problems: list[str] = []
    for index, item in enumerate(term.get("matchExpressions") or ()):
        place, operator = f"{path}.matchExpressions[{index}]", item.get("operator") or ""
        if operator not in NODE_OPERATORS:
            problems.append(str(not_supported(f"{place}.operator", operator, NODE_OPERATORS)))
            continue
        errors = requirement_problems(item.get("key") or "", operator, item.get("values"), place, rules)
        problems += [str(error) for error in errors]
    for index, item in enumerate(term.get("matchFields") or ()):
        place, operator = f"{path}.matchFields[{index}]", item.get("operator") or ""
        if operator not in ("In", "NotIn"):
            problems.append(str(not_supported(f"{place}.operator", operator, ("In", "NotIn"))))
        elif len(item.get("values") or ()) != 1:
            problems.append(str(invalid(f"{place}.values", item.get("values"), "must have one element")))
    return problems


def to_label_selector(selector: Selector) -> Data:
    """Convert a parsed selector to a ``metav1.LabelSelector``. Raises NotASelector for ``!=``, ``>`` and ``<``."""
    labels: dict[str, str] = {}
    expressions: list[Data] = []
    for requirement in selector.requirements:
        if requirement.sign == "!=":
            raise NotASelector('"!=" is not a valid label selector operator')
        if requirement.operator in ("Gt", "Lt"):
            raise NotASelector(f'"{requirement.operator.lower()}" isn\'t supported in label selectors')
        if requirement.sign:
            labels[requirement.key] = requirement.values[0]
        else:
            values = {"values": list(requirement.values)} if requirement.values else {}
            expressions.append({"key": requirement.key, "operator": requirement.operator, **values})
    parts = {"matchLabels": labels, "matchExpressions": expressions}
    return {name: part for name, part in parts.items() if part}
