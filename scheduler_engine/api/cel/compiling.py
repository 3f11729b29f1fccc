"""Compile an expression, or say what is wrong with it and where, as cel-go does.

Source: upstream ``cel-go/cel/{env,program}.go``, ``apiserver/pkg/cel/environment``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_engine.api.cel.checking import Checked, Fields, check
from scheduler_engine.api.cel.lexing import CelSyntaxError, Problem
from scheduler_engine.api.cel.macros import MACROS_134, MEMBER_MACROS, MemberMacros
from scheduler_engine.api.cel.nodes import Node
from scheduler_engine.api.cel.overloads import OVERLOADS, OVERLOADS_134, Overload
from scheduler_engine.api.cel.parsing import parse
from scheduler_engine.api.cel.planning import plan
from scheduler_engine.api.cel.running import Step
from scheduler_engine.api.cel.types import Type
from scheduler_engine.api.cel.validating import literal_problems
from scheduler_engine.api.cel.values import CelError

MOST_PROBLEMS = 100
"""The most problems of an expression that are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """The functions and macros that an expression may use. Compared by identity."""

    functions: Mapping[str, list[Overload]]
    macros: MemberMacros


LATEST, V1_34 = Library(OVERLOADS, MEMBER_MACROS), Library(OVERLOADS_134, MACROS_134)


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression that can be evaluated: its tree, the types in it, and the function that evaluates it."""

    root: Node
    checked: Checked
    step: Step


class NotCompiled(Exception):
    """An expression cannot be used. ``internal``: Kubernetes calls that an error of its own."""

    def __init__(self, text: str, internal: bool = False) -> None:
        super().__init__(text)
        self.internal = internal


def compile_expression(
    text: str,
    variables: Mapping[str, Type],
    objects: Fields,
    wrong_result: Callable[[Type], str],
    library: Library = LATEST,
) -> Compiled:
    """Compile an expression over ``variables``. ``wrong_result``: says what is wrong with the type of a result, "" for
    nothing. Raises NotCompiled, whose text may have up to 1 MB.
    """
    try:
        root = parse(text, library.macros)
    except CelSyntaxError as problem:
        raise NotCompiled(f"compilation failed: {marked(text, problem.problems)}") from problem
    checked = check(root, variables, objects, library.functions)
    problems = checked.problems or literal_problems(root, checked)
    if problems:
        raise NotCompiled(f"compilation failed: {marked(text, problems)}")
    wrong = wrong_result(checked.types[root])
    if wrong:
        raise NotCompiled(wrong)
    try:
        return Compiled(root, checked, plan(root, checked))
    except CelError as problem:
        raise NotCompiled(f"program instantiation failed: {problem}", internal=True) from problem


def marked(expression: str, problems: list[Problem]) -> str:
    """Return the problems with the lines that they are in, as cel-go shows them."""
    kept = sorted(problems[:MOST_PROBLEMS], key=lambda problem: problem.at)
    more = len(problems) - len(kept)
    lines = [_in_its_line(expression, problem) for problem in kept]
    return "\n".join([*lines, *([f"{more} more errors were truncated"] if more else [])])


def place_of(expression: str, at: int) -> tuple[int, int]:
    """Return line and column of an offset, both from 1."""
    return expression.count("\n", 0, at) + 1, at - expression.rfind("\n", 0, at)


def _in_its_line(expression: str, problem: Problem) -> str:
    if not expression:
        return f"ERROR: <input>:1:0: {problem.message}"
    number, column = place_of(expression, problem.at)
    line = expression.split("\n")[number - 1]
    dots = "".join("." if sign.isascii() else "\uff0e" for sign in line[: column - 1])
    mark = "^" if line[column - 1 : column].isascii() else "\uff3e"
    shown = line.replace("\t", " ")
    return f"ERROR: <input>:{number}:{column}: {problem.message}\n | {shown}\n | {dots}{mark}"
