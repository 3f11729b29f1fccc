"""Plain YAML scalars as in Kubernetes: YAML 1.1 as read by ``sigs.k8s.io/yaml``, then converted to JSON values.

``yes``/``on``/``y`` are booleans, ``010`` is octal, ``0x10`` is 16, ``1_000`` is 1000, ``~`` is null, dates stay texts.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from scheduler_engine.words import say

JSONScalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **{form: True for word in ("y", "yes", "true", "on") for form in (word, word.capitalize(), word.upper())},
    **{form: False for word in ("n", "no", "false", "off") for form in (word, word.capitalize(), word.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_NOT_JSON = {sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")} | {".nan", ".NaN", ".NAN"}
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAGS = {"tag:yaml.org,2002:" + name: name for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def resolve_plain(text: str) -> JSONScalar:
    """Return the JSON value of an unquoted scalar. Raises ValueError for infinities and NaN, which JSON cannot hold."""
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_JSON:
        raise ValueError(say("manifest-errors.not-json", text=text))
    first = text[0]
    if first not in "+-.0123456789":
        return text
    plain = text if first == "." else text.replace("_", "")
    if first != ".":
        number = _integer(plain)
        if number is not None:
            return number
    if _FLOAT.fullmatch(plain):
        return _float(plain, text)
    return text


def _integer(text: str) -> int | None:
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > 70:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    digits, base = next(
        (digits, base)
        for digits, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10))
        if digits is not None
    )
    number = int(digits, base)
    if sign == "-":
        number = -number
    in_range = -(2**63) <= number < (2**63 if sign else 2**64)
    return number if in_range else None


def _float(plain: str, text: str) -> JSONScalar:
    number = float(plain)
    if math.isinf(number):
        return text
    return int(Decimal(repr(number))) if number.is_integer() and abs(number) < 1e21 else number


def resolve_tagged(tag: str, text: str) -> JSONScalar:
    """Return the value of a scalar with an explicit tag. Raises ValueError for an unknown tag or a wrong value."""
    name = _TAGS.get(tag)
    if name is None:
        raise ValueError(say("manifest-errors.tag", tag=tag))
    if name == "str":
        return text
    value = resolve_plain(text)
    fits = {
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, (int, float)) and not isinstance(value, bool),
        "bool": isinstance(value, bool),
        "null": value is None,
    }
    if not fits.get(name, False):
        raise ValueError(say("manifest-errors.wrong-for-tag", text=text, tag=name))
    return value


def core_tag(tag: str | None, name: str) -> bool:
    """Return True if a collection's tag is missing, ``!`` or the core tag of ``name`` (map or seq)."""
    return tag is None or tag == "!" or _TAGS.get(tag) == name


def key_text(value: JSONScalar) -> str:
    """Return a mapping key as JSON writes it. Raises ValueError for null."""
    if value is None:
        raise ValueError(say("manifest-errors.null-key"))
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
