"""A plugin's CycleState data as a line of text: names and values as the engine holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.shown import as_utf_8, shown

MOST = 400
"""The maximum number of characters per value."""
DEEPEST = 5


def state_text(value: Any) -> str:
    """Return ``milli_cpu 3000, memory 4294967296``. Cut off after 400 characters."""
    text = "".join(_limited(_text(value, 0))).strip()
    return as_utf_8(text) or "nothing"


def _limited(parts: Iterator[str]) -> Iterator[str]:
    room = MOST
    for part in parts:
        if len(part) > room:
            yield part[:room] + "…"
            return
        room -= len(part)
        yield part


def _text(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str | int | float | bool) or value is None:
        yield "none" if value is None else str(value)
    elif isinstance(value, KubeObject):
        yield value.key
    elif isinstance(value, PodInfo):
        yield value.pod.key
    elif depth == DEEPEST:
        yield "…"
    elif isinstance(value, Mapping):
        yield from _joined(_pair(key, item, depth) for key, item in value.items())
    elif isinstance(value, set | frozenset):
        yield ", ".join(sorted("".join(_text(item, depth + 1)) for item in value))
    elif isinstance(value, Iterable) and not isinstance(value, Iterator):
        yield from _joined(_text(item, depth + 1) for item in value)
    elif not (names := _names(value)):
        yield shown(str, value)
    else:
        named = ((name, getattr(value, name)) for name in names)
        yield from _joined(_pair(name, item, depth) for name, item in named)


def _names(value: object) -> list[str]:
    if is_dataclass(value):
        return [item.name for item in fields(value) if item.repr]
    names = [*getattr(type(value), "__slots__", ()), *getattr(value, "__dict__", ())]
    return [name for name in names if hasattr(value, name)]


def _pair(name: Any, item: Any, depth: int) -> Iterator[str]:
    yield f"{' '.join(map(str, name)) if isinstance(name, tuple) else name} "
    nested = not isinstance(item, str | int | float | bool | KubeObject | PodInfo) and item is not None
    if nested:
        yield "("
    yield from _text(item, depth + 1)
    if nested:
        yield ")"


def _joined(parts: Iterable[Iterator[str]]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield ", "
        yield from part
