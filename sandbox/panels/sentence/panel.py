"""One pod, one stage, one sentence: what just happened, and what comes next.

If something beside the scheduler (an answer to an eviction, a drain) is newer than the last stage, the sentence is
about that.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.explain import explain_stage
from sandbox.panels.facts.expectable import FAILED
from sandbox.panels.facts.sentences import sentence
from sandbox.panels.facts.stages import tab_for
from sandbox.panels.facts.version import purpose
from sandbox.panels.model.eviction_log import Happening
from sandbox.panels.model.state import Cycle, by_expiry, by_priority, leaves_us
from sandbox.panels.model.steps import next_steps, untouched
from sandbox.panels.model.stuck import Stuck
from sandbox.panels.model.world import World
from sandbox.panels.sentence import effects
from sandbox.panels.sentence.happenings import happening, happening_sentence
from sandbox.panels.view import View
from sandbox.words.amounts import clock, short_name
from sandbox.words.phrases import LEAVES, plural
from sandbox.words.say import say
from scheduler_engine.framework.extension_points import STAGE_INDEX, STAGES

NEXT = {
    "PostFilter": "sentence.post-filter-is-next",
    "Assume": "sentence.assume-is-next",
    "SelectHost": "sentence.select-is-next",
}


def stats(world: World, view: View) -> dict[str, Any]:
    """Return the sentence. ``how``: what to press. ``steps``: the scenario's next. ``red``: failing expectations."""
    if world.stuck is not None:
        return {**_idle_at(world, view), **_stuck(world.stuck), "steps": None, "red": 0}
    past = world.present is not None
    return {
        **_sentence(world, view),
        "red": world.expected.red(),
        "back": None,
        "past": past,
        "when": clock(world.clock_us),
        "steps": None if past else next_steps(world),
    }


def as_text(world: World, view: View) -> str:
    """Return the sentence as plain text, without what to press."""
    shown = stats(world, view)
    who = f"{shown['name']} at {shown['stage']}: " if shown["pod"] else ""
    beside = f"{shown.get('before', '')}{shown.get('name', '')}" if shown.get("beside") else ""
    return f"{who}{beside}{shown['text']}"


def _said(world: World, cycle: Cycle) -> str:
    """Return what happened at the last stage: what plugins set aside in Reserve or wrote in PreBind, if they say so."""
    stage, ran = cycle.last_stage, cycle.plugins.get(cycle.last_stage)
    if stage not in ("Reserve", "PreBind") or ran is None or not world.witness.at_hand(cycle):
        return sentence(cycle)
    if any(code not in ("Success", "Skip", "Wait") for _, code, _ in ran.verdicts):
        return sentence(cycle)
    explanations = explain_stage(world, cycle, stage)
    return " ".join(explanation.sentence for _, explanation in explanations) or sentence(cycle)


def _stuck(stuck: Stuck) -> dict[str, Any]:
    """Return where the log stops. ``back``: the number of the last command that can be repeated.

    ``anew``: a copy of the sandbox would go on from there.
    """
    return {
        "text": f"{stuck.text} {say('sentence.state-before')}",
        "anew": stuck.differs,
        "how": say("sentence.how-to-continue"),
        "next": "",
        "precise": "",
        "back": stuck.command - 1,
    }


def _idle_at(world: World, view: View) -> dict[str, Any]:
    """Return the data of the panel while no pod is being scheduled."""
    cycle = world.cycle_in_view(view.cycle)
    text, how = _idle(world)
    return {
        "pod": "",
        "stage": "",
        "text": text,
        "how": how,
        "next": _first(world),
        "precise": "",
        "tab": tab_for(cycle),
        "cycle": cycle.number if cycle else 0,
        "replica": "",
    }


