"""Facts in words: the single source of sentences for the page, the command line and failing tests.

A row of ``en/<table>.yaml`` words one kind of fact. Each of its parts is optional:

=========  ===============================================================================================
says       a sentence for everyone, where this fact decided
brief      two or three words for a node's card, where this fact refused it
label      of the line of arithmetic: its subject
formula    the sum itself
note       a remark
=========  ===============================================================================================

A part with ``one`` and ``other`` depends on the value ``count``. ``{sign}`` is ≤ or >, as the fact is ok or not.
A fact inside a fact uses the same part of its own row, or ``says`` if it has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from pathlib import Path
from string import Formatter
from typing import Any

from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.facts import (
    AllOf,
    Amount,
    AnyOf,
    Counts,
    Domain,
    Fact,
    Facts,
    Keys,
    Label,
    LabelKey,
    Parts,
    Place,
    Size,
    Sum,
    Term,
    Things,
    Value,
    fact,
)
from scheduler_engine.trace.events import HintAnswered
from scheduler_engine.words import read_tables

Part = str | dict[str, str]
BINARY = (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
STORED = ("memory", "ephemeral-storage", "storage")
MOST_NAMES = 6
MOST_HINTS = 4096
"""Sentences that are kept, because the same one is read for each pod that waits."""
MOST_COUNTS = 8


ROWS: dict[str, dict[str, Part]] = read_tables(Path(__file__).parent / "en")
HINTS = {key for key in ROWS if key.startswith("hints.")}


@dataclass(frozen=True, slots=True)
class Line:
    """One step of the arithmetic: its subject, the sum itself, and a remark."""

    label: str
    formula: str
    note: str = ""


def sentence(facts: Facts) -> str:
    """Return the conclusion from the facts, for everyone."""
    return worded(facts.says, "says")


def brief(facts: Facts) -> str:
    """Return the conclusion in two or three words, "" if there are none."""
    return worded(facts.says, "brief")


def excess(facts: Facts) -> str:
    """Return the first sum that is above its limit, "" if there is none."""
    sums = (item for item in facts.shown if item.ok is False and "{sign}" in str(ROWS[item.key].get("formula")))
    return next((worded(item, "formula") for item in sums), "")


def lines(facts: Facts) -> tuple[Line, ...]:
    """Return the arithmetic, for those who want to check it."""
    return lines_of(facts.shown)


def lines_of(shown: Sequence[Fact]) -> tuple[Line, ...]:
    return tuple(Line(*(worded(item, part) for part in ("label", "formula", "note"))) for item in shown)


def worded(item: Fact, part: str) -> str:
    """Return one part of a fact's row, "" if it has none. KeyError for a fact without a row, or a missing value."""
    text = ROWS[item.key].get(part, "")
    if isinstance(text, dict):
        text = text["one" if item.values["count"] == 1 else "other"]
    if not text:
        return ""
    named = {name: item.values[name] for name in _places(text)}
    return text.format_map({"sign": ">" if item.ok is False else "≤", **written(named, part)})


def hint(answer: HintAnswered) -> str:
    """Return why a plugin answered an event this way: the row that it named, or its own text."""
    return _hint(answer.why, answer.about) if answer.why in HINTS else answer.why


@lru_cache(MOST_HINTS)
def _hint(key: str, about: str) -> str:
    return worded(fact(key, about=Keys((about,))), "says")


@cache
def _places(text: str) -> tuple[str, ...]:
    """Return the values that a text names. Others are not formatted: some hold thousands of pod names."""
    return tuple(name for _, name, _, _ in Formatter().parse(text) if name and name != "sign")


def written(values: Mapping[str, Value], part: str = "says") -> dict[str, str]:
    """Format each value for one part; amounts of one resource share one unit, in which all are exact."""
    numbers: dict[str, list[int]] = {}
    for value in values.values():
        if isinstance(value, Amount):
            numbers.setdefault(value.resource, []).append(value.number)
    units = {resource: unit_of(resource, number) for resource, number in numbers.items()}
    return {name: _written(value, units, part) for name, value in values.items()}


def _written(value: Value, units: Mapping[str, tuple[str, int]], part: str) -> str:
    if isinstance(value, Fact):
        return worded(value, part) or worded(value, "says")
    if isinstance(value, Parts):
        return "; ".join(_written(item, units, part) for item in value)
    if isinstance(value, Amount):
        unit, size = units[value.resource]
        return f"{value.number // size}{unit}" if value.number or unit == "m" else "0"
    return WRITERS[type(value)](value)


def amounts(resource: str, *numbers: int) -> list[str]:
    """Format amounts of one resource, all in one unit."""
    units = {resource: unit_of(resource, numbers)}
    return [_written(Amount(resource, number), units, "") for number in numbers]


def unit_of(resource: str, numbers: Sequence[int]) -> tuple[str, int]:
    """Return the largest unit in which all of these are whole, and its size."""
    if resource == "cpu":
        return "m", 1
    if resource not in STORED and not resource.startswith("hugepages-"):
        return "", 1
    return next(((unit, size) for unit, size in BINARY if not any(number % size for number in numbers)), ("B", 1))


