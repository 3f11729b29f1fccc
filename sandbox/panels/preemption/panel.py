"""Preemption: the candidates, the film of one of them, and the ladder of criteria with who fell where."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing import markup
from sandbox.panels.drawing.markup import Markup, esc
from sandbox.panels.explain.model import signed
from sandbox.panels.facts.budgets import Budgets
from sandbox.panels.facts.sentences import verdict_counts
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.preemption.film import film, pod_in_short
from sandbox.panels.view import View
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.phrases import listed, plural
from scheduler_engine.trace.events import PreemptionCriterionApplied, PreemptionNodeTried

OTHERS = 30
"""Most nodes listed that cannot help."""

SUM = "smallest sum of the victims' priorities"
OFFSET = 1 << 31
"""Added to every priority in the sum, so that fewer victims nearly always sum to less."""

PLAINLY = {
    "No preemption victims found for incoming pod": "no pod here has a lower priority",
    "Preemption is not helpful for scheduling": "evicting pods would not change the reason",
}
CRITERIA = {
    "fewest PodDisruptionBudget violations": "Fewest PDB violations",
    "lowest priority of the most important victim": "Lowest top priority",
    "smallest sum of the victims' priorities": "Smallest sum of priorities",
    "fewest victims": "Fewest victims",
    "latest start of the most important victims": "Latest start of the top victim",
}
FIRST = "First in the list"
"""What decides when no criterion does."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    base: dict[str, Any] = {
        "cycle": cycle.number if cycle else 0,
        "has": False,
    }
    if cycle is None:
        return base | {"empty": "No pod has been scheduled yet. Preemption is tried when no node fits."}
    if cycle.post_filter is None and not cycle.tried:
        return base | {"empty": _why_none(cycle)}
    candidates = [tried for tried in cycle.tried if not tried.rejected]
    others = [tried for tried in cycle.tried if tried.rejected]
    chosen = cycle.post_filter.nominated_node if cycle.post_filter else ""
    fell = {node: rung for rung, applied in enumerate(cycle.ladder, 1) for node in applied.fallen}
    places = {name: place for place, name in enumerate(world.cache.order, 1)}
    selected = _selected(cycle, view.node, chosen, candidates, others)
    victims = {tried.node: len(tried.victims) for tried in cycle.tried}
    return base | {
        "has": True,
        "chosen": chosen,
        "candidates": [
            {
                "node": tried.node,
                "place": places.get(tried.node, 0),
                "chosen": tried.node == chosen,
                "shown": selected is not None and tried.node == selected.node,
                "fell": fell.get(tried.node, 0),
                "victims": _victims(world, tried),
            }
            for tried in sorted(candidates, key=lambda tried: (tried.node != chosen, -fell.get(tried.node, 99)))
        ],
        "others": [
            {"node": tried.node, "why": PLAINLY.get(tried.rejected, tried.rejected), "precise": tried.rejected}
            for tried in others[:OTHERS]
        ],
        "not_helped": _not_helped(cycle, len(others)),
        "verdicts": _verdicts(cycle),
        "film": film(world, cycle, selected) if selected else None,
        "ladder": [
            *(_rung(applied, number, chosen, victims) for number, applied in enumerate(cycle.ladder, 1)),
            *_drawn(cycle, chosen),
        ],
        "criteria_left": _criteria_left(cycle),
        "summary": _summary(cycle, chosen),
        "cleared": [short_name(key) for key in cycle.post_filter.cleared_nominations] if cycle.post_filter else [],
    }


def _why_none(cycle: Cycle) -> str:
    name = short_name(cycle.pod)
    if cycle.filter is None:
        return f"{name} has not come to Filter yet. Preemption is tried when no node fits."
    if cycle.filter.feasible:
        return f"Not needed: {plural(len(cycle.filter.feasible), 'node')} can take {name} as the cluster is."
    return f"No node fits {name}. PostFilter comes next: it asks whether evicting lower-priority pods would help."


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


def _victims(world: World, tried: PreemptionNodeTried) -> Markup:
    """Each with the budget that its eviction would violate."""
    return markup.join(pod_in_short(world, key) + _guard(world, key, tried.violating) for key in tried.victims)


def _guard(world: World, key: str, violating: tuple[str, ...]) -> str:
    if key not in violating:
        return ""
    pod = world.pods.get(key)
    guarding = ", ".join(budget.name for budget in Budgets(world).of(pod)) if pod else ""
    title = f"evicting it violates the PodDisruptionBudget {guarding}".strip()
    return f'<span class="tok pdb" title="{esc(title)}">PDB {esc(guarding)}</span>'


def _summary(cycle: Cycle, chosen: str) -> str:
    ran = cycle.post_filter
    if ran is None:
        return "The dry run works on copies: nothing has been evicted yet."
    if chosen and ran.victims:
        names = listed([short_name(key) for key in ran.victims])
        waits = f"{short_name(cycle.pod)} is nominated to {chosen} and waits until the room is free"
        return f"{names} must go. {waits}; a nomination is no promise."
    if chosen:
        return f"{short_name(cycle.pod)} is nominated to {chosen}."
    reasons = [reason for _, _, texts in ran.verdicts for reason in texts]
    return reasons[-1] if reasons else "No candidate was found."


def _sum(value: str, victims: int) -> str:
    """``100 + 2·2³¹`` instead of a number of ten digits."""
    if not value.removeprefix("-").isdigit() or not victims:
        return value
    return f"{signed(int(value) - victims * OFFSET)} + {victims}·2³¹"


def _tied(cycle: Cycle) -> tuple[str, ...]:
    """Nodes that are equal under every criterion, none when one of them decided."""
    survivors = cycle.ladder[-1].survivors if len(cycle.ladder) == len(CRITERIA) else ()
    return survivors if len(survivors) > 1 else ()


def _drawn(cycle: Cycle, chosen: str) -> list[dict[str, Any]]:
    """The rung behind the criteria. Before PostFilter is over nobody has been chosen, and the first by name will be."""
    tied = _tied(cycle)
    if not tied:
        return []
    first = chosen or min(tied)
    return [
        {
            "number": len(CRITERIA) + 1,
            "title": FIRST,
            "change": f"{len(tied)} → 1",
            "tokens": markup.join(markup.token(node, "", "tok won" if node == first else "tok") for node in tied),
            "note": "All are equal. Kubernetes takes which its map happens to give first; here, the first by name.",
        }
    ]


def _criteria_left(cycle: Cycle) -> list[str]:
    if not cycle.ladder or _tied(cycle):
        return []
    return [*list(CRITERIA.values())[len(cycle.ladder) :], FIRST]


def _rung(applied: PreemptionCriterionApplied, number: int, chosen: str, victims: dict[str, int]) -> dict[str, Any]:
    values = dict(applied.values)
    if applied.criterion == SUM:
        values = {node: _sum(value, victims.get(node, 0)) for node, value in values.items()}
    last = len(applied.survivors) == 1
    tokens = []
    for node, value in values.items():
        if node in applied.fallen:
            tokens.append(
                f'<button type="button" class="tok fell" data-node="{esc(node)}">'
                f"{markup.NO}{esc(node)} <i>{esc(value)}</i></button>"
            )
        else:
            won = last and node == chosen
            tokens.append(markup.token(node, value, "tok won" if won else "tok"))
    before = len(values)
    after = len(applied.survivors)
    return {
        "number": number,
        "title": CRITERIA.get(applied.criterion, applied.criterion),
        "change": f"{before} → {after}" if after < before else f"{before}, all equal",
        "tokens": markup.join(tokens),
    }
