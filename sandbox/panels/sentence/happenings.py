"""One sentence for what happens beside the scheduler: answers to evictions, drains, taints, and what a person did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.facts.kubelet_deeds import freed, removed_before, things
from sandbox.panels.model.eviction_log import Drain, Happening, Plan, Request
from sandbox.panels.model.node_health import Deed, Pressure
from sandbox.panels.model.world import World
from sandbox.panels.sentence.commanded import Parts, applied, commanded, on, without_button
from sandbox.words.amounts import clock, left, short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

DRAINS = {
    "started": "happenings.drain-started",
    "evicted": "happenings.drain-evicted",
    "finished": "happenings.drain-finished",
    "stopped": "happenings.drain-stopped",
}
NEEDS = {
    "force": "happenings.needs-force",
    "ignore_daemonsets": "happenings.needs-ignore-daemonsets",
    "delete_emptydir_data": "happenings.needs-delete-emptydir-data",
}
"""Field of a drain → key of which pods need its flag."""
PRESSURES = {
    (True, False): "happenings.kubelet-reports",
    (False, True): "happenings.kubelet-sees",
    (True, True): "happenings.kubelet-reports-and-sees",
}
"""(the kubelet reports other conditions, it sees other thresholds) → key."""


def happening(world: World) -> Happening | None:
    """Return the last happening, None if a scheduling cycle moved on since."""
    return world.evictions.news(world.latest.get(ev.StageFinished, 0))


def happening_sentence(world: World, last: Happening) -> dict[str, Any]:
    """Return the sentence on a happening, with Kubernetes' words and the number of its entry."""
    parts = SENTENCES[last.kind](world, last.item)
    return {
        "before": parts.before,
        "of": parts.kind,
        "key": parts.key,
        "name": short_name(parts.key),
        "text": parts.after,
        "next": parts.next,
        "precise": _precise(last.item),
        "n": last.n,
    }


def _precise(item: Any) -> str:
    """Return the same in Kubernetes' words, "" if there are none."""
    if isinstance(item, Request):
        return item.cause
    if isinstance(item, Drain):
        return item.error or item.warning
    if isinstance(item, Deed) and isinstance(item.event, (ev.PodEvicted, ev.PodRejected)):
        return item.event.message.strip()
    return ""


def _request(world: World, request: Request) -> Parts:
    if request.refused:
        parts = on("pod", "happenings.eviction-refused", request.pod, code=request.code, message=request.message)
        if request.times > 1:
            parts = parts.plus(say("happenings.asked-often", times=request.times))
        following = "happenings.when-one-budget-is-left" if request.code == 500 else "happenings.ask-again"
        return parts._replace(next=say(following))
    if request.then == "gone" and request.leaves_us is None:
        return on("pod", "happenings.evicted-at-once", request.pod)
    end = say("happenings.gone-at", clock=clock(request.leaves_us)) if request.leaves_us is not None else ""
    return on("pod", "happenings.eviction-allowed", request.pod, left=left(request.grace_us))._replace(next=end)


def _drain(world: World, drain: Drain) -> Parts:
    evicted = plural(len(drain.evicted), "pod")
    refused = listed([short_name(pod) for pod in drain.refused])
    if drain.what == "waiting":
        key = "happenings.drain-waits-after-some" if drain.evicted else "happenings.drain-waits"
        following = say("happenings.asks-again-at", clock=clock(drain.next_us)) if drain.next_us is not None else ""
        return on("node", key, drain.node, evicted=evicted, pods=refused)._replace(next=following)
    if drain.what == "failed":
        needs = listed([say(NEEDS[name]) for name in drain.helping])
        key = "happenings.drain-failed-at-once" if needs else "happenings.drain-failed"
        return on("node", key, drain.node, evicted=evicted, needs=needs, pods=refused)
    parts = on("node", DRAINS[drain.what], drain.node, evicted=evicted)
    if not drain.staying or drain.what == "stopped":
        return parts
    names = listed([short_name(pod) for pod in drain.staying])
    return parts.plus(say("happenings.daemons-stay", count=len(drain.staying), pods=names))


