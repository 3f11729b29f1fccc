"""Errors as ``Status`` objects. Source: upstream ``apimachinery/pkg/api/errors``."""

from __future__ import annotations

from typing import Any

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
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""HTTP status → StatusReason."""


class Refused(Exception):
    """A request that is answered with a ``Status``. ``code``: HTTP status."""

    def __init__(self, code: int, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str, dict[str, Any] | None]]:
        return Refused, (self.code, self.message, self.details)


def failure(code: int, message: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the ``Status`` of an error."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": REASONS.get(code, ""),
        **({"details": details} if details else {}),
        "code": code,
    }


def not_found(resource: str, group: str, name: str) -> Refused:
    """Return the error for an object that does not exist. ``resource``: its plural."""
    title = f"{resource}.{group}" if group else resource
    details = {"name": name, **({"group": group} if group else {}), "kind": resource}
    return Refused(404, f'{title} "{name}" not found', details)


def no_resource() -> Refused:
    return Refused(404, "the server could not find the requested resource")


def not_allowed() -> Refused:
    return Refused(405, "the server does not allow this method on the requested resource")
