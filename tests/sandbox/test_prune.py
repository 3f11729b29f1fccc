from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from sandbox import store
from sandbox.models import CommandRecord, Sandbox


@pytest.mark.django_db
def test_only_sandboxes_that_lie_unused_are_deleted_with_their_log(node: Any) -> None:
    for title, days in (("old", 91), ("used", 89)):
        sandbox, _ = store.create(title, setup=[node("a")])
        Sandbox.objects.filter(pk=sandbox.pk).update(last_used=timezone.now() - timedelta(days=days))
    said = StringIO()
    call_command("prune", stdout=said)
    assert said.getvalue() == "1 sandboxes deleted\n"
    assert [row.title for row in Sandbox.objects.all()] == ["used"]
    assert CommandRecord.objects.count() == 1