def row_text(row: str, /, **places: object) -> str:
    """Format a row of ``values.yaml``, the words of a value."""
    return str(ROWS["values.words"][row]).format_map(places)


def short_name(key: str) -> str:
    """Return ``web-4`` for ``default/web-4``; keep other namespaces."""
    return key.removeprefix("default/")


def listed(names: Sequence[str], most: int) -> str:
    """Return ``a, b and c`` or ``a, b and 4 more``."""
    if len(names) > most:
        return row_text("more", names=", ".join(names[:most]), count=len(names) - most)
    if len(names) < 2:
        return "".join(names)
    return row_text("last", names=", ".join(names[:-1]), name=names[-1])


def _names(keys: Keys) -> str:
    if len(keys) <= MOST_NAMES:
        return listed([short_name(key) for key in keys], MOST_NAMES)
    shown = [short_name(key) for key in keys[: MOST_NAMES - 1]]
    return row_text("more", names=", ".join(shown), count=len(keys) - len(shown))


def _domain(domain: Domain) -> str:
    """Return ``zone``; if that is ambiguous, the whole key, or ``zone (app=web)`` or ``zone (constraint 2)``."""
    text = row_text("node") if domain.key == HOSTNAME else LabelKey(domain.key).name
    if domain.whole:
        text = domain.key
    if domain.selector:
        return row_text("that-selects", domain=text, selector=domain.selector)
    return row_text("constraint", domain=text, number=domain.number) if domain.number else text


def _place(place: Place) -> str:
    if place.value is None:
        return row_text("no-label", key=place.key)
    if place.key == HOSTNAME:
        return row_text("on-node", node=place.value)
    return row_text("in-domain", domain=_domain(Domain(place.key, place.whole)), name=place.value or row_text("empty"))


def _label(label: Label) -> str:
    return row_text("no-label", key=label.key) if label.value is None else f"{label.key}={label.value}"


def _chained(row: str, names: Sequence[str]) -> str:
    return reduce(lambda this, that: row_text(row, this=this, that=that), [name or row_text("empty") for name in names])


def _any_of(names: AnyOf) -> str:
    return _chained("or", names or ("",))


def _all_of(names: AllOf) -> str:
    return _chained("and", names or ("",))


def _size(size: Size) -> str:
    return f"{size.number / (1 << 20):.1f}".removesuffix(".0") + " Mi"


def _things(things: Things) -> str:
    part: Any = ROWS["things." + things.kind]
    return str(part["one" if things.number == 1 else "other"]).format(count=things.number)


def _integer(number: int) -> str:
    return str(number).replace("-", "−")


def _decimal(number: float) -> str:
    """Format with at most four decimal places."""
    return f"{number:.4f}".rstrip("0").rstrip(".").replace("-", "−")


def _sum(added: Sum) -> str:
    return " + ".join(" × ".join(WRITERS[type(number)](number) for number in term) for term in added.terms) or "0"


def _counts(counts: Counts) -> str:
    """Return ``a 2, b 0 (fewest)``: at most eight; if there are more, the lowest numbers and the own one."""
    numbers = counts.numbers
    if len(numbers) > MOST_COUNTS:
        ascending = sorted(numbers, key=lambda item: item[1])
        own = [item for item in ascending[MOST_COUNTS:] if item[0] == counts.own]
        numbers = (*ascending[: MOST_COUNTS - len(own)], *own)
    parts = [
        row_text(
            "fewest" if number == counts.lowest else "count", name=name or row_text(counts.nameless), number=number
        )
        for name, number in numbers
    ]
    more = len(counts.numbers) - len(numbers)
    if more:
        return row_text("more", names=", ".join(parts), count=more)
    return ", ".join(parts) or row_text("none")


def _term(term: Term) -> str:
    """Return ``pods with app=web in blue (term 2)``; do not name the default namespace alone."""
    text = row_text("all-pods") if not term.selector else row_text("pods-with", selector=term.selector)
    if term.selector is None:
        text = row_text("no-pods")
    places = [*term.namespaces]
    if term.namespace_selector:
        places.append(row_text("namespaces-with", selector=term.namespace_selector))
    if term.namespace_selector == "":
        text = row_text("in-every-namespace", pods=text)
    elif places != ["default"]:
        text = row_text("in-namespaces" if places else "in-no-namespace", pods=text, places=listed(places, MOST_NAMES))
    return row_text("numbered", text=text, number=term.number) if term.number else text


WRITERS: dict[type, Callable[[Any], str]] = {
    str: str,
    int: _integer,
    float: _decimal,
    Sum: _sum,
    Keys: _names,
    AnyOf: _any_of,
    Domain: _domain,
    Place: _place,
    LabelKey: lambda label: label.key if label.whole else label.name,
    Label: _label,
    Things: _things,
    Counts: _counts,
    Size: _size,
    AllOf: _all_of,
    Term: _term,
}
