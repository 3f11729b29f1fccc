"""Questions to the room: ask, answer, close and reveal them. The scheduler itself answers predictions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandbox.pool import engines
from sandbox.storage.models import CommandRecord, Sandbox
from sandbox.storage.records import log_of
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.rooms import Outcome
from sandbox.worker.live import ReplayFailed
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import Answer, Participant, Question, Workshop
from sandbox.workshop.room import current
from scheduler_engine.errors import FieldError, Rejected

MOST_QUESTIONS = 500
KNOWN_NUMBERS = frozenset(map(str, range(1, MOST_QUESTIONS + 1)))
MOST_CHOICES = 60
"""Choices of one question: a phone must show them all."""
MOST_PROJECTED = 12
"""Bars on a projector: the last row of seats must be able to read them."""
LONGEST_ASK, LONGEST_CHOICE = 300, 120
NO_CHOICES = "[]"
NOT_YET = 10**9
"""More entries than a trace has: a question since then has no answer."""
Given = tuple[list[str], int]
"""The choices of an answer, and how many people gave it."""
NONE = say("room.none-of-them")
"""The text for an answer without a choice."""
WAITS = {
    "passes": "room.waits-passes",
    "winner": "room.waits-winner",
    "lane": "room.waits-lane",
    "victims": "room.waits-victims",
}
"""Kind of a prediction → key of the sentence that says how far the pod must get before the answer is known."""


def latest(room: Workshop) -> Question | None:
    """Return the current question of the room."""
    return room.questions.order_by("-number").first()


def by_number(room: Workshop, number: str) -> Question | None:
    """Return a question of the room by number, given as text; None for an unknown one."""
    return room.questions.filter(number=int(number)).first() if number in KNOWN_NUMBERS else None


def current_question(room: Workshop, number: str) -> Question | None:
    """Return the current question if it has this number, given as text; None for an unknown number.

    Raise ``Rejected`` if another question is current.
    """
    question = by_number(room, number)
    if question is not None and question != latest(room):
        raise Rejected(say("room.other-question"))
    return question


def ask(room: Workshop, text: str, choices: Sequence[str], right: Sequence[str] = (), many: bool = False) -> Question:
    """Ask a question. Without choices, everybody answers with a text. Raise ``Rejected`` if the question is invalid."""
    return save(room, with_choices(text, choices, right, many))


def with_choices(text: str, choices: Sequence[str], right: Sequence[str] = (), many: bool = False) -> Question:
    """Return a question that is not saved yet. Raise ``Rejected`` if it is invalid."""
    question = line(text)
    offered = [choice for text in choices if (choice := line(text))]
    errors = []
    if not question:
        errors.append(FieldError("ask", "Required value", say("room.no-ask")))
    if len(question) > LONGEST_ASK:
        errors.append(FieldError("ask", "Too long", say("room.ask-too-long", most=LONGEST_ASK)))
    if len(set(offered)) == 1:
        errors.append(FieldError("choices", "Required value", say("room.two-answers")))
    if len(offered) > MOST_CHOICES:
        errors.append(FieldError("choices", "Too many", say("room.too-many-answers", most=MOST_CHOICES)))
    for choice in offered:
        if len(choice) > LONGEST_CHOICE:
            too_long = say("room.answer-too-long", start=choice[:20], length=len(choice), most=LONGEST_CHOICE)
            errors.append(FieldError("choices", "Too long", too_long))
    if errors:
        raise Rejected(errors)
    known, starred = list(dict.fromkeys(offered)), set(map(line, right))
    correct = [choice for choice in known if choice in starred]
    return Question(ask=question, choices=as_json(known), right=as_json(correct), many=many and bool(known))


def predict(room: Workshop, kind: str, pod: str = "") -> Question:
    """Ask what the scheduler will do next in the trainer's sandbox. Raise ``Rejected`` or ``EngineError``."""
    return save(room, prediction(room, kind, pod))


