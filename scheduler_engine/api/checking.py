"""Find every error in a text of manifests, and everything that Kubernetes would warn of, with its position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from scheduler_engine.api.gated_fields import dropped_warnings
from scheduler_engine.api.loading import DEFAULT_LIMITS, Manifest, located, read_manifests
from scheduler_engine.api.parsing import Limits
from scheduler_engine.api.validation import judged, object_name
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import MOST_ERRORS, FieldError, Rejected
from scheduler_engine.versions import DEFAULT_RULES, Rules
from scheduler_engine.words import say


@dataclass(frozen=True, slots=True)
class Checked:
    """``errors`` and ``warnings`` in the order of the text. An object with errors has only warnings about fields that
    are dropped.

    At most ``MOST_ERRORS`` of each; ``more_errors`` and ``more_warnings``: there are others, not counted.
    """

    manifests: list[Manifest]
    errors: list[FieldError]
    warnings: list[FieldError]
    more_errors: bool = False
    more_warnings: bool = False


def check_text(
    text: str | bytes,
    limits: Limits = DEFAULT_LIMITS,
    rules: Rules = DEFAULT_RULES,
    rules_of: Callable[[Any], Rules] | None = None,
) -> Checked:
    """Read a text and check every object in it. Never raises: unreadable text is one more error.

    ``rules``: those of the version of Kubernetes. ``rules_of`` returns them for one manifest: what the stored object of
    its name uses stays allowed.
    """
    try:
        manifests, errors = read_manifests(text, limits)
    except Rejected as problem:
        return Checked([], problem.errors[:MOST_ERRORS], [], len(problem.errors) > MOST_ERRORS)
    if not manifests and not errors:
        errors.append(FieldError("", "FieldValueRequired", say("manifest-errors.no-manifest")))
    warnings: list[FieldError] = []
    for manifest in manifests:
        if len(errors) > MOST_ERRORS:
            break
        its_rules = rules if rules_of is None else rules_of(manifest.data)
        wrong, defaulted = judged(manifest.data, manifest.document, rules=its_rules)
        errors += wrong
        if len(warnings) <= MOST_ERRORS:
            warnings += _about(manifest, dropped_warnings(manifest.data, its_rules))
        if not wrong and len(warnings) <= MOST_ERRORS:
            warnings += warnings_about(manifest.data, manifest.document, defaulted, its_rules)
    more = (len(errors) > MOST_ERRORS, len(warnings) > MOST_ERRORS)
    return Checked(manifests, _in_order(errors, manifests), _in_order(warnings, manifests), *more)


def _about(manifest: Manifest, warnings: Iterable[FieldError]) -> Iterator[FieldError]:
    """Return warnings with the object that they are about, at most one more than the limit."""
    name = object_name(manifest.data)
    for warning in islice(warnings, MOST_ERRORS + 1):
        yield replace(warning, document=manifest.document, object_name=name)


def _in_order(problems: list[FieldError], manifests: list[Manifest]) -> list[FieldError]:
    placed = located(problems[:MOST_ERRORS], manifests)
    return sorted(placed, key=lambda problem: (problem.line, problem.column))
