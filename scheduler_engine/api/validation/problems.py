"""Field errors with Kubernetes' texts. Source: upstream ``apimachinery/pkg/util/validation/field/errors.go``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_engine.api import go_text
from scheduler_engine.api.validation.names import Reworded
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import Rules

Errors = Iterator[FieldError]
BY_POLICY = "disallowed by cluster policy"
"""The end of an error that an API server with ``--allow-privileged`` does not report."""


@dataclass(frozen=True, slots=True)
class ByVersion(FieldError):
    """A place for errors that depend on the version: those of the first of these rules that holds, else ``otherwise``.

    ``instead``: (rule, errors), … A rule is ``name``, or ``name: word`` for a word in its value. See ``in_version``.
    """

    instead: tuple[tuple[str, tuple[FieldError, ...]], ...] = ()
    otherwise: tuple[FieldError, ...] = ()


def in_version(errors: Iterable[FieldError], rules: Rules) -> Errors:
    """Return the errors as the version and gates of ``rules`` report them."""
    for error in errors:
        if not isinstance(error, ByVersion):
            yield error
            continue
        found = (others for rule, others in error.instead if holds(rules, rule))
        yield from in_version(next(found, error.otherwise), rules)


def holds(rules: Rules, rule: str) -> bool:
    """Return whether a rule holds. ``rule`` as in ``ByVersion``."""
    name, _, word = rule.partition(": ")
    value = getattr(rules, name)
    return word in value if word else bool(value)


def without(error: FieldError, rule: str) -> FieldError:
    """Return the error where ``rule`` never holds."""
    if not isinstance(error, ByVersion):
        return error
    return replace(error, instead=tuple(item for item in error.instead if item[0] != rule))


def by_version(older: Iterable[FieldError], *instead: tuple[str, Iterable[FieldError]]) -> Errors:
    """Return ``older`` errors, or those of the first rule that holds."""
    listed, otherwise = tuple((rule, tuple(errors)) for rule, errors in instead), tuple(older)
    for error in (*otherwise, *(one for _, errors in listed for one in errors))[:1]:
        yield ByVersion(error.path, error.kind, error.message, instead=listed, otherwise=otherwise)


def since(rule: str, errors: Iterable[FieldError]) -> Errors:
    """Return errors that are reported only where ``rule`` holds."""
    return by_version((), (rule, errors))


def until(rule: str, errors: Iterable[FieldError]) -> Errors:
    """Return errors that are reported only where ``rule`` does not hold."""
    return by_version(errors, (rule, ()))


Rule = Callable[[Any, str], Errors]
"""Return what is wrong with a value at a path."""


_JSON_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that Go escapes in JSON beyond the required ones."""


MOST_SHOWN = 4000
"""The maximum length of a value in an error, so that its text stays readable."""


def quoted(text: str) -> str:
    """Return a text in double quotes, control characters escaped like Go; cut a very long one."""
    if len(text) > MOST_SHOWN:
        return f"{quoted(text[:MOST_SHOWN])}… ({len(text)} characters)"
    return go_text.quoted(text)


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Named(str):
    """A text with its own type (an operator, a protocol) or behind a pointer: errors show it as JSON."""


class Shown(str):
    """A value as ``shown`` returns it, computed once for many errors."""


def shown(value: Any) -> str:
    """Return a value as an error text shows it, a very long one cut off."""
    if isinstance(value, Shown):
        return value
    if isinstance(value, str) and not isinstance(value, Named):
        return quoted(value)
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        return f"{shown(Named(value[:MOST_SHOWN]))}… ({len(value)} characters)"
    text, cut = "", False
    for part in _JSON.iterencode(value):
        text += part[: MOST_SHOWN + 1]
        if len(text) > MOST_SHOWN:
            text, cut = text[:MOST_SHOWN], True
            break
    return text.translate(_JSON_ESCAPES) + ("…" if cut else "")


