"""Copy the SQLite database, even while the site serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sandbox.server import backups
from sandbox.server.site import database_path
from sandbox.server.startup import CannotStart

POSTGRES = "The database is PostgreSQL, which has its own programs for this. Run: {command}"


class Command(BaseCommand):
    help = "Write a copy of the SQLite database to a file. The site can keep running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        path = database_path()
        if path is None:
            raise CommandError(POSTGRES.format(command='pg_dump --format=custom --file=FILE "$DATABASE_URL"'))
        try:
            backups.back_up(path, options["file"])
        except CannotStart as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path} was copied to {options['file']}. The copy is complete and undamaged.")
