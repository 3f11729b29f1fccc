"""Errors as ``Status`` objects. Source: upstream ``apimachinery/pkg/api/errors``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine.errors import FieldError

UNRECOGNIZED = "the object provided is unrecognized (must be of type Object)"
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""HTTP status → StatusReason."""


RETRY_AFTER = "retryAfterSeconds"
"""Detail of a ``Status``, and in the header of that meaning: clients wait so long, and try again by themselves."""


class Refused(Exception):
    """A request that is answered with a ``Status``. ``code``: HTTP status; ``reason`` "": the usual one for it."""

    def __init__(self, code: int, message: str, details: dict[str, Any] | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.details, self.reason = code, message, details, reason

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str, dict[str, Any] | None, str]]:
        return Refused, (self.code, self.message, self.details, self.reason)


def failure(code: int, message: str, details: dict[str, Any] | None = None, reason: str = "") -> dict[str, Any]:
    """Return the ``Status`` of an error."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason or REASONS.get(code, ""),
        **({"details": details} if details else {}),
        "code": code,
    }


def success(details: dict[str, Any]) -> dict[str, Any]:
    """Return the ``Status`` of a request that succeeded."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else status


def _named(resource: str, group: str, name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a resource in messages, and the details of an error about an object."""
    title = f"{resource}.{group}" if group else resource
    return title, {"name": name, **({"group": group} if group else {}), "kind": resource}


def already_exists(resource: str, group: str, name: str, leaving: bool = False) -> Refused:
    """Return the error for an object that exists. ``leaving``: it is being deleted."""
    title, details = _named(resource, group, name)
    text = f'{title} "{name}" already exists'
    return Refused(409, f"object is being deleted: {text}" if leaving else text, details, "AlreadyExists")


def conflict(resource: str, group: str, name: str, message: str) -> Refused:
    title, details = _named(resource, group, name)
    return Refused(409, f'Operation cannot be fulfilled on {title} "{name}": {message}', details)


def not_found(resource: str, group: str, name: str) -> Refused:
    """Return the error for an object that does not exist. ``resource``: its plural."""
    title, details = _named(resource, group, name)
    return Refused(404, f'{title} "{name}" not found', details)


def invalid(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> Refused:
    """Return the error for an object with wrong fields."""
    title = f"{kind}.{group}" if group else kind
    texts = [str(error) for error in errors]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    causes = [{"reason": error.kind, "message": error.message, "field": error.path or "<nil>"} for error in errors]
    details = {"name": name, **({"group": group} if group else {}), "kind": kind, "causes": causes}
    return Refused(422, f'{title} "{name}" is invalid: {listed}', details)


def forbidden(message: str) -> Refused:
    return Refused(403, message)


def no_resource() -> Refused:
    return Refused(404, "the server could not find the requested resource")


def not_allowed() -> Refused:
    return Refused(405, "the server does not allow this method on the requested resource")


def healthy(check: str, verbose: bool) -> str:
    """Return what a server that works answers to a health check."""
    return f"[+]ping ok\n{check} check passed\n" if verbose else "ok"
