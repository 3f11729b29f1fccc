"""The expressions of a plugin: what each may read, and what it must return; and how they are compiled and evaluated.

Compiled expressions are functions, so they are never a part of a simulation: plugins keep the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from scheduler_engine.api.cel.compiling import Compiled, compile_expression, place_of
from scheduler_engine.api.cel.lexing import without_comments
from scheduler_engine.api.cel.nodes import Ident, Node, parts_of
from scheduler_engine.api.cel.planning import plan
from scheduler_engine.api.cel.running import Run
from scheduler_engine.api.cel.types import BOOL, DYN, INT, STRING, Type, shown
from scheduler_engine.api.cel.values import CelError, Uint, name_of
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.plugins.expressions.variables import OF_POD, ON_PERMIT, ON_PREEMPT, VARIABLES, Moment, Variable
from scheduler_engine.words import say

MOST_COST, LEAST_COST = 100_000, 1_000
"""The most that one evaluation may cost in a small and in a large cluster. Kubernetes allows its own policies more."""
COST_OF_ALL = 1_000_000
"""The most that the evaluations for all nodes of a cluster may cost, until each has only the least."""
LONGEST = 10 * 1024
"""The most bytes of an expression, as of a selector of devices."""
LONGEST_MESSAGE = 5 * 1024
"""The most bytes of a message, as in policies of Kubernetes."""
LONGEST_SHOWN = 60
"""The most characters of an expression that an error shows before and after its place."""
LONGEST_PROBLEM = 300
"""The most characters of an error before its place: it may quote any value."""
KINDS: Mapping[str, type] = {"bool": bool, "int": int, "string": str}


@dataclass(frozen=True, slots=True)
class Point:
    """What an expression may read, and the type of what it returns."""

    variables: Mapping[str, Variable]
    result: Type


EXPRESSIONS: dict[str, Point] = {
    "preFilter": Point(OF_POD, BOOL),
    "filter": Point(VARIABLES, BOOL),
    "messageExpression": Point(VARIABLES, STRING),
    "score": Point(VARIABLES, INT),
    "permit": Point(ON_PERMIT, BOOL),
}
"""Field of the arguments → its expression."""
OF_EXTENDERS: dict[str, Point] = {
    "filter": EXPRESSIONS["filter"],
    "messageExpression": EXPRESSIONS["messageExpression"],
    "prioritize": Point(VARIABLES, INT),
    "preempt": Point(ON_PREEMPT, BOOL),
    "bind": Point(VARIABLES, BOOL),
}
"""Field of a simulated extender → its expression."""
POINTS = EXPRESSIONS | OF_EXTENDERS


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. ``reads``: the variables in it."""

    text: str
    point: Point
    compiled: Compiled
    reads: tuple[str, ...]

    @property
    def reads_pods(self) -> bool:
        """Return True if evictions can change its result."""
        return any(self.point.variables[name].of_pods for name in self.reads)

    def values(self, moment: Moment) -> dict[str, Any]:
        """Return the values of the variables that it reads."""
        return {name: self.point.variables[name].read(moment) for name in self.reads}

    def evaluate(self, moment: Moment, run: Run) -> Any:
        """Return the result. ``run`` has what it may cost, then what is left. Raises PluginError, which says the place
        in the expression.
        """
        most, run.variables = run.left, self.values(moment)
        try:
            result = self.compiled.step(run)
        except CelError as problem:
            raise PluginError(self._failure(run, most, problem)) from problem
        if not self.is_valid(result):
            wanted, found = shown(self.point.result), name_of(result)
            raise PluginError(say("expressions.wrong-result", expression=self.around(0), wanted=wanted, found=found))
        return result

    def is_valid(self, result: Any) -> bool:
        kind = KINDS[str(self.point.result[0])]
        plain = kind is bool or not isinstance(result, (bool, Uint))
        return plain and isinstance(result, kind)

    def _failure(self, run: Run, most: int, problem: CelError) -> str:
        """Return an error with its place: the expression is evaluated again, now noting where. This costs, too."""
        again = Run(run.variables, most)
        try:
            plan(self.compiled.root, replace(self.compiled.checked, locates=True))(again)
        except CelError as located:
            problem = located
        run.left = max(0, run.left) + max(0, again.left) - most
        line, column = place_of(self.text, problem.at or 0)
        text, expression = shortened(str(problem), LONGEST_PROBLEM), self.around(problem.at or 0)
        return say("expressions.failed", problem=text, line=line, column=column, expression=expression)

    def around(self, at: int) -> str:
        """Return the text near an offset, of its own line only."""
        first, last = self.text.rfind("\n", 0, at) + 1, self.text.find("\n", at)
        last = len(self.text) if last < 0 else last
        start, end = max(first, at - LONGEST_SHOWN), min(last, at + LONGEST_SHOWN)
        cut = f"{'…' if start > first else ''}{self.text[start:end]}{'…' if end < last else ''}"
        return " ".join(cut.split())


def shortened(text: str, most: int) -> str:
    """Return the start of a text that has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def is_one_line(text: str) -> bool:
    """Return True for a text without line breaks."""
    return "\n" not in text and "\r" not in text


def default_message(text: str) -> str:
    """Return the reason of a refusal by an expression without a message."""
    return f"failed expression: {' '.join(without_comments(text).split())}"


def most_cost(nodes: int) -> int:
    """Return the most that one evaluation may cost in a cluster with so many nodes."""
    return min(MOST_COST, max(LEAST_COST, COST_OF_ALL // max(1, nodes)))


@lru_cache(maxsize=128)
def compile_for(field: str, text: str) -> Expression:
    """Return the compiled expression of a field of a plugin or of an extender. Raises NotCompiled."""
    point = POINTS[field]

    def wrong_result(found: Type) -> str:
        return "" if found in (point.result, DYN) else f"must evaluate to {shown(point.result)}"

    types = {name: variable.type for name, variable in point.variables.items()}
    compiled = compile_expression(text, types, {}, wrong_result)
    return Expression(text, point, compiled, _reads(compiled.root, point.variables))


def _reads(root: Node, variables: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return the variables that occur, in the order of the table. One that a macro hides counts, too."""
    waiting, names = [root], set[str]()
    while waiting:
        node = waiting.pop()
        waiting += parts_of(node)
        if isinstance(node, Ident):
            names.add(node.name)
    return tuple(name for name in variables if name in names)
