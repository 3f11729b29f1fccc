"""Routes of the lesson in a sandbox, and of predictions. The engine checks tasks and answers, as on the page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router

from sandbox.changes import study
from sandbox.pool import engines
from sandbox.storage.models import printable
from sandbox.web.access import Access
from sandbox.web.api import lesson_shapes as shapes
from sandbox.web.api.access import ONE, PROBLEMS, access_to
from sandbox.web.api.states import UNREAD, read_after
from sandbox.words.say import say
from sandbox.worker import jobs

LESSON = {200: shapes.OpenPart, **PROBLEMS}
CHANGED = {200: shapes.OpenPart, **UNREAD, **PROBLEMS}

router = Router(tags=["Lessons"])


def _part(access: Access) -> dict[str, Any]:
    part: dict[str, Any] = engines.read(access.sandbox, jobs.lesson_part)
    return part | {"next": [{"name": row["slug"], "title": row["title"]} for row in part.get("next", ())]}


def _part_after(access: Access) -> Any:
    return read_after(lambda: _part(access))


def _prediction(access: Access) -> dict[str, Any]:
    prediction: dict[str, Any] = engines.read(access.sandbox, jobs.lesson_prediction)
    return prediction


@router.get(f"{ONE}/lesson", response=LESSON, summary=say("api.lesson"))
def lesson(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """Return the open part: its text, its question, and its task with what is missing. Texts are Markdown."""
    return _part(access_to(request, sandbox_id, token, False))


@router.post(f"{ONE}/lesson/step", response=CHANGED, summary=say("api.lesson-step"))
def lesson_step(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.PartOf, who: str = "") -> Any:
    """Take the steps that are left in the open part. If another part is open, nothing happens."""
    access = access_to(request, sandbox_id, token, True)
    study.step(access.sandbox, body.part, printable(who))
    return _part_after(access)


@router.post(f"{ONE}/lesson/turn", response=CHANGED, summary=say("api.lesson-turn"))
def lesson_turn(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.PartOf, who: str = "") -> Any:
    """Open the next part, or one that was open before. A part that is not done counts as skipped."""
    access = access_to(request, sandbox_id, token, True)
    study.turn_to(access.sandbox, body.part, printable(who))
    return _part_after(access)


@router.post(f"{ONE}/lesson/hint", response=CHANGED, summary=say("api.lesson-hint"))
def lesson_hint(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """Show one more hint of the task."""
    access = access_to(request, sandbox_id, token, True)
    study.hint(access.sandbox)
    return _part_after(access)


@router.post(f"{ONE}/lesson/catch-up", response=CHANGED, summary=say("api.lesson-catch-up"))
def lesson_catch_up(request: HttpRequest, sandbox_id: UUID, token: str, who: str = "") -> Any:
    """Set the sandbox as the open part expects it. The old timeline becomes a branch."""
    access = access_to(request, sandbox_id, token, True)
    study.catch_up(access.sandbox, printable(who))
    return _part_after(access)


@router.post(f"{ONE}/lesson/answer", response=CHANGED, summary=say("api.lesson-answer"))
def lesson_answer(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.Answers, who: str = "") -> Any:
    """Answer the question of the open part. ``points`` compares it with the engine's answer, once that is known."""
    access = access_to(request, sandbox_id, token, True)
    study.answer(access.sandbox, body.answers, who=printable(who))
    return _part_after(access)


@router.get(f"{ONE}/prediction", response={200: shapes.Predictions, **PROBLEMS}, summary=say("api.prediction"))
def prediction(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """Return what can be predicted before the next stage, what waits for its answer, and the last answers."""
    return _prediction(access_to(request, sandbox_id, token, False))


@router.post(f"{ONE}/prediction", response={200: shapes.Predictions, **UNREAD, **PROBLEMS}, summary=say("api.predict"))
def predict(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.Predicting, who: str = "") -> Any:
    """Predict what the scheduler will do. The scheduler answers when the pod gets that far."""
    access = access_to(request, sandbox_id, token, True)
    study.answer(access.sandbox, body.answers, predicts=True, who=printable(who), key=body.key)
    return read_after(lambda: _prediction(access))
