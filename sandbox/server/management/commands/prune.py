"""Delete sandboxes that nobody has changed for a long time, and unused workshops."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from sandbox.server.pruning import prune, prune_rooms
from sandbox.storage import shared_text


class Command(BaseCommand):
    help = "Delete sandboxes that nobody has changed for a number of days, and unused workshops."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=90, help="default: 90")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{prune(options['days'])} sandboxes deleted")
        if settings.ROOM_DAYS:
            self.stdout.write(f"{prune_rooms(settings.ROOM_DAYS)} workshops deleted")
        shared_text.sweep()
