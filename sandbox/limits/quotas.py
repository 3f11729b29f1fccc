"""Quotas, so that one sandbox cannot use up the machine. Each refusal names its limit and changes nothing.

The engine has further limits: for the length of one command in ``scheduler_engine/commands/``, and for the depth and
aliases of YAML in ``scheduler_engine/api/parsing.py``.
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
from sandbox.words.say import say
from scheduler_engine.api.scheme import KINDS

STORE, STORE_SECONDS = "store-bytes", 60
ROW_BYTES = 400
"""Bytes of a row in PostgreSQL with its indexes, without its command or its long texts."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """The limits of one sandbox. These are the defaults; ``settings.QUOTAS`` overrides single fields."""

    nodes: int = 5000
    pods: int = 20_000
    objects: int = 30_000
    """Objects of all kinds."""
    commands: int = 20_000
    log_bytes: int = 32 * 1024 * 1024
    entries: int = 2_000_000
    """Entries of the trace."""
    manifest_bytes: int = 1024 * 1024
    expectations: int = 200
    guesses: int = 500
    copies: int = 1000
    """Nodes or pods that one form adds."""


class OverQuota(Exception):
    """A limit is reached. ``status``: HTTP status (413 too large, 422 too many, 507 no room in the store)."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def quotas() -> Quotas:
    return replace(Quotas(), **settings.QUOTAS)


def check_log(head: int, size: int) -> None:
    """Raise ``OverQuota`` if ``head`` commands or ``size`` characters are too many for a log, or the site is full."""
    limits = quotas()
    if head >= limits.commands:
        raise OverQuota(say("limits.commands", most=limits.commands))
    if size > limits.log_bytes:
        raise OverQuota(say("limits.log-bytes", most=limits.log_bytes))
    check_site()


def check_site() -> None:
    """Raise ``OverQuota`` if the database has reached the limit of the site."""
    if store_bytes() >= settings.STORE_BYTES:
        raise OverQuota(say("limits.storage"), 507)


def forget_stored_bytes() -> None:
    """Drop the cached value of ``store_bytes``."""
    cache.delete(STORE)


def store_bytes() -> int:
    """Return the bytes stored in the database, as of at most a minute ago plus what this process has added since.

    They are the used pages in SQLite, an estimate in PostgreSQL. SQLite uses freed pages again, so its file never grows
    beyond the most that was used at one time.
    """
    stored: int | None = cache.get(STORE)
    if stored is None:
        stored = _used_pages() if connection.vendor == "sqlite" else _estimate()
        cache.set(STORE, stored, timeout=STORE_SECONDS)
    return stored


def _used_pages() -> int:
    pages, free, size = (_one(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _estimate() -> int:
    # By name, to avoid an import cycle: the models call this before they store a long text.
    counted = (("Sandbox", "log_bytes"), ("Text", "size"))
    logs, texts = (
        apps.get_model("sandbox", model).objects.aggregate(total=Sum(field, default=0))["total"]
        for model, field in counted
    )
    return int(logs + texts + ROW_BYTES * _one("SELECT COALESCE(SUM(n_live_tup), 0) FROM pg_stat_user_tables"))


def add_stored_bytes(size: int) -> None:
    """Add to the cached value of ``store_bytes``, so that many writers cannot pass the limit before it is renewed."""
    with suppress(ValueError):  # Nothing is cached.
        cache.incr(STORE, size)


def _one(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


def check_text(text: str) -> None:
    """Raise ``OverQuota`` if a text of manifests is too long."""
    check_size(len(text.encode(errors="surrogatepass")))


def check_size(size: int) -> None:
    """Raise ``OverQuota`` if manifests of ``size`` bytes are too long."""
    limit = quotas().manifest_bytes
    if size > limit:
        raise OverQuota(say("limits.manifests", size=size, most=limit), 413)


def check_import(size: int) -> None:
    """Raise ``OverQuota`` if a file of ``size`` bytes is too large to import."""
    limit: int = settings.IMPORT_BYTES
    if size > limit:
        raise OverQuota(say("limits.file", size=size, most=limit), 413)


def check_objects(command: dict[str, Any], world: World) -> None:
    """Raise ``OverQuota`` if the trace is full, or if an ``apply`` would add too many objects to the cluster.

    Invalid manifests are not counted: the engine refuses them.
    """
    limits = quotas()
    if len(world.entries) >= limits.entries:
        raise OverQuota(say("limits.entries", most=limits.entries))
    if command["kind"] != "apply":
        return
    present_in_all = sum(map(len, world.objects.values()))
    items = command["manifests"]
    manifests = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    added = {(str(manifest.get("kind")), _key(manifest)) for manifest in manifests}
    new_in_all = sum(key not in world.objects.get(kind, {}) for kind, key in added)
    if new_in_all and present_in_all + new_in_all > limits.objects:
        raise OverQuota(say("limits.objects", most=limits.objects, present=present_in_all, added=new_in_all))
    for kind, present, limit, key in (
        ("Node", world.objects.get("Node", {}), limits.nodes, "limits.nodes"),
        ("Pod", world.pods, limits.pods, "limits.pods"),
    ):
        new = {key for added_kind, key in added if added_kind == kind} - present.keys()
        if new and len(present) + len(new) > limit:
            raise OverQuota(say(key, most=limit, present=len(present), added=len(new)))


def _key(manifest: dict[str, Any]) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = str(metadata.get("name") or "")
    row = KINDS.get(str(manifest.get("kind")))
    return f"{metadata.get('namespace') or 'default'}/{name}" if row is None or row.namespaced else name
