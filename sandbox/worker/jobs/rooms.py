"""What an engine does for questions to a room: it offers the choices of a prediction, and tells what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.panels.model.state import by_priority
from sandbox.storage.records import Position
from sandbox.worker.job import reading
from sandbox.worker.lessons.wording import worded
from sandbox.worker.live import Live
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.predictions import KINDS, Sight, asked, choices, judge
from scheduler_engine.scenario.attempts import Seen

PREDICTED = ("passes", "winner", "lane", "victims")
"""Questions about a pod that its next stages answer."""
NO_NODE = "no node"
"""A choice for those who think that a pod gets none."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A question as it is put, and after how many entries of the trace."""

    ask: str
    pod: str
    choices: tuple[str, ...]
    many: bool
    since: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """``right``: of a question for one, any of them is; ``why``: choice → the reason, "" → why none is right."""

    right: tuple[str, ...]
    why: dict[str, str]


@reading
def room_question(live: Live, position: Position, kind: str, pod: str) -> Prediction:
    """What can be answered now. ``pod``: its key, "" = the one in flight, else the next. Raises ``Rejected``."""
    if kind not in PREDICTED:
        raise Rejected("There is no such question.")
    live.move_to(position)
    key = pod or _next_pod(live)
    if not key or live.simulation.api.pod(key) is None:
        raise Rejected(f"There is no pod {key}." if key else "No pod is in flight, and none waits in activeQ.")
    question = Question(kind, pod=key, at=KINDS[kind].at)
    seen = Seen(live.simulation)
    offered = choices(seen, question) + ((NO_NODE,) if kind == "winner" else ())
    return Prediction(asked(question), key, offered, KINDS[kind].many, len(live.simulation.recorder.entries))


def _next_pod(live: Live) -> str:
    waiting = [queued for lane in ("inFlight", "activeQ") for queued in sorted(live.world.lane(lane), key=by_priority)]
    return waiting[0].move.pod if waiting else ""


@reading
def room_outcome(
    live: Live, position: Position, kind: str, pod: str, since: int, forked: tuple[int, int] | None
) -> Outcome | None:
    """What came of it; None: it has not come to it yet. Raises ``Rejected`` when there will never be an answer.

    ``since``: how many entries the trace had when it was asked. ``forked``: key and place of the last command that is
    still in the log, if another way was taken from there; the question then counts from its end.
    """
    if forked is not None and forked[1] < position.head:
        live.move_to(Position(*forked, position.length))
        since = len(live.simulation.recorder.entries)
    live.move_to(position)
    seen = Seen(live.simulation)
    question = Question(kind, pod=pod, at=KINDS[kind].at)
    judged = judge(question, since, Sight(live.simulation.recorder, lambda _: seen))
    if judged.none is not None and judged.none.key == "no-node":
        return Outcome((NO_NODE,), {NO_NODE: judged.none.values["message"]})
    if judged.none is not None:
        raise Rejected(worded(judged.none))
    found = judged.answer
    if found is None:
        return None
    told = {choice: worded(why) for choice, why in found.why.items()}
    return Outcome(found.right, told | ({"": worded(found.nobody)} if found.nobody else {}))
