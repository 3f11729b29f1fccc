"""Preemption: the candidates, the film of one of them, and the ladder of criteria with where each one fell."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import expectable
from sandbox.panels.facts.extenders import calls, said
from sandbox.panels.facts.search_end import PREEMPTION, SearchEnd, looked_for_room, search_end
from sandbox.panels.facts.sentences import verdict_counts
from sandbox.panels.facts.victims import evicted, spared_sentences
from sandbox.panels.facts.whose import attempt_shown
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.preemption.film import film, pod_block
from sandbox.panels.preemption.ladder import ladder
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from scheduler_engine.trace.events import NO_VICTIMS, PreemptionLimited, PreemptionNodeTried

CANDIDATES, OTHERS, PAGE = 50, 30, 100
"""Candidates on one page; nodes that cannot help, at first and on one page."""

PLAINLY = {
    NO_VICTIMS: "preemption.nobody-lower",
    "Preemption is not helpful for scheduling": "preemption.not-helpful",
}
NO_SEARCH: dict[SearchEnd, str] = {
    "": "preemption.not-yet-filtered",
    "stopped": "preemption.never-filtered",
    "failed": "preemption.search-failed",
}
"""How the search ended without a table → key of why there is no preemption."""
NOT_NEEDED: dict[SearchEnd, str] = {
    "nominated": "preemption.nominated-fits",
    "enough": "preemption.enough-fit",
    "all": "preemption.not-needed",
}
"""How the search ended, if a node fits → key of why there is no preemption."""
WITHOUT_POST_FILTER = {"": "preemption.comes-next", "abandoned": "preemption.abandoned"}
"""Outcome of an attempt without PostFilter → key of why; otherwise no plugin is enabled."""
INELIGIBLE = {"never": "preemption.never-preempts", "waiting": "preemption.waits-for-a-victim"}


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    base: dict[str, Any] = {
        "cycle": cycle.number if cycle else 0,
        "has": False,
        "whose": attempt_shown(world, cycle),
    }
    if cycle is None:
        return base | {"empty": say("preemption.nothing-here" if world.attempts else "preemption.nothing-yet")}
    if cycle.post_filter is None and not cycle.tried:
        return base | {"empty": _why_none(cycle)}
    candidates = [tried for tried in cycle.tried if not tried.rejected]
    others = [tried for tried in cycle.tried if tried.rejected]
    chosen = cycle.post_filter.nominated_node if cycle.post_filter else ""
    fell = {node: rung for rung, applied in enumerate(cycle.ladder, 1) for node in applied.fallen}
    dropped = {node: asked.extender for asked in calls(cycle, "preempt") for node in asked.nodes if asked.drops(node)}
    places = {name: place for place, name in enumerate(world.cache.order, 1)}
    ordered = sorted(candidates, key=lambda tried: (tried.node != chosen, -fell.get(tried.node, 99)))
    pages = pager(len(ordered), view, "preemption", CANDIDATES)
    other_pages = pager(len(others), view, "preemption.others", PAGE, few=OTHERS)
    selected = _selected(cycle, view.node, chosen, candidates, others)
    rungs, idle = ladder(world, cycle, chosen)
    return base | {
        "has": True,
        "expectable": [one for one in expectable.of_attempt(cycle) if one["fact"] == "victims"],
        "chosen": chosen,
        "candidates": [
            {
                "node": tried.node,
                "place": places.get(tried.node, 0),
                "chosen": tried.node == chosen,
                "shown": selected is not None and tried.node == selected.node,
                "fell": fell.get(tried.node, 0),
                "dropped": dropped.get(tried.node, ""),
                "surplus": cycle.limited is not None and tried.node in cycle.limited.surplus,
                "victims": _victims(world, cycle, tried),
            }
            for tried in on_page(ordered, pages)
        ],
        "others": [
            {"node": tried.node, "why": _plainly(tried.rejected), "precise": tried.rejected}
            for tried in on_page(others, other_pages)
        ],
        "candidate_count": len(candidates),
        "pages": pages,
        "other_pages": other_pages,
        "not_helped": _not_helped(cycle, len(others)),
        "verdicts": _verdicts(cycle),
        "film": film(world, cycle, selected) if selected else None,
        "ladder": rungs,
        "criteria_left": idle,
        "summary": _summary(cycle, chosen),
        "limit": _limit(cycle.limited),
        "cleared": _cleared(cycle),
        "background": _background(cycle),
        "extenders": said(cycle, "preempt"),
    }


def _limit(limited: PreemptionLimited | None) -> str:
    """Return how the limit of candidates bounded the dry run, "" without one."""
    if limited is None:
        return ""
    about: dict[str, Any] = {
        "first": limited.first,
        "tried": limited.tried,
        "nodes": limited.nodes,
        "wanted": limited.candidates_to_find,
        "percentage": limited.percentage,
        "absolute": limited.absolute,
    }
    if not limited.candidates_to_find:
        return say("preemption.none-looked-for", **about)
    text = say("preemption.stopped" if limited.tried < limited.nodes else "preemption.tried-all", **about)
    return f"{text} {_surplus(limited.surplus)}".rstrip()


def _surplus(nodes: tuple[str, ...]) -> str:
    return say("preemption.surplus", count=len(nodes), nodes=listed(list(nodes))) if nodes else ""


def _background(cycle: Cycle) -> str:
    """Return what happens in the background, "" if all victims were already leaving."""
    ran = cycle.post_filter
    done = ran is not None and any(dict(ran.not_deleted).get(victim) != "terminating" for victim in ran.victims)
    return say("preemption.in-the-background") if done else ""


def _cleared(cycle: Cycle) -> str:
    """Return which pods lost their nomination to the chosen node."""
    cleared = cycle.post_filter.cleared_nominations if cycle.post_filter else ()
    if not cleared:
        return ""
    names = listed([short_name(key) for key in cleared])
    return say("preemption.withdrawn-first", count=len(cleared), pods=names)


def _why_none(cycle: Cycle) -> str:
    name, end = short_name(cycle.pod), search_end(cycle)
    if end in NO_SEARCH:
        return say(NO_SEARCH[end], pod=name)
    if cycle.filter is not None and cycle.filter.feasible:
        fit = cycle.filter.feasible
        nodes = plural(len(fit), "node")
        return say(NOT_NEEDED[end], nodes=nodes, count=len(fit), node=fit[0], pod=name)
    nothing = say("preemption.none-left" if end == "refused" else "preemption.none-fits", pod=name)
    return f"{nothing} {say(WITHOUT_POST_FILTER.get(cycle.outcome, 'preemption.nobody-asked'))}"


def _plainly(rejected: str) -> str:
    """Return why a node cannot help, in Kubernetes' words if there are no plainer ones."""
    key = PLAINLY.get(rejected)
    return say(key) if key else rejected