def _plan(world: World, plan: Plan) -> Parts:
    row, following = _turned(world, plan)
    # Other plans for the same node that changed in the same way at the same moment.
    others = sum(_turn(other) == _turn(plan) for other in world.evictions.plans.values()) - 1
    about: dict[str, Any] = {"node": plan.node, "taint": plan.taint, "seconds": plan.seconds, "why": plan.why}
    about |= {"count": others + 1, "others": plural(others, "more pod"), "clock": clock(plan.at_us)}
    return on("pod", row, plan.pod, **about)._replace(next=following)


def _turned(world: World, plan: Plan) -> tuple[str, str]:
    """Return the key of the sentence about a plan, and what comes next."""
    if plan.state == "planned":
        return "happenings.must-leave", say("happenings.to-go", left=left(plan.at_us - world.clock_us))
    if plan.state == "cancelled":
        return "happenings.may-stay", ""
    key = "happenings.not-tolerated" if plan.seconds is None else "happenings.tolerated-long-enough"
    return key, _soonest(world)


def _soonest(world: World) -> str:
    """Return which pod a taint evicts next."""
    plan = min(world.evictions.planned.values(), key=lambda item: item.at_us, default=None)
    if plan is None:
        return ""
    return say("happenings.must-leave-in", pod=short_name(plan.pod), left=left(plan.at_us - world.clock_us))


def _turn(plan: Plan) -> tuple[str, str, int]:
    return plan.state, plan.node, plan.since_us if plan.state == "planned" else plan.ended_us


def _expired(world: World, event: ev.CachePodChanged) -> Parts:
    return on("pod", "happenings.expired", event.pod, node=event.node)._replace(next=say("happenings.room-used-twice"))


def _deed(world: World, deed: Deed) -> Parts:
    event = deed.event
    if isinstance(event, ev.NodeResourcesReclaimed):
        key = "happenings.frees-enough" if deed.enough else "happenings.frees-too-little"
        about = {"things": things(deed.removed), "freed": freed(deed.removed), "threshold": event.threshold}
        return on("node", key, event.node, **about)
    if isinstance(event, ev.PodRejected):
        return on("pod", "happenings.rejected-by-kubelet", event.pod, node=event.node, reason=event.reason)
    grace = f"{event.grace_seconds} s"
    if not event.signal:
        return on("pod", "happenings.ended-for-a-critical-pod", event.pod, node=event.node, left=grace)
    low = event.message.partition(" Container ")[0].removesuffix(".")
    message = f"{low[:1].lower()}{low[1:]}"
    parts = on("pod", "happenings.evicted-by-kubelet", event.pod, node=event.node, message=message)
    if deed.above:
        parts = parts.plus(say("happenings.not-yet-reclaimed"))
    last = world.evictions.happened
    pod = world.pod_at(event.pod, last.n) if last is not None else None
    if pod is None or pod.pod.finished:
        parts = parts.plus(say("happenings.has-ended"))
    elif event.grace_seconds:
        parts = parts.plus(say("happenings.has-left", left=grace))
    first = removed_before(deed)
    return parts.plus(first) if first else parts


def _pressure(world: World, pressure: Pressure) -> Parts:
    conditions = (("happenings.reports", pressure.began), ("happenings.reports-no-more", pressure.ended))
    reports = [say(key, conditions=listed(list(names))) for key, names in conditions if names]
    sees = [say("happenings.must-last", threshold=text, clock=clock(until)) for text, until in pressure.waits]
    sees += [say("happenings.holds-no-more", threshold=text) for text in pressure.calmed]
    key = PRESSURES[bool(reports), bool(sees)]
    return on("node", key, pressure.node, reports=listed(reports), thresholds="; ".join(sees))


SENTENCES: dict[str, Callable[[World, Any], Parts]] = {
    "answer": _request,
    "drain": _drain,
    "plan": _plan,
    "command": commanded,
    "applied": applied,
    "clock": lambda _, __: without_button(""),  # What the move meant for waiting pods says it all.
    "expired": _expired,
    "deed": _deed,
    "pressure": _pressure,
    "election": lambda _, text: without_button(text),
}
