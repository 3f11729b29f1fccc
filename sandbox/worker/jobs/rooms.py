"""Jobs for questions to a room: return the choices of a prediction, and judge it."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.panels.model.state import by_priority
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.job import reading
from sandbox.worker.lessons.wording import reason_text
from sandbox.worker.live import Live
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.predictions import KINDS, Sight, asked, choices, judge
from scheduler_engine.scenario.attempts import RunView

PREDICTED = ("passes", "winner", "lane", "victims")
"""Questions about a pod that its next stages answer."""
NO_NODE = say("room.no-node")
"""The choice for: the pod gets no node."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A question. ``many``: several choices may be named. ``since``: entries of the trace when it was asked."""

    ask: str
    pod: str
    choices: tuple[str, ...]
    many: bool
    since: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a question. ``right``: the right choices; if one is asked for, each of them counts.

    ``why``: choice → reason, "" → why no choice is right.
    """

    right: tuple[str, ...]
    why: dict[str, str]


@reading
def room_question(live: Live, position: Position, kind: str, pod: str) -> Prediction:
    """Return the question of a kind as of now. ``pod``: its key, "" = the pod in flight, else the next one in activeQ.

    Raises ``Rejected`` if there is no such question or pod.
    """
    if kind not in PREDICTED:
        raise Rejected(say("room.no-such-question"))
    live.move_to(position)
    key = pod or _next_pod(live)
    if not key or live.simulation.api.pod(key) is None:
        raise Rejected(say("errors.no-such-object", kind="pod", key=key) if key else say("room.no-pod-waits"))
    question = Question(kind, pod=key, at=KINDS[kind].at)
    run = RunView(live.simulation)
    offered = choices(run, question) + ((NO_NODE,) if kind == "winner" else ())
    return Prediction(asked(question), key, offered, KINDS[kind].many, len(live.simulation.recorder.entries))


def _next_pod(live: Live) -> str:
    waiting = [queued for lane in ("inFlight", "activeQ") for queued in sorted(live.world.lane(lane), key=by_priority)]
    return waiting[0].move.pod if waiting else ""


@reading
def room_outcome(
    live: Live, position: Position, kind: str, pod: str, since: int, forked: tuple[int, int] | None
) -> Outcome | None:
    """Return the answer to a question, None if it is not known yet.

    Raises ``Rejected`` if there will be no answer, ``ReplayFailed`` if the log stops before it.

    ``since``: entries of the trace when the question was asked. ``forked``: key and place of the last command still in
    the log, if somebody went back and did something else; the question then counts from the end of that command.
    """
    if forked is not None and forked[1] < position.head:
        live.move_to(Position(*forked, position.length))
        since = len(live.simulation.recorder.entries)
    live.move_to(position)
    run = RunView(live.simulation)
    question = Question(kind, pod=pod, at=KINDS[kind].at)
    judged = judge(question, since, Sight(live.simulation.recorder, lambda _: run))
    if judged.none is not None and judged.none.key == "no-node":
        return Outcome((NO_NODE,), {NO_NODE: reason_text(judged.none)})
    if judged.none is not None:
        raise Rejected(reason_text(judged.none))
    answer = judged.answer
    if answer is None:
        live.check_replayed()
        return None
    reasons = {choice: reason_text(why) for choice, why in answer.why.items()}
    return Outcome(answer.right, reasons | ({"": reason_text(answer.nobody)} if answer.nobody else {}))
