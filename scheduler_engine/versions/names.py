"""The versions of Kubernetes whose scheduler the engine follows."""

from __future__ import annotations

from scheduler_engine.errors import Rejected
from scheduler_engine.words import say

RELEASES = ("v1.34.1", "v1.35.6", "v1.36.2")
"""The releases that the engine follows, oldest first: the columns of the tables of rules and gates."""
VERSIONS = ("v1.34", "v1.35", "v1.36")
"""The names of these columns."""
DEFAULT = VERSIONS[0]
"""The version of everything that names none."""


def column(kubernetes: str) -> int:
    """Return the place of a version in the tables. Raises Rejected for an unknown one."""
    if kubernetes not in VERSIONS:
        known = say("types.or").join(VERSIONS)
        raise Rejected(say("refusals.unknown-version", version=repr(kubernetes), known=known))
    return VERSIONS.index(kubernetes)


def version_named(text: str) -> str:
    """Return the version that a person means: ``v1.36`` for ``1.36``, ``v1.36`` and ``v1.36.2``. Raises Rejected."""
    wanted = f"v{text.removeprefix('v')}"
    named = dict(zip(RELEASES, VERSIONS, strict=True)).get(wanted, wanted)
    return VERSIONS[column(named if named in VERSIONS else text)]


def release_of(kubernetes: str) -> str:
    """Return the release that a version stands for: ``v1.36.2`` for ``v1.36``."""
    return RELEASES[column(kubernetes)]


def minor(release: str) -> str:
    """Return the version of a release: ``v1.35`` for ``v1.35.6``."""
    return ".".join(release.split(".")[:2])
