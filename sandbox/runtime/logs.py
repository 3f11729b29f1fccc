"""Keeps capabilities out of the log: who reads it must not be able to enter a sandbox."""

from __future__ import annotations

import logging
import re
from typing import Any
from urllib.parse import quote, unquote

from daphne.access import AccessLogGenerator

HIDDEN = "…"
AFTER_AN_ID = re.compile(r"([0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}[/\\]+)[^\s/\\?&#'\"<>…]+", re.IGNORECASE)
"""What follows a sandbox's id in an address, even if it is no token: it may be one with a letter too many."""
TOKEN = re.compile(r"(?<![\w-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[\w-]{32}(?![\w-])", re.ASCII)
"""What looks like a token wherever it stands: 32 characters, large and small letters among them."""
ESCAPED = re.compile(r"\S*%\S*")
MOST_ESCAPING = 5
SHOWN = "/?&=:;,.()[]'\""


def hide_tokens(text: str) -> str:
    """``text`` without anything that could open a sandbox, also where it is percent-encoded."""
    return _hidden(ESCAPED.sub(_without_token, text)) if "%" in text else _hidden(text)


def _hidden(text: str) -> str:
    return TOKEN.sub(HIDDEN, AFTER_AN_ID.sub(rf"\1{HIDDEN}", text))


def _without_token(word: re.Match[str]) -> str:
    """The word as it is, or without the token that shows when it is decoded."""
    plain = word[0]
    for _ in range(MOST_ESCAPING):
        plain, before = unquote(plain), plain
        if plain == before:
            hidden = _hidden(plain)
            # Encoded again: a decoded line break would begin a line of its own in the log.
            return word[0] if hidden == plain else HIDDEN.join(quote(part, SHOWN) for part in hidden.split(HIDDEN))
    return HIDDEN


class WithoutTokens(logging.Formatter):
    """Looks at the whole text, since tracebacks and the messages of exceptions can quote addresses, too."""

    def format(self, record: logging.LogRecord) -> str:
        return hide_tokens(super().format(record))


class Calm(logging.Filter):
    """One line for a request that was refused: a traceback is for what is wrong with the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
            if record.levelno > logging.WARNING:
                record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def hide_in_access_log() -> None:
    """Daphne writes addresses into its access log itself, past Python's logging."""
    write_entry = AccessLogGenerator.write_entry

    def write(self: Any, host: Any, date: Any, request: str, *args: Any, **kwargs: Any) -> None:
        write_entry(self, host, date, hide_tokens(request), *args, **kwargs)

    AccessLogGenerator.write_entry = write
