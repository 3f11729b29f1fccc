"""Dry run of a command on a copy of the simulation: where would the pods run?"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

from sandbox.panels.facts.victims import evicted
from sandbox.storage.commands import to_text
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from sandbox.worker import simulations
from sandbox.worker.live import Live
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.queue.lanes import ACTIVE_Q, OUTSIDE
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

MOST_OBJECTS = 600
"""Nodes and pods of the largest cluster that is copied for a dry run."""
MOST_PODS = 40
"""Pods in one dry run."""
MOST_CYCLES = 2 * MOST_PODS
FAILED = ("unschedulable", "nominated", "error")
"""Outcomes of an attempt that leave the pod without a node."""
COUNTS = ("replicas", "parallelism")


def trial(live: Live, command: dict[str, Any]) -> list[str]:
    """Return sentences on where the pods that ``command`` creates would run, or the pods that its patch may help.

    Each pod has one attempt, after those ahead of it in the queue. The list is empty if ``command`` is invalid or
    concerns no pod.
    """
    if live.size > MOST_OBJECTS:
        return [say("trial.too-large", most=MOST_OBJECTS)]
    if sum(map(_pods, command.get("manifests", ()))) > MOST_PODS:
        return [say("trial.too-many", most=MOST_PODS)]
    simulation = copy.deepcopy(live.simulation)
    start = len(simulation.recorder.entries)
    waiting = _waiting(simulation, command)
    try:
        simulations.execute(simulation, to_text(command), is_new=True)
    except Rejected:
        return []  # The form says what is wrong.
    added = _added(simulation, start)
    if len(added) > MOST_PODS:  # A DaemonSet has as many as there are nodes.
        return [say("trial.too-many", most=MOST_PODS)]
    _run(simulation)
    entries = simulations.entries_from(simulation, start)
    if added:
        return _sentences(entries, added)
    return _sentences_for_waiting(entries, waiting) if waiting else []


def _waiting(simulation: Simulation, command: dict[str, Any]) -> list[str]:
    """Return the pods that a patch may help: the patched pod, else all that wait for an event."""
    if command["kind"] != "patch":
        return []
    lane_of = simulation.scheduler.queue.lane_of
    if command["object_kind"] == "Pod" and lane_of(command["key"]) != OUTSIDE:
        return [command["key"]]
    return [pod.key for pod in simulation.api.pods() if lane_of(pod.key) not in (OUTSIDE, ACTIVE_Q)]


def _added(simulation: Simulation, start: int) -> list[str]:
    """Return the pods added since entry ``start``."""
    events = (entry.event for entry in simulations.entries_from(simulation, start))
    return [event.key for event in events if isinstance(event, ev.ObjectAdded) and event.kind == "Pod"]


def _pods(manifest: dict[str, Any]) -> int:
    """Return how many pods a manifest creates at once. A count that is not an integer is refused later."""
    spec = manifest.get("spec") or {}
    counts = [spec[name] for name in COUNTS if isinstance(spec.get(name), int)]
    return max(counts, default=int(manifest.get("kind") == "Pod"))


def _run(simulation: Simulation) -> None:
    try:
        for _ in range(MOST_CYCLES):
            simulations.execute(simulation, '{"kind":"pod"}')
    except NothingToDo:
        return


def _sentences(entries: list[ev.Entry], pods: list[str]) -> list[str]:
    events = [entry.event for entry in entries]
    pod_of = {event.cycle: event.pod for event in events if isinstance(event, ev.CycleStarted)}
    failed = [
        event
        for event in events
        if isinstance(event, ev.CycleFinished) and event.outcome in FAILED and event.pod in pods
    ]
    lost = {event.cycle for event in failed}
    selected = (event for event in events if isinstance(event, ev.HostSelected) and event.cycle not in lost)
    nodes = {event.pod: event.node for event in selected if event.pod in pods}
    fit_errors = {event.cycle: event.message for event in events if isinstance(event, ev.PodUnschedulable)}
    filters = {pod_of.get(event.cycle): event for event in events if isinstance(event, ev.FilterRan)}
    post_filters = {pod_of.get(event.cycle): event for event in events if isinstance(event, ev.PostFilterRan)}
    sentences = []
    if nodes:
        sentences.append(_fits(nodes, filters[pods[0]]) if len(pods) == 1 else _several_fit(nodes, len(pods)))
    for event in failed[:1]:
        key = "trial.fails" if len(pods) == 1 else "trial.one-fails"
        message = fit_errors.get(event.cycle, event.message)
        sentences.append(say(key, pod=short_name(event.pod), message=message))
        preemption = post_filters.get(event.pod)
        if preemption is not None and preemption.victims:
            victims = evicted(preemption)
            key = "trial.preempts" if victims else "trial.waits-for-room"
            sentences.append(say(key, victims=listed(victims), node=preemption.nominated_node))
    waiting = len(pods) - len(nodes) - len(failed)
    return [*sentences, say("trial.not-tried", count=waiting)] if waiting > 0 else sentences


def _sentences_for_waiting(entries: list[ev.Entry], waiting: list[str]) -> list[str]:
    events = [entry.event for entry in entries]
    nodes = {event.pod: event.node for event in events if isinstance(event, ev.HostSelected) and event.pod in waiting}
    tried = {event.pod for event in events if isinstance(event, ev.CycleStarted) and event.pod in waiting}
    helped = plural(len(waiting), "waiting pod")
    if tried and len(waiting) == 1:
        return _sentences(entries, waiting)
    if not tried:
        return [say("trial.wakes-none", pods=helped)]
    if not nodes:
        return [say("trial.wakes-in-vain", count=len(tried), pods=helped)]
    return [say("trial.wakes", count=len(nodes), pods=helped, places=listed(_places(nodes), 6))]


def _fits(nodes: dict[str, str], ran: ev.FilterRan) -> str:
    (node,) = nodes.values()
    fit = {"count": len(ran.feasible), "nodes": plural(ran.all_nodes, "node"), "node": node}
    looked = len(ran.looked_at)
    return say("trial.fits", **fit) if looked == ran.all_nodes else say("trial.fits-so-far", looked=looked, **fit)


def _several_fit(nodes: dict[str, str], pods: int) -> str:
    return say("trial.several-fit", count=len(nodes), pods=pods, places=listed(_places(nodes), 6))


def _places(nodes: dict[str, str]) -> list[str]:
    return [say("trial.on", count=number, node=node) for node, number in Counter(nodes.values()).items()]
