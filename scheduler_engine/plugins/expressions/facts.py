"""Why an expression gave its result: the expression, and the values of its operands at that moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.cel.checking import Checked
from scheduler_engine.api.cel.nodes import Call, Const, Fold, Ident, Node, Select, parts_of
from scheduler_engine.api.cel.planning import plan
from scheduler_engine.api.cel.running import Run
from scheduler_engine.api.cel.values import CelError, Optional, text_of
from scheduler_engine.framework.extender import POINTS
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.status import Status, error
from scheduler_engine.plugins.expressions.points import Expression, default_message, shortened
from scheduler_engine.plugins.expressions.variables import Moment
from scheduler_engine.plugins.score_facts import as_it_is

MOST_OPERANDS = 12
"""The most operands that are shown."""
LONGEST_VALUE = 80
"""The most characters of a value, and of an operand."""
INDEXING = ("_[_]", "_[?_]", "_?._")


def verdict_facts(expression: Expression, moment: Moment, status: Status | None, most: int) -> Facts:
    """Explain a filter. ``most``: what an evaluation may cost."""
    passes, message = status is None, "" if status is None else status.message
    row = "true" if passes else "false" if message == default_message(expression.text) else "refused"
    about = "" if moment.node is not None else "-of-pod"
    says = fact(f"expressions.{row}{about}", passes, message=_short(message), **_subject(moment))
    return Facts(says, (*_shown(expression, moment, most, passes), _result(text_of(passes), passes)), status)


def score_facts(expression: Expression, moment: Moment, score: int, most: int) -> Facts:
    """Explain a score."""
    says = fact("expressions.score", score=score, **_subject(moment))
    return as_it_is(says, (*_shown(expression, moment, most), _result(str(score))), score)


def extender_score_facts(expression: Expression, moment: Moment, score: int, most: int) -> Facts:
    """Explain the score of an extender, which has another scale than that of a plugin."""
    says = fact("expressions.score", score=score, **_subject(moment))
    points = fact("expressions.points", score=score, factor=POINTS, points=score * POINTS)
    shown = (*_shown(expression, moment, most), _result(str(score)), points)
    return Facts(says, shown, raw=score, normalized=score * POINTS)


def failure_facts(moment: Moment, problem: str) -> Facts:
    """Explain an error."""
    row = "failed" if moment.node is not None else "failed-of-pod"
    return Facts(fact(f"expressions.{row}", False, problem=problem, **_subject(moment)), (), error(problem))


def _subject(moment: Moment) -> dict[str, Any]:
    return {"pod": Keys((moment.pod.key,)), "node": "" if moment.node is None else moment.node.name}


def _result(text: str, ok: bool | None = None) -> Fact:
    return fact("expressions.result", ok, value=text)


def _shown(expression: Expression, moment: Moment, most: int, ok: bool | None = None) -> Iterator[Fact]:
    """Yield the expression, and its operands with their values, each once."""
    yield fact("expressions.expression", ok, expression=_short(expression.text))
    run = Run(expression.values(moment), most)
    reading = _Reading(expression.text, expression.compiled.checked, run, {})
    reading.operands(expression.compiled.root)
    for text, value in reading.found.items():
        yield fact("expressions.operand", text=_short(text), value=_short(value))


@dataclass(frozen=True, slots=True)
class _Reading:
    """``run``: what all operands together may cost. ``found``: operand → value, each once, the first ones only."""

    text: str
    checked: Checked
    run: Run
    found: dict[str, str]

    def operands(self, node: Node) -> bool:
        """Find the operands inside a node. Return False if one is a list or a map, too large to show, so that its own
        operator is shown with its result.
        """
        if isinstance(node, Const) or len(self.found) == MOST_OPERANDS:
            return True
        if isinstance(node, Fold) or _is_path(node):
            return self._alone(node)
        before = dict(self.found)
        if all(self.operands(part) for part in parts_of(node)):
            return True
        self.found.clear()
        self.found.update(before)
        return self._alone(node)

    def _alone(self, node: Node) -> bool:
        start, end = node.span
        text = self.text[start:end]
        if text in self.found:
            return True
        try:
            value = plan(node, self.checked)(self.run)
        except CelError as problem:
            self.found[text] = str(problem)
            return True
        value = value.held[0] if isinstance(value, Optional) and value.held else value
        if isinstance(value, (list, dict, Optional)):
            return False
        self.found[text] = _text(value)
        return True


def _is_path(node: Node) -> bool:
    """Return True for fields and items of variables, such as ``node.metadata.labels["zone"]``."""
    if isinstance(node, Select):
        return _is_path(node.operand)
    if isinstance(node, Call) and node.function in INDEXING:
        return _is_path(node.args[0]) and (isinstance(node.args[1], Const) or _is_path(node.args[1]))
    return isinstance(node, Ident)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else text_of(value)


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), LONGEST_VALUE)
