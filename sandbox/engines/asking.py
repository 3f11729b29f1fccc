"""What an engine does for questions to a room: it offers the choices of a prediction, and tells what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.live import Live
from sandbox.panels.model.state import by_priority
from sandbox.records import Position
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.predictions import KINDS, answer, asked, choices
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.trace import events as ev

PREDICTED = ("passes", "winner", "lane", "victims")
"""Questions about a pod that its next stages answer."""
NO_NODE = "no node"
"""A choice for who thinks that a pod gets none; the trace has no answer then, only the end of the attempt."""


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
    """``right``: of a question for one, any of them is; ``why``: choice → what the trace says of it."""

    right: tuple[str, ...]
    why: dict[str, str]


def room_question(live: Live, position: Position, kind: str, pod: str) -> Prediction:
    """What can be answered now. ``pod``: its key, "" = the one in flight, else the next. Raises ``Rejected``."""
    if kind not in PREDICTED:
        raise Rejected("There is no such question.")
    live.move_to(position)
    key = pod or _next_pod(live)
    if not key or live.simulation.api.pod(key) is None:
        raise Rejected(f"There is no pod {key}." if key else "No pod is in flight, and none waits in activeQ.")
    question = Question(kind=kind, pod=key)
    seen = Seen(live.simulation)
    offered = choices(seen, question) + ((NO_NODE,) if kind == "winner" else ())
    return Prediction(asked(question), key, offered, KINDS[kind].many, len(live.simulation.recorder.entries))


def _next_pod(live: Live) -> str:
    waiting = [queued for lane in ("inFlight", "activeQ") for queued in sorted(live.world.lane(lane), key=by_priority)]
    return waiting[0].move.pod if waiting else ""


def room_outcome(live: Live, position: Position, kind: str, pod: str, since: int) -> Outcome | None:
    """What came of it; None: it has not come to it yet."""
    live.move_to(position)
    found = answer(Seen(live.simulation), Question(kind=kind, pod=pod), since)
    if found is not None:
        return Outcome(found.right, dict(found.why))
    return _without_a_node(live, pod, since) if kind == "winner" else None


def _without_a_node(live: Live, pod: str, since: int) -> Outcome | None:
    for entry in live.simulation.recorder.entries[since:]:
        event = entry.event
        if isinstance(event, ev.PodUnschedulable) and event.pod == pod:
            return Outcome((NO_NODE,), {NO_NODE: event.message})
    return None
