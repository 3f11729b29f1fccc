"""Configurations that declare a plugin by expressions, for tests."""

from __future__ import annotations

from typing import Any

from tests.engine.own_plugin import profile

NAME = "Own"


def declaring(name: str = NAME, **fields: str | int) -> dict[str, Any]:
    """Return a configuration with one plugin, enabled with weight 3 at all its extension points."""
    return profile(name, {"apiVersion": "scheduler-sandbox/v1", "kind": "ExpressionArgs", **fields})
