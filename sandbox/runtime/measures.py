"""What the web process counts and times, for Prometheus. ``sandbox/server/metrics.py`` adds gauges and serves all.

Labels have few values, and never a text that a visitor chose: names of routes, limits, kinds and classes.
"""

from __future__ import annotations

import logging

from django.db import Error as DatabaseFailure
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

disable_created_metrics()  # They would double the page, and nobody asks when a counter began.
REGISTRY = CollectorRegistry()
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the histograms. The last one is the default of ``COMMAND_SECONDS``."""


def _histogram(name: str, about: str, label: str) -> Histogram:
    return Histogram(name, about, [label], buckets=SECONDS, registry=REGISTRY)


REQUESTS = Counter(
    "sandbox_requests", "Answered requests, by name of the route and status.", ["route", "status"], registry=REGISTRY
)
REQUEST_SECONDS = _histogram("sandbox_request_seconds", "Seconds from the request to the head of its answer.", "route")
COMMANDS = Counter(
    "sandbox_commands", "Commands of visitors: done, or the class of the error.", ["kind", "result"], registry=REGISTRY
)
COMMAND_SECONDS = _histogram("sandbox_command_seconds", "Seconds to execute a command and append it.", "kind")
REFUSED = Counter(
    "sandbox_refused", "Requests, live lines and messages refused, by the limit.", ["limit"], registry=REGISTRY
)
REPLAYS = Counter("sandbox_replays", "Times that a worker read commands of a log to replay them.", registry=REGISTRY)
REPLAYED = Counter("sandbox_replayed_commands", "Commands that workers read from logs.", registry=REGISTRY)
ERRORS = Counter("sandbox_errors", "Errors in the log, by what failed.", ["part"], registry=REGISTRY)

DATABASE, REDIS, SITE = PARTS = ("database", "redis", "site")
for _part in PARTS:
    ERRORS.labels(_part)  # Alerts need a 0 before the first error.


def part_of(error: BaseException | None) -> str:
    """Return the part that failed: that of the error, or of its cause."""
    while error is not None:
        if isinstance(error, DatabaseFailure):
            return DATABASE
        # By name, because a site without Redis does not load its client.
        if any(kind.__module__.partition(".")[0] == REDIS for kind in type(error).__mro__):
            return REDIS
        error = error.__cause__ or error.__context__
    return SITE


class CountErrors(logging.Handler):
    """Counts the errors that are logged, and the warnings about the database and Redis."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        quoted = record.args if isinstance(record.args, tuple) else ()
        errors = [record.exc_info[1] if record.exc_info else None, *quoted]
        parts = [part_of(error) for error in errors if isinstance(error, BaseException)] or [SITE]
        if record.levelno >= logging.ERROR or parts[0] != SITE:
            ERRORS.labels(parts[0]).inc()
