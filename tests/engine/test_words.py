"""The tables of sentences and the engine's code agree: every key and every place is there, and no row is left over."""

from __future__ import annotations

from scheduler_engine.words import ROWS
from tests.sentences import ENGINE, said_keys, wrong_calls


def test_every_row_is_said_by_somebody() -> None:
    assert sorted(ROWS.keys() - said_keys(ENGINE, ROWS)) == []


def test_every_sentence_that_is_said_has_its_row_and_its_places() -> None:
    wrong = wrong_calls(ENGINE, ROWS, "say")
    assert not wrong, "\n".join(wrong)
