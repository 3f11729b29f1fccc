"""The words for what would let a pod run, one phrase at a time, for a terminal and for a page."""

from __future__ import annotations

from scheduler_engine import wording
from scheduler_engine.answers.changes import Change
from scheduler_engine.answers.fixes import MOST_CHANGES, Fix, strangers
from scheduler_engine.answers.lasting import settled_after
from scheduler_engine.answers.looking import is_pending
from scheduler_engine.answers.patches import Patch
from scheduler_engine.answers.phases import Phase, phase_of
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Keys
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say


def sentence(fix: Fix) -> str:
    """Return what to change and what follows."""
    changes = ". ".join(_in_words(item) for item in fix.changes)
    victims = wording.written({"pods": Keys(fix.victims)})["pods"]
    if not fix.victims:
        return say("fixes.places", changes=changes, node=fix.node)
    if not fix.changes:
        return say("fixes.preempts-anyway", victims=victims, node=fix.node)
    return say("fixes.preempts", changes=changes, victims=victims, node=fix.node)


def _in_words(item: Change) -> str:
    plain = dict(item.values)
    values = {**wording.written(plain), "count": plain.get("count")}
    makes_again = item.kind == "delete" and "owner" in values
    return say("fixes.delete-owned", **values) if makes_again else say(f"fixes.{item.kind}", **values)


def step(patch: Patch) -> str:
    """Return the command to copy, or what to do with the manifest of the patch."""
    return say(f"fix-steps.{patch.how}", **patch.places)


def needless(simulation: Simulation, pod: Pod) -> str:
    """Return why no change of the pod or of the cluster is needed, or helps; "" if one may."""
    if not is_pending(pod):
        return say("fixes.not-pending", pod=pod.key)
    if not simulation.replicas.works():
        return say("refusals.nobody-leads")
    phase = phase_of(simulation, pod)
    return "" if phase is None else _in_phase(pod.key, phase)


def _in_phase(pod: str, phase: Phase) -> str:
    if phase.permit:
        return say("fixes.waits-on-permit", pod=pod, by=", ".join(phase.permit), node=phase.node)
    if phase.victims:
        victims = wording.written({"pods": Keys(phase.victims)})["pods"]
        return say("fixes.waits-for-room", pod=pod, node=phase.node, victims=victims, count=len(phase.victims))
    return say("fixes.being-bound", pod=pod, node=phase.node, stage=phase.stage)


def _fits(simulation: Simulation, pod: Pod) -> str:
    """Return that the filters let a pod in; and what stops it later, such as a Permit plugin."""
    tried = settled_after(simulation, pod, ()).api.pod(pod.key)
    if tried is not None and tried.node_name:
        return say("fixes.fits", pod=pod.key)
    conditions = tried.conditions if tried is not None else ()
    message = next((item.get("message", "") for item in conditions if item.get("type") == "PodScheduled"), "")
    key = "fixes.stopped-later" if message else "fixes.stopped-later-silently"
    return say(key, pod=pod.key, message=message)


def none_found(simulation: Simulation, pod: Pod, tries: int) -> str:
    """Return why no change was found after that many ``tries``; 0: nothing needs to change, or there is no node."""
    if not tries:
        return _fits(simulation, pod) if any(simulation.api.list("Node")) else say("fixes.no-nodes", pod=pod.key)
    if others := strangers(simulation, pod):
        return say("fixes.strangers", pod=pod.key, who=", ".join(others), count=len(others))
    return say("fixes.nothing", pod=pod.key, most=MOST_CHANGES, count=tries)
