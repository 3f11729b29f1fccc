"""The bodies of requests and answers about rooms."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Field, Schema

from sandbox.storage.models import LONGEST_TITLE
from sandbox.web.api.shapes import Created, Key, Strict
from sandbox.words.say import say
from sandbox.worker.jobs.rooms import PREDICTED
from sandbox.workshop.board import ORDERS
from sandbox.workshop.people import MOST_PARTICIPANTS
from sandbox.workshop.questions import LONGEST_ASK, LONGEST_CHOICE, MOST_CHOICES, MOST_QUESTIONS
from sandbox.workshop.room import MOST_MINUTES, STEPS

LONGEST_TYPED, LONGEST_FIND = 200, 100
Choice = Annotated[str, Field(max_length=LONGEST_CHOICE)]
Chosen = Annotated[list[Choice], Field(max_length=MOST_CHOICES)]
Number = Annotated[int, Field(ge=1, le=MOST_QUESTIONS, description=say("api.question-number"))]
To = Annotated[list[Key], Field(max_length=MOST_PARTICIPANTS, description=say("api.to"))]


class NewRoom(Strict):
    """What everybody starts with: a ``scenario`` or a ``lesson`` of this site, or a ``file``: the text of the file of a
    room, a lesson or a scenario. With none of them: an empty sandbox. A room goes on where its file was written;
    ``anew``: begin its plan again instead.
    """

    title: str = Field("", max_length=LONGEST_TITLE)
    scenario: str = ""
    lesson: str = ""
    file: str = ""
    anew: bool = False


class RoomCreated(Schema):
    """``code``: participants join with it. ``api``: the trainer's address in this API. ``page``, ``projector`` and
    ``join``: addresses of pages. Nobody but the trainer needs ``api`` and ``page``.
    """

    id: str
    code: str
    api: str
    page: str
    projector: str
    join: str


class Join(Strict):
    """``back``: the personal code, to come back under the same name."""

    code: str = Field(max_length=LONGEST_TYPED, examples=["ABC234"])
    name: str = Field(max_length=LONGEST_TYPED, examples=["Ada"])
    back: str = Field("", max_length=LONGEST_TYPED)


class Joined(Schema):
    """``api``: the participant's address in this API, ``page`` their page. ``back``: their personal code, "" = none."""

    id: str
    api: str
    page: str
    back: str


class Switch(Strict):
    on: bool


class Timer(Strict):
    """``minutes``: 0 removes the timer."""

    minutes: float = Field(ge=0, le=MOST_MINUTES)


class Rename(Strict):
    who: Key
    name: str = Field(max_length=LONGEST_TYPED)


class Who(Strict):
    """A participant, by the number on the board."""

    who: Key


class Send(Strict):
    """A ``scenario``, a ``lesson`` of this site, a lesson of this room by number (``own``), or a copy of your own
    sandbox (``copy_mine``; ``at``: at a past moment). With none of them: an empty sandbox.
    """

    scenario: str = ""
    lesson: str = ""
    own: int = Field(0, ge=0)
    copy_mine: bool = False
    at: str = Field("", description=say("api.moment"))
    to: To = Field(default=[])


class Sent(Schema):
    """``sent``: how many participants got it. Those who join later get what was sent to all."""

    sent: int


class RoomLesson(Strict):
    """``file``: the text of a lesson file. ``instead``: the number of the lesson that it replaces, 0 = none."""

    file: str
    instead: int = Field(0, ge=0)


class RoomStep(Strict):
    """A step for the sandboxes of participants. ``second``: one second passes."""

    step: Literal[tuple(STEPS)]  # type: ignore[valid-type]
    to: To = Field(default=[])


class StepFailure(Schema):
    name: str
    reason: str


class Stepped(Schema):
    """``done``: in how many sandboxes the step was run. ``failures``: where it was not, and why."""

    done: int
    failures: list[StepFailure]


