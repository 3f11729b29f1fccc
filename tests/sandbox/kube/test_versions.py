"""Resource versions after somebody went back."""

from __future__ import annotations

import pytest

from sandbox.kube.turns import MOST, Turn, read_turns, with_turn
from sandbox.kube.versions import STEP, Versions

TURNED = Versions(now=12, turns=((3, 5), (7, 9)))
"""Turn 3 went back to version 5, turn 7 to version 9."""
KNOWN = {
    "what both turns left": (4, 4),
    "the last that the first one left": (5, 5),
    "what the first one undid": (6, None),
    "what the second one left": (3 * STEP + 9, 9),
    "what the second one undid": (3 * STEP + 10, None),
    "the present": (7 * STEP + 12, 12),
    "the future": (7 * STEP + 13, None),
    "a turn to come": (8 * STEP + 1, None),
    "an object that a turn left": (7 * STEP, None),
}


@pytest.mark.parametrize(("number", "version"), KNOWN.values(), ids=KNOWN)
def test_a_number_is_known_while_its_history_is(number: int, version: int | None) -> None:
    assert TURNED.known(number) == version


def test_numbers_grow() -> None:
    assert [TURNED.shown(version) for version in (1, 9, 10, 12)] == [7 * STEP + n for n in (0, 0, 10, 12)]
    assert Versions(12).shown(4) == 4


NAMES = {
    "as it was before all turns": (4, 4, True),
    "as the last turn left it": (7 * STEP, 9, True),
    "as an earlier turn left it": (3 * STEP, 4, True),
    "changed between two turns": (3 * STEP + 8, 8, True),
    "as a turn to come leaves it": (8 * STEP, 4, False),
    "changed since": (4, 5, False),
    "changed after the first turn": (3 * STEP + 7, 8, False),
    "what a turn undid": (11, 11, False),
    "changed after a turn left it": (3 * STEP, 7, False),
    "what a turn undid, while the object stayed": (10, 9, False),
    "the present": (7 * STEP + 12, 12, True),
    "another object of the present": (7 * STEP + 12, 11, False),
}


@pytest.mark.parametrize(("number", "version", "same"), NAMES.values(), ids=NAMES)
def test_a_number_names_an_object_that_has_not_changed(number: int, version: int, same: bool) -> None:
    assert TURNED.names(number, version) == same


def test_turns_that_no_longer_matter_are_dropped() -> None:
    text = with_turn(with_turn(with_turn("", Turn(3, 5)), Turn(4, 8)), Turn(9, 5))
    assert read_turns(text) == (Turn(9, 5),)
    for n in range(MOST + 10):
        text = with_turn(text, Turn(10 + n, 6 + n))
    turns = read_turns(text)
    assert (len(turns), turns[0].left, turns[-1]) == (MOST, 5, Turn(9 + MOST + 10, 5 + MOST + 10))
