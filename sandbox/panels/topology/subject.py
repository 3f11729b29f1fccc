"""Whose rules the panel shows: those of an attempt as it counted, or those of a pod as its next attempt would count."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine.api.objects import Pod


@dataclass(frozen=True, slots=True)
class Subject:
    """``cycle``: the attempt whose counts are shown, None: those of the moment in view. ``when`` says so."""

    pod: Pod
    cycle: Cycle | None
    when: str

    @property
    def name(self) -> str:
        return short_name(self.pod.key)


def subject_of(world: World, view: View) -> Subject | str:
    """Return the subject, or the key of why there is none."""
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    if view.pod in world.pods and not view.cycle:
        pod = world.pods[view.pod].pod
        return _of(world, pod, cycle if cycle is not None and cycle.pod == view.pod else None, chosen=False)
    state = world.pod_of(cycle) if cycle is not None else None
    popped = cycle.popped if cycle is not None and cycle.popped is not None else state.pod if state else None
    if cycle is None or popped is None:
        return "topology.nothing-here" if world.attempts else "topology.nothing-yet"
    return _of(world, popped, cycle, chosen=bool(view.cycle))


def _of(world: World, pod: Pod, cycle: Cycle | None, *, chosen: bool) -> Subject | str:
    existing = world.pods.get(pod.key)
    is_there = existing is not None and existing.pod.uid == pod.uid
    if cycle is not None and cycle.pre_filter is not None:
        waits = is_there and existing is not None and not existing.node and bool(cycle.outcome)
        if chosen or not waits:
            if not world.witness.at_hand(cycle):
                return "topology.too-long-ago"
            return Subject(pod, cycle, say("topology.in-attempt", attempt=cycle.attempt, cycle=cycle.number))
    if cycle is not None and cycle.outcome and (chosen or not is_there):
        return "topology.never-counted"
    if existing is not None and existing.node:
        return Subject(pod, None, say("topology.placed-otherwise"))
    running = cycle is not None and not cycle.outcome
    return Subject(pod, None, say("topology.before-pre-filter" if running else "topology.next-attempt"))
