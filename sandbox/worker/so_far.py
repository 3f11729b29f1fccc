"""What a job that takes long has done so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SoFar:
    """``text``: the progress in words. ``found``: the part of the answer that is known, shaped as the whole one; None
    if the answer has no parts.
    """

    text: str
    found: dict[str, Any] | None = None
