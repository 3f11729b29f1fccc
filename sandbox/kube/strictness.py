"""``fieldValidation``: what becomes of unknown and duplicate fields in a request.

Source: upstream ``apiserver/pkg/endpoints/handlers`` (``create.go``, ``update.go``, ``patch.go``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.kube.resources import Resource
from sandbox.kube.statuses import Refused, invalid
from scheduler_engine.api.fields import check_fields, without_unknown
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import Rules

IGNORE, WARN, STRICT = "Ignore", "Warn", "Strict"
LONGEST = 256
"""Characters of one warning."""


def directive(query: Mapping[str, str], options: str) -> str:
    """Return what a request wants. ``options``: the kind of its options. Raises ``Refused``."""
    how = query.get("fieldValidation") or WARN
    if how not in (IGNORE, WARN, STRICT):
        text = f'Unsupported value: "{how}": supported values: "{IGNORE}", "{STRICT}", "{WARN}"'
        error = FieldError("fieldValidation", "FieldValueNotSupported", text)
        raise invalid(options, "meta.k8s.io", "", [error])
    return how


def known_only(
    manifest: Mapping[str, Any], resource: Resource, duplicates: Sequence[str], how: str, rules: Rules
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an object of a request without unknown fields, and warnings about it. Raises ``Refused``."""
    texts = _problems(manifest, resource, duplicates, rules)
    if texts and how == STRICT:
        name = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
        raise Refused(400, f"{name}: strict decoding error: {', '.join(texts)}")
    return without_unknown(manifest, resource.kind, rules), () if how == IGNORE else texts


def known_after_patch(
    manifest: Mapping[str, Any], resource: Resource, duplicates: Sequence[str], how: str, rules: Rules
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Like ``known_only``, for an object that a patch results in."""
    texts = _problems(manifest, resource, duplicates, rules)
    if texts and how == STRICT:
        shown = json.dumps(json.dumps(manifest, separators=(",", ":")))
        text = f"Invalid value: {shown}: strict decoding error: {', '.join(texts)}"
        name = str(manifest["metadata"].get("name", ""))
        raise invalid(resource.kind, resource.group, name, [FieldError("patch", "FieldValueInvalid", text)])
    return without_unknown(manifest, resource.kind, rules), () if how == IGNORE else texts


def _problems(
    manifest: Mapping[str, Any], resource: Resource, duplicates: Sequence[str], rules: Rules
) -> tuple[str, ...]:
    unknown = (error for error in check_fields(manifest, resource.kind, rules) if error.kind == "UnknownField")
    return *duplicates, *(f'unknown field "{error.path}"' for error in unknown)


def header(warnings: Sequence[str]) -> str:
    """Return the value of the header ``Warning``."""
    texts = ("".join(letter for letter in text if letter.isprintable())[:LONGEST] for text in warnings)
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return ", ".join(f'299 - "{text}"' for text in quoted).encode("ascii", "backslashreplace").decode()
