"""What one command applied, and what became of each object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    """``spec.replicas=3``, ``no metadata.labels.app``, ``spec.taints``: what a manifest says otherwise."""
    for name in dict.fromkeys((*before, *after)):
        path, held, value = f"{start}{name}", before.get(name), after.get(name)
        if held == value or path in COUNTED:
            continue
        if isinstance(held, Mapping) or isinstance(value, Mapping):
            yield from differences(held or {}, value or {}, f"{path}.")
        elif value is None:
            yield f"no {path}"
        elif isinstance(value, str | int | float) and len(told := str(value)) <= LONGEST_VALUE:
            yield f"{path}={told}"
        else:
            yield path
