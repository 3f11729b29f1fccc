"""The parts of every expectation: a row of the vocabulary, and the shapes that several rows share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.objects import Pod
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.shapes import Data, Fields, MapOf, Number, Shape, Text
from scheduler_engine.words import say

POD = Text(say("expectation-keys.a-pod"))
NODE = Text(say("expectation-keys.a-node"))
NAMESPACE = Text(say("expectation-keys.namespace-of"))
QUANTITY = Text(say("expectation-keys.a-quantity"))
LABELS = MapOf(Text(), say("expectation-keys.labels-of"))
WHOLE = Number(whole=True)
ATTEMPT = Number(say("expectation-keys.attempt-number"), whole=True, least=1)
CYCLE = Number(say("expectation-keys.attempt-cycle"), whole=True, least=1)
WHICH = {"attempt": ATTEMPT, "cycle": CYCLE}
"""The keys that choose an attempt."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """``wrong`` says in words what does not hold and what was found; ``main`` is the value of the expectation's name,
    ``beside`` are keys allowed beside it, ``required`` those that must be there, and one of ``some``. ``plainly``:
    what a learner reads instead, if the words are lines of the trace or names of events.
    """

    wrong: Callable[[RunView, Data], list[str]]
    about: str
    main: Shape
    beside: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    plainly: Callable[[RunView, Data], str] | None = None

    def shape(self, name: str) -> Fields:
        return Fields({name: self.main, **self.beside}, (name, *self.required), self.about, self.some)


def pods(run: RunView, selector: Mapping[str, str], namespace: str = "default") -> list[Pod]:
    """Return the pods with these labels, in order of creation."""
    matches = selector_from({"matchLabels": dict(selector)}).matches
    return [pod for pod in run.simulation.api.pods(namespace) if matches(pod.labels)]


def attempt_at(run: RunView, pod: str, expectation: Data) -> Attempt | str:
    """Return the attempt of an expectation, or what is wrong with it."""
    if "/" not in pod:
        return say("failures.no-namespace", pod=pod)
    number, cycle = expectation.get("attempt"), expectation.get("cycle")
    meant, numbers = run.meant(pod, number, cycle), [item.number for item in run.attempts.get(pod, ())]
    if len(meant) == 1:
        return meant[0]
    if meant:
        cycles = ", ".join(str(item.cycle) for item in meant)
        return say("failures.several-attempts", pod=pod, count=len(meant), number=number, cycles=cycles)
    if not numbers or (number is None and cycle is None):
        return say("failures.no-attempt", pod=pod)
    if cycle is None:
        return say("failures.no-such-attempt", pod=pod, number=number, last=max(numbers))
    key = "failures.not-in-cycle" if number is None else "failures.no-attempt-in-cycle"
    return say(key, pod=pod, number=number, cycle=cycle)


def differs(what: str, actual: Any, wanted: Any) -> list[str]:
    """Return nothing, or one sentence."""
    return [] if actual == wanted else [say("failures.differs", what=what, actual=shown(actual), wanted=shown(wanted))]


def shown(value: Any) -> str:
    """Return a value for a sentence."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(item) for item in value) or say("failures.none")
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={shown(item)}" for name, item in value.items()) or say("failures.none")
    return say("failures.nothing") if value in (None, "") else str(value)
