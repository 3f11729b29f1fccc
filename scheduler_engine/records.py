"""Frozen dataclasses that are as fast to create as others.

``dataclasses`` sets each field of a frozen instance by a call, which makes creating one three times as slow. A pod
creates about 150. So ``record`` leaves it to the type checker that nobody assigns to a field. Otherwise such a class is
the same: equality, hash and pickles go by the fields. Source: design of the sandbox.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ("record",)

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool) -> Any:
        """Decorate a class as ``dataclasses.dataclass`` does, frozen for the type checker only."""
        assert frozen
        assert slots

        def decorate(cls: type) -> type:
            hashed = "__hash__" not in cls.__dict__
            stored = "__getstate__" not in cls.__dict__
            decorated = dataclasses.dataclass(slots=True, unsafe_hash=hashed)(cls)
            if stored:
                decorated.__getstate__, decorated.__setstate__ = _state, _set_state
            return decorated

        return decorate


def _state(item: Any) -> list[Any]:
    """Return what a pickle holds: without this it would also hold the name of each field."""
    return [getattr(item, field.name) for field in dataclasses.fields(item)]


def _set_state(item: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(item), state, strict=True):
        setattr(item, field.name, value)
