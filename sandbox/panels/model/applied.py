"""What one command applied, and the change in each object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.words.say import say
from scheduler_engine.api.objects import scalar_text
from scheduler_engine.api.taints import Taint
from scheduler_engine.trace import events as ev

COUNTED = ("metadata.resourceVersion", "metadata.generation", "status.observedGeneration", "status.conditions")
"""Fields that the API server changes as a consequence; they are not listed as differences."""
LONGEST_VALUE = 40
"""Characters; a longer value is not shown, only its path."""

Named = tuple[str, str]
"""(kind, key)"""


@dataclass(slots=True)
class Applied:
    """The result of an apply command.

    ``objects``: each applied object → ``added``, ``changed`` or ``unchanged``. ``written``: each object that the API
    server wrote meanwhile → ``added`` or ``changed``. ``changes``: each object that changed → its new values, as
    ``differences`` returns them.
    """

    objects: dict[Named, str] = field(default_factory=dict)
    written: dict[Named, str] = field(default_factory=dict)
    changes: dict[Named, list[str]] = field(default_factory=dict)

    def write(self, event: ev.ObjectAdded | ev.ObjectModified, old: Mapping[str, Any] | None) -> None:
        """Record a write of the API server. ``old``: the manifest before it, None for a new object."""
        identity = event.kind, event.key
        if old is not None:
            self.changes.setdefault(identity, [*differences(old, event.manifest)])
        if isinstance(event, ev.ObjectAdded):
            self.written[identity] = "added"
        else:
            self.written.setdefault(identity, "changed")


def differences(before: Mapping[str, Any], after: Mapping[str, Any], start: str = "") -> Iterator[str]:
    """Yield what changed in a manifest: ``spec.replicas=3``, ``label app=web``. ``start``: what precedes every path."""
    for name in dict.fromkeys((*before, *after)):
        path, old, value = f"{start}{name}", before.get(name), after.get(name)
        if old == value or path in COUNTED:
            continue
        if path in TEXTS:
            yield from TEXTS[path](old or {}, value or {})
        elif isinstance(old, Mapping) or isinstance(value, Mapping):
            yield from differences(old or {}, value or {}, f"{path}.")
        elif value is None:
            yield f"no {path}"
        elif isinstance(value, str | int | float) and len(text := scalar_text(value)) <= LONGEST_VALUE:
            yield f"{path}={text}"
        else:
            yield path


def _labels(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the labels that changed. They are not paths: their keys have dots and slashes."""
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            yield say("happenings.no-label", key=key)
        elif before.get(key) != after[key]:
            yield say("happenings.label", label=f"{key}={after[key]}")


def _taints(before: Iterable[Mapping[str, str]], after: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield the taints that changed. The key and the effect together identify a taint."""
    old, new = (
        {(taint["key"], taint["effect"]): taint.get("value") or "" for taint in taints} for taints in (before, after)
    )
    for (key, effect), value in new.items():
        if old.get((key, effect)) != value:
            yield say("happenings.taint", taint=Taint(key, value, effect).text)
    for key, effect in old:
        if (key, effect) not in new:
            yield say("happenings.no-taint", taint=Taint(key, "", effect).text)


TEXTS: dict[str, Callable[[Any, Any], Iterator[str]]] = {"metadata.labels": _labels, "spec.taints": _taints}
"""Path → the function that describes differences there, instead of their paths."""
