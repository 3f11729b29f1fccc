"""The questions about a pod, when each one ends, and the engine's answer then.

``judge`` is the one place that decides both: for the lesson's column, for predictions in any sandbox, for questions to
a room, and where a lesson is verified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_engine.lesson import answers, offered
from scheduler_engine.lesson.answers import LANES
from scheduler_engine.lesson.ends import ATTEMPT, End, Why, end_of_attempt
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.lesson.window import Answer, Choices, Window
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.trace.events import Recorder
from scheduler_engine.words import say


def _plugins(run: RunView, question: Question) -> tuple[str, ...]:
    """Return the filters of the pod's profile, in running order."""
    simulation = run.simulation
    pod = simulation.api.pod(question.pod)
    profiles = simulation.scheduler.profiles
    framework = profiles.get(pod.scheduler_name if pod is not None else "", next(iter(profiles.values())))
    return tuple(plugin.name for plugin in framework.points["filter"])


@dataclass(frozen=True, slots=True)
class Kind:
    """``ask``: the row of the question, with the places ``{pod}`` and ``{node}``; ``ask_at_end``: of the one at the end
    of a step, "" = the same. ``about``: the row for the table of the format. ``many``: any number of choices may be
    right, even none. ``at``: where the attempt answers it.
    """

    ask: str
    about: str
    answer: Callable[[Window, Question], Answer | Why]
    choices: Choices
    at: str
    many: bool = False
    ask_at_end: str = ""


KINDS: dict[str, Kind] = {
    "passes": Kind(
        "questions.passes",
        "questions.passes-about",
        answers.passes,
        offered.nodes,
        "Filter",
        many=True,
    ),
    "winner": Kind("questions.winner", "questions.winner-about", answers.winner, offered.nodes, "SelectHost"),
    "lane": Kind(
        "questions.lane",
        "questions.lane-about",
        answers.lane,
        lambda *_: LANES,
        ATTEMPT,
        ask_at_end="questions.lane-at-end",
    ),
    "victims": Kind(
        "questions.victims",
        "questions.victims-about",
        answers.victims,
        offered.could_leave,
        "PostFilter",
        many=True,
    ),
    "refuses": Kind("questions.refuses", "questions.refuses-about", answers.refuses, _plugins, "Filter"),
    "options": Kind("", "", answers.option, lambda _, question: tuple(option.text for option in question.options), ""),
}


def asked(question: Question) -> str:
    """Return the question in words."""
    kind = KINDS[question.kind]
    key = kind.ask if question.at else kind.ask_at_end or kind.ask
    return question.ask or say(key, pod=question.pod.removeprefix("default/"), node=question.node)


def choices(run: RunView, question: Question) -> tuple[str, ...]:
    """Return the present choices."""
    return KINDS[question.kind].choices(run, question)


@dataclass(frozen=True)
class Sight:
    """The basis for judging a question. ``walk``: the steps that it concerns; None: it concerns the past, or an
    attempt. ``run_at``: returns the run at a number of entries.
    """

    recorder: Recorder
    run_at: Callable[[int], RunView]
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """``answer``: the engine's answer at the end of the question, after ``end`` entries. ``none``: why there will never
    be an answer. Neither: the question is not over.
    """

    answer: Answer | None = None
    none: Why | None = None
    end: int = 0


def judge(question: Question, since: int, sight: Sight) -> Judged:
    """Return the answer to a question asked after ``since`` entries, if it is over."""
    end = _end(question, since, sight)
    if end.entries is None:
        return Judged(none=end.missed)
    run = sight.run_at(end.entries)
    answer = KINDS[question.kind].answer(Window(run, sight.recorder.entries, since, end.entries), question)
    return Judged(none=answer, end=end.entries) if isinstance(answer, Why) else Judged(answer, end=end.entries)


def _end(question: Question, since: int, sight: Sight) -> End:
    if question.at:
        return end_of_attempt(sight.recorder, question.pod, since, question.at)
    if sight.walk is None:
        return End(len(sight.recorder.entries))
    return End(sight.walk.place) if sight.walk.over else End()


@dataclass(frozen=True, slots=True)
class Point:
    """One choice: whether it was chosen, whether it is right, and why."""

    choice: str
    chosen: bool
    right: bool
    why: Why | None

    @property
    def agrees(self) -> bool:
        return self.chosen == self.right


def compare(chosen: Sequence[str], answer: Answer) -> list[Point]:
    """Compare point by point: all chosen or right answers, and for a question with many, every choice."""
    names = dict.fromkeys((*answer.offered, *chosen, *answer.right))
    return [Point(name, name in chosen, name in answer.right, answer.why.get(name)) for name in names]


def is_right(question: Question, chosen: Sequence[str], answer: Answer) -> bool:
    """Return True for exactly the right ones, or for any right one if one is enough."""
    if KINDS[question.kind].many:
        return sorted(chosen) == sorted(answer.right)
    return len(chosen) == 1 and chosen[0] in answer.right
