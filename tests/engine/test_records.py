"""A record behaves as a frozen dataclass, except that only the type checker forbids assignments."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

from scheduler_engine.records import record


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    parts: tuple[int, ...] = ()


@record(frozen=True, slots=True)
class Fast:
    name: str
    parts: tuple[int, ...] = ()


@record(frozen=True, slots=True)
class OwnHash:
    name: str

    def __hash__(self) -> int:
        return 7


SAME: list[Any] = [
    pytest.param(repr, id="its text"),
    pytest.param(lambda item: [(field.name, field.default) for field in fields(item)], id="its fields"),
    pytest.param(hash, id="its hash"),
    pytest.param(lambda item: item == replace(item), id="equality with an equal one"),
    pytest.param(lambda item: item == replace(item, name="b"), id="inequality with another one"),
    pytest.param(lambda item: item == pickle.loads(pickle.dumps(item)), id="a pickle"),
    pytest.param(lambda item: item.__getstate__(), id="what a pickle holds"),
    pytest.param(lambda item: item == copy.deepcopy(item), id="a copy"),
    pytest.param(lambda item: hasattr(item, "__dict__"), id="slots"),
    pytest.param(lambda item: type(item).__match_args__, id="patterns"),
]


@pytest.mark.parametrize("look", SAME)
def test_a_record_has_the_traits_of_a_frozen_dataclass(look: Any) -> None:
    plain, fast = look(Frozen("a", (1, 2))), look(Fast("a", (1, 2)))
    assert fast == (plain.replace("Frozen", "Fast") if isinstance(plain, str) else plain)


def test_an_own_hash_stays() -> None:
    assert hash(OwnHash("a")) == 7


def test_a_record_has_no_assignment_of_its_own() -> None:
    """This is what makes it fast: fields are set as in other objects."""
    assert Fast.__setattr__ is object.__setattr__
    assert Frozen.__setattr__ is not object.__setattr__
