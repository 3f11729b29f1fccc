"""Guards around the methods of somebody's own plugin: what fails there is an error of the plugin, not of the engine.

In kube-scheduler, a panic ends the process; here it becomes the error that the plugin could have returned.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.interface import EventRegistration, Hint, HintFunction, PluginError, PreFilterResult
from scheduler_engine.framework.status import Status
from scheduler_engine.records import record
from scheduler_engine.words import say


def _is_anything(result: Any) -> bool:
    return True


def _is_status(result: Any) -> bool:
    return result is None or isinstance(result, Status)


def _is_score(result: Any) -> bool:
    return isinstance(result, int) and not isinstance(result, bool)


def _is_narrowing(result: Any) -> bool:
    return _is_pair(result) and (result[0] is None or isinstance(result[0], PreFilterResult)) and _is_status(result[1])


def _is_permission(result: Any) -> bool:
    return _is_pair(result) and _is_status(result[0]) and _is_score(result[1])


def _is_answer(result: Any) -> bool:
    return _is_pair(result) and isinstance(result[0], Hint) and isinstance(result[1], str)


def _is_registered(result: Any) -> bool:
    return isinstance(result, tuple | list) and all(isinstance(item, EventRegistration) for item in result)


def _is_pair(result: Any) -> bool:
    return isinstance(result, tuple) and len(result) == 2


RESULTS: dict[str, Callable[[Any], bool]] = {
    "__init__": _is_anything,
    "pre_enqueue": _is_status,
    "pre_filter": _is_narrowing,
    "add_pod": _is_anything,
    "remove_pod": _is_anything,
    "filter": _is_status,
    "pre_score": _is_status,
    "score": _is_score,
    "normalize_score": _is_anything,
    "reserve": _is_status,
    "unreserve": _is_anything,
    "permit": _is_permission,
    "works_in_pre_bind": _is_anything,
    "pre_bind": _is_status,
    "bind": _is_status,
    "post_bind": _is_anything,
    "events_to_register": _is_registered,
}
"""Method → the test of what it returned."""
ABSTRACT, GUARDED = "__isabstractmethod__", "is_guarded"
"""Attributes of methods that are not guarded: they do nothing, or inherit a guard."""


def guard(plugin: type) -> None:
    """Replace the methods of a class: they raise PluginError for any exception, and for a result of a wrong type."""
    for name, is_valid in RESULTS.items():
        method = inspect.getattr_static(plugin, name, None)
        if inspect.isfunction(method) and not (hasattr(method, GUARDED) or getattr(method, ABSTRACT, False)):
            guarded = _guarded(method, is_valid)
            guarded = _with_guarded_hints(guarded) if name == "events_to_register" else guarded
            setattr(guarded, GUARDED, True)
            setattr(plugin, name, guarded)


def _guarded(method: Callable[..., Any], is_valid: Callable[[Any], bool]) -> Callable[..., Any]:
    @wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = method(*arguments, **named)
        except PluginError:
            raise
        except Exception as problem:
            raise PluginError(f"{type(problem).__name__}: {problem}") from problem
        if not is_valid(result):
            raise PluginError(say("refusals.plugin-returned", method=method.__name__, result=repr(result)))
        return result

    return call


@record(frozen=True, slots=True)
class GuardedHint:
    """A hint that raises nothing but PluginError."""

    hint: HintFunction

    def __call__(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        answer: tuple[Hint, str] = _guarded(self.hint, _is_answer)(pod, old, new)
        return answer


def _with_guarded_hints(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(plugin: Any) -> tuple[EventRegistration, ...]:
        return tuple(map(_guard_hint, method(plugin)))

    return call


def _guard_hint(registration: EventRegistration) -> EventRegistration:
    if registration.hint is None or isinstance(registration.hint, GuardedHint):
        return registration
    return replace(registration, hint=GuardedHint(registration.hint))
