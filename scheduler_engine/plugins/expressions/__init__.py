"""Plugins that a configuration declares by expressions over a pod and a node."""

from scheduler_engine.api.cel.compiling import NotCompiled
from scheduler_engine.plugins.expressions.plugin import NAME, PARTS, plugin_class
from scheduler_engine.plugins.expressions.points import EXPRESSIONS, LONGEST, compile_for

__all__ = ["EXPRESSIONS", "LONGEST", "NAME", "PARTS", "NotCompiled", "compile_for", "plugin_class"]
