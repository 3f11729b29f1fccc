"""The local mode: a site with the plugins of the person who runs it, or with the lesson that they write.

It starts only if it serves this machine alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path

from django.conf import settings

from sandbox.runtime.hosts import LOOPBACK
from sandbox.runtime.local import local
from sandbox.server.startup import CannotStart
from scheduler_engine.errors import Rejected

PLUGINS = "PLUGINS"
LESSON = "LESSON"
ONLY_LOCAL = {
    PLUGINS: "PLUGINS loads your own code, so it works only on a site for this machine alone. ",
    LESSON: "LESSON shows a file of yours, so it works only on a site for this machine alone. ",
}
"""Variable → why it needs the local mode."""


def _is_loopback(bind: str) -> bool:
    try:
        return bind == "localhost" or ip_address(bind).is_loopback
    except ValueError:
        return False


REFUSED: Sequence[tuple[Callable[[str], bool], str]] = (
    (lambda bind: not _is_loopback(bind), "This one would listen on {bind}. Leave out HOST, or {name}."),
    (
        lambda bind: not set(settings.ALLOWED_HOSTS) <= set(LOOPBACK),
        "ALLOWED_HOSTS lets in other names. Leave it out, or {name}.",
    ),
    (
        lambda bind: bool(settings.TRUSTED_PROXIES or settings.SECURE_SSL_REDIRECT),
        "TRUSTED_PROXIES or HSTS_SECONDS say that a proxy lets in others. Leave them out, or {name}.",
    ),
    (
        lambda bind: bool(settings.REDIS_URL) or settings.WEB_PROCESSES > 1,
        "REDIS_URL or WEB_PROCESSES say that there are several web processes. Leave them out, or {name}.",
    ),
    (
        lambda bind: "sqlite" not in settings.DATABASES["default"]["ENGINE"],
        "DATABASE_URL names a database that others can use. Leave it out, or {name}.",
    ),
    (
        lambda bind: settings.FRAME_ANCESTORS != "'self'" or bool(settings.CSRF_TRUSTED_ORIGINS),
        "FRAME_ANCESTORS or CSRF_TRUSTED_ORIGINS let in other sites. Leave them out, or {name}.",
    ),
)
"""Condition for an address to listen on → why the site does not start in the local mode."""


def named_plugins() -> list[str]:
    """Return the places in the variable ``PLUGINS``, which commas separate."""
    return [place.strip() for place in os.environ.get(PLUGINS, "").split(",") if place.strip()]


def start(bind: str) -> None:
    """Load the plugins that ``PLUGINS`` names, and note the file that ``LESSON`` names.

    Raises ``CannotStart`` unless the site serves this machine alone.
    """
    places, file = named_plugins(), os.environ.get(LESSON, "").strip()
    for name in (name for name, given in ((PLUGINS, places), (LESSON, file)) if given):
        for holds, reason in REFUSED:
            if holds(bind):
                raise CannotStart(ONLY_LOCAL[name] + reason.format(bind=bind, name=name))
    if places:
        _load(places)
    if file:
        _follow(Path(file))


def _load(places: Sequence[str]) -> None:
    from sandbox.worker import local_plugins

    try:
        local_plugins.use(places)
    except Rejected as error:
        raise CannotStart(f"{PLUGINS}: {error}") from error


def _follow(path: Path) -> None:
    if not path.is_file():
        raise CannotStart(f"{LESSON}: {path} is not a file.")
    local.lesson = path.resolve()