def _sentence(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    last = None if cycle is not world.cycle else happening(world)
    parts = _beside(world, last, cycle) if last is not None else None
    if parts is not None:
        number = cycle.number if cycle else 0
        return {"beside": True, "pod": "", "tab": tab_for(cycle), "cycle": number, **parts}
    if cycle is None:
        return _idle_at(world, view)
    stage = STAGE_INDEX.get(cycle.last_stage)
    effect = effects.of_stage(world) if cycle is world.cycle else ""
    return {
        "replica": cycle.replica if world.election.several else "",
        "pod": cycle.pod,
        "name": short_name(cycle.pod),
        "stage": STAGES[stage].title if stage is not None else "Pop",
        "says": purpose(cycle.last_stage, cycle.configured) if stage is not None else "",
        "text": " ".join(filter(None, (_said(world, cycle), _faster(world, cycle), _taken(world, cycle), effect))),
        "after": _after(world, cycle) if _is_over(cycle) else "",
        "next": _next(world, cycle),
        "precise": _precise(cycle),
        "tab": tab_for(cycle),
        "cycle": cycle.number,
    }


def _beside(world: World, last: Happening, cycle: Cycle | None) -> dict[str, Any] | None:
    """Return what happened, what it meant for waiting pods, and what comes next; None if there is nothing to say."""
    if untouched(world):
        return None
    parts = happening_sentence(world, last)
    effect = effects.of_happening(world) if cycle else _guide(world, last)
    if not (parts["name"] or parts["text"] or effect):
        return None
    answers = "" if parts["precise"] else effects.precise_answers(world)
    return {
        **parts,
        "text": f"{parts['text']} {effect}" if effect else parts["text"],
        "how": _idle(world)[1] if effect and not cycle else "",
        "next": parts["next"] or _following(world, cycle),
        "precise": parts["precise"] or answers,
        "answers": bool(answers),
    }


def _following(world: World, cycle: Cycle | None) -> str:
    """Return the next stage of the running attempt, else the next pod in the queue; "" if nobody continues."""
    if world.election.idle() or (cycle is not None and world.election.is_paused(cycle.replica)):
        return ""
    if cycle is not None and not cycle.outcome and cycle.next_stage in STAGE_INDEX:
        stage = STAGES[STAGE_INDEX[cycle.next_stage]].title
        return say("effects.goes-on", stage=stage, pod=short_name(cycle.pod))
    soonest = min(world.lane("backoffQ"), key=by_expiry, default=None)
    if world.lane("activeQ") or soonest is None or soonest.move.backoff_until_us is None:
        return _first(world)
    pod, ends = short_name(soonest.move.pod), clock(leaves_us(soonest.move, soonest.move.backoff_until_us))
    if world.configured is not None and world.configured.queue_rules == "design-doc":
        return say("effects.backoff-ends", pod=pod, clock=ends)
    return say("effects.pops-early", pod=pod)


def _guide(world: World, last: Happening) -> str:
    """Return what to do if nothing was scheduled yet; "" if a change of a replica already says why nobody schedules."""
    if last.kind == "election" and world.election.idle():
        return ""
    return _idle(world)[0] if world.lane("activeQ") or (world.nodes and not world.pods) else ""


def _idle(world: World) -> tuple[str, str]:
    """Return why no pod is being scheduled, and what to press, "" if that would not help."""
    if not world.nodes and not world.pods:
        return say("sentence.nothing-here"), say("sentence.how-to-begin")
    if why := world.election.idle():
        return why, ""
    if waiting := len(world.lane("activeQ")):
        return say("sentence.waiting", count=waiting), say("sentence.how-to-pop")
    if world.pods:
        return say("sentence.nobody-waits"), ""
    return say("sentence.no-pod-yet", nodes=plural(len(world.nodes), "node")), say("sentence.how-to-add")


def _first(world: World) -> str:
    first = None if world.election.idle() else min(world.lane("activeQ"), key=by_priority, default=None)
    return say("sentence.pop-takes", pod=short_name(first.move.pod)) if first else ""


def _faster(world: World, cycle: Cycle) -> str:
    """Say that another replica bound the pod, if that is why this one could not."""
    if cycle.outcome != "error":
        return ""
    attempts = reversed(world.attempts[cycle.pod])
    others = (other for other in attempts if other.replica != cycle.replica and other.is_of(cycle.uid))
    faster = next((other for other in others if (mark := other.mark("Bind")) and mark.next_stage == "PostBind"), None)
    return say("sentence.another-was-faster", replica=faster.replica) if faster else ""


def _taken(world: World, cycle: Cycle) -> str:
    """Say that the name of the failed pod now belongs to another pod, which gets the condition."""
    if not cycle.taken or cycle.outcome not in FAILED:
        return ""
    leaks = any(cycle.uid in scheduler.replaced for scheduler in world.schedulers.values())
    key = "sentence.name-taken-and-leaked" if leaks else "sentence.name-taken"
    return say(key, pod=short_name(cycle.pod))


def _next(world: World, cycle: Cycle) -> str:
    """Return what Stage does next, "" if nothing."""
    following = cycle.next_stage
    if _is_over(cycle):
        return say("sentence.stage-pops") if world.lane("activeQ") else ""
    if following == "SelectHost" and cycle.normalized is None:
        return say("sentence.select-without-total-is-next")
    if following in NEXT:
        return say(NEXT[following])
    return STAGES[STAGE_INDEX[following]].title if following in STAGE_INDEX else following


def _is_over(cycle: Cycle) -> bool:
    return bool(cycle.outcome) or not cycle.next_stage


def _after(world: World, cycle: Cycle) -> str:
    """Return where the pod of an attempt that is over is now, and say if no other pod waits."""
    where = _where(world, cycle)
    return where if world.lane("activeQ") else say("sentence.nothing-waits", where=where)


def _where(world: World, cycle: Cycle) -> str:
    pod = world.pods.get(cycle.pod)
    if pod is None or not cycle.is_of(pod.pod.uid):
        return say("sentence.it-is-gone")
    if _faster(world, cycle):
        return say("sentence.runs-by-the-other")
    if pod.pod.finished:
        return say("sentence.it-has-ended")
    node = world.nodes.get(cycle.selected.node) if cycle.selected is not None else None
    if cycle.outcome == "bound" and node is not None and node.ghost:
        return say("phrases.after-bound-to-a-ghost")
    # Whoever bound it: a failed attempt does not bring it back to the queue then.
    outcome = "bound" if pod.pod.node_name and cycle.outcome in FAILED else cycle.outcome
    return say(LEAVES.get(outcome, "sentence.attempt-is-over"))


def _precise(cycle: Cycle) -> str:
    """Return the same in Kubernetes' words, "" if there are none."""
    if cycle.message or cycle.fit_error is None or cycle.last_stage not in ("Filter", "PostFilter"):
        return cycle.message
    return cycle.fit_error.message
