from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection

from sandbox.changes import store
from sandbox.storage.models import CommandRecord

pytestmark = pytest.mark.django_db


def test_the_migrations_say_what_the_models_say() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_no_number_in_a_log_is_used_twice(visitor: Any) -> None:
    store.execute(visitor.sandbox, {"kind": "settle"})
    with pytest.raises(IntegrityError):
        CommandRecord.objects.create(sandbox=visitor.sandbox, n=1, command="{}")


def test_the_key_of_a_dropped_record_is_never_used_again(visitor: Any) -> None:
    keys = []
    for _ in range(3):
        keys.append(store.execute(visitor.row(), {"kind": "settle"}).state)
        store.go_to(visitor.sandbox, lambda _: 0)
    assert len(set(keys)) == 3


def test_the_log_keeps_the_order_of_keys(visitor: Any, node: Any) -> None:
    command = node("a")
    command["manifests"][0]["metadata"]["labels"] = {"zz": "1", "aa": "2"}
    store.execute(visitor.sandbox, command)
    text = CommandRecord.objects.get().command
    assert text.index('"zz"') < text.index('"aa"')


@pytest.mark.django_db(transaction=True)
def test_keys_of_dropped_records_are_not_used_again_after_the_upgrade_that_brings_marks(visitor: Any) -> None:
    first = store.execute(visitor.sandbox, {"kind": "settle"}).state
    dropped = store.execute(visitor.sandbox, {"kind": "settle"}).state
    call_command("migrate", "sandbox", "0013", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {CommandRecord._meta.db_table} WHERE id = %s", [dropped])
    call_command("migrate", verbosity=0)
    assert CommandRecord.objects.get(pk=first).mark == ""
    assert CommandRecord.objects.create(sandbox=visitor.sandbox, n=2, command="{}").pk > dropped
