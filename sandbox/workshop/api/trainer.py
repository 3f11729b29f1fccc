"""Routes of a room's trainer: send, step, pause, ask, reveal, close."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router
from ninja.errors import HttpError

from sandbox.changes.opening import read_lesson
from sandbox.web.api.access import check_rate, moment_of
from sandbox.words.say import say
from sandbox.workshop import lessons, people, plan, questions, room, sources
from sandbox.workshop.access import RoomAccess, room_access
from sandbox.workshop.api import shapes
from sandbox.workshop.api.states import ROOM, ROOM_PROBLEMS, after, in_room
from sandbox.workshop.models import Participant, Question, Workshop

STATE = {200: shapes.RoomState, **ROOM_PROBLEMS}

router = Router(tags=["Rooms: trainer"])


def _trainer(room_id: UUID, token: str) -> RoomAccess:
    return room_access(room_id, token, ("trainer",))


@router.post(f"{ROOM}/freeze", response=STATE, summary=say("api.room-freeze"))
def room_freeze(request: HttpRequest, room_id: UUID, token: str, body: shapes.Switch) -> Any:
    access = _trainer(room_id, token)
    return after(request, access, lambda: room.set_frozen(access.room, body.on))


@router.post(f"{ROOM}/eyes", response=STATE, summary=say("api.room-eyes"))
def room_eyes(request: HttpRequest, room_id: UUID, token: str, body: shapes.Switch) -> Any:
    access = _trainer(room_id, token)
    return after(request, access, lambda: room.show_trainer(access.room, body.on))


@router.post(f"{ROOM}/timer", response=STATE, summary=say("api.room-timer"))
def room_timer(request: HttpRequest, room_id: UUID, token: str, body: shapes.Timer) -> Any:
    access = _trainer(room_id, token)
    return after(request, access, lambda: room.set_timer(access.room, body.minutes))


def _person(access: RoomAccess, who: int) -> Participant:
    person = room.participant_of(access.room, str(who))
    if person is None:
        raise HttpError(404, say("room.no-participant"))
    return person


@router.post(f"{ROOM}/rename", response=STATE, summary=say("api.room-rename"))
def room_rename(request: HttpRequest, room_id: UUID, token: str, body: shapes.Rename) -> Any:
    access = _trainer(room_id, token)
    return after(request, access, lambda: people.rename(_person(access, body.who), body.name))


@router.post(f"{ROOM}/remove", response=STATE, summary=say("api.room-remove"))
def room_remove(request: HttpRequest, room_id: UUID, token: str, body: shapes.Who) -> Any:
    """Remove a participant: their link to the room works no more. Their sandboxes and results stay."""
    access = _trainer(room_id, token)
    return after(request, access, lambda: people.remove(_person(access, body.who)))


@router.post(f"{ROOM}/send", response={200: shapes.Sent, **ROOM_PROBLEMS}, summary=say("api.room-send"))
def room_send(request: HttpRequest, room_id: UUID, token: str, body: shapes.Send) -> Any:
    """Send a scenario, a lesson or a copy of your own sandbox. Earlier sandboxes stay."""
    access = _trainer(room_id, token)
    chosen = [name for name in ("scenario", "lesson", "own", "copy_mine") if getattr(body, name)]
    if len(chosen) > 1:
        raise HttpError(422, say("errors.one-of", names=", ".join(chosen)))
    if body.at and not body.copy_mine:
        raise HttpError(422, say("errors.at-of-copy"))
    if body.copy_mine:
        find = partial(room.moment_of_trainer, access.room, moment_of(body.at))
    elif body.own:
        find = partial(sources.own, access.room, str(body.own))
    else:
        find = partial(sources.named, body.scenario, body.lesson)
    return {"sent": in_room(access, lambda: room.send_to(access.room, [str(who) for who in body.to], find))}


@router.post(f"{ROOM}/lessons", response=STATE, summary=say("api.room-lesson"))
def room_lesson(request: HttpRequest, room_id: UUID, token: str, body: shapes.RoomLesson) -> Any:
    """Save a lesson of your own in the room."""
    check_rate(request, "create")
    access = _trainer(room_id, token)
    file = lessons.LessonFile(body.file, read_lesson(body.file))
    instead = str(body.instead) if body.instead else ""
    return after(request, access, lambda: lessons.save_lesson(access.room, file, instead))


@router.post(f"{ROOM}/step", response={200: shapes.Stepped, **ROOM_PROBLEMS}, summary=say("api.room-step"))
def room_step(request: HttpRequest, room_id: UUID, token: str, body: shapes.RoomStep) -> Any:
    """Run a step in the sandboxes of participants. If it runs in none, the status is 422."""
    access = _trainer(room_id, token)

    def act() -> tuple[int, list[tuple[str, str]]]:
        to = room.recipients(access.room, [str(who) for who in body.to])
        return room.step(access.room, room.STEPS[body.step], to)

    done, failures = in_room(access, act)
    if failures and not done:
        raise HttpError(422, room.step_failures(failures))
    return {"done": done, "failures": [{"name": name, "reason": reason} for name, reason in failures]}


@router.post(f"{ROOM}/ask", response=STATE, summary=say("api.room-ask"))
def room_ask(request: HttpRequest, room_id: UUID, token: str, body: shapes.Ask) -> Any:
    access = _trainer(room_id, token)
    asked = body.ask, body.choices, body.right, body.many
    return after(request, access, lambda: questions.ask(access.room, *asked))


@router.post(f"{ROOM}/predict", response=STATE, summary=say("api.room-predict"))
def room_predict(request: HttpRequest, room_id: UUID, token: str, body: shapes.Predict) -> Any:
    """Ask the room what the scheduler will do next. The right answer is what it did."""
    access = _trainer(room_id, token)
    return after(request, access, lambda: questions.predict(access.room, body.kind, body.pod.strip()))


@router.post(f"{ROOM}/planned", response=STATE, summary=say("api.room-planned"))
def room_planned(request: HttpRequest, room_id: UUID, token: str, body: shapes.Planned) -> Any:
    """Run a row of the plan: send, ask or start its timer. Send ``after``, so that the row is run only once."""
    access = _trainer(room_id, token)

    def act() -> None:
        if not plan.run(access.room, body.number, body.after):
            raise HttpError(404, say("room.no-row"))

    return after(request, access, act)


def _with_question(
    request: HttpRequest, access: RoomAccess, number: int, act: Callable[[Workshop, Question], None]
) -> dict[str, Any]:
    question = questions.current_question(access.room, str(number))
    if question is None:
        raise HttpError(404, say("room.no-question"))
    return after(request, access, lambda: act(access.room, question))


@router.post(f"{ROOM}/end", response=STATE, summary=say("api.room-end"))
def room_end(request: HttpRequest, room_id: UUID, token: str, body: shapes.QuestionNumber) -> Any:
    return _with_question(request, _trainer(room_id, token), body.number, questions.end)


@router.post(f"{ROOM}/reveal", response=STATE, summary=say("api.room-reveal"))
def room_reveal(request: HttpRequest, room_id: UUID, token: str, body: shapes.QuestionNumber) -> Any:
    """Show the right answer to all. For a prediction, step your own sandbox first."""
    return _with_question(request, _trainer(room_id, token), body.number, questions.reveal)


@router.post(f"{ROOM}/put-away", response=STATE, summary=say("api.room-put-away"))
def room_put_away(request: HttpRequest, room_id: UUID, token: str, body: shapes.QuestionNumber) -> Any:
    """Hide the question from all pages. Its answers stay."""
    return _with_question(request, _trainer(room_id, token), body.number, questions.hide)


@router.post(f"{ROOM}/close", response=STATE, summary=say("api.room-close"))
def room_close(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Close the room: nobody can join or answer any more, and everybody keeps their sandbox."""
    access = _trainer(room_id, token)
    return after(request, access, lambda: room.close(access.room))
