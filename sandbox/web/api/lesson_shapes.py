"""The bodies of requests and answers about lessons and predictions."""

from __future__ import annotations

from typing import Annotated

from ninja import Field, Schema

from sandbox.changes.study import LONGEST_NAME, MOST_ANSWERS
from sandbox.web.api.shapes import Strict

Choice = Annotated[str, Field(max_length=LONGEST_NAME)]


class PartOf(Strict):
    """A part of a lesson by number, from 0."""

    part: int = Field(ge=0, le=99_999)


class Answers(Strict):
    """The chosen answers; null: show the right answer without guessing."""

    answers: list[Choice] | None = Field(max_length=MOST_ANSWERS, examples=[["node-1"]])


class Predicting(Answers):
    """The chosen answers to a prediction. ``key``: of the prediction, "" = that of the next stage."""

    key: str = Field("", max_length=LONGEST_NAME)


class Point(Schema):
    """A choice of an answer, whether it was chosen, and whether it is right. ``why``: the reason, "" = none."""

    choice: str
    chosen: bool
    right: bool
    why: str


class Points(Schema):
    """An answer beside the engine's. ``none``: why the engine has no answer, "" if it has one. ``nobody``: why no
    choice is right, "" if one is.
    """

    right: bool
    rows: list[Point]
    none: str
    nobody: str


class Asked(Schema):
    """A question. ``kind``: such as ``winner``. ``when``: when it is checked. ``many``: several choices may be right.
    ``typed``: there are too many choices to list all nodes, and each node is a valid answer. ``looked``: the right
    answer was shown without a guess. ``points``: null until the right answer is known.
    """

    kind: str
    ask: str
    when: str
    choices: list[str]
    many: bool
    typed: bool
    answered: bool
    looked: bool
    named: list[str]
    who: str
    points: Points | None


class PartQuestion(Asked):
    """The question of a part. ``late``: why it cannot be answered any more, "" if it can."""

    late: str


class Goal(Schema):
    """A goal of a task. ``wrong``: what is missing, empty = nothing."""

    say: str
    wrong: list[str]


class Task(Schema):
    text: str
    rows: list[Goal]


class Look(Schema):
    """What to look at when the part begins. "" = nothing."""

    tab: str
    pod: str
    node: str


class NextLesson(Schema):
    name: str
    title: str


class Charge(Schema):
    about: str
    price: int


class Bill(Schema):
    """The cost of a solution of a challenge. ``par``: the cost of a good one. ``more``: charges that are not listed."""

    total: int
    par: int
    lines: list[Charge]
    more: int


class OpenPart(Schema):
    """The open part of a lesson; ``part`` counts from 0, and is ``parts`` at the end. ``name``: of the lesson, "" if it
    is your own. ``finished``: all parts are over; then ``truth``, ``know``, ``next``, ``bill`` and ``skipped`` are set.

    ``steps``: the part has steps to take, ``say`` in words. ``stepped``: they are taken. ``off``: others were taken.
    ``set``: the sandbox was set as this part expects it. ``lost``: the sandbox is at a place before this part.
    ``done``: the part is done; then there is ``then``. ``more_hints``: hints that are not shown yet.
    """

    name: str
    title: str
    part: int
    parts: int
    finished: bool
    lost: bool
    belief: str
    versions: list[str]
    heading: str = ""
    text: str = ""
    look: Look | None = None
    steps: bool = False
    say: str = ""
    stepped: bool = False
    off: bool = False
    set: bool = False
    done: bool = True
    question: PartQuestion | None = None
    task: Task | None = None
    hints: list[str] = Field(default=[])
    more_hints: int = 0
    then: str = ""
    truth: str = ""
    know: list[str] = Field(default=[])
    next: list[NextLesson] = Field(default=[])
    bill: Bill | None = None
    skipped: int = 0


class PredictionAsked(Asked):
    """A prediction. ``key``: pass it to answer."""

    key: str


class Judged(Schema):
    """A prediction that the scheduler has answered."""

    ask: str
    answered: bool
    looked: bool
    named: list[str]
    who: str
    points: Points


class KindScore(Schema):
    kind: str
    right: int
    of: int


class Score(Schema):
    """How many predictions were right. Answers shown without a guess do not count."""

    right: int
    of: int
    kinds: list[KindScore]


class Predictions(Schema):
    """``question``: what can be predicted now, null = nothing. ``kept``: predictions that wait for the scheduler; you
    can still change them. ``last``: those that it answered last.
    """

    question: PredictionAsked | None
    kept: list[PredictionAsked]
    last: list[Judged]
    score: Score
