"""Functions that check the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.api.cel.values import Uint, no_overload

Function = Callable[..., Any]


def typed(name: str, *kinds: Any) -> Callable[[Function], Function]:
    """Let a function raise CelError for arguments of other types."""

    def decorate(function: Function) -> Function:
        def checked(*args: Any) -> Any:
            if len(args) > len(kinds) or not all(map(_is_a, args, kinds)):
                raise no_overload(name, *args)
            return function(*args)

        return checked

    return decorate


def _is_a(value: Any, kind: Any) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, (bool, Uint))
    return isinstance(value, kind)
