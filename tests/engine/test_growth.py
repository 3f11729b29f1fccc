"""Checking takes work in proportion to the length of a text, whatever it holds.

Work is counted in calls of functions, methods and comparisons, so that the machine does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler_engine.api.checking import check_text
from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.loading import load_manifests, read_manifests
from scheduler_engine.api.validation import check_update, validate
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected
from tests.engine.counting import calls
from tests.engine.worst_inputs import CONFIGURATIONS, WORST, Text

LINES = 60
MOST_GROWTH = 2.3
"""Most growth for twice the lines: 2 is linear, and sorting needs a little more."""

HIDDEN = 4
"""Calls per line that may differ between one length and the next."""


class Counted(str):
    """A text whose comparisons are calls that can be counted."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __lt__(self, other: str) -> bool:
        return str.__lt__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


class CountedNumber(int):
    """A number whose comparisons are calls that can be counted."""

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other)

    def __hash__(self) -> int:
        return int.__hash__(self)


def counted(value: Any) -> Any:
    if isinstance(value, dict):
        return {Counted(key): counted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [counted(item) for item in value]
    if isinstance(value, str):
        return Counted(value)
    return CountedNumber(value) if type(value) is int else value


def checking(text: str) -> int:
    """Count the calls to check a text, and to check its parsed manifests with comparisons counted."""
    total = calls(lambda: check_text(text))
    try:
        manifests, _ = read_manifests(text)
    except Rejected:
        return total
    for manifest in manifests:
        data = counted(manifest.data)
        errors: list[Any] = []
        total += calls(lambda data=data, errors=errors: errors.extend(validate(data)))  # type: ignore[misc]
        if not errors:
            total += calls(lambda data=data: warnings_about(data))  # type: ignore[misc]
    return total


def configuring(text: str) -> int:
    def work() -> None:
        try:
            load_configuration(text)
        except Rejected:
            return

    return calls(work)


def updating(text: str) -> int:
    """Count the calls to update an object to an equal one."""
    [manifest] = load_manifests(text)
    old, new = (with_defaults(counted(manifest.data)) for _ in range(2))

    def work() -> None:
        try:
            check_update(old, new)
        except Rejected:
            return

    return calls(work)


UPDATES = ("tolerations", "scheduling gates", "addresses of a node", "amounts of a node", "finalizers")

ROWS: dict[str, tuple[Text, Callable[[str], int]]] = {
    **{f"manifests with {words}": (text, checking) for words, text in WORST.items()},
    **{f"an update with {words}": (WORST[words], updating) for words in UPDATES},
    **{f"a configuration with {words}": (text, configuring) for words, text in CONFIGURATIONS.items()},
}


@pytest.mark.parametrize("words", ROWS)
def test_twice_the_text_is_twice_the_work(words: str) -> None:
    text, count = ROWS[words]
    count(text(LINES // 4))  # fill caches first
    one, two, four = (count(text(number * LINES)) for number in (1, 2, 4))
    assert four - two <= MOST_GROWTH * max(two - one, 0) + HIDDEN * LINES
