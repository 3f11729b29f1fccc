"""Long texts are stored once, counted, bounded, and deleted with the last row that uses them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from django.test import Client

from sandbox.changes import copies, store
from sandbox.limits import quotas
from sandbox.limits.quotas import OverQuota
from sandbox.storage.models import Guess, Sandbox, Study, Text
from sandbox.storage.shared_text import KEY_CHARACTERS, LONG, MARK, _read, key_of, sweep
from sandbox.workshop import people, sources
from sandbox.workshop import room as rooms
from sandbox.workshop.models import Seat, Workshop

NOW = timedelta(0)
LESSON = "title: A lesson\n" + "about: much\n" * 40_000
CONFIGURATION = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
KINDS = {
    "a short one": "null",
    "nothing": "",
    "a long one": "é" * LONG,
    "one that looks like a key": MARK + "0" * (KEY_CHARACTERS - len(MARK)),
    "one that begins like a key": MARK + "short",
}


@pytest.fixture(autouse=True)
def nothing_is_remembered(db: None) -> None:
    _read.cache_clear()


def counted() -> int:
    """Return the size stored now, not at the last count."""
    quotas.forget_stored_bytes()
    return quotas.store_bytes()


def column(sandbox: Sandbox, name: str = "story") -> str:
    """Return what the row itself stores."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name} FROM sandbox_sandbox WHERE title = %s", [sandbox.title])
        return str(cursor.fetchone()[0])


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_a_text_comes_back_unchanged_however_it_is_stored(visitor: Any, text: str) -> None:
    for write in ("save", "update"):
        if write == "save":
            visitor.sandbox.story = text
            visitor.sandbox.save()
        else:
            Sandbox.objects.update(story=text)
        assert visitor.row().story == text
        assert Sandbox.objects.values_list("story", flat=True).get() == text
        assert Sandbox.objects.filter(story=text).exists()
        assert len(column(visitor.sandbox)) < LONG


def test_an_old_row_keeps_its_text_inline(visitor: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sandbox_sandbox SET story = %s", ["old " * LONG])
    assert visitor.row().story == "old " * LONG
    assert not Text.objects.exists()
    Sandbox.objects.update(title=F("title"))
    assert sweep(NOW) == 0


def test_forks_and_seats_share_their_long_texts_and_all_of_them_is_counted(visitor: Any) -> None:
    sandbox = visitor.sandbox
    sandbox.configuration = json.dumps({**CONFIGURATION, "x": "y" * 300_000})
    sandbox.save()
    Study.objects.create(sandbox=sandbox, shelf="own", slug="own", text=LESSON)
    Guess.objects.create(sandbox=sandbox, question="q" * 9000, named="n" * 9000, state=0, n=0, entries=0)
    room, _ = rooms.open_room(sources.scenario("node-selector"))
    Workshop.objects.filter(pk=room.pk).update(latest=json.dumps({**sources.BLANK, "x": "z" * 300_000}))
    before, texts = counted(), Text.objects.count()
    for number in range(20):
        copies.fork(sandbox, None)
        people.join(room, f"Person {chr(65 + number)}")
    assert Text.objects.count() == texts
    assert counted() - before < 300_000
    assert counted() > len(LESSON) + 600_000
    fork = Sandbox.objects.exclude(pk=sandbox.pk).filter(title=sandbox.title).last()
    assert fork is not None
    assert (fork.configuration, fork.study.text) == (sandbox.configuration, LESSON)
    assert len(Seat.objects.filter(participant__name="Person C").get().source) > 300_000


def test_a_text_goes_with_the_last_row_that_has_it(visitor: Any) -> None:
    text = "x" * 100_000
    for sandbox in (visitor.sandbox, store.create("Second")[0]):
        sandbox.story = text
        sandbox.save()
    before = counted()
    for gone, left in (("Test", 1), ("Second", 0)):
        Sandbox.objects.filter(title=gone).delete()
        sweep(NOW)
        assert Text.objects.count() == left
    assert counted() < before - len(text) + 5000


def test_a_text_whose_row_may_not_be_committed_yet_stays_for_an_hour(visitor: Any) -> None:
    visitor.sandbox.story = "x" * LONG
    visitor.sandbox.save()
    Sandbox.objects.all().delete()
    assert sweep() == 0
    Text.objects.update(used=F("used") - timedelta(hours=2))
    call_command("prune")
    assert not Text.objects.exists()


def test_a_full_site_takes_no_new_text_but_those_that_it_has(visitor: Any, settings: Any) -> None:
    visitor.sandbox.story = held = "x" * 1000
    visitor.sandbox.save()
    settings.STORE_BYTES = counted()
    visitor.sandbox.story = "y" * 1000
    with pytest.raises(OverQuota, match="storage is full"), transaction.atomic():
        visitor.sandbox.save()
    assert visitor.row().story == held
    Sandbox.objects.update(story=held)
    assert key_of(held) == column(visitor.sandbox)


def test_a_room_in_a_full_site_is_refused_in_words(db: None, settings: Any) -> None:
    settings.STORE_BYTES = counted()
    answer = Client().post("/workshop/open/", {"scenario": "node-selector", "title": "Full"})
    assert (answer.status_code, "storage is full" in answer.content.decode()) == (507, True)


def test_rows_created_between_two_counts_are_counted(visitor: Any) -> None:
    cache.set(quotas.STORE, 0)
    sandbox = visitor.sandbox
    sandbox.configuration = json.dumps({**CONFIGURATION, "x": "y" * 50_000})
    sandbox.save()
    size = cache.get(quotas.STORE)
    assert size > 50_000
    copies.fork(sandbox, None)
    assert 0 < cache.get(quotas.STORE) - size < 10_000
    quotas.forget_stored_bytes()
    quotas.add_stored_bytes(7)
    assert cache.get(quotas.STORE) is None
