"""What claims, classes and slices have in common: lists, expressions, configurations, names.

Source: upstream ``apis/resource/validation``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.cel.compiling import V1_34
from scheduler_engine.api.cel.devices import Selector, compile_selector
from scheduler_engine.api.cel.overloads import SIGNS_135
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import (
    Errors,
    Rule,
    by_version,
    duplicate,
    forbidden,
    internal,
    invalid,
    required,
    texts,
    too_long,
    too_many,
)
from scheduler_engine.api.validation.volumes import driver_name

Data = Mapping[str, Any]

MOST_ITEMS = 32
"""The most requests, devices, constraints, configurations and selectors of one object."""
LONGEST_DOMAIN, LONGEST_IDENTIFIER = 63, 32
LONGEST_POOL = 253
LONGEST_EXPRESSION = LONGEST_PARAMETERS = 10 * 1024

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NOT_IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)

_NOT_FULL = "a fully qualified name must be a domain and a name separated by a slash"
NEWER, NEWEST = "newer_texts: devices", "newer_texts: device-keys"

_subdomain = texts(names.subdomain)


def listed(items: Sequence[Any], path: str, rule: Rule, most: int = MOST_ITEMS, unique: str | None = None) -> Errors:
    """Check a list. ``unique``: the field that must differ, "" for the item itself; None: nothing must."""
    errors = _items(items, path, rule, unique)
    if len(items) <= most:
        yield from errors
    else:
        # Newer versions do not look at the items of a list that is too long.
        number = too_many(path, len(items), most)
        yield from by_version((*errors, number), (NEWER, (number,)))


def _items(items: Sequence[Any], path: str, rule: Rule, unique: str | None) -> Errors:
    for index, item in enumerate(items):
        yield from rule(item, f"{path}[{index}]")
    earlier: set[str] = set()
    for index, item in enumerate(items if unique is not None else ()):
        key, place = item[unique] if unique else item, f"{path}[{index}]"
        if key in earlier:
            yield from by_version((duplicate(f"{place}.{unique}".rstrip("."), key),), (NEWER, (duplicate(place, key),)))
        earlier.add(key)


def selector(held: Data, path: str) -> Errors:
    cel = held.get("cel")
    if cel is None:
        yield required(f"{path}.cel")
        return
    path, expression = f"{path}.cel.expression", cel["expression"]
    if len(expression.encode()) > LONGEST_EXPRESSION:
        yield too_long(path, LONGEST_EXPRESSION)
        return
    latest = _problems(path, compile_selector(expression))
    if any(sign in expression for sign in SIGNS_135):
        older = _problems(path, compile_selector(expression, V1_34))
        latest = by_version(older, ("knows_list_functions", latest))
    yield from latest


def _problems(path: str, compiled: Selector) -> Errors:
    if compiled.internal:
        yield internal(path, compiled.error)
    elif compiled.error:
        yield invalid(path, compiled.expression, compiled.error)
    elif compiled.is_too_complex:
        yield forbidden(path, "too complex, exceeds cost limit")


def opaque(configuration: Data, path: str) -> Errors:
    held = configuration.get("opaque")
    if held is None:
        yield required(f"{path}.opaque")
        return
    yield from driver_name(held["driver"], f"{path}.opaque.driver")
    yield from _json_object(held.get("parameters"), f"{path}.opaque.parameters")


def _json_object(value: Any, path: str) -> Errors:
    if value is None:
        yield required(path)
    elif len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > LONGEST_PARAMETERS:
        yield too_long(path, LONGEST_PARAMETERS)
    elif not isinstance(value, Mapping):
        yield invalid(path, "<value omitted>", "must be a valid JSON object")


def pool_name(name: str, path: str) -> Errors:
    if not name:
        yield required(path)
        return
    if len(name.encode()) > LONGEST_POOL:
        yield too_long(path, LONGEST_POOL)
    for part in name.split("/"):
        yield from _subdomain(part, path)


def qualified_name(name: str, path: str) -> Errors:
    """Check ``identifier`` or ``domain/identifier``; upstream checks nothing in a name with more parts."""
    parts = name.split("/")
    if not name:
        yield from by_version((required(path, "name required"),), (NEWER, _identifier(name, path)))
    elif len(parts) == 1:
        yield from _identifier(name, path)
    elif len(parts) == 2:
        domain, identifier = parts
        yield from driver_name(domain, path) if domain else _missing(path, "the domain must not be empty")
        yield from _identifier(identifier, path) if identifier else _missing(path, "the name must not be empty")


def _missing(path: str, text: str) -> Errors:
    return by_version((required(path, text),), (NEWER, (invalid(path, "", text),)))


def full_name(name: str, path: str) -> Errors:
    yield from qualified_name(name, path)
    if "/" not in name:
        older = (invalid(path, name, "must include a domain"),) if name else ()
        yield from by_version(older, (NEWER, (invalid(path, name, _NOT_FULL),)))


def _identifier(identifier: str, path: str) -> Errors:
    if len(identifier.encode()) > LONGEST_IDENTIFIER:
        yield too_long(path, LONGEST_IDENTIFIER)
    if not _IDENTIFIER.fullmatch(identifier):
        yield invalid(path, identifier, _NOT_IDENTIFIER)
