"""The rules under which a recorded scenario is played: those of the version that its line names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.versions import DEFAULT, Rules, minor, rules_for


def rules_of(case: Mapping[str, Any]) -> Rules:
    """Return the rules of ``"kubernetes": "v1.35.6"``; a line without it was recorded from the default version."""
    return rules_for(minor(case.get("kubernetes", DEFAULT)))
