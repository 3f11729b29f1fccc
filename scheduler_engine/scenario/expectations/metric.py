"""The scheduler's metrics."""

from __future__ import annotations

from scheduler_engine.metrics import FAMILIES, samples
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations.vocabulary import Assertion, differs
from scheduler_engine.shapes import Data, MapOf, Number, Text
from scheduler_engine.words import say

ENDINGS = {"histogram": ("_bucket", "_sum", "_count")}
NAMES = tuple(f"{family.name}{ending}" for family in FAMILIES for ending in ENDINGS.get(family.type, ("",)))


def _metric(run: RunView, expectation: Data) -> list[str]:
    name, labels = expectation["metric"], expectation.get("labels", {})
    series = [(sample_labels, value) for sampled, sample_labels, value in samples(run.simulation) if sampled == name]
    total = sum(value for sample_labels, value in series if labels.items() <= sample_labels.items())
    said = f"{name} {labels}:" if labels else f"{name}:"
    failures = differs(said, total, expectation["equals"]) if "equals" in expectation else []
    if total < expectation.get("atLeast", total):
        failures.append(say("failures.at-least", what=said, actual=total, wanted=expectation["atLeast"]))
    if total > expectation.get("atMost", total):
        failures.append(say("failures.at-most", what=said, actual=total, wanted=expectation["atMost"]))
    return failures


ASSERTIONS = {
    "metric": Assertion(
        _metric,
        say("expectation-keys.metric"),
        Text(values=NAMES),
        {"labels": MapOf(Text()), "equals": Number(), "atLeast": Number(), "atMost": Number()},
        some=("equals", "atLeast", "atMost"),
    ),
}
