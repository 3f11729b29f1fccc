"""Plugins and extenders that a configuration declares by expressions over a pod and a node."""

from scheduler_engine.api.cel.compiling import NotCompiled
from scheduler_engine.plugins.expressions.extender import SCHEME, VERBS, SimulatedExtender
from scheduler_engine.plugins.expressions.plugin import NAME, PARTS, plugin_class
from scheduler_engine.plugins.expressions.points import (
    EXPRESSIONS,
    LONGEST,
    LONGEST_MESSAGE,
    OF_EXTENDERS,
    compile_for,
    is_one_line,
)

__all__ = [
    "EXPRESSIONS",
    "LONGEST",
    "LONGEST_MESSAGE",
    "NAME",
    "OF_EXTENDERS",
    "PARTS",
    "SCHEME",
    "VERBS",
    "NotCompiled",
    "SimulatedExtender",
    "compile_for",
    "is_one_line",
    "plugin_class",
]
