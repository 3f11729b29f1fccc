"""Expectations about a run, each a function that says in words what does not hold.

``ASSERTIONS`` is the vocabulary. An expectation is a mapping with one of its names as a key, and more keys
beside it: ``{"pod": "default/web", "node": "n1"}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.errors import FieldError
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations import attempts, happenings, metric, placement, queues
from scheduler_engine.scenario.expectations.vocabulary import Assertion
from scheduler_engine.shapes import Data, ListOf, did_you_mean, invalid
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

ASSERTIONS: dict[str, Assertion] = {
    **placement.ASSERTIONS,
    **queues.ASSERTIONS,
    **attempts.ASSERTIONS,
    **happenings.ASSERTIONS,
    **metric.ASSERTIONS,
}
"""Name of an expectation → its assertion. No name is also the name of a key beside another."""


class Expectation:
    """The shape of one expectation."""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, Mapping):
            yield invalid(path, value, say("scenario-errors.not-an-expectation", pod="default/web", node="n1"))
            return
        named = [name for name in value if name in ASSERTIONS]
        if len(named) > 1:
            text = say("scenario-errors.several-expectations", names=", ".join(named))
            yield FieldError(f"{path}.{named[1]}", "FieldValueForbidden", text)
        elif named:
            yield from ASSERTIONS[named[0]].shape(named[0]).problems(value, path)
        else:
            first = next(iter(value), "")
            text = say("scenario-errors.unknown-expectation", name=repr(first)) + did_you_mean(first, ASSERTIONS)
            yield FieldError(f"{path}.{first}" if first else path, "FieldValueInvalid", text)

    def schema(self) -> Data:
        return {"type": "object", "oneOf": [{"$ref": f"#/$defs/expect-{name}"} for name in ASSERTIONS]}


EXPECTATIONS = ListOf(Expectation(), say("scenario-keys.expect"))


def assertion_of(expectation: Data) -> Assertion:
    """Return the assertion of a valid expectation."""
    return ASSERTIONS[next(name for name in expectation if name in ASSERTIONS)]


def wrong_with(simulation: Simulation | RunView, expectation: Data) -> list[str]:
    """Return the failures of an expectation in words. An invalid expectation fails too."""
    run = simulation if isinstance(simulation, RunView) else RunView(simulation)
    problems = [str(problem) for problem in Expectation().problems(expectation, "")]
    if problems:
        return ["; ".join(problems)]
    return assertion_of(expectation).wrong(run, expectation)


def failures_of(simulation: Simulation | RunView, expectations: Sequence[Data]) -> list[str]:
    """Return the same for many, in their order."""
    run = simulation if isinstance(simulation, RunView) else RunView(simulation)
    return [failure for expectation in expectations for failure in wrong_with(run, expectation)]
