"""The two kinds of presets: a text for an editor, and values of a form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """A YAML ``text`` for an editor. ``says`` describes it in one sentence."""

    slug: str
    title: str
    says: str
    text: str


@dataclass(frozen=True, slots=True)
class FilledIn:
    """Values of a form: name → text. ``rows``: start of the inputs' names → one mapping for each row.

    Inner rows of a row are in its own ``rows``.
    """

    title: str
    fields: Mapping[str, Any]

    @property
    def json(self) -> str:
        """The values as JSON text, for the page."""
        return json.dumps(self.fields)
