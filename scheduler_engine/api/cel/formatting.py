"""Texts with places for values. Source: upstream ``cel-go/ext/formatting.go``, which writes numbers as en_US does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scheduler_engine.api.cel.conversions import to_string
from scheduler_engine.api.cel.times import Duration, Timestamp
from scheduler_engine.api.cel.typed import typed
from scheduler_engine.api.cel.values import CelError, CelType, TooExpensive, Uint, check_size, name_of, plain_key
from scheduler_engine.api.go_text import quoted

PRECISION = 6
MOST_PRECISION = 10_000
_CLAUSE = re.compile(rb"(?:\.([0-9]*))?(.?)", re.DOTALL)
_SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Texts that count as doubles."""
INFINITE = {math.inf: "\u221e", -math.inf: "-\u221e"}
_DOUBLES, _SCIENCE = "fixed-point clause can only be used on doubles", "scientific clause can only be used on doubles"
_HEX = "only integers, byte buffers, and strings can be formatted as hex"
PROBLEMS: Mapping[str, str] = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps",
    "d": "decimal clause can only be used on integers",
    "f": _DOUBLES,
    "e": _SCIENCE,
    "b": "only integers and bools can be formatted as binary",
    "x": _HEX,
    "X": _HEX,
    "o": "octal clause can only be used on integers",
}
"""Clause → what is wrong with a value of another type."""
_TIMES = ("google.protobuf.Timestamp", "google.protobuf.Duration")
ACCEPTED: Mapping[str, frozenset[str]] = {
    "s": frozenset(
        (*("list", "map", "int", "uint", "double", "bool", "string", "bytes", "type", "null_type"), *_TIMES)
    ),
    "d": frozenset(("int", "uint")),
    "f": frozenset(("double", "string")),
    "e": frozenset(("double", "string")),
    "b": frozenset(("int", "uint", "bool")),
    "x": frozenset(("int", "uint", "string", "bytes")),
    "X": frozenset(("int", "uint", "string", "bytes")),
    "o": frozenset(("int", "uint")),
}
"""Clause → the names of the types that it accepts."""


class Clause(NamedTuple):
    """A place for a value. ``precision``: None if there is none."""

    verb: str
    precision: int | None


def clauses(text: str, count: int, counted: bool) -> Iterator[bytes | Clause]:
    """Yield the texts between places as UTF-8, and the places. ``count``: how many values there are. ``counted``: look
    for a value before the place is read. Raises CelError.
    """
    raw, at, used = text.encode(), 0, 0
    while at < len(raw):
        if raw[at : at + 1] != b"%":
            end = raw.find(b"%", at)
            end = len(raw) if end < 0 else end
            yield raw[at:end]
            at = end
            continue
        if raw[at : at + 2] == b"%%":
            yield b"%"
            at += 2
            continue
        if counted and used >= count:
            raise CelError(f"index {used} out of range")
        if at + 1 == len(raw):
            raise CelError("unexpected end of string")
        if used >= count:
            raise CelError(f"index {used} out of range")
        found = _CLAUSE.match(raw, at + 1)
        assert found is not None
        yield _clause(found)
        at, used = found.end(), used + 1


def _clause(found: re.Match[bytes]) -> Clause:
    problem = "could not parse formatting clause: "
    precision = None
    if found[1] is not None:
        if not found[2]:
            raise CelError(f"{problem}error while parsing precision: could not find end of precision specifier")
        precision = _precision(found[1].decode(), f"{problem}error while parsing precision: ")
    verb = chr(found[2][0])
    if verb not in PROBLEMS:
        raise CelError(f'{problem}unrecognized formatting clause "{verb}"')
    return Clause(verb, precision)


def _precision(digits: str, problem: str) -> int:
    number = int(digits.lstrip("0")[:20] or "0")
    if digits and number < 2**63:
        return number
    reason = "value out of range" if digits else "invalid syntax"
    raise CelError(f'{problem}error while converting precision to integer: strconv.Atoi: parsing "{digits}": {reason}')


