"""Django's ``migrate``, for several processes that start at the same moment."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from sandbox.server.migrating import alone


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        # Inside, it looks again at what is left to do.
        with alone():
            super().handle(*args, **options)
