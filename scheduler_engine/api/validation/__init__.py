"""Validation of manifests with Kubernetes' field paths, error types and texts, everything wrong at once.

``RULES`` is the table: kind → its rules, which see the defaulted manifest. ``UPDATE_RULES`` compare old and new.
Source: upstream ``pkg/apis/*/validation`` and ``apimachinery/pkg/api/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.fields import check_fields
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.errors import FieldError, Rejected

Manifest = Mapping[str, Any]
RULES: dict[str, Callable[[Manifest], Iterable[FieldError]]] = {}
UPDATE_RULES: dict[str, Callable[[Manifest, Manifest], Iterable[FieldError]]] = {}


def validate(manifest: Manifest, document: int = 0) -> list[FieldError]:
    """Everything wrong with a manifest as written: kind, unknown fields and wrong types, then the rules of its kind.

    ``document`` is its number in the text or command it came from. An empty list means that it would be accepted.
    """
    if not isinstance(manifest, Mapping):
        return [FieldError("", "FieldValueTypeInvalid", "an object must be a mapping", document)]
    try:
        kind = kind_of(manifest).name
    except Rejected as problem:
        return _numbered(problem.errors, document, manifest)
    errors = check_fields(manifest, kind) or check_rules(set_defaults(manifest))
    return _numbered(errors, document, manifest)


def check_rules(defaulted: Manifest) -> list[FieldError]:
    """What the rules of its kind say about a defaulted manifest, in Kubernetes' order."""
    rule = RULES.get(str(defaulted.get("kind")))
    return [] if rule is None else list(rule(defaulted))


def check_update(old: Manifest, new: Manifest) -> None:
    """Compare a stored object with its new, defaulted form. Raises Rejected for changes that Kubernetes forbids."""
    rule = UPDATE_RULES.get(str(new.get("kind")))
    errors = [] if rule is None else _numbered(rule(old, new), 0, new)
    if errors:
        raise Rejected(errors)


def _numbered(errors: Iterable[FieldError], document: int, manifest: Manifest) -> list[FieldError]:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    shown = f"{manifest.get('kind')} {name}" if isinstance(name, str) else str(manifest.get("kind") or "")
    return [replace(error, document=document, object_name=shown) for error in errors]
