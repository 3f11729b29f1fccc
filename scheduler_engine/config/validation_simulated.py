"""Validation of simulated extenders: their address, and that each expression has its verb.

Source: design of the sandbox. Limits of expressions and messages are those of plugins that a configuration declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.validation.problems import invalid, required
from scheduler_engine.config.validation_expressions import check_expression, check_message
from scheduler_engine.errors import FieldError
from scheduler_engine.plugins.expressions import OF_EXTENDERS, SCHEME, VERBS
from scheduler_engine.words import say

NAME = re.compile(rf"{re.escape(SCHEME)}[a-z0-9]([-a-z0-9.]{{0,61}}[a-z0-9])?")
MOST_EXTENDERS = 10
"""The most simulated extenders of a configuration."""
LONGEST_ANSWER = 3600
"""In seconds."""
NEEDED = {"message": "filter", "messageExpression": "filter", "unresolvable": "filter"}
"""Field → the expression for which it is."""
MESSAGE, FAILURE = "message", "failure"


def validate_simulated(extenders: list[dict[str, Any]]) -> Iterator[FieldError]:
    """Yield errors in what extenders (completed) simulate, and in addresses of simulated ones. Of too many, none is
    looked at: to compile expressions takes time.
    """
    count = sum("simulated" in extender for extender in extenders)
    if count > MOST_EXTENDERS:
        yield invalid("extenders", count, say("expressions.too-many-simulated", count=count, most=MOST_EXTENDERS))
        return
    urls: dict[str, None] = {}
    for index, extender in enumerate(extenders):
        path, url = f"extenders[{index}]", extender["urlPrefix"]
        if "simulated" not in extender:
            if url.startswith(SCHEME):
                yield required(f"{path}.simulated", say("expressions.simulated-needed", scheme=SCHEME))
            continue
        if not NAME.fullmatch(url):
            yield invalid(f"{path}.urlPrefix", url, say("expressions.simulated-url", scheme=SCHEME))
        elif url in urls:
            yield invalid(f"{path}.urlPrefix", url, say("expressions.simulated-twice"))
        urls[url] = None
        yield from _verbs(path, extender)
        yield from _settings(f"{path}.simulated", extender["simulated"])


def _verbs(path: str, extender: Mapping[str, Any]) -> Iterator[FieldError]:
    """Check that verbs and expressions belong together. A server whose calls all fail needs no expression."""
    settings, seen = extender["simulated"], dict[str, None]()
    if not any(extender.get(verb) for verb in VERBS):
        yield required(path, say("expressions.none", fields=", ".join(VERBS)))
    for verb, field in VERBS.items():
        word = extender.get(verb, "")
        if field in settings and not word:
            yield required(f"{path}.{verb}", say("expressions.needed", field=f"simulated.{field}", needed=verb))
        if not word:
            continue
        if word in seen:
            yield invalid(f"{path}.{verb}", word, say("expressions.same-verb"))
        seen[word] = None
        if field not in settings and FAILURE not in settings:
            yield required(f"{path}.simulated.{field}", say("expressions.needed", field=verb, needed=field))


def _settings(path: str, settings: Mapping[str, Any]) -> Iterator[FieldError]:
    for field in OF_EXTENDERS:
        if field in settings:
            yield from check_expression(f"{path}.{field}", field, settings[field])
    for field in (MESSAGE, FAILURE):
        if field in settings:
            yield from check_message(f"{path}.{field}", settings[field])
    if FAILURE in settings and not settings[FAILURE].strip():
        yield required(f"{path}.{FAILURE}")
    for field, needed in NEEDED.items():
        if settings.get(field) and needed not in settings:
            yield required(f"{path}.{needed}", say("expressions.needed", field=field, needed=needed))
    seconds = settings.get("answersAfterSeconds", 0)
    if not 0 <= seconds <= LONGEST_ANSWER:
        yield invalid(f"{path}.answersAfterSeconds", seconds, f"not in valid range [0, {LONGEST_ANSWER}]")
