"""Requests that a client repeats, because it did not get the answer, and that must be carried out only once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from sandbox.storage.models import Done
from sandbox.words.say import say
from scheduler_engine.errors import FieldError, Rejected

HEADER = "Idempotency-Key"
KEPT = timedelta(days=1)
"""How long a key is remembered."""


class DoneAlready(Exception):
    """The request was carried out before."""


@dataclass(frozen=True, slots=True)
class Once:
    """``key``: chosen by the client. ``digest``: of the request, which must be the same each time."""

    key: str
    digest: str

    def check(self, sandbox_id: UUID) -> None:
        """Raise ``DoneAlready`` if the request was carried out, ``Rejected`` if the key was used for another one."""
        stored = Done.objects.filter(sandbox=sandbox_id, key=self.key).values_list("digest", flat=True).first()
        if stored is not None:
            self._compare(stored)

    def remember(self, sandbox_id: UUID) -> None:
        """Store the key in the transaction that carries the request out. Raises as ``check``."""
        Done.objects.filter(sandbox=sandbox_id, created__lt=timezone.now() - KEPT).delete()
        done, is_new = Done.objects.get_or_create(sandbox_id=sandbox_id, key=self.key, defaults={"digest": self.digest})
        if not is_new:
            self._compare(done.digest)

    def _compare(self, stored: str) -> None:
        if stored != self.digest:
            raise Rejected([FieldError(HEADER, "FieldValueInvalid", say("errors.key-of-another-request"))])
        raise DoneAlready
