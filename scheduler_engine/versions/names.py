"""The versions of Kubernetes whose scheduler the engine follows."""

from __future__ import annotations

from scheduler_engine.errors import Rejected
from scheduler_engine.words import say

VERSIONS = ("v1.34", "v1.35", "v1.36")
"""The columns of the tables of rules and gates, oldest first. They stand for v1.34.1, v1.35.6 and v1.36.2."""
DEFAULT = VERSIONS[0]
"""The version of everything that names none."""


def column(kubernetes: str) -> int:
    """Return the place of a version in the tables. Raises Rejected for an unknown one."""
    if kubernetes not in VERSIONS:
        known = say("types.or").join(VERSIONS)
        raise Rejected(say("refusals.unknown-version", version=repr(kubernetes), known=known))
    return VERSIONS.index(kubernetes)


def minor(release: str) -> str:
    """Return the version of a release: ``v1.35`` for ``v1.35.6``."""
    return ".".join(release.split(".")[:2])
