"""Find every error in a text of manifests, and everything that Kubernetes would warn of, with its position."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.api.loading import DEFAULT_LIMITS, Manifest, located, read_manifests
from scheduler_engine.api.parsing import Limits
from scheduler_engine.api.validation import judged
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import MOST_ERRORS, FieldError, Rejected
from scheduler_engine.versions import DEFAULT_RULES, Rules
from scheduler_engine.words import say


@dataclass(frozen=True, slots=True)
class Checked:
    """``errors`` and ``warnings`` in the order of the text; only objects without errors are checked for warnings.

    At most ``MOST_ERRORS`` of each; ``more_errors`` and ``more_warnings``: there are others, not counted.
    """

    manifests: list[Manifest]
    errors: list[FieldError]
    warnings: list[FieldError]
    more_errors: bool = False
    more_warnings: bool = False


def check_text(text: str | bytes, limits: Limits = DEFAULT_LIMITS, rules: Rules = DEFAULT_RULES) -> Checked:
    """Read a text and check every object in it. Never raises: unreadable text is one more error.

    ``rules``: those of the version of Kubernetes.
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
        wrong, defaulted = judged(manifest.data, manifest.document, rules=rules)
        errors += wrong
        if not wrong and len(warnings) <= MOST_ERRORS:
            warnings += warnings_about(manifest.data, manifest.document, defaulted, rules)
    more = (len(errors) > MOST_ERRORS, len(warnings) > MOST_ERRORS)
    return Checked(manifests, _in_order(errors, manifests), _in_order(warnings, manifests), *more)


def _in_order(problems: list[FieldError], manifests: list[Manifest]) -> list[FieldError]:
    placed = located(problems[:MOST_ERRORS], manifests)
    return sorted(placed, key=lambda problem: (problem.line, problem.column))
