"""Log lines: text or JSON, with the request they belong to, and without capability tokens.

A token is the key to a sandbox, so whoever reads the log must not find one.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from daphne.access import AccessLogGenerator

HIDDEN = "…"
AFTER_AN_ID = re.compile(r"([0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}[/\\]+)[^\s/\\?&#'\"<>…]+", re.IGNORECASE)
"""The part of an address after a sandbox's id. It is hidden even if invalid: it may be a token with a typo."""
TOKEN = re.compile(r"(?<![\w-])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[\w-]{32}(?![\w-])", re.ASCII)
"""A text that looks like a token, anywhere: 32 characters with upper-case and lower-case letters."""
ESCAPED = re.compile(r"\S*%\S*")
MOST_ESCAPING = 5
SHOWN = "/?&=:;,.()[]'\""


def hide_tokens(text: str) -> str:
    """Return ``text`` without tokens, percent-encoded ones included."""
    return _hide(ESCAPED.sub(_without_token, text)) if "%" in text else _hide(text)


def _hide(text: str) -> str:
    return TOKEN.sub(HIDDEN, AFTER_AN_ID.sub(rf"\1{HIDDEN}", text))


def _without_token(word: re.Match[str]) -> str:
    """Return the word, without the token if decoding it reveals one."""
    plain = word[0]
    for _ in range(MOST_ESCAPING):
        plain, before = unquote(plain), plain
        if plain == before:
            hidden = _hide(plain)
            # Encode again: a decoded line break would start a new line in the log.
            return word[0] if hidden == plain else HIDDEN.join(quote(part, SHOWN) for part in hidden.split(HIDDEN))
    return HIDDEN


class WithoutTokens(logging.Formatter):
    """Hides tokens in the whole entry: tracebacks and messages of exceptions can quote addresses, too."""

    def format(self, record: logging.LogRecord) -> str:
        return hide_tokens(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        facts = _facts_of_record(record)
        text = super().formatMessage(record)
        return text if facts is None else f"{text} [{facts.request}]"


@dataclass(slots=True)
class Facts:
    """What is known about a request. It is filled in while the request is answered.

    ``request``: an id for its log lines. ``route``: the name of its URL, never its path. ``sandbox``: the id of its
    sandbox or room, "" = none.
    """

    request: str
    route: str = "none"
    sandbox: str = ""


REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
current: ContextVar[Facts | None] = ContextVar("current", default=None)
"""The request that this thread answers."""


def facts_of(forwarded: str) -> Facts:
    """Return the facts of a new request. ``forwarded``: the id that a trusted proxy gave it, "" = none."""
    return Facts(forwarded if REQUEST_ID.fullmatch(forwarded) else secrets.token_hex(8))


def _facts_of_record(record: logging.LogRecord) -> Facts | None:
    return getattr(record, "facts", None) or current.get()


@contextmanager
def about(facts: Facts | None) -> Iterator[None]:
    """Mark the log lines of the block as about this request."""
    mark = current.set(facts)
    try:
        yield
    finally:
        current.reset(mark)


class AsJson(logging.Formatter):
    """One JSON object a line. Tokens are hidden in each text, before it is quoted."""

    def format(self, record: logging.LogRecord) -> str:
        facts = _facts_of_record(record)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if facts is not None:
            line |= {"request": facts.request, "route": facts.route, "sandbox": facts.sandbox or None}
        line |= getattr(record, "measured", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        plain = {name: hide_tokens(value) if isinstance(value, str) else value for name, value in line.items()}
        return json.dumps({name: value for name, value in plain.items() if value is not None}, ensure_ascii=False)


class Calm(logging.Filter):
    """Logs a refused request as one warning without traceback. Tracebacks are for errors of the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
            if record.levelno > logging.WARNING:
                record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def hide_in_access_log() -> None:
    """Hide tokens in Daphne's access log too, which does not go through Python's logging."""
    write_entry = AccessLogGenerator.write_entry

    def write(self: Any, host: Any, date: Any, request: str, *args: Any, **kwargs: Any) -> None:
        write_entry(self, host, date, hide_tokens(request), *args, **kwargs)

    AccessLogGenerator.write_entry = write
