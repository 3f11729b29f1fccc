"""Rules for paths inside a volume. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

from scheduler_engine.api.validation.problems import Errors, invalid


def no_backsteps(value: str, path: str) -> Errors:
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def descending_path(value: str, path: str) -> Errors:
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from no_backsteps(value, path)


def inner_path(value: str, path: str) -> Errors:
    """Check a user's file path: it may not start like those that Kubernetes reserves for itself."""
    yield from descending_path(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")


def taken_path(value: str, taken: set[str], path: str) -> Errors:
    """Check that no two files in a directory have the same path; add to ``taken``."""
    if value in taken:
        yield invalid(path, value, "conflicting duplicate paths")
    taken.add(value)
