"""Guards around the methods of somebody's own plugin: what fails there is an error of the plugin, not of the engine.

In kube-scheduler, a panic ends the process; here it becomes the error that the plugin could have returned.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from traceback import extract_tb
from typing import Any, NoReturn

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, HintFunction, PluginError, PreFilterResult
from scheduler_engine.framework.shown import as_utf_8, shown
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.records import record
from scheduler_engine.words import say


def _is_anything(result: Any) -> bool:
    return True


def _is_nothing(result: Any) -> bool:
    return result is None


def _is_status(result: Any) -> bool:
    if not isinstance(result, Status):
        return result is None
    code: Any = result.code
    return isinstance(code, Code) and _are_texts(result.reasons)


def _are_texts(result: Any) -> bool:
    return isinstance(result, tuple) and all(map(_is_text, result))


def _is_text(result: Any) -> bool:
    return isinstance(result, str) and as_utf_8(result) == result


def _is_score(result: Any) -> bool:
    return isinstance(result, int) and not isinstance(result, bool)


def _is_narrowing(result: Any) -> bool:
    if not (_is_pair(result) and _is_status(result[1])):
        return False
    nodes = result[0]
    return nodes is None or (isinstance(nodes, PreFilterResult) and _are_texts(nodes.node_names))


def _is_permission(result: Any) -> bool:
    return _is_pair(result) and _is_status(result[0]) and _is_score(result[1])


def _is_answer(result: Any) -> bool:
    return _is_pair(result) and isinstance(result[0], Hint) and _is_text(result[1])


def _is_registered(result: Any) -> bool:
    return isinstance(result, tuple | list) and all(map(_is_registration, result))


def _is_registration(result: Any) -> bool:
    if not (isinstance(result, EventRegistration) and isinstance(result.event, ClusterEvent)):
        return False
    return _is_text(result.event.resource) and isinstance(result.event.action, ActionType)


def _is_pair(result: Any) -> bool:
    return isinstance(result, tuple) and len(result) == 2


RESULTS: dict[str, Callable[[Any], bool]] = {
    "__init__": _is_anything,
    "pre_enqueue": _is_status,
    "pre_filter": _is_narrowing,
    "add_pod": _is_nothing,
    "remove_pod": _is_nothing,
    "filter": _is_status,
    "pre_score": _is_status,
    "score": _is_score,
    "normalize_score": _is_nothing,
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
    for name in (*RESULTS, *EXPLAINING):
        method = inspect.getattr_static(plugin, name, None)
        if inspect.isfunction(method) and not (hasattr(method, GUARDED) or getattr(method, ABSTRACT, False)):
            guarded = _explained(name, method) if name in EXPLAINING else _guarded(name, method, RESULTS[name])
            guarded = MORE[name](guarded) if name in MORE else guarded
            setattr(guarded, GUARDED, True)
            setattr(plugin, name, guarded)


def unguarded(plugin: type) -> list[str]:
    """Return the names that a class has for something else than a method, in which no failure would be caught."""
    found = ((name, inspect.getattr_static(plugin, name, guard)) for name in (*RESULTS, *EXPLAINING))
    return [name for name, method in found if not inspect.isfunction(method)]


def _guarded(name: str, method: Callable[..., Any], is_valid: Callable[[Any], bool]) -> Callable[..., Any]:
    @wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = method(*arguments, **named)
        except PluginError as problem:
            raise PluginError(shown(str, problem)) from problem
        except (Exception, SystemExit) as problem:
            raise PluginError(f"{type(problem).__name__}: {shown(str, problem)}") from problem
        if not is_valid(result):
            _refuse(name, result)
        return None if isinstance(result, Status) and result.is_success else result

    return call


def _refuse(method: str, result: Any) -> NoReturn:
    if inspect.iscoroutine(result):
        result.close()
    raise PluginError(say("refusals.plugin-returned", method=method, result=shown(repr, result)))


def _explained(name: str, method: Callable[..., Any]) -> Callable[..., Facts]:
    """Return a method that explains, or says why it cannot."""

    @wraps(method)
    def call(plugin: Any, state: Any, pod: Pod, node_info: Any, *more: Any) -> Facts:
        try:
            result = method(plugin, state, pod, node_info, *more)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 – It may do anything.
            text = _with_line(problem, method.__code__.co_filename)
            text = say("refusals.plugin-explains-nothing", method=name, problem=text)
        else:
            if _are_facts(result):
                facts: Facts = result
                return facts
            text = say("refusals.plugin-returned", method=name, result=shown(repr, result))
        return EXPLAINING[name](plugin, Facts(fact("own.because", text=text)), state, pod, node_info, *more)

    return call


def _with_status(plugin: Any, facts: Facts, state: Any, pod: Pod, node_info: Any) -> Facts:
    return replace(facts, status=plugin.filter(state, pod, node_info))


def _with_score(plugin: Any, facts: Facts, state: Any, pod: Pod, node_info: Any, raw: Mapping[str, int]) -> Facts:
    scores = dict(raw)
    if hasattr(plugin, "normalize_score"):
        plugin.normalize_score(state, pod, scores)
    return replace(facts, raw=raw[node_info.name], normalized=scores[node_info.name])


EXPLAINING: dict[str, Callable[..., Facts]] = {"explain_filter": _with_status, "explain_score": _with_score}
"""Method that says why → what adds the answer itself, if it fails to say why."""


def _are_facts(result: Any) -> bool:
    if not isinstance(result, Facts):
        return False
    return _is_status(result.status) and all(isinstance(item, Fact) for item in (result.says, *result.shown))


def _with_line(problem: BaseException, path: str) -> str:
    """Return an exception in words, with the last line of the file at ``path`` that it came through."""
    lines = [step.lineno for step in extract_tb(problem.__traceback__) if step.filename == path]
    return f"{type(problem).__name__}: {shown(str, problem)} ({Path(path).name}, line {lines[-1]})"


@record(frozen=True, slots=True)
class GuardedHint:
    """A hint that raises nothing but PluginError."""

    hint: HintFunction

    def __call__(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        name = getattr(self.hint, "__name__", "hint")
        answer: tuple[Hint, str] = _guarded(name, self.hint, _is_answer)(pod, old, new)
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


def _with_checked_scores(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``normalize_score`` after which the same nodes have whole numbers."""

    @wraps(method)
    def call(plugin: Any, state: Any, pod: Pod, scores: dict[str, int]) -> None:
        nodes = set(scores)
        method(plugin, state, pod, scores)
        if scores.keys() != nodes or not all(map(_is_score, scores.values())):
            raise PluginError(say("refusals.plugin-scores", scores=shown(repr, scores)))

    return call


MORE = {"events_to_register": _with_guarded_hints, "normalize_score": _with_checked_scores}
"""Method → what else its guard does."""
