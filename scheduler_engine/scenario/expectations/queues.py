"""Where pods wait, for how long, and the nodes reserved for them."""

from __future__ import annotations

from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.queue.lanes import (
    ACTIVE_Q,
    BACKOFF_Q,
    ERROR_BACKOFF_Q,
    GATED,
    IN_FLIGHT,
    UNSCHEDULABLE_PODS,
)
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations.vocabulary import POD, WHOLE, Assertion, differs
from scheduler_engine.shapes import Data, ListOf, Number, Text
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.words import say

NOWHERE = "nowhere"
PLACES = {NOWHERE: "failures.nowhere", IN_FLIGHT: "failures.in-flight"}
"""Lane that is no queue → its row."""
LANES = (ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q, UNSCHEDULABLE_PODS, GATED, IN_FLIGHT, NOWHERE)


def lane_of(run: RunView, key: str) -> str:
    """Return one of ``LANES``."""
    queue, pod = run.simulation.scheduler.queue, run.simulation.api.pod(key)
    lane = queue.lane_of(key)
    if not lane and pod is not None and pod.uid in queue.active_q.in_flight:
        return IN_FLIGHT
    return lane or NOWHERE


def place_of(lane: str) -> str:
    """Return a lane as a sentence says it."""
    return say(PLACES.get(lane, "failures.in-lane"), lane=lane)


def queued(run: RunView, key: str) -> QueuedPodInfo | None:
    """Return the queue's data on a waiting pod."""
    lanes = run.simulation.scheduler.queue.lanes().values()
    return next((info for lane in lanes for info in lane if info.pod.key == key), None)


def backoff(run: RunView, key: str) -> tuple[float, float] | None:
    """Return (seconds from the failure to the end, simulated second of the end) of a backoff; None without one."""
    queue = run.simulation.scheduler.queue
    info = queue.backoff_q.get(key)
    until = queue.backoff_q.expiration_us(info) if info is not None else None
    if info is None or until is None:
        return None
    return (until - info.timestamp_us) / SECOND_US, until / SECOND_US


def _waits(run: RunView, expectation: Data) -> list[str]:
    key = expectation["waits"]
    lane = lane_of(run, key)
    if lane != expectation["in"]:
        return differs(f"{key}:", place_of(lane), place_of(expectation["in"]))
    failures: list[str] = []
    seconds, until = backoff(run, key) or (0, 0)
    if "seconds" in expectation and seconds != expectation["seconds"]:
        failures.append(say("failures.backs-off-for", pod=key, actual=seconds, wanted=expectation["seconds"]))
    if "until" in expectation and until != expectation["until"]:
        failures.append(say("failures.backs-off-until", pod=key, actual=until, wanted=expectation["until"]))
    info = queued(run, key)
    if "attempts" in expectation:
        failures += differs(f"{key}: attempts", info.attempts if info else 0, expectation["attempts"])
    if "plugins" in expectation:
        plugins = sorted({**info.unschedulable_plugins, **info.pending_plugins}) if info else []
        failures += differs(say("failures.refused-by", pod=key), plugins, sorted(expectation["plugins"]))
    return failures


def _nomination(run: RunView, expectation: Data) -> list[str]:
    key = expectation["nomination"]
    return differs(say("failures.nominated-to", pod=key), nominated(run, key), expectation["node"])


def nominated(run: RunView, key: str) -> str:
    """Return the node that the scheduler reserves for a pod, or ""."""
    pod = run.simulation.api.pod(key)
    return run.simulation.scheduler.queue.nominator.nodes.get(pod.uid, "") if pod is not None else ""


ASSERTIONS = {
    "waits": Assertion(
        _waits,
        say("expectation-keys.waits"),
        POD,
        {
            "in": Text(say("expectation-keys.waits-in"), values=LANES),
            "seconds": Number(say("expectation-keys.waits-seconds"), least=0),
            "until": Number(say("expectation-keys.waits-until"), least=0),
            "attempts": WHOLE,
            "plugins": ListOf(Text(), say("expectation-keys.waits-plugins")),
        },
        ("in",),
    ),
    "nomination": Assertion(
        _nomination,
        say("expectation-keys.nomination"),
        POD,
        {"node": Text(say("expectation-keys.nomination-node"))},
        ("node",),
    ),
}
