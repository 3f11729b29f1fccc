"""Something to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """``says`` is one sentence on what it is or changes, ``text`` is YAML for an editor."""

    slug: str
    title: str
    says: str
    text: str


@dataclass(frozen=True, slots=True)
class FilledIn:
    """Fields of a form: name → text; ``rows``: start of their inputs' names → one mapping for each row.

    A row that holds others has them in its own ``rows``.
    """

    title: str
    fields: Mapping[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.fields)
