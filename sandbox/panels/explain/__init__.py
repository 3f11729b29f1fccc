"""Every verdict and every score in words and numbers, worked out from the trace alone.

``explain_filter`` and ``explain_score`` do each plugin's arithmetic anew for one pod and one node, with what the
scheduler saw in that cycle. Whatever they come to is compared with what the trace recorded; should the two differ
(the trace may not tell everything), the recorded result is shown and the difference is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sandbox.panels.explain.allocation import fit_score
from sandbox.panels.explain.balance import balanced_score
from sandbox.panels.explain.model import SUCCESS, Case, Explanation, Line, names
from sandbox.panels.explain.spread import spread_score
from sandbox.panels.model.seen import Seen, seen_by
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.node_info import PodInfo

__all__ = ["EXPLANATIONS", "Explanation", "Line", "explain_filter", "explain_score", "seen_in"]

Explain = Callable[[Case], Explanation]

EXPLANATIONS: dict[str, tuple[Explain | None, Explain | None]] = {
    "NodeResourcesFit": (None, fit_score),
    "PodTopologySpread": (None, spread_score),
    "NodeResourcesBalancedAllocation": (None, balanced_score),
}
"""Plugin → how it filters and how it scores; None = it does not."""


def explain_filter(world: World, cycle: Cycle, node_name: str, plugin: str) -> Explanation:
    """What ``plugin`` says about the cycle's pod on that node, be it the official verdict or only a what-if."""
    filtered, seen = cycle.filter, seen_in(world, cycle)
    explain = EXPLANATIONS.get(plugin, (None, None))[0]
    early = _refused_early(world, cycle, plugin)
    if early is not None:
        return early
    row = next((row for row in filtered.rows if row[0] == node_name), None) if filtered else None
    if filtered is None or row is None:
        return Explanation(say("explain.not-looked-at", node=node_name, pod=short_name(cycle.pod)))
    if plugin not in filtered.plugins:
        return Explanation(say("explain.does-not-filter", plugin=plugin))
    if plugin in filtered.skipped:
        return Explanation(say("explain.sits-out", plugin=plugin, pod=short_name(cycle.pod)), code=SUCCESS)
    _, failed, code, reasons, with_nominated = row
    others = {name: (code, reasons) for name, code, reasons in dict(filtered.also).get(node_name, ())}
    recorded = (code, reasons) if plugin == failed else others.get(plugin, (SUCCESS, ()))
    facts = world.witness.filter(cycle, node_name, plugin)
    if facts is not None:
        return _checked_filter(_of_facts(facts), recorded)
    if explain is None or seen is None or node_name not in seen.nodes:
        return _only_recorded(plugin, *recorded)
    case = Case(seen, seen.nodes[node_name], seen.arguments.get(plugin, {}))
    order = filtered.plugins
    what_if = failed in order and order.index(plugin) > order.index(failed)
    nominated = () if what_if else tuple(seen.nominated[key] for key in with_nominated if key in seen.nominated)
    told = _both_runs(case, nominated, explain)
    return _checked_filter(told, recorded)


def _of_facts(facts: Facts) -> Explanation:
    status = facts.status
    code, reasons = (SUCCESS, ()) if status is None else (status.code.value, status.reasons)
    said = Explanation(wording.sentence(facts), wording.lines(facts), code, reasons, facts.raw, facts.normalized)
    return replace(said, brief=wording.brief(facts))


def _only_recorded(plugin: str, code: str, reasons: tuple[str, ...]) -> Explanation:
    said = "; ".join(reasons)
    text = say("explain.refuses", plugin=plugin, reasons=said) if said else say("explain.passes", plugin=plugin)
    return Explanation(text, code=code, reasons=reasons)


def _both_runs(case: Case, nominated: tuple[PodInfo, ...], explain: Explain) -> Explanation:
    """Filters must pass with the nominated pods counted on the node, and without them."""
    alone = explain(case)
    if not nominated:
        return alone
    told = explain(replace(case, nominated=nominated))
    label, listed = say("explain.nominated-here"), names(info.pod.key for info in nominated)
    if told.code != SUCCESS:
        return replace(told, lines=(*told.lines, Line(label, listed, say("explain.nominated-counted"))))
    if alone.code != SUCCESS:
        return replace(alone, lines=(*alone.lines, Line(label, listed, say("explain.nominated-must-pass-without"))))
    return replace(told, lines=(*told.lines, Line(label, listed, say("explain.nominated-passes-both-ways"))))


