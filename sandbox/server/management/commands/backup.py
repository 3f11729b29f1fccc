"""Copy the database, even while the site serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from sandbox.server import backups, postgres
from sandbox.server.site import database_path
from sandbox.server.startup import CannotStart


class Command(BaseCommand):
    help = "Write a copy of the database to a file. The site can keep running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        path, to = database_path(), options["file"]
        try:
            if path is None:
                postgres.back_up(connection.settings_dict, to)
            else:
                backups.back_up(path, to)
        except CannotStart as error:
            raise CommandError(str(error)) from error
        name = path or f"The database {connection.settings_dict['NAME']}"
        self.stdout.write(f"{name} was copied to {to}. The copy is complete and undamaged.")
