"""Questions to the room: asked, answered, and revealed. A prediction is answered by the scheduler itself."""

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
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.rooms import Outcome
from sandbox.worker.live import ReplayFailed
from sandbox.workshop.layers import tell_room
from sandbox.workshop.models import Answer, Participant, Question, Workshop
from sandbox.workshop.room import current
from scheduler_engine.errors import FieldError, Rejected

MOST_QUESTIONS = 500
KNOWN_NUMBERS = frozenset(map(str, range(1, MOST_QUESTIONS + 1)))
MOST_CHOICES = 60
"""Nodes that a room is asked about: a phone shows them all."""
MOST_PROJECTED = 12
"""Bars that fit on a projector in type that the last row can read."""
LONGEST_ASK, LONGEST_CHOICE = 300, 120
NONE = "none of them"
"""What is shown for an answer without a choice."""
NOT_YET = "Reveal waits for your sandbox. Step it until {pod} {reached}."
REACHED = {
    "passes": "is past Filter",
    "winner": "has a node, or fits nowhere",
    "lane": "is bound, or back in a queue",
    "victims": "has a node, or is past PostFilter",
}
"""Kind of a prediction → what the pod must have come to for the answer."""


def latest(room: Workshop) -> Question | None:
    """The question that the room is at."""
    return room.questions.order_by("-number").first()


def numbered(room: Workshop, number: str) -> Question | None:
    """A question of the room, by its number as text."""
    return room.questions.filter(number=int(number)).first() if number in KNOWN_NUMBERS else None


def ask(room: Workshop, text: str, choices: Sequence[str], right: Sequence[str] = (), many: bool = False) -> Question:
    """A question to choose from, whose right answers may be left open. Raises ``Rejected``."""
    question = _line(text)
    offered = [choice for given in choices if (choice := _line(given))]
    errors = []
    if not question:
        errors.append(FieldError("ask", "Required value", "Enter a question."))
    if len(question) > LONGEST_ASK:
        errors.append(FieldError("ask", "Too long", f"Enter at most {LONGEST_ASK} characters."))
    if len(set(offered)) < 2:
        errors.append(FieldError("choices", "Required value", "Enter two different answers, one per line."))
    if len(offered) > MOST_CHOICES:
        errors.append(FieldError("choices", "Too many", f"Enter at most {MOST_CHOICES} answers."))
    for choice in offered:
        if len(choice) > LONGEST_CHOICE:
            too_long = f"“{choice[:20]}…” has {len(choice)} characters. Enter at most {LONGEST_CHOICE}."
            errors.append(FieldError("choices", "Too long", too_long))
    if errors:
        raise Rejected(errors)
    known, starred = list(dict.fromkeys(offered)), set(map(_line, right))
    told = [choice for choice in known if choice in starred]
    return _put(room, Question(ask=question, choices=_text(known), right=_text(told), many=many))


def predict(room: Workshop, kind: str, pod: str = "") -> Question:
    """What the scheduler does next in the trainer's sandbox. Raises ``Rejected`` or ``EngineError``."""
    sandbox = current(None, room).sandbox
    if sandbox is None:
        raise Rejected("The trainer's sandbox no longer exists.")
    place, found = engines.now(sandbox, jobs.room_question, kind, pod)
    if len(found.choices) > MOST_CHOICES:
        raise Rejected(f"A question can have at most {MOST_CHOICES} choices; there are {len(found.choices)}.")
    if not found.choices:
        raise Rejected("There is nothing to choose from yet.")
    put = {"kind": kind, "pod": found.pod, "since": found.since, "state": place.position.state}
    return _put(
        room, Question(ask=found.ask, choices=_text(found.choices), many=found.many, prediction=json.dumps(put))
    )


def _put(room: Workshop, question: Question) -> Question:
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        before = latest(locked)
        question.number = before.number + 1 if before else 1
        if question.number > MOST_QUESTIONS:
            raise Rejected(f"A room can be asked {MOST_QUESTIONS} questions at most.")
        if before is not None and before.over is None:
            _end(before)
        question.workshop = locked
        question.save()
    tell_room(room.pk)
    return question


def answer(question: Question, participant: Participant, chosen: Sequence[str], page: str = "", turn: int = 0) -> None:
    """Take an answer, or another one in its place. Raises ``Rejected``.

    ``page`` names the browser it was given in, ``turn`` counts the answers there, in all of its tabs: an answer that a
    newer one overtook on the line is dropped. Answers of different browsers cannot be compared.
    """
    offered = json.loads(question.choices)
    given = [choice for choice in offered if choice in chosen]
    if len(given) != len(set(chosen)) or not (question.many or len(given) == 1):
        raise Rejected("Choose an answer." if not chosen else "Choose one of the answers.")
    with transaction.atomic():
        locked = Question.objects.select_for_update().get(pk=question.pk)
        if locked.over is not None:
            raise Rejected(_too_late(locked))
        if turn and Answer.objects.filter(question=locked, participant=participant, page=page, turn__gt=turn).exists():
            return
        taken = {"chosen": _text(given), "page": page, "turn": turn}
        Answer.objects.update_or_create(question=locked, participant=participant, defaults=taken)
    tell_room(question.workshop_id)


