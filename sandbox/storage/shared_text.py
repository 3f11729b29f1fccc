"""Long texts are stored once, however many rows have them: a row keeps the key of its text."""

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
"""Characters from which on a text is shared. A shorter one stands in its row."""
MOST_READ = 32
"""Texts that a process remembers: they never change."""
GRACE = timedelta(hours=1)
"""How long a text is left that no row has: the row may be on its way."""


class SharedText(models.TextField):
    """A text field for what forks, seats and sandboxes of one source have in common.

    Rows from before it hold their texts themselves, and are read as ever.
    """

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return key_of(text) if isinstance(text, str) and is_shared(text) else text

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if isinstance(value, str) and is_shared(value):
            _keep(value)
        return super().get_db_prep_save(value, connection)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return _read(value) if value is not None and _is_key(value) else value


def is_shared(text: str) -> bool:
    """Return True for a long text, and for one that could be taken for a key."""
    return len(text) >= LONG or _is_key(text)


def key_of(text: str) -> str:
    return MARK + sha256(text.encode(errors="surrogatepass")).hexdigest()


def _is_key(text: str) -> bool:
    return len(text) == KEY_CHARACTERS and text.startswith(MARK)


def _keep(text: str) -> None:
    """Store a text unless it is there. Raises ``OverQuota`` when it is not, and the site is full."""
    table, key, now = _texts(), key_of(text), timezone.now()
    if table.objects.filter(pk=key).update(used=now):
        return
    quotas.check_site()
    made = table(key=key, text=text, size=len(text.encode(errors="surrogatepass")), used=now)
    # Another process may have been quicker.
    table.objects.bulk_create([made], update_conflicts=True, unique_fields=["key"], update_fields=["used"])
    quotas.grew(made.size)


@lru_cache(maxsize=MOST_READ)
def _read(key: str) -> str:
    text: str = _texts().objects.values_list("text", flat=True).get(pk=key)
    return text


def sweep(grace: timedelta = GRACE) -> int:
    """Delete the texts that no row has; how many there were."""
    unused = _texts().objects.filter(used__lt=timezone.now() - grace)
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, SharedText):
                kept = model._default_manager.annotate(start=Left(field.name, KEY_CHARACTERS)).values("start")
                unused = unused.exclude(pk__in=kept)
    deleted, _ = unused.delete()
    _read.cache_clear()
    return deleted


def _texts() -> Any:
    return apps.get_model("sandbox", "Text")