def prediction(room: Workshop, kind: str, pod: str = "") -> Question:
    """Return a prediction that is not saved yet. Raise ``Rejected`` or ``EngineError``."""
    sandbox = current(None, room).sandbox
    if sandbox is None:
        raise Rejected(say("room.no-trainer-sandbox"))
    place, offer = engines.now(sandbox, jobs.room_question, kind, pod)
    if len(offer.choices) > MOST_CHOICES:
        raise Rejected(say("room.too-many-choices", most=MOST_CHOICES, count=len(offer.choices)))
    if not offer.choices:
        raise Rejected(say("room.no-choices"))
    put = {"kind": kind, "pod": offer.pod, "since": offer.since, "state": place.position.state}
    return Question(ask=offer.ask, choices=as_json(offer.choices), many=offer.many, prediction=json.dumps(put))


def save(room: Workshop, question: Question) -> Question:
    """Save a new question as the current one of the room. Raise ``Rejected`` if there are too many."""
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        before = latest(locked)
        question.number = before.number + 1 if before else 1
        if question.number > MOST_QUESTIONS:
            raise Rejected(say("room.too-many-questions", most=MOST_QUESTIONS))
        if before is not None and before.over is None:
            _end(before)
        question.workshop = locked
        question.save()
    notify_room(room.pk)
    return question


def answer(question: Question, participant: Participant, chosen: Sequence[str], page: str = "", turn: int = 0) -> None:
    """Save an answer in place of an earlier one. Raise ``Rejected`` if it is invalid or too late.

    ``page`` names the browser, ``turn`` counts the answers from all of its tabs. An answer is ignored if a newer one
    from the same browser arrived first. Answers from different browsers have no order.
    """
    known = _free_text(chosen) if is_free(question) else _known_choices(question, chosen)
    with transaction.atomic():
        locked = Question.objects.select_for_update().get(pk=question.pk)
        if locked.over is not None:
            raise Rejected(_too_late(locked))
        if turn and Answer.objects.filter(question=locked, participant=participant, page=page, turn__gt=turn).exists():
            return
        fields = {"chosen": as_json(known), "page": page, "turn": turn}
        Answer.objects.update_or_create(question=locked, participant=participant, defaults=fields)
    notify_room(question.workshop_id)


def is_free(question: Question) -> bool:
    """Return True if everybody answers a question with a text of their own."""
    return not question.prediction and question.choices == NO_CHOICES


def _known_choices(question: Question, chosen: Sequence[str]) -> list[str]:
    known = [choice for choice in json.loads(question.choices) if choice in chosen]
    if len(known) != len(set(chosen)) or not (question.many or len(known) == 1):
        raise Rejected(say("room.choose-one") if chosen else say("room.choose"))
    return known


def _free_text(chosen: Sequence[str]) -> list[str]:
    text = line(" ".join(chosen))
    if not text:
        raise Rejected(say("room.no-answer"))
    if len(text) > LONGEST_CHOICE:
        raise Rejected(say("room.ask-too-long", most=LONGEST_CHOICE))
    return [text]


def show_answer(room: Workshop, question: Question, text: str, on: bool) -> None:
    """Show a free answer on the projector, or no longer. Raise ``Rejected`` if nobody has given it."""
    with transaction.atomic():
        locked = Question.objects.select_for_update().get(pk=question.pk)
        shown, key = shown_answers(locked), {text.casefold()}
        # The first spelling of equal answers may have changed since the page was shown.
        if not is_free(locked) or not key <= {bar.choice.casefold() for bar in bars(locked)}:
            raise Rejected(say("room.no-such-answer"))
        locked.shown = as_json(sorted(shown | key if on else shown - key))
        locked.save(update_fields=["shown"])
    notify_room(room.pk)


def shown_answers(question: Question) -> set[str]:
    """Return the free answers that the projector shows, in small letters."""
    return set(json.loads(question.shown or "[]"))


