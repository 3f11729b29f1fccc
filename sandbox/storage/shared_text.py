"""A text field that stores each long text once. A row stores only the key of its text."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models.functions import Left
from django.utils import timezone

from sandbox.limits import quotas

MARK = "sha256:"
KEY_CHARACTERS = len(MARK) + sha256().digest_size * 2
LONG = 200
"""A text of this many characters or more is shared. A shorter one is stored in its row."""
MOST_READ = 32
"""Texts that a process caches. They never change."""
GRACE = timedelta(hours=1)
"""How long to keep a text that no row uses: its row may not be committed yet."""


class SharedText(models.TextField):
    """A text field for texts that forks, seats of a workshop and sandboxes of one source have in common.

    Older rows have long texts in themselves. They are read as they are.
    """

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return key_of(text) if isinstance(text, str) and is_shared(text) else text

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if isinstance(value, str) and is_shared(value):
            _store(value)
        return super().get_db_prep_save(value, connection)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return _read(value) if value is not None and _is_key(value) else value


def is_shared(text: str) -> bool:
    """Return True for a long text, and for a text that looks like a key."""
    return len(text) >= LONG or _is_key(text)


def key_of(text: str) -> str:
    return MARK + sha256(text.encode(errors="surrogatepass")).hexdigest()


def _is_key(text: str) -> bool:
    return len(text) == KEY_CHARACTERS and text.startswith(MARK)


def _store(text: str) -> None:
    """Store a text if it is new. Raises ``OverQuota`` if it is new and the site is full."""
    table, key, now = _texts(), key_of(text), timezone.now()
    if table.objects.filter(pk=key).update(used=now):
        return
    quotas.check_site()
    row = table(key=key, text=text, size=len(text.encode(errors="surrogatepass")), used=now)
    # Another process may have stored it first.
    table.objects.bulk_create([row], update_conflicts=True, unique_fields=["key"], update_fields=["used"])
    quotas.add_stored_bytes(row.size)


@lru_cache(maxsize=MOST_READ)
def _read(key: str) -> str:
    text: str = _texts().objects.values_list("text", flat=True).get(pk=key)
    return text


def sweep(grace: timedelta = GRACE) -> int:
    """Delete the texts that no row uses and that were last stored before ``grace``. Return how many."""
    unused = _texts().objects.filter(used__lt=timezone.now() - grace)
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, SharedText):
                used = model._default_manager.annotate(start=Left(field.name, KEY_CHARACTERS)).values("start")
                unused = unused.exclude(pk__in=used)
    deleted, _ = unused.delete()
    _read.cache_clear()
    return deleted


def _texts() -> Any:
    return apps.get_model("sandbox", "Text")