def wrong(verb: str, kind: str) -> str:
    """Return the problem of a value of a type in a clause."""
    return f"error during formatting: {PROBLEMS[verb]}, was given {kind}"


@typed("format", str, list)
def format_text(text: str, values: list[Any]) -> str:
    check_size(sum(map(_length, values)))
    parts, waiting, size = list[bytes](), iter(values), 0
    for part in clauses(text, len(values), counted=True):
        parts.append(part if isinstance(part, bytes) else _shown(part, next(waiting)).encode())
        size += len(parts[-1])
        check_size(size)
    return b"".join(parts).decode(errors="replace")


def _length(value: Any) -> int:
    """Return at least how long a value is as a text: a list may hold a long text many times."""
    if isinstance(value, list):
        return sum(map(_length, value))
    if isinstance(value, dict):
        return sum(_length(key) + _length(held) for key, held in value.items())
    return len(value) if isinstance(value, (str, bytes)) else 1


def _shown(clause: Clause, value: Any) -> str:
    verb = clause.verb
    kind = name_of(value)
    if kind not in ACCEPTED[verb] or (verb in "fe" and isinstance(value, str) and value not in SPECIAL):
        raise CelError(wrong(verb, kind))
    if verb == "s":
        return _plain(value)
    if verb in "fe":
        return _double(verb, SPECIAL.get(value, value), clause.precision)
    if verb in "xX" and isinstance(value, (str, bytes)):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if verb == "X" else digits
    return format(int(value), verb)


def _double(verb: str, value: float, precision: int | None) -> str:
    """Return a double in the style of en_US. For ``e`` the precision is a width, as upstream has it."""
    wanted = PRECISION if precision is None else precision
    if wanted > MOST_PRECISION:
        raise TooExpensive
    plain = value or 0.0
    if verb == "f":
        return INFINITE.get(plain) or ("NaN" if plain != plain else f"{plain:,.{wanted}f}")
    digits, _, exponent = f"{plain:.{PRECISION}e}".partition("e")
    shown = f"{digits}\u00d710{exponent.lstrip('+').translate(_SUPERSCRIPTS)}" if exponent else ""
    return (INFINITE.get(plain) or shown or "NaN").rjust(wanted)


def _plain(value: Any) -> str:
    """Return a value as ``%s`` shows it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_inside, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_entries(value))}}}"
    if value is None:
        return "null"
    return value.name if isinstance(value, CelType) else to_string(value)


def _inside(value: Any) -> str:
    """Return a value as it is shown inside a list: as a literal of CEL."""
    if isinstance(value, float):
        # Only here a point is sure to be one: upstream writes it without a language.
        return f"{value:.{PRECISION}f}" if math.isfinite(value) else quoted(to_string(value))
    if isinstance(value, (Timestamp, Duration)):
        return f"{'timestamp' if isinstance(value, Timestamp) else 'duration'}({quoted(str(value))})"
    if name_of(value) not in ACCEPTED["s"]:
        raise CelError(f"error during formatting: no formatting function for {name_of(value)}")
    if isinstance(value, bytes):
        return f"b{quoted(_plain(value))}"
    return quoted(value) if isinstance(value, str) else _plain(value)


def _entries(held: dict[Any, Any]) -> list[str]:
    """Return the entries of a map, by their keys as texts."""
    pairs = []
    for key, value in held.items():
        plain = plain_key(key)
        if not isinstance(plain, (str, bool, int, Uint)):
            raise CelError(f"error during formatting: no formatting function for map key of type {name_of(plain)}")
        pairs.append((_inside(plain), _inside(value)))
    return [f"{key}:{value}" for key, value in sorted(pairs, key=lambda pair: pair[0].encode())]


_ESCAPES = str.maketrans({sign: f"\\{name}" for sign, name in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"', strict=True)})


@typed("strings.quote", str)
def quote(text: str) -> str:
    """Return a text as a literal of CEL."""
    return f'"{text.translate(_ESCAPES)}"'
