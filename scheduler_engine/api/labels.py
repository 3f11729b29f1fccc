"""Label selectors. Source: upstream ``apimachinery/pkg/labels`` and ``apis/meta/v1/helpers.go``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from scheduler_engine.records import record

LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


@record(frozen=True, slots=True)
class Requirement:
    """``operator``: In, NotIn, Exists, DoesNotExist, Gt or Lt (the last two for node labels only).

    ``sign``: ``=``, ``==`` or ``!=`` if an In or NotIn of one value is written that way.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()
    sign: str = field(default="", compare=False)

    def matches(self, labels: Mapping[str, str]) -> bool:
        present = self.key in labels
        if self.operator == "In":
            return present and labels[self.key] in self.values
        if self.operator == "NotIn":
            return not present or labels[self.key] not in self.values
        if self.operator == "Exists":
            return present
        if self.operator == "DoesNotExist":
            return not present
        return present and self._compares(labels[self.key])

    @property
    def broken(self) -> bool:
        """Return True if it can never be evaluated: Gt or Lt of a non-integer, or a value that no label can have.

        The former always passes validation, the latter only in node preferences.
        """
        if self.operator in ("Gt", "Lt") and not (len(self.values) == 1 and is_int64(self.values[0])):
            return True
        return any(LABEL_VALUE.fullmatch(value) is None for value in self.values)

    @property
    def text(self) -> str:
        """Return the text as in a manifest: ``disktype In [ssd]``."""
        values = f" [{', '.join(self.values)}]" if self.values else ""
        return f"{self.key} {self.operator}{values}"

    def _compares(self, text: str) -> bool:
        """Compare for Gt and Lt: both sides must be 64-bit integers, else nothing matches."""
        if len(self.values) != 1:
            return False
        try:
            left, right = parse_int64(text), parse_int64(self.values[0])
        except ValueError:
            return False
        return left > right if self.operator == "Gt" else left < right

    def __str__(self) -> str:
        listed = ",".join(sorted(self.values))
        if self.sign:
            return f"{self.key}{self.sign}{listed}"
        forms = {
            "In": f"{self.key} in ({listed})",
            "NotIn": f"{self.key} notin ({listed})",
            "Exists": self.key,
            "DoesNotExist": f"!{self.key}",
            "Gt": f"{self.key}>{listed}",
            "Lt": f"{self.key}<{listed}",
        }
        return forms[self.operator]


def parse_int64(text: str) -> int:
    """Parse like Go's ParseInt(text, 10, 64). Raises ValueError."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"not an integer: {text}")
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"out of range: {text}")
    return number


def is_int64(text: str) -> bool:
    try:
        parse_int64(text)
    except ValueError:
        return False
    return True


@record(frozen=True, slots=True)
class Selector:
    """All requirements must hold. ``nothing`` matches no labels; a selector without requirements matches everything."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        for requirement in self.requirements:  # A loop is twice as fast as `all`, and this is asked very often.
            if not requirement.matches(labels):
                return False
        return not self.nothing

    @property
    def empty(self) -> bool:
        return not self.nothing and not self.requirements

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


NOTHING = Selector(nothing=True)
EVERYTHING = Selector()


def selector_from(label_selector: Mapping[str, Any] | None) -> Selector:
    """Convert a ``metav1.LabelSelector``: None matches nothing, ``{}`` everything."""
    if label_selector is None:
        return NOTHING
    requirements = [
        Requirement(key, "In", (value,), "=")
        for key, value in sorted((label_selector.get("matchLabels") or {}).items())
    ]
    requirements += [
        Requirement(expression["key"], expression["operator"], tuple(expression.get("values") or ()))
        for expression in label_selector.get("matchExpressions") or ()
    ]
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def selector_from_set(labels: Mapping[str, str] | None) -> Selector:
    """Require every label with its value; none matches everything (upstream ``SelectorFromSet``)."""
    return Selector(tuple(Requirement(key, "In", (value,), "=") for key, value in sorted((labels or {}).items())))


def requirements_from(expressions: Sequence[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    """Read ``matchExpressions`` of a node selector term."""
    return tuple(Requirement(item["key"], item["operator"], tuple(item.get("values") or ())) for item in expressions)