def _not_helped(cycle: Cycle, tried: int) -> int:
    _, _, hard = verdict_counts(cycle)
    return tried + hard


def _verdicts(cycle: Cycle) -> list[dict[str, str]]:
    verdicts = cycle.post_filter.verdicts if cycle.post_filter else ()
    return [{"plugin": plugin, "code": code, "reasons": "; ".join(reasons)} for plugin, code, reasons in verdicts]


def _selected(
    cycle: Cycle, node: str, chosen: str, candidates: list[PreemptionNodeTried], others: list[PreemptionNodeTried]
) -> PreemptionNodeTried | None:
    by_node = {tried.node: tried for tried in cycle.tried}
    return by_node.get(node) or by_node.get(chosen) or next(iter(candidates or others), None)


def _victims(world: World, cycle: Cycle, tried: PreemptionNodeTried) -> list[dict[str, Any]]:
    """Return the victims. ``budget``: the budgets that the eviction would violate, None: none, "": unknown ones."""
    violated = world.witness.violated(cycle, tried.node) if tried.violating else {}
    budgets = {key: ", ".join(short_name(name) for name in violated.get(key, ())) for key in tried.violating}
    return [{"pod": pod_block(world, cycle, key), "budget": budgets.get(key)} for key in tried.victims]


def _summary(cycle: Cycle, chosen: str) -> str:
    ran = cycle.post_filter
    if ran is None:
        return say("preemption.works-on-copies")
    if chosen and ran.victims:
        names = evicted(ran)
        key = "preemption.must-go" if names else "preemption.room-is-coming"
        text = say(key, victims=listed(names), pod=short_name(cycle.pod), node=chosen)
        return f"{text} {spared_sentences(ran)}".rstrip()
    if ran.ineligible:
        return say(INELIGIBLE[ran.ineligible], pod=short_name(cycle.pod), node=ran.waits_for)
    if chosen:
        return say("preemption.nominated", pod=short_name(cycle.pod), node=chosen)
    failed = next((texts for plugin, code, texts in ran.verdicts if plugin == PREEMPTION and code == "Error"), None)
    if failed and any(not tried.rejected for tried in cycle.tried):
        return say("preemption.could-not-evict", pod=short_name(cycle.pod), reasons="; ".join(failed))
    if not looked_for_room(cycle) and ran.verdicts:
        plugin, code, texts = ran.verdicts[-1]
        key = "preemption.failed-before" if code == "Error" else "preemption.nobody-tried"
        return say(key, plugin=plugin, reasons="; ".join(texts) or say("stages.no-reason"))
    reasons = [reason for _, _, texts in ran.verdicts for reason in texts]
    return reasons[-1] if reasons else say("preemption.no-candidate")
