"""Evaluate the expressions of a plugin or of an extender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.cel.running import Run
from scheduler_engine.effort import Effort
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.plugins.expressions.points import (
    LONGEST_MESSAGE,
    Expression,
    compile_for,
    default_message,
    is_one_line,
)
from scheduler_engine.plugins.expressions.variables import Moment

MESSAGE = "messageExpression"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``texts``: field → expression, among other settings. ``most``: what one evaluation may cost. ``effort`` counts
    the costs, also those of errors; None: the result is only explained.
    """

    texts: Mapping[str, Any]
    most: int
    effort: Effort | None = None

    def expression(self, field: str) -> Expression:
        return compile_for(field, self.texts[field])

    def answer(self, field: str, moment: Moment) -> Any:
        """Return the result of an expression. Raises PluginError."""
        run = Run({}, self.most)
        try:
            return self.expression(field).evaluate(moment, run)
        finally:
            if self.effort is not None:
                self.effort.cost += self.most - run.left

    def message(self, field: str, moment: Moment) -> str:
        """Return what ``messageExpression`` gives; ``message`` if that fails, or is empty, too long or not one line."""
        if MESSAGE in self.texts and moment.node is not None:
            try:
                text = str(self.answer(MESSAGE, moment)).strip()
            except PluginError:
                text = ""
            if text and is_one_line(text) and len(text.encode()) <= LONGEST_MESSAGE:
                return text
        return self.texts.get("message", "").strip() or default_message(self.texts[field])
