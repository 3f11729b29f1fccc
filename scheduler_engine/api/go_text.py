"""Texts as Go writes them. Source: Go's ``strconv``."""

from __future__ import annotations

_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}


def quoted(text: str) -> str:
    """Return a text in double quotes, control characters escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    parts = ['"']
    for character in text:
        if character in '"\\':
            parts.append("\\" + character)
        elif character.isprintable():
            parts.append(character)
        elif character in _ESCAPES:
            parts.append(_ESCAPES[character])
        else:
            code = ord(character)
            form = "\\x%02x" if code < 0x80 else "\\u%04x" if code < 0x10000 else "\\U%08x"
            parts.append(form % code)
    return "".join(parts) + '"'