class Ask(Strict):
    """A question of your own. ``right``: the right choices; with none, no answer is right or wrong. Without
    ``choices``, everybody answers with a text.
    """

    ask: str = Field(min_length=1, max_length=LONGEST_ASK)
    choices: list[Choice] = Field(default=[], max_length=MOST_CHOICES, examples=[["node-1", "node-2"]])
    right: Chosen = Field(default=[])
    many: bool = False


class Predict(Strict):
    """Ask what the scheduler will do next in your sandbox. ``pod``: of that pod, "" = the next one."""

    kind: Literal[tuple(PREDICTED)]  # type: ignore[valid-type]
    pod: str = ""


class Planned(Strict):
    """A row of the plan, by its place in ``plan``, from 0. ``after``: the ``plan_count`` that you know. If the same row
    was run since, nothing is done; if another one was, the status is 422. null: run it in any case.
    """

    number: int = Field(ge=0, le=MOST_QUESTIONS)
    after: int | None = Field(None, ge=0)


class QuestionNumber(Strict):
    number: Number


class RoomAnswer(Strict):
    """``chosen``: the choices, or one text of your own if there are none. With ``turn``, an answer is ignored if
    ``page`` has sent one with a higher ``turn``.
    """

    number: Number
    chosen: Chosen
    page: str = Field("", max_length=40)
    turn: int = Field(0, ge=0, le=999_999_999)


class Bar(Schema):
    """A choice and how many chose it. ``right``: null until the question is revealed. ``why``: the reason."""

    choice: str
    count: int
    right: bool | None
    why: str


class RoomQuestion(Schema):
    """The current question. ``answered``: how many of ``of`` participants have answered. ``bars``: the answers of the
    room; a participant gets them when the question is ``over``. ``can_reveal`` and ``waits`` are for the trainer: what
    *reveal* waits for, "" = nothing. ``chosen``: your own answer, null = none. ``verdict``: whether it is right; null
    until that is revealed.
    """

    number: int
    ask: str
    choices: list[str]
    many: bool
    over: bool
    revealed: bool
    can_reveal: bool
    waits: str
    answered: int
    of: int
    bars: list[Bar]
    chosen: list[str] | None
    verdict: bool | None


class Person(Schema):
    """Yourself. ``back``: your personal code, "" = none. ``help``: the trainer may change your sandbox."""

    name: str
    back: str
    hand: bool
    help: bool


class RoomSandbox(Schema):
    """A sandbox of yours in the room. ``addresses``: null until you take it."""

    title: str
    addresses: Created | None


class OwnLesson(Schema):
    number: int
    title: str


class RoomState(Schema):
    """What a link shows of its room. ``role``: trainer, assistant, projector or participant. ``frozen``: participants
    cannot change anything. ``eyes``: everybody sees the trainer's sandbox. ``trainer``: the address at which others
    watch it, "" = they may not. ``person``: null for other roles. ``sandboxes``: yours, the current one first.
    ``plan``, ``plan_now`` (the place of the row that was run last, null = none), ``plan_count`` (how many were run) and
    ``lessons``: for the trainer; an assistant gets the plan, too.
    """

    role: str
    title: str
    code: str
    people: int
    frozen: bool
    eyes: bool
    timer_ends: datetime | None
    closed: bool
    question: RoomQuestion | None
    person: Person | None
    sandboxes: list[RoomSandbox]
    trainer: str
    plan: list[str]
    plan_now: int | None
    plan_count: int
    lessons: list[OwnLesson]


class BoardQuery(Schema):
    order: Literal[tuple(ORDERS)] = "joined"  # type: ignore[valid-type]
    find: str = Field("", max_length=LONGEST_FIND, description=say("api.find-on-board"))


class LessonProgress(Schema):
    text: str
    share: float


class BoardRow(Schema):
    """A participant. ``who``: the number for other calls. ``action``: their last own command, in words. ``steps``: how
    many own commands are in force. ``since``: when they last did something. ``watch``, ``help``: addresses of the
    page of their sandbox; "" = none, or they do not allow help.
    """

    who: int
    name: str
    hand: datetime | None
    sandbox: str
    lesson: LessonProgress | None
    action: str
    steps: int
    since: datetime
    watch: str
    help: str
