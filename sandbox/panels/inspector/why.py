"""Why a pod is where it is, and why it is not elsewhere, in the sentences on each verdict and score."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.explain import explain_dry_run, explain_filter, explain_score, explain_stage
from sandbox.panels.facts.brief import Row, brief_refusal
from sandbox.panels.facts.verdicts import helps
from sandbox.panels.model.state import Cycle, PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import signed
from sandbox.words.phrases import listed, short_reason
from sandbox.words.say import say
from scheduler_engine import wording

FEW, PAGE = 12, 60
MOST_COMPARED = 12
"""The most nodes with the same reason whose facts are compared."""
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
    groups: dict[tuple[str, tuple[str, ...], str], list[Row]] = {}
    for row in cycle.filter.looked_at:
        node, plugin, code, reasons, _ = row
        if plugin:
            groups.setdefault((plugin, reasons, helps(cycle, node, code)), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    pages = pager(len(ordered), view, "inspector.not-there", PAGE, few=FEW)
    rows = [
        {
            "short": _short(world, cycle, refused),
            "why": "; ".join(reasons),
            "says": _refusal(world, cycle, refused),
            "plugin": plugin,
            "nodes": listed([row[0] for row in refused], 3),
            "first": refused[0][0],
            "helps": help_,
        }
        for (plugin, reasons, help_), refused in on_page(ordered, pages)
    ]
    return {"not_there": rows, "not_there_pages": pages}


def _short(world: World, cycle: Cycle, rows: list[Row]) -> str:
    """Return what decided on all these nodes: the fact if it is the same one, else only the reason."""
    first = brief_refusal(world, cycle, rows[0])
    same = len(rows) <= MOST_COMPARED and all(brief_refusal(world, cycle, row) == first for row in rows[1:])
    return first if same else short_reason(rows[0][3])


def _refusal(world: World, cycle: Cycle, rows: list[Row]) -> str:
    """Return why the first of these nodes refused. It is named if there are others, for which numbers may differ."""
    node, plugin = rows[0][:2]
    sentence = explain_filter(world, cycle, node, plugin).sentence
    if len(rows) == 1 or not sentence or node in sentence:
        return sentence
    return say("inspector.on-the-first", node=node, sentence=sentence)
