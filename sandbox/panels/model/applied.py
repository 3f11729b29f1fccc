"""What one command applied, and what became of each object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.words.say import say
from scheduler_engine.api.taints import Taint

COUNTED = ("metadata.resourceVersion", "metadata.generation", "status.observedGeneration", "status.conditions")
"""Fields that follow by themselves."""
LONGEST_VALUE = 40

Named = tuple[str, str]
"""(kind, key)"""


@dataclass(slots=True)
class Applied:
    """``objects``: what was applied → ``added``, ``changed`` or ``unchanged``. ``written``: all that the API server
    wrote meanwhile → ``added`` or ``changed``. ``changes``: of what was changed, what it says now.
    """

    objects: dict[Named, str] = field(default_factory=dict)
    written: dict[Named, str] = field(default_factory=dict)
    changes: dict[Named, list[str]] = field(default_factory=dict)


def differences(before: Mapping[str, Any], after: Mapping[str, Any], start: str = "") -> Iterator[str]:
    """``spec.replicas=3``, ``no spec.nodeName``, ``label app=web``: what a manifest says otherwise."""
    for name in dict.fromkeys((*before, *after)):
        path, held, value = f"{start}{name}", before.get(name), after.get(name)
        if held == value or path in COUNTED:
            continue
        if path in TOLD:
            yield from TOLD[path](held or {}, value or {})
        elif isinstance(held, Mapping) or isinstance(value, Mapping):
            yield from differences(held or {}, value or {}, f"{path}.")
        elif value is None:
            yield f"no {path}"
        elif isinstance(value, str | int | float) and len(told := str(value)) <= LONGEST_VALUE:
            yield f"{path}={told}"
        else:
            yield path


def _labels(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Keys of labels have dots and slashes, so that a path would not say where one begins."""
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            yield say("happenings.no-label", key=key)
        elif before.get(key) != after[key]:
            yield say("happenings.label", label=f"{key}={after[key]}")


def _taints(before: Iterable[Mapping[str, str]], after: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """A taint is known by its key and its effect."""
    held, given = (
        {(taint["key"], taint["effect"]): taint.get("value") or "" for taint in taints} for taints in (before, after)
    )
    for (key, effect), value in given.items():
        if held.get((key, effect)) != value:
            yield say("happenings.taint", taint=Taint(key, value, effect).text)
    for key, effect in held:
        if (key, effect) not in given:
            yield say("happenings.no-taint", taint=Taint(key, "", effect).text)


TOLD: dict[str, Callable[[Any, Any], Iterator[str]]] = {"metadata.labels": _labels, "spec.taints": _taints}
"""Path → what is said of the differences there, in place of their paths."""
