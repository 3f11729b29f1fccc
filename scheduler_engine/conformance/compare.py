"""The differences between two JSON values, one readable line each."""

from __future__ import annotations

import json
from typing import Any

SHOWN = 300
"""Longer values are cut in a difference line."""


def differences(expected: Any, got: Any, path: str = "") -> list[str]:
    """Return lines ``path: expected …, got …``; none if both are equal (True and 1 are not)."""
    if isinstance(expected, dict) and isinstance(got, dict):
        lines: list[str] = []
        for key in (*expected, *(key for key in got if key not in expected)):
            place = f"{path}.{key}" if path else str(key)
            if key not in got:
                lines.append(f"{place}: expected {shown(expected[key])}, got nothing")
            elif key not in expected:
                lines.append(f"{place}: expected nothing, got {shown(got[key])}")
            else:
                lines += differences(expected[key], got[key], place)
        return lines
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            line
            for index, pair in enumerate(zip(expected, got, strict=True))
            for line in differences(*pair, f"{path}[{index}]")
        ]
    if expected == got and isinstance(expected, bool) == isinstance(got, bool):
        return []
    return [f"{path}: expected {shown(expected)}, got {shown(got)}"]


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
