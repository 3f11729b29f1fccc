"""API server errors with Kubernetes' texts. Source: upstream ``apimachinery/pkg/api/errors``."""

from __future__ import annotations


class ApiError(Exception):
    """``code`` is the HTTP status, ``reason`` Kubernetes' StatusReason, the text its message."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message


def not_found(resource: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource} "{name}" not found')


def already_exists(resource: str, name: str, leaving: bool = False) -> ApiError:
    """``leaving``: it is being deleted, but still exists."""
    text = f'{resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", f"object is being deleted: {text}" if leaving else text)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def conflict(resource: str, name: str, message: str) -> ApiError:
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {message}')


def forbidden(resource: str, name: str, message: str) -> ApiError:
    return ApiError(403, "Forbidden", f'{resource} "{name}" is forbidden: {message}')


def invalid(kind: str, name: str, message: str) -> ApiError:
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {message}')


def too_many_requests(message: str) -> ApiError:
    return ApiError(429, "TooManyRequests", message)


def internal_error(message: str) -> ApiError:
    return ApiError(500, "InternalError", message)
