"""Restore the SQLite database from a copy that ``backup`` has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sandbox.server import backups
from sandbox.server.management.commands.backup import POSTGRES
from sandbox.server.site import database_path
from sandbox.server.startup import CannotStart


class Command(BaseCommand):
    help = "Restore the SQLite database from a copy, and save the old one. Stop the site first."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the copy")

    def handle(self, *args: Any, **options: Any) -> None:
        path = database_path()
        if path is None:
            raise CommandError(POSTGRES.format(command='pg_restore --clean --dbname="$DATABASE_URL" FILE'))
        connection.close()
        try:
            saved = backups.restore(path, options["file"])
        except CannotStart as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path} was restored from {options['file']}")
        if saved is not None:
            self.stdout.write(f"The old database was saved as {saved}")
