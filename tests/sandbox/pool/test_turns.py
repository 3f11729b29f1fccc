"""A thread waits for the turn of a sandbox without a database connection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import uuid4

import pytest

from sandbox.pool import turns


def test_a_thread_gives_its_connection_to_others_only_if_it_must_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    key, waits = uuid4(), Event()
    monkeypatch.setattr(turns, "give_back", waits.set)

    def take() -> bool:
        with turns.turn(key):
            return True

    assert take()
    assert not waits.is_set()
    with ThreadPoolExecutor(1) as other:
        with turns.turn(key):
            second = other.submit(take)
            assert waits.wait(turns.PATIENCE_SECONDS)
        assert second.result()