def _too_late(question: Question) -> str:
    """Return why a question takes no more answers."""
    if question.revealed:
        return say("room.late-revealed")
    if Question.objects.filter(workshop=question.workshop_id, number__gt=question.number).exists():
        return say("room.late-asked")
    return say("room.late-closed")


def end(room: Workshop, question: Question) -> None:
    """Close a question: nobody can answer any more."""
    _end(question)
    notify_room(room.pk)


def hide(room: Workshop, question: Question) -> None:
    """Hide a question from the pages. Its answers stay."""
    Question.objects.filter(pk=question.pk).update(over=question.over or timezone.now(), away=True)
    notify_room(room.pk)


def _end(question: Question) -> None:
    Question.objects.filter(pk=question.pk, over=None).update(over=timezone.now())


def can_reveal(room: Workshop, question: Question) -> bool:
    """Return True if the right answer can still be revealed."""
    return not (question.revealed or room.closed) and bool(question.prediction or json.loads(question.right or "[]"))


def reveal(room: Workshop, question: Question) -> None:
    """Show the right answer; for a prediction, what the scheduler did. Raise ``Rejected`` or ``EngineError``."""
    if question.prediction:
        result = outcome(room, question)
        if result is None:
            raise Rejected(_not_yet(question))
        question.right, question.why = as_json(result.right), as_json(result.why)
    question.revealed = question.revealed or timezone.now()
    question.over = question.over or timezone.now()
    question.save()
    notify_room(room.pk)


def outcome(room: Workshop, question: Question) -> Outcome | None:
    """Return what the scheduler did after a prediction, None if nothing yet. Raise ``Rejected`` or ``EngineError``."""
    put = json.loads(question.prediction)
    if "known" in put:  # The room was opened from a file. The scheduler had answered in the room that wrote it.
        return Outcome(tuple(put["known"]["right"]), put["known"]["why"])
    seat = current(None, room)
    sandbox = seat.sandbox
    if sandbox is None:
        return None
    forked: tuple[int, int] | None
    if put.get("resumed"):  # In the room that wrote the file, the scheduler had not answered when this one begins.
        forked = _end_of(sandbox, seat.began)
    else:
        forked = _forked(sandbox, put.get("state", 0))  # Questions of older versions have no state.
    return engines.now(sandbox, jobs.room_outcome, put["kind"], put["pod"], put["since"], forked)[1]


def _forked(sandbox: Sandbox, state: int) -> tuple[int, int] | None:
    """Return key and number of the last command up to ``state`` that is still in the log.

    Return None if the command ``state`` is not on a branch, so that the timeline has not changed since.
    """
    if not CommandRecord.objects.filter(pk=state, sandbox=sandbox).exclude(branch=None).exists():
        return None
    return log_of(sandbox.pk).filter(pk__lte=state).order_by("-n").values_list("pk", "n").first() or (0, 0)


def _end_of(sandbox: Sandbox, n: int) -> tuple[int, int]:
    """Return key and number of the ``n``-th command in the log, or of the last one before it."""
    return log_of(sandbox.pk).filter(n__lte=n).order_by("-n").values_list("pk", "n").first() or (0, 0)


def _not_yet(question: Question) -> str:
    """Return the sentence that says how far the trainer must step before the reveal."""
    put = json.loads(question.prediction)
    return say(WAITS[put["kind"]], pod=short_name(put["pod"]))


def waits_for(room: Workshop, question: Question) -> str:
    """Return what the reveal of a question waits for, in words; "" if it can be revealed."""
    if question.revealed or not question.prediction:
        return ""
    try:
        return "" if outcome(room, question) else _not_yet(question)
    except (Rejected, EngineError, ReplayFailed) as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class Earlier:
    """Answers from before the room was opened from its file, of how many people in the room (``of``)."""

    answers: list[Given]
    of: int

    def to_text(self) -> str:
        """Return the JSON text that ``earlier_of`` reads."""
        return as_json({"answers": self.answers, "of": self.of})