def _refused_early(world: World, cycle: Cycle, plugin: str) -> Explanation | None:
    """A plugin's no in PreFilter, before any node was looked at."""
    for name, code, reasons in cycle.pre_filter.verdicts if cycle.pre_filter else ():
        if name == plugin and code not in (SUCCESS, "Skip"):
            facts = world.witness.pre_filter(cycle, plugin)
            if facts is not None:
                told = _of_facts(facts)
                sentence = say("explain.no-node-looked-at", because=told.sentence)
                return _checked_filter(replace(told, sentence=sentence), (code, reasons))
            return Explanation(_said_early(plugin, "; ".join(reasons)), (), code, reasons)
    return None


def _said_early(plugin: str, reasons: str) -> str:
    if reasons:
        return say("explain.refused-early", plugin=plugin, reasons=reasons)
    return say("explain.refused-early-without-reason", plugin=plugin)


def _checked_filter(told: Explanation, recorded: tuple[str, tuple[str, ...]]) -> Explanation:
    if (told.code, told.reasons) == recorded:
        return told
    said = "; ".join(recorded[1]) or say("explain.it-passes")
    line = Line(say("explain.recorded"), said, say("explain.recorded-note"))
    return Explanation(say("explain.recorded-verdict", said=said), (line, *told.lines), *recorded)


def explain_score(world: World, cycle: Cycle, node_name: str, plugin: str) -> Explanation:
    """How ``plugin`` came to its score for the cycle's pod on that node: raw, normalized, weighted."""
    explain = EXPLANATIONS.get(plugin, (None, None))[1]
    seen = seen_in(world, cycle)
    raws = dict(dict(cycle.score.raw).get(plugin, ())) if cycle.score else {}
    if cycle.score is None or node_name not in raws:
        return Explanation(say("explain.gave-no-score", plugin=plugin, node=node_name, pod=short_name(cycle.pod)))
    normalized = dict(dict(cycle.normalized.normalized).get(plugin, ())).get(node_name) if cycle.normalized else None
    facts = world.witness.score(cycle, node_name, plugin)
    total = dict(cycle.normalized.totals).get(node_name) if cycle.normalized else None
    weight = dict(cycle.score.weights).get(plugin, 0)
    if facts is not None:
        return _weighted(_checked_score(_of_facts(facts), raws[node_name], normalized), node_name, weight, total)
    if explain is None or seen is None or node_name not in seen.nodes:
        text = say("explain.gave-score", plugin=plugin, node=node_name, score=raws[node_name])
        return Explanation(text, raw=raws[node_name], normalized=normalized)
    feasible = cycle.filter.feasible if cycle.filter else ()
    case = Case(seen, seen.nodes[node_name], seen.arguments.get(plugin, {}), (), feasible, raws)
    told = _checked_score(explain(case), raws[node_name], normalized)
    return _weighted(told, node_name, weight, total)


def _weighted(told: Explanation, node_name: str, weight: int, total: int | None) -> Explanation:
    """With a line on what the score counts for, ``total`` of the node if it is known."""
    if told.normalized is None:
        return told
    share = told.normalized * weight
    if total is None:
        note = say("explain.weight", weight=weight)
    else:
        note = say("explain.weight-of-total", weight=weight, share=share, total=total, node=node_name)
    line = Line(say("explain.weighted"), f"{told.normalized} × {weight} = {share}", note)
    return replace(told, lines=(*told.lines, line))


def _checked_score(told: Explanation, raw: int, normalized: int | None) -> Explanation:
    if told.raw == raw and normalized in (None, told.normalized):
        return told
    shown = f"{raw} → {normalized}" if normalized is not None else str(raw)
    line = Line(say("explain.recorded"), shown, say("explain.recorded-note"))
    text = say("explain.recorded-score", score=shown)
    return Explanation(text, (line, *told.lines), raw=raw, normalized=normalized)


def seen_in(world: World, cycle: Cycle) -> Seen | None:
    """The cluster as the cycle saw it; folded once more when it has come to scoring, and kept with the cycle."""
    stages = len(cycle.stages)
    if cycle.seen is None or (cycle.seen.stages != stages and not cycle.seen.complete):
        cycle.seen = seen_by(world.entries, cycle.number, cycle.replica)
        if cycle.seen is not None:
            cycle.seen.stages = stages
    return cycle.seen
