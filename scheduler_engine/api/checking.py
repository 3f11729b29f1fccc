"""Everything that is wrong with a text of manifests, and everything that Kubernetes would warn of, with its place."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.api.loading import DEFAULT_LIMITS, Manifest, located, read_manifests
from scheduler_engine.api.parsing import Limits
from scheduler_engine.api.validation import validate
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import FieldError, Rejected


@dataclass(frozen=True, slots=True)
class Checked:
    """``errors`` and ``warnings`` in the order of the text; only objects without errors are asked for warnings."""

    manifests: list[Manifest]
    errors: list[FieldError]
    warnings: list[FieldError]


def check_text(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> Checked:
    """Read a text and judge every object in it. Never raises: what cannot be read is one error more."""
    try:
        manifests, errors = read_manifests(text, limits)
    except Rejected as problem:
        return Checked([], problem.errors, [])
    if not manifests and not errors:
        errors.append(FieldError("", "FieldValueRequired", "There is no manifest in this text."))
    warnings: list[FieldError] = []
    for manifest in manifests:
        wrong = validate(manifest.data, manifest.document)
        errors += wrong
        if not wrong:
            warnings += warnings_about(manifest.data, manifest.document)
    return Checked(manifests, _in_order(errors, manifests), _in_order(warnings, manifests))


def _in_order(problems: list[FieldError], manifests: list[Manifest]) -> list[FieldError]:
    return sorted(located(problems, manifests), key=lambda problem: (problem.line, problem.column))
