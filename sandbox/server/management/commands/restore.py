"""Restore the database from a copy that ``backup`` has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sandbox.server import backups, postgres
from sandbox.server.site import database_path, report_database_errors
from sandbox.server.startup import CannotStart


class Command(BaseCommand):
    help = "Restore the database from a copy, and save the old one. Stop the site first."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the copy")

    def handle(self, *args: Any, **options: Any) -> None:
        path, copy = database_path(), options["file"]
        connection.close()
        try:
            if path is None:
                with report_database_errors():
                    saved = postgres.restore(connection.settings_dict, copy)
            else:
                saved = backups.restore(path, copy)
        except CannotStart as error:
            raise CommandError(str(error)) from error
        name = path or f"The database {connection.settings_dict['NAME']}"
        self.stdout.write(f"{name} was restored from {copy}")
        if saved is not None:
            self.stdout.write(f"The old database was saved as {saved}")
