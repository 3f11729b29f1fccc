"""Why a pod is where it is, and why it is not elsewhere, in the sentences on each verdict and score."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.explain import explain_dry_run, explain_filter, explain_score, explain_stage
from sandbox.panels.facts.brief import brief_refusal
from sandbox.panels.facts.verdicts import helps
from sandbox.panels.model.state import Cycle, PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import signed
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine import wording

FEW, PAGE = 12, 60
RELATIVE = ("InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeResourcesBalancedAllocation")
"""Plugins whose score may argue against the winner, although they prefer it to a node that is worse still."""

AMONG_EQUALS = {"draw": "inspector.drawn", "first": "inspector.first-of-equals"}
"""How a node was chosen among equals → key of the sentence."""


def why_here(world: World, pod: PodState, cycle: Cycle | None) -> dict[str, Any] | None:
    """Return by what the chosen node won. ``plugin``: the score that decided most; ``says``: its explanation there.

    ``cycle``: the attempt, if the node was drawn.
    """
    if cycle is None or cycle.selected is None:
        if pod.pod.node_name and cycle is None:
            return {"node": pod.pod.node_name, "text": say("inspector.created-with-node")}
        return None
    chosen = cycle.selected
    if chosen.how == "only":
        return {"node": chosen.node, "text": say(_why_only(cycle))}
    if chosen.how in AMONG_EQUALS:
        others = listed([node for node in chosen.ties if node != chosen.node])
        text = say(AMONG_EQUALS[chosen.how], total=chosen.total, others=others)
        return {"node": chosen.node, "text": text, "cycle": cycle.number if chosen.how == "draw" else 0}
    text = say("inspector.highest", total=chosen.total)
    return {"node": chosen.node, "text": text} | _edge(world, cycle, chosen.node)


def _why_only(cycle: Cycle) -> str:
    """Return the key of why no score was needed."""
    if cycle.filter is None:
        return "inspector.only-one"
    alone = "inspector.only-node" if cycle.filter.all_nodes == 1 else "inspector.only-one"
    return {"nominated": "inspector.only-nominated", "enough": "inspector.only-first"}.get(
        cycle.filter.cut_short, alone
    )


def _edge(world: World, cycle: Cycle, winner: str) -> dict[str, str]:
    """Return the score by which the winner gains most on the runner-up, and the one by which it loses most."""
    if cycle.normalized is None:
        return {}
    others = sorted((item for item in cycle.normalized.totals if item[0] != winner), key=lambda item: -item[1])
    weighted = {plugin: dict(rows) for plugin, rows in cycle.normalized.weighted}
    if not others or not weighted:
        return {}
    second = others[0][0]
    changes = sorted((rows.get(winner, 0) - rows.get(second, 0), plugin) for plugin, rows in weighted.items())
    gain, best = changes[-1]
    if gain <= 0:
        return {}
    loss, worst = changes[0]
    if loss < 0:
        edge = say("inspector.gains-and-loses", other=second, by=best, gain=gain, worst=worst, loss=signed(loss))
    else:
        edge = say("inspector.gains", other=second, by=best, gain=gain)
    return {"edge": edge, "plugin": best, "says": _says(world, cycle, best, winner, second)}


def _says(world: World, cycle: Cycle, plugin: str, winner: str, second: str) -> str:
    """Return why ``plugin`` prefers the winner. A relative score is compared with that of the runner-up."""
    ours = explain_score(world, cycle, winner, plugin).sentence
    if cycle.normalized is None or plugin not in RELATIVE:
        return ours
    theirs = explain_score(world, cycle, second, plugin).sentence
    scores = dict(dict(cycle.normalized.normalized)[plugin])
    lower = say("inspector.normalized", node=winner, score=scores[winner], other=second, less=scores[second])
    return f"{ours} {theirs} {lower}"


def prepared(world: World, cycle: Cycle | None) -> list[dict[str, Any]]:
    """Return what plugins set aside and wrote for the pod on the chosen node, stage by stage."""
    if cycle is None:
        return []
    return [
        {"stage": stage, "plugin": plugin, "says": explanation.sentence, "lines": explanation.lines}
        for stage in ("Reserve", "PreBind")
        for plugin, explanation in explain_stage(world, cycle, stage)
    ]


def dry_run(world: World, cycle: Cycle | None, node: str) -> str:
    """Return why the node is a candidate for preemption, why not, or why it was not tried; "" without preemption."""
    if cycle is None or cycle.post_filter is None:
        return ""
    tried = next((item for item in cycle.tried if item.node == node), None)
    facts = world.witness.dry_run(cycle, node) if tried is None else explain_dry_run(world, cycle, tried)
    return wording.sentence(facts.facts) if facts is not None else ""


def why_not(world: World, cycle: Cycle | None, view: View) -> dict[str, Any]:
    """Return the nodes that refused, grouped by their answer; ``says`` explains the refusal of the first one."""
    if cycle is None or cycle.filter is None:
        return {"not_there": []}
    nodes_by_group: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    words: dict[tuple[str, tuple[str, ...], str], str] = {}
    for row in cycle.filter.looked_at:
        node, plugin, code, reasons, _ = row
        if plugin:
            group = plugin, reasons, helps(cycle, node, code)
            if group not in nodes_by_group:
                words[group] = brief_refusal(world, cycle, row)
            nodes_by_group.setdefault(group, []).append(node)
    ordered = sorted(nodes_by_group.items(), key=lambda item: -len(item[1]))
    pages = pager(len(ordered), view, "inspector.not-there", PAGE, few=FEW)
    rows = [
        {
            "short": words[plugin, reasons, help_],
            "why": "; ".join(reasons),
            "says": explain_filter(world, cycle, nodes[0], plugin).sentence,
            "plugin": plugin,
            "nodes": listed(nodes, 3),
            "first": nodes[0],
            "helps": help_,
        }
        for (plugin, reasons, help_), nodes in on_page(ordered, pages)
    ]
    return {"not_there": rows, "not_there_pages": pages}
