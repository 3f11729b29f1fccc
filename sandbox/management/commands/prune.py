"""Delete sandboxes that nobody has changed for a long time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from sandbox.models import Sandbox


class Command(BaseCommand):
    help = "Delete sandboxes in which nothing was done for the given number of days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=90, help="default: 90")

    def handle(self, *args: Any, **options: Any) -> None:
        unused = Sandbox.objects.filter(last_used__lt=timezone.now() - timedelta(days=options["days"]))
        _, deleted = unused.delete()
        self.stdout.write(f"{deleted.get(Sandbox._meta.label, 0)} sandboxes deleted")
