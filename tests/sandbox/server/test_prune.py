from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from sandbox.changes import store
from sandbox.limits import quotas
from sandbox.runtime.threads import BACKGROUND
from sandbox.server import pruning
from sandbox.storage.models import CommandRecord, Sandbox


def unused_for(days: float, title: str, node: Any) -> Sandbox:
    """Return a sandbox that was last used this many days ago."""
    sandbox, _ = store.create(title, setup=[node("a")])
    Sandbox.objects.filter(pk=sandbox.pk).update(last_used=timezone.now() - timedelta(days=days))
    return sandbox


def large(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest so long that its deletion frees a page of the database."""
    return manifest | {"metadata": {"annotations": {"note": "x" * 50_000}, **manifest["metadata"]}}


def left() -> list[str]:
    return [row.title for row in Sandbox.objects.order_by("title")]


@pytest.mark.django_db
def test_only_sandboxes_that_lie_unused_are_deleted_with_their_log(node: Any) -> None:
    for title, days in (("old", 91), ("used", 89)):
        unused_for(days, title, node)
    said = StringIO()
    call_command("prune", stdout=said)
    assert said.getvalue() == "1 sandboxes deleted\n"
    assert left() == ["used"]
    assert CommandRecord.objects.count() == 1


@pytest.mark.django_db
def test_the_servers_chore_makes_room_in_a_full_store(
    node: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    unused_for(91, "old", lambda name: {"kind": "apply", "manifests": [large(node(name)["manifests"][0])]})
    monkeypatch.setattr(pruning, "_next", 0.0)
    monkeypatch.setattr(pruning, "in_background", lambda pool, function: function())
    quotas.forget_stored_bytes()
    settings.PRUNE_DAYS, settings.STORE_BYTES = 90, quotas.store_bytes()
    with pytest.raises(quotas.OverQuota):
        quotas.check_site()
    pruning.chore()
    store.create("New")
    assert left() == ["New"]


@pytest.mark.django_db
def test_many_are_deleted_a_few_at_a_time(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "AT_ONCE", 2)
    for number in range(5):
        unused_for(10, f"old {number}", node)
    assert pruning.prune(9) == 5
    assert not CommandRecord.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("room", "stay"),
    [
        pytest.param(10**9, ["a day", "a month", "a week"], id="with enough room only very old sandboxes go"),
        pytest.param(1, ["a day"], id="sandboxes used within a day stay even without room"),
    ],
)
def test_the_daily_look_goes_further_when_the_store_is_nearly_full(
    node: Any, settings: Any, room: int, stay: list[str]
) -> None:
    settings.PRUNE_DAYS = 90
    for days, title in ((0.9, "a day"), (8, "a week"), (31, "a month"), (91, "a season")):
        unused_for(days, title, node)
    settings.STORE_BYTES = room
    pruning.prune_daily()
    assert left() == stay


@pytest.mark.django_db(transaction=True)
def test_the_servers_chore_prunes_once_a_day(node: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PRUNE_DAYS = 90
    monkeypatch.setattr(pruning, "_next", 0.0)
    for title in ("first", "second"):
        settings.PRUNE_DAYS = 0
        unused_for(91, "old", node)
        settings.PRUNE_DAYS = 90
        store.create(title)
        pruning.chore()
        BACKGROUND.submit(int).result()
    assert left() == ["first", "old", "second"]
