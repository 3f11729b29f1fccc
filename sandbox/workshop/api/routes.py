"""Routes to create, join and read rooms, and those of participants."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from ninja.errors import HttpError

from sandbox.limits.quotas import check_import
from sandbox.storage import tokens
from sandbox.web.api.access import check_rate
from sandbox.words.say import say
from sandbox.workshop import board, files, people, questions, room, sources
from sandbox.workshop.access import RoomAccess, room_access
from sandbox.workshop.addresses import links
from sandbox.workshop.api import shapes
from sandbox.workshop.api.states import ROOM, ROOM_PROBLEMS, after, in_room, room_addresses, state_of
from sandbox.workshop.models import Participant
from sandbox.workshop.results import results_csv

STATE = {200: shapes.RoomState, **ROOM_PROBLEMS}


def _file(kind: str) -> dict[str, Any]:
    """Return the description of an answer that is a file."""
    return {"responses": {200: {"content": {kind: {"schema": {"type": "string"}}}, "description": "OK"}}}


router = Router(tags=["Rooms"])


@router.post("/rooms", response={201: shapes.RoomCreated, **ROOM_PROBLEMS}, summary=say("api.create-room"))
def create_room(request: HttpRequest, new: shapes.NewRoom) -> Any:
    check_rate(request, "create")
    chosen = [name for name in ("scenario", "lesson", "file") if getattr(new, name)]
    if len(chosen) > 1:
        raise HttpError(422, say("errors.one-of", names=", ".join(chosen)))
    if new.file:
        check_import(len(new.file.encode(errors="replace")))
        opened, token = files.open_file(new.file, new.title, new.anew)
    else:
        opened, token = room.open_room(sources.named(new.scenario, new.lesson), new.title)
    access = RoomAccess(opened, token, "trainer")
    shown = links(request, access)
    created = room_addresses(request, access) | {"code": opened.code, "join": shown["join"]}
    return Status(201, created | {"projector": shown["projector"]})


@router.post("/rooms/join", response={200: shapes.Joined, **ROOM_PROBLEMS}, summary=say("api.join-room"))
def join_room(request: HttpRequest, body: shapes.Join) -> Any:
    """Join a room with its code under a name, or come back to it with your personal code."""
    check_rate(request, "join")
    joined = people.find_room(body.code)
    if joined is None:
        raise HttpError(404, say("room.no-room"))
    back = body.back.strip()
    token = people.come_back(joined, body.name, back) if back else people.join(joined, body.name)[1]
    return room_addresses(request, RoomAccess(joined, token, "participant")) | {"back": tokens.code_of(token)}


@router.get(ROOM, response=STATE, summary=say("api.room"), url_name="room")
def room_state(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Return what this link shows: the question, your sandboxes, the timer."""
    access = room_access(room_id, token, closed=True)
    return in_room(access, lambda: state_of(request, access))


@router.delete(ROOM, response={204: None, **ROOM_PROBLEMS}, summary=say("api.room-delete"))
def room_delete(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Delete the room with everything about its participants. Their sandboxes stay."""
    access = room_access(room_id, token, ("trainer",), closed=True)
    in_room(access, lambda: room.delete(access.room))
    return Status(204, None)


@router.get(f"{ROOM}/board", response={200: list[shapes.BoardRow], **ROOM_PROBLEMS}, summary=say("api.room-board"))
def room_board(request: HttpRequest, room_id: UUID, token: str, asked: Query[shapes.BoardQuery]) -> Any:
    """List the participants for the trainer and assistants: where each is, what they did last, whose hand is up."""
    access = room_access(room_id, token, ("trainer", "assistant"), closed=True)
    rows = in_room(access, lambda: board.rows(access.room, asked.order, asked.find))
    return [_row(request, row) for row in rows]


def _row(request: HttpRequest, row: board.Row) -> dict[str, Any]:
    lesson = row.lesson and {"text": row.lesson.text, "share": row.lesson.share}
    paths = {"watch": row.watch, "help": row.help}
    fields = ("name", "hand", "sandbox", "action", "steps", "since")
    return {
        "who": row.key,
        "lesson": lesson,
        **{field: getattr(row, field) for field in fields},
        **{name: request.build_absolute_uri(path) if path else "" for name, path in paths.items()},
    }


@router.get(
    f"{ROOM}/results",
    response={200: None, **ROOM_PROBLEMS},
    summary=say("api.room-results"),
    openapi_extra=_file("text/csv"),
)
def room_results(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Return a row for each question and person, and one for each sandbox of each person, for the trainer."""
    access = room_access(room_id, token, ("trainer",), closed=True)
    text = in_room(access, lambda: results_csv(access.room))
    return HttpResponse(text, content_type="text/csv; charset=utf-8")


@router.get(
    f"{ROOM}/file",
    response={200: None, **ROOM_PROBLEMS},
    summary=say("api.room-file"),
    openapi_extra=_file("application/yaml"),
)
def room_file(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Return the room as a file, without its participants, for the trainer."""
    access = room_access(room_id, token, ("trainer",), closed=True)
    text = in_room(access, lambda: files.write(access.room))
    return HttpResponse(text, content_type="application/yaml; charset=utf-8")


@router.post(f"{ROOM}/take", response=STATE, summary=say("api.room-take"))
def room_take(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Create your current sandbox, if there is none yet."""
    check_rate(request, "create")
    access = room_access(room_id, token, ("trainer", "participant"))
    return after(request, access, lambda: room.take_seat(access.room, access.participant, access.token))


def _participant(room_id: UUID, token: str) -> tuple[RoomAccess, Participant]:
    access = room_access(room_id, token, ("participant",))
    assert access.participant is not None
    return access, access.participant


@router.post(f"{ROOM}/answer", response=STATE, summary=say("api.room-answer"))
def room_answer(request: HttpRequest, room_id: UUID, token: str, body: shapes.RoomAnswer) -> Any:
    """Answer the current question. While it is open, you can change your answer."""
    access, person = _participant(room_id, token)
    question = questions.by_number(access.room, str(body.number))
    if question is None:
        raise HttpError(404, say("room.no-question"))
    return after(request, access, lambda: questions.answer(question, person, body.chosen, body.page, body.turn))


@router.post(f"{ROOM}/hand", response=STATE, summary=say("api.room-hand"))
def room_hand(request: HttpRequest, room_id: UUID, token: str, body: shapes.Switch) -> Any:
    access, person = _participant(room_id, token)
    return after(request, access, lambda: room.raise_hand(person, body.on))


@router.post(f"{ROOM}/help", response=STATE, summary=say("api.room-help"))
def room_help(request: HttpRequest, room_id: UUID, token: str, body: shapes.Switch) -> Any:
    """Let the trainer change your sandbox, or revoke that: the trainer's links then work no more."""
    access, person = _participant(room_id, token)
    return after(request, access, lambda: room.allow_help(person, access.token, body.on))


@router.post(f"{ROOM}/leave", response={204: None, **ROOM_PROBLEMS}, summary=say("api.room-leave"))
def room_leave(request: HttpRequest, room_id: UUID, token: str) -> Any:
    """Leave the room. All that it stores about you is deleted; your sandboxes stay."""
    access, person = _participant(room_id, token)
    in_room(access, lambda: people.leave(person))
    return Status(204, None)
