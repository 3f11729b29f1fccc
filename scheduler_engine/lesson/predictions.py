"""What a learner can be asked about a pod, and the engine's own answer.

A question is asked at a place of the trace, after so many entries; its answer is the first that the trace gives
afterwards. Without a place it is about what has happened already, and the last answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scheduler_engine.lesson.model import Question
from scheduler_engine.queue.lanes import ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q, GATED, UNSCHEDULABLE_PODS
from scheduler_engine.scenario.attempts import Attempt, Seen
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.scenario.expectations.attempts import told
from scheduler_engine.trace import events as ev

BOUND = "bound"
LANES = (BOUND, ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q, UNSCHEDULABLE_PODS, GATED)
"""Where a pod can go."""
NODE_LISTED = 400
"""Nodes that are offered as choices, at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``right``: the choices that are right; of a question for one, any of them is. ``why``: choice → what the trace
    says of it, in words.
    """

    right: tuple[str, ...]
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """A run as questions look at it, from a place of its trace on: ``since`` entries, None = all that has happened."""

    seen: Seen
    since: int | None = None

    @cached_property
    def _cycles(self) -> dict[int, Attempt]:
        return {attempt.cycle: attempt for attempts in self.seen.attempts.values() for attempt in attempts}

    def events(self) -> Iterator[ev.Event]:
        """In the order in which they count: forwards from the place, or backwards from the end."""
        entries: Sequence[ev.Entry] = self.seen.simulation.recorder.entries
        order: Iterable[ev.Entry] = entries[self.since :] if self.since is not None else reversed(entries)
        return (entry.event for entry in order)

    def attempt(self, pod: str, *kinds: type[ev.Event]) -> Attempt | None:
        """The attempt at a pod that has one of these events."""
        for event in self.events():
            attempt = self._cycles.get(getattr(event, "cycle", 0)) if isinstance(event, kinds) else None
            if attempt is not None and attempt.pod == pod:
                return attempt
        return None


def _filtered(course: Course, question: Question) -> Attempt | None:
    """The attempt that says what the filters found: at Filter, or at PreFilter when that refused all nodes."""
    return course.attempt(question.pod, ev.FilterRan, ev.PodUnschedulable)


def _nodes(course: Course, question: Question) -> tuple[str, ...]:
    return tuple(node.name for node in course.seen.simulation.api.list("Node"))[:NODE_LISTED]


def _verdict_told(attempt: Attempt, node: str) -> str:
    verdict = attempt.verdict(node)
    return "the search ended before it" if verdict is None else told(verdict)


def _passes(course: Course, question: Question) -> Answer | None:
    attempt = _filtered(course, question)
    if attempt is None:
        return None
    nodes = _nodes(course, question)
    passing = attempt.filter.feasible if attempt.filter else ()
    return Answer(tuple(passing), {node: _verdict_told(attempt, node) for node in nodes})


def _winner(course: Course, question: Question) -> Answer | None:
    """Of equal nodes one is drawn, so that each of them is a right answer."""
    attempt = course.attempt(question.pod, ev.HostSelected)
    if attempt is None or attempt.selected is None:
        return None
    chosen = attempt.selected
    why = {node: f"total {total}" for node, total in attempt.totals.items()}
    why |= {node: _verdict_told(attempt, node) for node in _nodes(course, question) if node not in why}
    if len(chosen.ties) > 1:
        why[chosen.node] = f"{why[chosen.node]}, drawn among {len(chosen.ties)} equal ones"
    return Answer(tuple(chosen.ties) if len(chosen.ties) > 1 else (chosen.node,), why)


def _lane(course: Course, question: Question) -> Answer | None:
    for event in course.events():
        if isinstance(event, ev.CycleFinished) and event.pod == question.pod and event.outcome == BOUND:
            return Answer((BOUND,), {BOUND: f"bound to {event.node}"})
        if isinstance(event, ev.PodMoved) and event.pod == question.pod and event.target in LANES:
            return Answer((event.target,), {event.target: _moved(event)})
    return None


def _moved(event: ev.PodMoved) -> str:
    plugins = event.unschedulable_plugins or ((event.gating_plugin,) if event.gating_plugin else ())
    return f"{event.cause}: held back by {', '.join(plugins)}" if plugins else event.cause


def _victims(course: Course, question: Question) -> Answer | None:
    attempt = course.attempt(question.pod, ev.PostFilterRan, ev.HostSelected)
    if attempt is None:
        return None
    victims = attempt.post_filter.victims if attempt.post_filter else ()
    rung = f", decided by {attempt.rung}" if attempt.rung else ""
    node = attempt.post_filter.nominated_node if attempt.post_filter else ""
    return Answer(tuple(victims), dict.fromkeys(victims, f"has to leave {node}{rung}"))


def _could_leave(course: Course, question: Question) -> tuple[str, ...]:
    """The pods that have a node, those of higher priority included: that they stay is part of the answer."""
    pods = course.seen.simulation.api.pods()
    return tuple(pod.key for pod in pods if pod.node_name and pod.key != question.pod)[:NODE_LISTED]


def _refuses(course: Course, question: Question) -> Answer | None:
    attempt = _filtered(course, question)
    verdict = attempt.verdict(question.node) if attempt is not None else None
    if verdict is None or not verdict[0]:
        return None
    return Answer((verdict[0],), {verdict[0]: "; ".join(verdict[2])})


def _plugins(course: Course, question: Question) -> tuple[str, ...]:
    """The filters of the pod's profile, in running order."""
    simulation = course.seen.simulation
    pod = simulation.api.pod(question.pod)
    profiles = simulation.scheduler.profiles
    framework = profiles.get(pod.scheduler_name if pod is not None else "", next(iter(profiles.values())))
    return tuple(plugin.name for plugin in framework.points["filter"])


