"""The parts of every expectation: a row of the vocabulary, and the shapes that several rows share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.objects import Pod
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.shapes import Data, Fields, MapOf, Number, Shape, Text

POD = Text("A pod: namespace/name.")
NODE = Text("A node.")
LABELS = MapOf(Text(), "Labels, all of which an object must have.")
WHOLE = Number(whole=True)
ATTEMPT = Number(
    "Which attempt for the pod, counted from 1. By default the last one for the pod that has this name now.",
    whole=True,
    least=1,
)
CYCLE = Number(
    "The scheduling cycle of the attempt, if several attempts have the same number.",
    whole=True,
    least=1,
)
WHICH = {"attempt": ATTEMPT, "cycle": CYCLE}
"""The keys that choose an attempt."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """``wrong`` says in words what does not hold and what was found; ``main`` is the value of the expectation's name,
    ``beside`` are keys allowed beside it, ``required`` those that must be there, and one of ``some``. ``quotes``: the
    words are lines of the trace or names of events, which mean something to authors of scenarios and not to learners.
    """

    wrong: Callable[[RunView, Data], list[str]]
    about: str
    main: Shape
    beside: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    quotes: bool = False

    def shape(self, name: str) -> Fields:
        return Fields({name: self.main, **self.beside}, (name, *self.required), self.about, self.some)


def pods(run: RunView, selector: Mapping[str, str], namespace: str = "default") -> list[Pod]:
    """Return the pods with these labels, in order of creation."""
    matches = selector_from({"matchLabels": dict(selector)}).matches
    return [pod for pod in run.simulation.api.pods(namespace) if matches(pod.labels)]


def attempt_at(run: RunView, pod: str, expectation: Data) -> Attempt | str:
    """Return the attempt of an expectation, or what is wrong with it."""
    number, cycle = expectation.get("attempt"), expectation.get("cycle")
    meant, numbers = run.meant(pod, number, cycle), [item.number for item in run.attempts.get(pod, ())]
    if len(meant) == 1:
        return meant[0]
    if meant:
        cycles = ", ".join(str(item.cycle) for item in meant)
        return f"{pod}: there are {len(meant)} attempts {number}; add cycle, one of {cycles}"
    if not numbers or (number is None and cycle is None):
        return f"{pod}: no attempt was made"
    if cycle is None:
        return f"{pod}: there is no attempt {number}, only {max(numbers)}"
    return f"{pod}: there is no attempt {'' if number is None else f'{number} '}in cycle {cycle}"


def differs(what: str, actual: Any, wanted: Any) -> list[str]:
    """Return nothing, or one sentence."""
    return [] if actual == wanted else [f"{what} {shown(actual)}, expected {shown(wanted)}"]


def shown(value: Any) -> str:
    """Return a value for a sentence."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(item) for item in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={shown(item)}" for name, item in value.items()) or "none"
    return "nothing" if value in (None, "") else str(value)
