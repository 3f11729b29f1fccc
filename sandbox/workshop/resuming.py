"""What has happened in a room, as part of its file: enough to go on with it on another site.

It has no names, links or sandboxes of participants: they join again. Answers are counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from django.utils import timezone

from sandbox.limits.quotas import OverQuota
from sandbox.pool import engines
from sandbox.storage.models import LONGEST_TITLE, Sandbox
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.exporting import ExportOptions
from sandbox.worker.jobs.rooms import PREDICTED
from sandbox.worker.live import ReplayFailed
from sandbox.workshop import questions, sources
from sandbox.workshop.inquiries import present
from sandbox.workshop.models import INQUIRY_CHARACTERS, Inquiry, OwnLesson, Question, Sending, Workshop
from sandbox.workshop.plan import PlanState, asks, rows_of, state_of
from sandbox.workshop.questions import LONGEST_ASK, LONGEST_CHOICE, MOST_QUESTIONS, NOT_YET, Earlier, Given
from sandbox.workshop.room import MOST_SEATS, current, sending, sendings
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.shapes import Data, Fields, Flag, ListOf, MapOf, Number, Shape, Text, invalid

MOST_FILES, MOST_BYTES = 20, 4_000_000
"""Sandboxes that a room's file holds as scenarios: how many, and their bytes together."""
MOST_PEOPLE, MOST_RUNS, MOST_INQUIRIES = 10_000, 10_000, 10_000