def _option(course: Course, question: Question) -> Answer | None:
    if course.since is not None and course.since >= len(course.seen.simulation.recorder.entries):
        return None
    right = (option.text for option in question.options if not failures_of(course.seen, option.holds))
    return Answer(tuple(right))


@dataclass(frozen=True, slots=True)
class Kind:
    """``ask``: the question in words, with the places ``{pod}`` and ``{node}``. ``many``: any number of choices may be
    right, none included. ``about``: for the table of the format.
    """

    ask: str
    about: str
    answer: Callable[[Course, Question], Answer | None]
    choices: Callable[[Course, Question], tuple[str, ...]]
    many: bool = False


KINDS: dict[str, Kind] = {
    "passes": Kind("Which nodes pass for {pod}?", "which nodes pass.", _passes, _nodes, many=True),
    "winner": Kind("Which node does {pod} get?", "which node wins.", _winner, _nodes),
    "lane": Kind("Where does {pod} go next?", "where it goes next.", _lane, lambda *_: LANES),
    "victims": Kind("Who has to leave for {pod}?", "who has to leave for it.", _victims, _could_leave, many=True),
    "refuses": Kind("Which plugin refuses {node} for {pod}?", "which plugin refuses a node.", _refuses, _plugins),
    "options": Kind("", "", _option, lambda _, question: tuple(option.text for option in question.options)),
}


def asked(question: Question) -> str:
    """The question in words."""
    short = question.pod.removeprefix("default/")
    return question.ask or KINDS[question.kind].ask.format(pod=short, node=question.node)


def choices(seen: Seen, question: Question) -> tuple[str, ...]:
    """What can be answered now."""
    return KINDS[question.kind].choices(Course(seen), question)


def answer(seen: Seen, question: Question, since: int | None = None) -> Answer | None:
    """The engine's answer: the first after so many entries of the trace, or the last one; None: there is none yet."""
    return KINDS[question.kind].answer(Course(seen, since), question)


@dataclass(frozen=True, slots=True)
class Point:
    """One choice: whether it was given, whether it is right, and why."""

    choice: str
    given: bool
    right: bool
    why: str

    @property
    def agrees(self) -> bool:
        return self.given == self.right


def compare(question: Question, given: Sequence[str], found: Answer, offered: Sequence[str]) -> list[Point]:
    """Point by point: everything that was given or is right, and of a question for many every choice."""
    many = KINDS[question.kind].many
    names = dict.fromkeys((*(offered if many else ()), *given, *found.right))
    return [Point(name, name in given, name in found.right, found.why.get(name, "")) for name in names]


def is_right(question: Question, given: Sequence[str], found: Answer) -> bool:
    """Exactly the right ones, or of a question for one any of them."""
    if KINDS[question.kind].many:
        return sorted(given) == sorted(found.right)
    return len(given) == 1 and given[0] in found.right


def as_json(question: Question) -> dict[str, Any]:
    """The plain form of a question about a pod, which ``question_from`` reads."""
    return {"kind": question.kind, "pod": question.pod, "node": question.node}