def _too_late(question: Question) -> str:
    if question.revealed:
        return "Your answer arrived too late: the right one is already shown."
    if Question.objects.filter(workshop=question.workshop_id, number__gt=question.number).exists():
        return "Your answer arrived too late: the trainer has asked another question."
    return "Your answer arrived too late: the question is closed."


def end(room: Workshop, question: Question) -> None:
    """Nobody can answer any more."""
    _end(question)
    tell_room(room.pk)


def put_away(room: Workshop, question: Question) -> None:
    """The pages go on without it; what was answered is kept."""
    question.over = question.over or timezone.now()
    question.away = True
    question.save(update_fields=["over", "away"])
    tell_room(room.pk)


def _end(question: Question) -> None:
    question.over = question.over or timezone.now()
    question.save(update_fields=["over"])


def promised(room: Workshop, question: Question) -> bool:
    """Whether what is right can still be revealed."""
    return not (question.revealed or room.closed) and bool(question.prediction or json.loads(question.right or "[]"))


def reveal(room: Workshop, question: Question) -> None:
    """Show what is right; of a prediction, what the scheduler did since. Raises ``Rejected`` or ``EngineError``."""
    if question.prediction:
        found = outcome(room, question)
        if found is None:
            raise Rejected(_not_yet(question))
        question.right, question.why = _text(found.right), _text(found.why)
    question.revealed = question.revealed or timezone.now()
    question.over = question.over or timezone.now()
    question.save()
    tell_room(room.pk)


def outcome(room: Workshop, question: Question) -> Outcome | None:
    """What the scheduler has done since a prediction was asked; None as long as it has not come to it.

    Raises ``Rejected`` or ``EngineError``.
    """
    put = json.loads(question.prediction)
    sandbox = current(None, room).sandbox
    if sandbox is None:
        return None
    forked = _forked(sandbox, put.get("state", 0))  # Questions of older versions do not say after which command.
    found: Outcome | None = engines.now(sandbox, jobs.room_outcome, put["kind"], put["pod"], put["since"], forked)[1]
    return found


def _forked(sandbox: Sandbox, state: int) -> tuple[int, int] | None:
    """Key and place of the last command up to ``state`` that is still in the log; None: no other way was taken."""
    if not CommandRecord.objects.filter(pk=state, sandbox=sandbox).exclude(branch=None).exists():
        return None
    return log_of(sandbox.pk).filter(pk__lte=state).order_by("-n").values_list("pk", "n").first() or (0, 0)


def _not_yet(question: Question) -> str:
    put = json.loads(question.prediction)
    return NOT_YET.format(pod=put["pod"].removeprefix("default/"), reached=REACHED[put["kind"]])


def waits_for(room: Workshop, question: Question) -> str:
    """What revealing a question waits for, in words; "" when it can be revealed."""
    if question.revealed or not question.prediction:
        return ""
    try:
        return "" if outcome(room, question) else _not_yet(question)
    except (Rejected, EngineError, ReplayFailed) as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class Bar:
    """One choice, and how many gave it. ``right``: None until it is revealed."""

    choice: str
    count: int
    right: bool | None
    why: str


def bars(question: Question) -> list[Bar]:
    """The distribution of the answers, in the order of the choices; what nobody was offered but is right comes last.

    Of a question to which several may be right, the last bar is ``NONE``.
    """
    texts = question.answers.filter(participant__removed=None).values_list("chosen", flat=True)
    given = Counter(choice for text in texts for choice in as_listed(question, json.loads(text)))
    right = as_listed(question, json.loads(question.right or "[]")) if question.revealed else []
    told = bool(question.revealed and (question.prediction or right not in ([], [NONE])))
    why = json.loads(question.why or "{}") if question.revealed else {}
    names = dict.fromkeys([*json.loads(question.choices), *right, *as_listed(question, [])])
    why[NONE] = why.pop("", "")
    return [Bar(name, given[name], name in right if told else None, why.get(name, "")) for name in names]


def as_listed(question: Question, chosen: Sequence[str]) -> list[str]:
    """Return the choices of an answer as bars name them: ``NONE`` where several could be chosen, and none was."""
    return [NONE] if question.many and not chosen else list(chosen)


def for_projector(found: Sequence[Bar]) -> tuple[list[Bar], list[Bar]]:
    """Split bars into those that a projector shows, right and common answers in their order, and the others."""
    by_weight = sorted(range(len(found)), key=lambda place: (not found[place].right, -found[place].count, place))
    shown = sorted(by_weight[:MOST_PROJECTED])
    return [found[place] for place in shown], [found[place] for place in sorted(by_weight[MOST_PROJECTED:])]


def is_right(question: Question, chosen: Sequence[str]) -> bool | None:
    """None when the question has no right answer, or it was not revealed."""
    return fits(question, json.loads(question.right or "[]"), chosen) if question.revealed else None


def fits(question: Question, right: Sequence[str], chosen: Sequence[str]) -> bool | None:
    """Whether an answer is right if ``right`` is; None when the question has no right answer."""
    if not (right or question.prediction):
        return None
    if question.many:
        return sorted(chosen) == sorted(right)
    return len(chosen) == 1 and chosen[0] in right


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _text(found: Any) -> str:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)