def map_shown(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return a map as Go prints it, in the order of its keys; a struct's fields have their own order."""
    return dict(sorted(entries.items()))


def _error(kind: str, title: str, path: str, detail: str, value: Any = None, has_value: bool = True) -> FieldError:
    parts = [title, shown(value)] if has_value else [title]
    return FieldError(path, f"FieldValue{kind}", ": ".join([*parts, detail] if detail else parts))


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return _error("Invalid", "Invalid value", path, detail, value)


def duplicate(path: str, value: Any, detail: str = "") -> FieldError:
    return _error("Duplicate", "Duplicate value", path, detail, value)


def not_found(path: str, value: Any, detail: str = "") -> FieldError:
    return _error("NotFound", "Not found", path, detail, value)


def not_supported(path: str, value: Any, supported: Iterable[str], named: bool = True) -> FieldError:
    """``named``: the value has its own type, like nearly all with a list of supported values."""
    detail = "supported values: " + ", ".join(quoted(item) for item in supported)
    return _error(
        "NotSupported", "Unsupported value", path, detail, Named(value) if named and isinstance(value, str) else value
    )


def required(path: str, detail: str = "") -> FieldError:
    return _error("Required", "Required value", path, detail, has_value=False)


def forbidden(path: str, detail: str) -> FieldError:
    return _error("Forbidden", "Forbidden", path, detail, has_value=False)


def internal(path: str, detail: str) -> FieldError:
    return FieldError(path, "InternalError", f"Internal error: {detail}")


def too_long(path: str, limit: int) -> FieldError:
    return _error("TooLong", "Too long", path, f"may not be more than {limit} bytes", has_value=False)


def too_many(path: str, count: int, limit: int) -> FieldError:
    return _error("TooMany", "Too many", path, f"must have at most {limit} items", count)


def texts(check: Callable[[str], list[str]]) -> Rule:
    """Build a rule from a check of names: one error for each of its texts."""

    def rule(value: str, path: str) -> Errors:
        for text in check(value):
            yield from worded(path, value, text)

    return rule


def worded(path: str, value: Any, text: str) -> Errors:
    """Return the error that a value is invalid, with the text of the version."""
    error = invalid(path, value, text)
    if isinstance(text, Reworded):
        yield from by_version((error,), (f"newer_texts: {text.word}", (invalid(path, value, text.newer),)))
    else:
        yield error


def one_of(values: Sequence[str]) -> Rule:
    """Return an error if missing (required) or not one of ``values`` (listed in this order)."""

    def rule(value: str, path: str) -> Errors:
        if not value:
            yield required(path)
        elif value not in values:
            yield not_supported(path, value, values)

    return rule


def supported(values: Sequence[str]) -> Rule:
    """Like ``one_of``, but a missing value is an unsupported one."""

    def rule(value: str, path: str) -> Errors:
        if value not in values:
            yield not_supported(path, value, values)

    return rule


def each(rule: Rule) -> Rule:
    """Apply a rule to every item of a list."""

    def for_all(items: Sequence[Any], path: str) -> Errors:
        for index, item in enumerate(items):
            yield from rule(item, f"{path}[{index}]")

    return for_all


def present(owner: Any, path: str, rules: Sequence[tuple[str, Rule]]) -> Errors:
    """Apply rules to the fields that ``owner`` has, in the order of ``rules``."""
    for field, rule in rules:
        if owner.get(field) is not None:
            yield from rule(owner[field], f"{path}.{field}")


def nonnegative(value: int, path: str) -> Errors:
    if value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def positive(value: int, path: str) -> Errors:
    if value <= 0:
        yield invalid(path, value, "must be greater than zero")


def between(low: int, high: int) -> Rule:
    def rule(value: int, path: str) -> Errors:
        if not low <= value <= high:
            yield invalid(path, value, f"must be between {low} and {high}, inclusive")

    return rule


def amount_or_percent(value: int | str, path: str) -> Errors:
    """Check for a number of at least 0, or a percentage."""
    if isinstance(value, int):
        yield from nonnegative(value, path)
    elif percent(value) is None:
        text = "a valid percent string must be a numeric string followed by an ending '%'"
        yield invalid(path, value, f"{text} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")


def at_most_100_percent(value: int | str, path: str) -> Errors:
    if (percent(value) or 0) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def percent(value: int | str) -> int | None:
    """Return the number before the sign, None if it is not a percentage."""
    if isinstance(value, str) and value.endswith("%") and value[:-1].isascii() and value[:-1].isdigit():
        return int(value[:-1][:9])
    return None
