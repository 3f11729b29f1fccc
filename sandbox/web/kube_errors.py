"""Errors of the API server of a sandbox: any exception as what kubectl is answered."""

from __future__ import annotations

from math import ceil

from django.conf import settings
from django.core.exceptions import RequestDataTooBig

from sandbox.kube.statuses import RETRY_AFTER, Refused
from sandbox.limits import ratelimit
from sandbox.web.access import TOO_OFTEN
from sandbox.web.errors import refusal_of
from sandbox.words.say import say
from sandbox.worker.errors import Busy, Occupied


def as_refused(error: Exception) -> Refused:
    """Return the answer to an error. What the operator must know is logged."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, Busy | Occupied):
        return Refused(429, str(error), {RETRY_AFTER: 1})
    if isinstance(error, RequestDataTooBig):
        return Refused(413, f"Request entity too large: limit is {settings.DATA_UPLOAD_MAX_MEMORY_SIZE}")
    refusal = refusal_of(error)
    return Refused(refusal.status, refusal.message)


def check_rate(name: str, who: str) -> None:
    """Raise ``Refused`` if there are too many requests of this rate."""
    if seconds := ratelimit.wait(name, who):
        raise Refused(429, say(TOO_OFTEN[name]), {RETRY_AFTER: ceil(seconds)})


def retry_after(refused: Refused) -> str | None:
    """Return the value of the header Retry-After, None = there is none."""
    seconds = (refused.details or {}).get(RETRY_AFTER)
    return None if seconds is None else str(seconds)