TIME = Text(pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SENT: dict[str, Shape] = {
    "title": Text(longest=2 * LONGEST_TITLE),
    "at": TIME,
    "lesson": Text(),
    "scenario": Text(),
    "own": Number(whole=True, least=1),
    "file": Text(),
    "gone": Flag(),
}
CONTENT = ("lesson", "scenario", "own", "file", "gone")
"""Keys of which something sent has one, or none: an empty sandbox."""
CHOICE = Text(longest=4 * LONGEST_CHOICE)
"""Nodes of a prediction may have longer names than the choices of a trainer."""
PEOPLE = Number(whole=True, least=1, most=MOST_PEOPLE)
ASKED: dict[str, Shape] = {
    "ask": Text(longest=LONGEST_ASK),
    "choices": ListOf(CHOICE),
    "right": ListOf(CHOICE),
    "many": Flag(),
    "predict": Text(values=PREDICTED),
    "pod": Text(),
    "why": MapOf(Text()),
    "at": TIME,
    "state": Text(values=("open", "closed", "revealed")),
    "revealed": TIME,
    "hidden": Flag(),
    "planned": Flag(),
    "people": Number(whole=True, least=0, most=MOST_PEOPLE),
    "answers": ListOf(Fields({"chosen": ListOf(CHOICE), "count": PEOPLE}, ("chosen", "count"))),
    "shown": ListOf(CHOICE),
}
INQUIRED: dict[str, Shape] = {
    "text": Text(longest=INQUIRY_CHARACTERS),
    "votes": Number(whole=True, least=0, most=MOST_PEOPLE),
    "answered": Flag(),
}
STATE: dict[str, Shape] = {
    "sandbox": Text(),
    "ran": ListOf(Fields({"row": Number(whole=True, least=1), "at": TIME}, ("row", "at"))),
    "began": TIME,
    "runs": Number(whole=True, least=0, most=MOST_RUNS),
    "sent": ListOf(Fields(SENT, ("title",))),
    "questions": ListOf(Fields(ASKED, ("ask", "state"))),
    "inquiries": ListOf(Fields(INQUIRED, ("text",))),
    "inquiries_shown": Flag(),
    "paused": Flag(),
    "eyes": Flag(),
    "timer_ends": TIME,
}
"""Key of ``state`` in a room's file → shape. ``ran``: rows of the plan, from 1, in the order in which they were run."""
SWITCHES = {"inquiries_shown": "inquiries_shown", "paused": "frozen", "eyes": "eyes"}
"""Key of ``state`` → field of a room."""


def write_state(room: Workshop) -> tuple[Data, list[str]]:
    """Return the ``state`` of a room's file, and the titles of sandboxes that it has no room for."""
    saver = _Saver()
    seat = current(None, room)
    sandbox = seat.sandbox
    # Nobody has to save a sandbox that a new room begins with anyway.
    begun = sandbox is not None and (sandbox.head != seat.began or seat.source != room.source)
    own = saver.save(sandbox, sandbox.title) if begun and sandbox else ""
    plan, listed = state_of(room), present(room)
    fields: Data = {
        "sandbox": own,
        "ran": [{"row": int(row) + 1, "at": _time(at)} for row, at in plan.at.items()],
        "began": _time(plan.first) if plan.first else "",
        "runs": plan.count,
        # The newest ones first: there may be no room for all.
        "sent": [_sent(room, one, saver) for one in reversed(sendings(room))][::-1],
        "questions": [_question(room, one, one.number in plan.asked) for one in room.questions.order_by("number")],
        "inquiries": [_present({"text": one.text, "votes": one.votes, "answered": one.answered}) for one in listed],
        **{key: getattr(room, name) for key, name in SWITCHES.items()},
        "timer_ends": _time(room.timer_ends.timestamp()) if room.timer_ends else "",
    }
    return _present(fields), saver.left_out


class _Saver:
    """Write sandboxes as scenarios, up to the limits. ``left_out``: titles of those that have no room."""

    def __init__(self) -> None:
        self.files, self.bytes = MOST_FILES, MOST_BYTES
        self.left_out: list[str] = []

    def save(self, sandbox: Sandbox | None, title: str) -> str:
        """Return the scenario of a sandbox that ends in its present, or "" if it is gone or too large."""
        text = self._written(sandbox) if sandbox is not None and self.files else ""
        if not text or len(text.encode()) > self.bytes:
            self.left_out.append(title)
            return ""
        self.files, self.bytes = self.files - 1, self.bytes - len(text.encode())
        return text

    def _written(self, sandbox: Sandbox) -> str:
        options = ExportOptions("scenario", setup=sandbox.head)
        try:
            written: str = engines.read(sandbox, jobs.export, options, sandbox.title, None, None).text
        except (Rejected, OverQuota, EngineError, ReplayFailed):
            return ""
        return written


def _sent(room: Workshop, sending: Sending, saver: _Saver) -> Data:
    source = sources.from_text(sending.source)
    fields: Data = {"title": source["title"], "at": _time(sending.at.timestamp()) if sending.at else ""}
    kind = source["kind"]
    if kind == "own":
        fields["own"] = room.lessons.filter(pk=source["lesson"]).values_list("number", flat=True).first()
    elif kind == "copy":
        sandbox = Sandbox.objects.filter(pk=source["sandbox"]).first()
        fields["file"] = saver.save(sandbox, source["title"])
        fields["gone"] = not fields["file"]
    elif kind == "gone":
        fields["gone"] = True
    elif kind != "blank":
        fields[kind] = source[{"file": "text"}.get(kind, "slug")]
    return _present(fields)


def _question(room: Workshop, question: Question, planned: bool) -> Data:
    right, why = json.loads(question.right or "[]"), json.loads(question.why or "{}")
    put = json.loads(question.prediction or "{}")
    decided = question.revealed is not None
    if put and not decided:
        try:
            outcome = questions.outcome(room, question)
        except (Rejected, EngineError, ReplayFailed):
            outcome = None
        if outcome is not None:
            decided, right, why = True, list(outcome.right), outcome.why
    given = Counter[tuple[str, ...]]()
    for chosen, count in questions.answers_of(question):
        given[tuple(chosen)] += count
    fields = _present(
        {
            "ask": question.ask,
            "choices": json.loads(question.choices),
            "many": question.many,
            "predict": put.get("kind"),
            "pod": put.get("pod"),
            "right": right,
            "why": why,
            "at": _time(question.asked.timestamp()),
            "state": "revealed" if question.revealed else "closed" if question.over else "open",
            "revealed": _time(question.revealed.timestamp()) if question.revealed else "",
            "hidden": question.away and not room.closed,
            "planned": planned,
            "people": questions.turnout(question)[1] if given else 0,
            "answers": [{"chosen": list(chosen), "count": count} for chosen, count in given.items()],
            "shown": sorted(questions.shown_answers(question)),
        }
    )
    # Of a prediction, an empty list says that no choice is right, and no list that the scheduler has not decided.
    return fields | ({"right": right} if put and decided else {})


def _present(fields: Data) -> Data:
    return {key: value for key, value in fields.items() if value}


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def check_state(state: Data, rows: int, lessons: int) -> Iterator[FieldError]:
    """Yield the errors between fields of a ``state`` that are right by themselves.

    ``rows``: how many the plan has. ``lessons``: how many own lessons the file has.
    """
    for path, time in _times(state):
        if _moment(time) is None:
            yield invalid(f"state.{path}", time, say("room.no-time"))
    for key, most in (("sent", MOST_SEATS), ("questions", MOST_QUESTIONS), ("inquiries", MOST_INQUIRIES)):
        if len(state.get(key, ())) > most:
            message = say("room.too-many", count=len(state[key]), most=most)
            yield FieldError(f"state.{key}", "FieldValueTooMany", message)
    for number, ran in enumerate(state.get("ran", ())):
        if ran["row"] > rows:
            yield invalid(f"state.ran[{number}].row", ran["row"], say("room.ran-row", count=rows))
    for number, sent in enumerate(state.get("sent", ())):
        yield from _check_sent(sent, f"state.sent[{number}]", lessons)
    for number, asked in enumerate(state.get("questions", ())):
        yield from _check_question(asked, f"state.questions[{number}]")


def _times(state: Data) -> Iterator[tuple[str, str]]:
    for key in ("began", "timer_ends"):
        if key in state:
            yield key, state[key]
    for key, name in (("ran", "at"), ("sent", "at"), ("questions", "at"), ("questions", "revealed")):
        listed = enumerate(state.get(key, ()))
        yield from ((f"{key}[{number}].{name}", one[name]) for number, one in listed if name in one)


def _moment(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None


def _check_sent(sent: Data, path: str, lessons: int) -> Iterator[FieldError]:
    kinds = [key for key in CONTENT if key in sent]
    for other in kinds[1:]:
        yield FieldError(f"{path}.{other}", "FieldValueForbidden", say("room.not-together", key=kinds[0]))
    if sent.get("own", 0) > lessons:
        yield invalid(f"{path}.own", sent["own"], say("room.begin-own", count=lessons))


def _check_question(asked: Data, path: str) -> Iterator[FieldError]:
    choices, free = asked.get("choices", []), "predict" not in asked and not asked.get("choices")
    if "predict" not in asked:
        try:
            questions.with_choices(asked["ask"], choices)
        except Rejected as refusal:
            yield from (FieldError(f"{path}.{error.path}", error.kind, error.message) for error in refusal.errors)
        for wrong in (right for right in asked.get("right", ()) if right not in choices):
            yield invalid(f"{path}.right", wrong, say("room.not-a-choice"))
    for number, answer in enumerate(asked.get("answers", ())):
        chosen, where = answer["chosen"], f"{path}.answers[{number}].chosen"
        if free and len(chosen) != 1:
            yield invalid(where, chosen, say("room.one-text"))
        for wrong in (one for one in chosen if not free and one not in choices):
            yield invalid(where, wrong, say("room.not-a-choice"))


def sources_sent(state: Data, installed: dict[str, Callable[[str], sources.Source]]) -> Iterator[sources.Source]:
    """Yield the source of each thing that was sent; of an own lesson its number. Raise ``Rejected`` with paths."""
    for number, sent in enumerate(state.get("sent", ())):
        kind = next((key for key in CONTENT if key in sent), "blank")
        if kind not in installed:
            yield {"kind": kind, "title": sent["title"], **({"own": sent["own"]} if kind == "own" else {})}
            continue
        with at_path(f"state.sent[{number}].{kind}"):
            yield installed[kind](sent[kind])


@contextmanager
def at_path(path: str) -> Iterator[None]:
    """Give a refusal the path of a value in a room's file."""
    try:
        yield
    except Rejected as refusal:
        raise Rejected([FieldError(path, "FieldValueInvalid", str(error)) for error in refusal.errors]) from refusal


def unplanned(state: Data) -> list[Data]:
    """Return the questions that no row of the plan has asked, as rows: of a room that begins its plan again."""
    rows = [asked for asked in state.get("questions", ()) if not asked.get("planned")]
    keys = {True: ("predict", "pod"), False: ("ask", "choices", "right", "many")}
    return [{key: row[key] for key in keys["predict" in row] if row.get(key)} for row in rows]


def restore(room: Workshop, lessons: Sequence[OwnLesson], state: Data, sent: Sequence[sources.Source]) -> None:
    """Bring a new room into a ``state``, in the transaction that creates it. ``sent``: from ``sources_sent``."""
    found = [sources.of_lesson(lessons[source["own"] - 1]) if source["kind"] == "own" else source for source in sent]
    rows = [
        sending(room, source, _moment(one.get("at", "")))
        for source, one in zip(found, state.get("sent", ()), strict=True)
    ]
    for row in rows:
        row.save()
    sendable = [row.source for row in rows if not row.gone]
    asked = [_restored(room, number, one) for number, one in enumerate(state.get("questions", ()), 1)]
    for question, one in zip(asked, state.get("questions", ()), strict=True):
        question.save()
        if "at" in one:
            Question.objects.filter(pk=question.pk).update(asked=_moment(one["at"]))
    Inquiry.objects.bulk_create(
        Inquiry(
            workshop=room,
            text=questions.line(one["text"]),
            answered=timezone.now() if one.get("answered") else None,
            votes_before=one.get("votes", 0),
        )
        for one in state.get("inquiries", ())
    )
    Workshop.objects.filter(pk=room.pk).update(
        latest=sendable[-1] if sendable else "",
        plan_state=_plan_state(room, state).to_text(),
        timer_ends=_moment(state.get("timer_ends", "")),
        **{name: bool(state.get(key)) for key, name in SWITCHES.items()},
    )


def _plan_state(room: Workshop, state: Data) -> PlanState:
    at = {str(ran["row"] - 1): _seconds(ran["at"]) for ran in state.get("ran", ())}
    asked = [number for number, one in enumerate(state.get("questions", ()), 1) if one.get("planned")]
    now = [*at][-1:]
    last = asked[-1] if asked and now and asks(rows_of(room)[int(now[0])]) else 0
    began = _seconds(state["began"]) if "began" in state else min(at.values(), default=0)
    return PlanState(max(state.get("runs", 0), len(at)), at, began, asked, last)


def _seconds(time: str) -> float:
    moment = _moment(time)
    assert moment is not None
    return moment.timestamp()


def _restored(room: Workshop, number: int, one: Data) -> Question:
    """Return a question as it was. If somebody has answered it, it takes no more answers: who has is unknown."""
    answers: list[Given] = [(answer["chosen"], answer["count"]) for answer in one.get("answers", ())]
    answered = sum(count for _, count in answers)
    now = timezone.now()
    revealed = one["state"] == "revealed"
    over = revealed or one["state"] == "closed" or bool(answers)
    predicts, right, why = "predict" in one, one.get("right", []), one.get("why", {})
    put: Data = {"kind": one.get("predict"), "pod": one.get("pod", ""), "since": NOT_YET, "resumed": True}
    if "right" in one:
        put["known"] = {"right": right, "why": why}
    shows_right = revealed or not predicts
    return Question(
        workshop=room,
        number=number,
        ask=questions.line(one["ask"]),
        choices=questions.as_json(one.get("choices", [])),
        many=one.get("many", False),
        prediction=questions.as_json(put) if predicts else "",
        right=questions.as_json(right) if shows_right and right else "",
        why=questions.as_json(why) if shows_right and why else "",
        over=now if over else None,
        revealed=_moment(one.get("revealed", "")) or now if revealed else None,
        away=one.get("hidden", False),
        shown=questions.as_json(one["shown"]) if one.get("shown") else "",
        earlier=Earlier(answers, max(answered, one.get("people", 0))).to_text() if answers else "",
    )