def earlier_of(question: Question) -> Earlier:
    """Return the answers that come from the room's file."""
    return Earlier(**json.loads(question.earlier or '{"answers": [], "of": 0}'))


def answers_of(question: Question) -> list[Given]:
    """Return the answers of those in the room, after those from its file."""
    answers = question.answers.filter(participant__removed=None).order_by("pk")
    now = [(json.loads(text), 1) for text in answers.values_list("chosen", flat=True)]
    return [*earlier_of(question).answers, *now]


def turnout(question: Question) -> tuple[int, int]:
    """Return how many people have answered, and of how many. Who has answered in an earlier room cannot do so again."""
    earlier = earlier_of(question)
    answered = question.answers.filter(participant__removed=None).count() + sum(count for _, count in earlier.answers)
    return answered, earlier.of if earlier.answers else question.workshop.people.count()


@dataclass(frozen=True, slots=True)
class Bar:
    """A choice and the number of participants who chose it. ``right`` is None until the question is revealed."""

    choice: str
    count: int
    right: bool | None
    why: str


def bars(question: Question) -> list[Bar]:
    """Return the distribution of the answers, in the order of the choices.

    Right answers that were not among the choices come last. If several choices may be right, the last bar is ``NONE``.
    """
    given = answers_of(question)
    if is_free(question):
        return _groups(given)
    counts = Counter[str]()
    for chosen, count in given:
        for choice in displayed(question, chosen):
            counts[choice] += count
    right = displayed(question, json.loads(question.right or "[]")) if question.revealed else []
    known = bool(question.revealed and (question.prediction or right not in ([], [NONE])))
    why = json.loads(question.why or "{}") if question.revealed else {}
    names = dict.fromkeys([*json.loads(question.choices), *right, *displayed(question, [])])
    why[NONE] = why.pop("", "")
    return [Bar(name, counts[name], name in right if known else None, why.get(name, "")) for name in names]


def _groups(given: Sequence[Given]) -> list[Bar]:
    """Return free answers with their numbers, the most frequent first. Capitals make no difference."""
    counts = Counter[str]()
    for (answer,), count in given:
        counts[answer.casefold()] += count
    first = {answer.casefold(): answer for (answer,), _ in reversed(given)}
    return [Bar(first[key], count, None, "") for key, count in counts.most_common()]


def displayed(question: Question, chosen: Sequence[str]) -> list[str]:
    """Return the choices of an answer as bars name them: ``NONE`` if several could be chosen and none was."""
    return [NONE] if question.many and not chosen else list(chosen)


def for_projector(bars: Sequence[Bar]) -> tuple[list[Bar], list[Bar]]:
    """Split bars into those that a projector shows and the others. Right and frequent answers are shown first."""
    by_weight = sorted(range(len(bars)), key=lambda place: (not bars[place].right, -bars[place].count, place))
    shown = sorted(by_weight[:MOST_PROJECTED])
    return [bars[place] for place in shown], [bars[place] for place in sorted(by_weight[MOST_PROJECTED:])]


def is_right(question: Question, chosen: Sequence[str]) -> bool | None:
    """Return True if an answer is right; None if the question has no right answer or is not revealed."""
    return matches(question, json.loads(question.right or "[]"), chosen) if question.revealed else None


def matches(question: Question, right: Sequence[str], chosen: Sequence[str]) -> bool | None:
    """Return True if an answer matches ``right``; None if the question has no right answer."""
    if not (right or question.prediction):
        return None
    if question.many:
        return sorted(chosen) == sorted(right)
    return len(chosen) == 1 and chosen[0] in right


def line(text: str) -> str:
    """Return a text as one line with single spaces."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def as_json(value: Any) -> str:
    """Return a value as JSON text without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
