"""Preemption: the candidates, the film of one of them, and the ladder of criteria with who fell where."""

from __future__ import annotations

from typing import Any

from scheduler_engine.trace.events import PreemptionCriterionApplied, PreemptionNodeTried

from . import markup
from .amounts import short_name, shown
from .markup import Markup, esc
from .state import Cycle
from .view import View
from .words import listed, plural
from .world import World

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
    "first": "First in the list",
}


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    base: dict[str, Any] = {
        "cycle": cycle.number if cycle else 0,
        "has": False,
        "pod": short_name(cycle.pod) if cycle else "",
    }
    if cycle is None:
        return base | {"empty": "No pod has been scheduled yet. Preemption is tried when no node fits."}
    if cycle.post_filter is None and not cycle.tried:
        return base | {"empty": _why_none(cycle)}
    candidates = [tried for tried in cycle.tried if not tried.rejected]
    others = [tried for tried in cycle.tried if tried.rejected]
    chosen = cycle.post_filter.nominated_node if cycle.post_filter else ""
    fell = {node: rung for rung, applied in enumerate(cycle.ladder, 1) for node in applied.fallen}
    places = {name: place for place, name in enumerate(world.order, 1)}
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
                "pdb": tried.pdb_violations,
            }
            for tried in sorted(candidates, key=lambda tried: (tried.node != chosen, -fell.get(tried.node, 99)))
        ],
        "others": [
            {"node": tried.node, "why": PLAINLY.get(tried.rejected, tried.rejected), "precise": tried.rejected}
            for tried in others[:OTHERS]
        ],
        "not_helped": _not_helped(cycle, len(others)),
        "verdicts": _verdicts(cycle),
        "film": _film(world, cycle, selected) if selected else None,
        "ladder": [_rung(applied, number, chosen, victims) for number, applied in enumerate(cycle.ladder, 1)],
        "criteria_left": list(CRITERIA.values())[len(cycle.ladder) :] if cycle.ladder else [],
        "summary": _summary(cycle, chosen),
        "best": list(cycle.post_filter.best_nodes) if cycle.post_filter else [],
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
    hard = sum(1 for row in cycle.filter.rows if row[1] and row[2] != "Unschedulable") if cycle.filter else 0
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
    return markup.join(_pod(world, key) for key in tried.victims)


def _pod(world: World, key: str) -> str:
    pod = world.pods.get(key)
    return markup.pod_block(pod, state="bound", tag="span") if pod else markup.gone_block(key)


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


def _film(world: World, cycle: Cycle, tried: PreemptionNodeTried) -> dict[str, Any]:
    """Frames: as it is, all lower-priority pods out, then one reprieve after the other, and the result."""
    node = world.nodes.get(tried.node)
    pod = world.pods.get(cycle.pod)
    resource = _tight(cycle, tried.node)
    total = node.allocatable.get(resource, 0) if node else 0
    asked = pod.requests.get(resource, 0) if pod else 0
    asker = (pod.app if pod else 1, asked, short_name(cycle.pod))
    removed = [key for action, key, _, _ in tried.steps if action == "remove"]
    stay = [key for key in world.pods_on.get(tried.node, ()) if key not in removed]
    everyone = [*stay, *[key for key in removed if key not in stay]]
    size = {key: world.pods[key].requests.get(resource, 0) if key in world.pods else 0 for key in everyone}
    frames = [
        _frame(world, 0, "as it is", "", everyone, size, None, total, f"{shown(resource, sum(size.values()))} used", "")
    ]
    inside = list(stay)
    for action, key, ok, reason in tried.steps:
        if action == "fits":
            word = f"all {len(removed)} lower ones out" if len(removed) != 1 else "the lower one out"
            frames.append(
                _frame(
                    world,
                    len(frames),
                    word,
                    "",
                    inside,
                    size,
                    asker,
                    total,
                    "fits" if ok else "still no",
                    "yes" if ok else "no",
                )
            )
        elif action == "reprieve":
            after = [*inside, key]
            outcome, said = ("kept", "yes") if ok else ("victim", "no")
            frames.append(
                _frame(
                    world,
                    len(frames),
                    "back in?",
                    key,
                    after,
                    size,
                    asker,
                    total,
                    outcome,
                    said,
                    reason=reason,
                    violates=key in tried.violating,
                )
            )
            if ok:
                inside = after
    if not tried.rejected:
        used = sum(size[key] for key in inside) + asked
        frames.append(
            _frame(world, len(frames), "result", "", inside, size, asker, total, f"{shown(resource, used)} used", "")
        )
    return {
        "node": tried.node,
        "frames": frames,
        "resource": resource,
        "rejected": tried.rejected,
        "protected": [short_name(key) for key in tried.violating],
    }


def _tight(cycle: Cycle, node: str) -> str:
    """The resource whose bar tells the story: the first one that was short on this node, else cpu."""
    for name, plugin, _, reasons, _ in cycle.filter.rows if cycle.filter else ():
        if name == node and plugin == "NodeResourcesFit":
            for reason in reasons:
                if reason.startswith("Insufficient "):
                    return reason.removeprefix("Insufficient ")
    return "cpu"


def _frame(
    world: World,
    number: int,
    title: str,
    key: str,
    inside: list[str],
    size: dict[str, int],
    asker: tuple[int, int, str] | None,
    total: int,
    outcome: str,
    said: str,
    reason: str = "",
    violates: bool = False,
) -> dict[str, Any]:
    return {
        "number": number,
        "title": title,
        "pod": Markup(_pod(world, key)) if key else "",
        "svg": _bar(world, inside, size, asker, total, key if said == "no" else ""),
        "outcome": outcome,
        "said": said,
        "reason": reason,
        "violates": violates,
    }


def _bar(
    world: World, inside: list[str], size: dict[str, int], asker: tuple[int, int, str] | None, total: int, refused: str
) -> Markup:
    scale = markup.FULL / total if total else 0.0
    x = 0.0
    drawn = [markup.rect("cap", 0, markup.FULL, 0.5, 14)]
    if asker is not None:
        width = asker[1] * scale
        drawn.append(markup.rect("in", 0.2, min(width, 100) - 0.4, 1, 13))
        drawn.append(_label(0, width, asker[2], "int"))
        x = width
    for key in inside:
        width = min(size.get(key, 0) * scale, max(100 - x, 0))
        pod = world.pods.get(key)
        if key == refused:
            drawn.append(markup.rect("over", x, max(width, 0.8), 0.5, 14))
        else:
            drawn.append(markup.rect(f"seg app-{pod.app if pod else 1}", x + 0.2, width - 0.4, 1, 13))
            drawn.append(_label(x, width, short_name(key), ""))
        x += width
    drawn.append(f'<rect class="limr" x="{markup.FULL:.0f}%" y="-2" width="1.5" height="19"/>')
    return Markup(f'<svg class="fb" aria-hidden="true">{"".join(drawn)}</svg>')


def _label(x: float, width: float, text: str, classes: str) -> str:
    if width < len(text) * 2.1:
        return ""
    return f'<text class="{classes}" x="{x:.2f}%" dx="4" y="11">{esc(text)}</text>'


def _sum(value: str, victims: int) -> str:
    """``100 + 2·2³¹`` instead of a number of ten digits."""
    if not value.removeprefix("-").isdigit() or not victims:
        return value
    return f"{int(value) - victims * OFFSET} + {victims}·2³¹"


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
