"""Limits that keep one sandbox from using up the machine. Each refusal names its limit and changes nothing.

The engine bounds the rest: how long one command may run in ``scheduler_engine/commands.py``, how deep and how entangled
YAML may be in ``scheduler_engine/api/parsing.py``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Sum

from sandbox.panels.model.world import World
from scheduler_engine.api.scheme import KINDS

STORE, STORE_SECONDS = "store-bytes", 60
ROW_BYTES = 400
"""Of a row in PostgreSQL with its indexes, beside its command or its long texts."""
WAY_OUT = "Go back, or start a new one."


@dataclass(frozen=True, slots=True)
class Quotas:
    """Defaults; ``settings.QUOTAS`` overrides single fields."""

    nodes: int = 5000
    pods: int = 20_000
    objects: int = 30_000
    """Of all kinds."""
    commands: int = 20_000
    log_bytes: int = 32 * 1024 * 1024
    entries: int = 2_000_000
    """Of the trace."""
    manifest_bytes: int = 1024 * 1024
    expectations: int = 200
    guesses: int = 500
    copies: int = 1000
    """Nodes or pods that one form adds."""


class OverQuota(Exception):
    """A limit is reached; ``status`` is the HTTP answer (413 too large, 422 too much)."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def quotas() -> Quotas:
    return replace(Quotas(), **settings.QUOTAS)


def check_log(head: int, size: int) -> None:
    """Raises ``OverQuota`` when the log, at its command ``head``, is full, or would be with ``size`` characters."""
    limits = quotas()
    if head >= limits.commands:
        raise OverQuota(f"This sandbox has reached its limit of {limits.commands} commands. {WAY_OUT}")
    if size > limits.log_bytes:
        raise OverQuota(f"This sandbox has reached its limit of {limits.log_bytes:,} bytes of commands. {WAY_OUT}")
    check_site()


def check_site() -> None:
    """Raises ``OverQuota`` when all that is stored has reached the limit of the site."""
    if store_bytes() >= settings.STORE_BYTES:
        raise OverQuota("This server has no room for more. Nothing was changed; try again tomorrow.", 507)


def look_again() -> None:
    """What ``store_bytes`` knows is out of date."""
    cache.delete(STORE)


def store_bytes() -> int:
    """Bytes of all that is stored: in SQLite the pages that are in use, in PostgreSQL an estimate once in a while.

    Pages that deleting has freed are used again, so that a file never grows beyond what was in use at one time.
    """
    if connection.vendor == "sqlite":
        pages, free, size = (_one(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size
    found: int | None = cache.get(STORE)
    if found is None:
        # By name: the models themselves ask here before they store a long text.
        counted = (("Sandbox", "log_bytes"), ("Text", "size"))
        logs, texts = (
            apps.get_model("sandbox", model).objects.aggregate(total=Sum(field, default=0))["total"]
            for model, field in counted
        )
        found = int(logs + texts + ROW_BYTES * _one("SELECT COALESCE(SUM(n_live_tup), 0) FROM pg_stat_user_tables"))
        cache.set(STORE, found, timeout=STORE_SECONDS)
    return found


def grew(size: int) -> None:
    """Add to what ``store_bytes`` knows, so that many at once are not over the limit before it looks again."""
    with suppress(ValueError):  # It knows nothing yet.
        cache.incr(STORE, size)


def _one(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


def check_text(text: str) -> None:
    """Raises ``OverQuota`` for manifests of more than the allowed bytes."""
    check_size(len(text.encode(errors="surrogatepass")))


def check_size(size: int) -> None:
    """As above, for so many bytes."""
    most = quotas().manifest_bytes
    if size > most:
        raise OverQuota(f"The manifests are {size:,} bytes long; the limit is {most:,} bytes.", 413)


def check_import(size: int) -> None:
    """Raises ``OverQuota`` for a file of more bytes than may be imported."""
    most: int = settings.IMPORT_BYTES
    if size > most:
        raise OverQuota(f"The file is {size:,} bytes long; the limit is {most:,} bytes. Pack it with gzip.", 413)


def check_objects(command: dict[str, Any], world: World) -> None:
    """Raises ``OverQuota`` when the trace is full, or an ``apply`` would bring too many objects into the cluster.

    What is no manifest does not count: the engine refuses it.
    """
    limits = quotas()
    if len(world.entries) >= limits.entries:
        raise OverQuota(f"This sandbox has reached its limit of {limits.entries:,} events. {WAY_OUT}")
    if command["kind"] != "apply":
        return
    held_in_all = sum(map(len, world.objects.values()))
    given = command["manifests"]
    manifests = [manifest for manifest in given if isinstance(manifest, dict)] if isinstance(given, list) else []
    added = {(str(manifest.get("kind")), _key(manifest)) for manifest in manifests}
    new_in_all = sum(key not in world.objects.get(kind, {}) for kind, key in added)
    if new_in_all and held_in_all + new_in_all > limits.objects:
        raise OverQuota(
            f"The limit is {limits.objects:,} objects in one sandbox: "
            f"there are {held_in_all:,}, and this would add {new_in_all:,}."
        )
    for kind, held, most in (("Node", world.nodes, limits.nodes), ("Pod", world.pods, limits.pods)):
        new = {key for added_kind, key in added if added_kind == kind} - held.keys()
        if new and len(held) + len(new) > most:
            raise OverQuota(
                f"The limit is {most} {kind.lower()}s in one sandbox: "
                f"there are {len(held)}, and this would add {len(new)}."
            )


def _key(manifest: dict[str, Any]) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = str(metadata.get("name") or "")
    row = KINDS.get(str(manifest.get("kind")))
    return f"{metadata.get('namespace') or 'default'}/{name}" if row is None or row.namespaced else name
