"""Validation of plugins that a configuration declares by expressions. Source: design of the sandbox.

Limits and texts are those of expressions in Kubernetes' API: upstream ``apis/admissionregistration/validation``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_engine.api.validation.names import qualified_name
from scheduler_engine.api.validation.problems import internal, invalid, required, texts, too_long
from scheduler_engine.config.schema import declares_expressions
from scheduler_engine.errors import FieldError
from scheduler_engine.framework.extender import EXTENDER
from scheduler_engine.plugins.expressions import (
    EXPRESSIONS,
    LONGEST,
    LONGEST_MESSAGE,
    PARTS,
    NotCompiled,
    compile_for,
    is_one_line,
)
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.versions import VERSIONS, Rules, rules_for
from scheduler_engine.words import say

MOST_PLUGINS = 10
"""The most plugins with expressions in all profiles of a configuration."""
LONGEST_WAIT = 15 * 60
"""In seconds, as in kube-scheduler."""
NEEDED = {
    "message": ("preFilter", "permit", "filter"),
    "messageExpression": ("permit", "filter"),
    "permitTimeoutSeconds": ("permit",),
}
"""Field → the expressions for which it is: it needs one of them."""
MESSAGE = "message"
TAKEN = ("GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount", EXTENDER)
"""Names of Kubernetes' plugins that are not simulated, and the name that the trace gives extenders."""
qualified = texts(qualified_name)


def too_many_expressions(profiles: list[dict[str, Any]]) -> Iterator[FieldError]:
    configs = [config for profile in profiles for config in profile.get("pluginConfig", ())]
    count = sum(declares_expressions(config["args"]) for config in configs)
    if count > MOST_PLUGINS:
        yield invalid("profiles", count, say("expressions.too-many", count=count, most=MOST_PLUGINS))


def declared(place: str, name: str, args: dict[str, Any], rules: Rules) -> Iterator[FieldError]:
    """Yield what is wrong with the plugin that ``args`` declare."""
    yield from qualified(name, f"{place}.name")
    if name in TAKEN or any(name in registry_for(held) for held in (rules, *map(rules_for, VERSIONS))):
        yield invalid(f"{place}.name", name, say("expressions.name-taken"))
    if not any(point in args for point in PARTS):
        yield required(f"{place}.args", say("expressions.none", fields=", ".join(PARTS)))
    for field in EXPRESSIONS:
        if field in args:
            yield from check_expression(f"{place}.args.{field}", field, args[field])
    if MESSAGE in args:
        yield from check_message(f"{place}.args.{MESSAGE}", args[MESSAGE])
    for field, points in NEEDED.items():
        if field in args and not any(point in args for point in points):
            yield required(
                f"{place}.args.{points[-1]}", say("expressions.needed", field=field, needed=" or ".join(points))
            )
    seconds = args.get("permitTimeoutSeconds", 1)
    if not 0 < seconds <= LONGEST_WAIT:
        yield invalid(f"{place}.args.permitTimeoutSeconds", seconds, f"not in valid range [1, {LONGEST_WAIT}]")


def _holds_half_a_pair(text: str) -> bool:
    """Return True for a text that UTF-8 cannot hold. JSON can express half of a pair of surrogate characters."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def _half_a_pair(path: str, text: str) -> FieldError:
    return invalid(path, text.encode(errors="replace").decode(), say("expressions.half-pair"))


def check_message(path: str, text: str) -> Iterator[FieldError]:
    """Yield what is wrong with a message."""
    if _holds_half_a_pair(text):
        yield _half_a_pair(path, text)
    elif text and not text.strip():
        yield invalid(path, text, "must be non-empty if specified")
    elif not is_one_line(text.strip()):
        yield invalid(path, text, say("expressions.line-breaks"))
    elif len(text.encode()) > LONGEST_MESSAGE:
        yield too_long(path, LONGEST_MESSAGE)


def check_expression(path: str, field: str, text: str) -> Iterator[FieldError]:
    """Yield what is wrong with the expression of a field of a plugin or of an extender."""
    if _holds_half_a_pair(text):
        yield _half_a_pair(path, text)
    elif not text.strip():
        yield required(path, "expression is not specified")
    elif len(text.encode()) > LONGEST:
        yield too_long(path, LONGEST)
    else:
        try:
            compile_for(field, text)
        except NotCompiled as problem:
            yield internal(path, str(problem)) if problem.internal else invalid(path, text, str(problem))
