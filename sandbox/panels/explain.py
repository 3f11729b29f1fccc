"""Every verdict and every score in words and numbers: the facts of the plugin, and what the trace recorded.

The result of the facts is compared with the trace. If they differ, as when a fault answered for the plugin, the
recorded result is shown, and the difference is named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.extender import POINTS
from scheduler_engine.framework.facts import DryRunFacts, Facts, SearchFacts, abandoned
from scheduler_engine.trace.events import PreemptionNodeTried
from scheduler_engine.wording import Line

SUCCESS, SKIP = "Success", "Skip"
DEVICES = "DynamicResources"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a plugin decided so. ``sentence`` is for everyone; ``brief`` is two or three words, "" if there are none;
    ``lines`` are the arithmetic.

    The rest is the result: ``code`` and ``reasons`` of a filter (Success without reasons: the node passes), ``raw`` and
    ``normalized`` of a score, None if there is none.
    """

    sentence: str
    lines: tuple[Line, ...] = ()
    code: str = ""
    reasons: tuple[str, ...] = ()
    raw: int | None = None
    normalized: int | None = None
    brief: str = ""


def explain_filter(world: World, cycle: Cycle, node_name: str, plugin: str) -> Explanation:
    """Return what ``plugin`` says about the cycle's pod on that node, be it the official verdict or a what-if."""
    filtered = cycle.filter
    early = _refused_early(world, cycle, plugin)
    if early is not None:
        return early
    row = next((row for row in filtered.looked_at if row[0] == node_name), None) if filtered else None
    if filtered is None or row is None:
        return Explanation(say("explain.not-looked-at", node=node_name, pod=short_name(cycle.pod)))
    if plugin not in filtered.plugins:
        return Explanation(say("explain.does-not-filter", plugin=plugin))
    if plugin in filtered.skipped:
        return Explanation(say("explain.sits-out", plugin=plugin, pod=short_name(cycle.pod)), code=SUCCESS)
    _, failed, code, reasons, _ = row
    others = {name: (code, reasons) for name, code, reasons in dict(filtered.also).get(node_name, ())}
    recorded = (code, reasons) if plugin == failed else others.get(plugin, (SUCCESS, ()))
    facts = world.witness.filter(cycle, node_name, plugin)
    return _only_recorded(plugin, *recorded) if facts is None else _checked_filter(_of_facts(facts), recorded)


def _refused_early(world: World, cycle: Cycle, plugin: str) -> Explanation | None:
    """Return a plugin's refusal in PreFilter, before any node was visited; None if it did not refuse."""
    for name, code, reasons in cycle.pre_filter.verdicts if cycle.pre_filter else ():
        if name == plugin and code not in (SUCCESS, SKIP):
            facts = world.witness.pre_filter(cycle, plugin)
            if facts is None:
                key = "explain.refused-early" if reasons else "explain.refused-early-without-reason"
                return Explanation(say(key, plugin=plugin, reasons="; ".join(reasons)), (), code, reasons)
            explanation = _of_facts(facts)
            sentence = say("explain.no-node-looked-at", because=explanation.sentence)
            return _checked_filter(replace(explanation, sentence=sentence), (code, reasons))
    return None


def _of_facts(facts: Facts) -> Explanation:
    status = facts.status
    code, reasons = (SUCCESS, ()) if status is None else (status.code.value, status.reasons)
    texts = wording.sentence(facts), wording.lines(facts)
    return Explanation(*texts, code, reasons, facts.raw, facts.normalized, wording.brief(facts))


def _only_recorded(plugin: str, code: str, reasons: tuple[str, ...]) -> Explanation:
    joined = "; ".join(reasons)
    text = say("explain.refuses", plugin=plugin, reasons=joined) if joined else say("explain.passes", plugin=plugin)
    return Explanation(text, code=code, reasons=reasons)


def _checked_filter(explanation: Explanation, recorded: tuple[str, tuple[str, ...]]) -> Explanation:
    if (explanation.code, explanation.reasons) == recorded:
        return explanation
    answer = "; ".join(recorded[1]) or say("explain.it-passes")
    line = Line(say("explain.recorded"), answer, say("explain.recorded-note"))
    return Explanation(say("explain.recorded-verdict", said=answer), (line, *explanation.lines), *recorded)


def explain_dry_run(world: World, cycle: Cycle, tried: PreemptionNodeTried) -> DryRunFacts | None:
    """Return the facts of a dry run of preemption; None if there are none, or if they differ from the record."""
    facts = world.witness.dry_run(cycle, tried.node)
    return facts if facts is not None and facts.agree_with(tried) else None


def explain_search(world: World, cycle: Cycle, node_name: str) -> SearchFacts | None:
    """Return how the search for devices went on a node; None without one, or if its result differs from the record."""
    recorded = explain_filter(world, cycle, node_name, DEVICES)
    facts = world.witness.devices(cycle, node_name)
    if facts is None:
        return None
    said = _of_facts(facts.facts)
    return facts if (said.code, said.reasons) == (recorded.code, recorded.reasons) else None


def explain_stage(world: World, cycle: Cycle, stage: str) -> list[tuple[str, Explanation]]:
    """Return (plugin, what it did for the pod on the chosen node) in ``stage``, for plugins that say so."""
    ask = {"Reserve": world.witness.reserve, "PreBind": world.witness.pre_bind}[stage]
    ran = cycle.plugins.get(stage)
    explanations = []
    for plugin, code, reasons in ran.verdicts if ran is not None else ():
        facts = ask(cycle, plugin)
        if facts is not None and facts.shown:
            said = abandoned(facts) if cycle.outcome == "abandoned" else facts
            explanations.append((plugin, _checked_filter(_of_facts(said), (code, reasons))))
    return explanations


def explain_score(world: World, cycle: Cycle, node_name: str, plugin: str) -> Explanation:
    """Return how ``plugin`` came to its score for the cycle's pod on that node: raw, normalized, weighted."""
    raw, normalized, weight = _recorded_score(cycle, node_name, plugin)
    if raw is None:
        return Explanation(say("explain.gave-no-score", plugin=plugin, node=node_name, pod=short_name(cycle.pod)))
    facts = world.witness.score(cycle, node_name, plugin)
    if facts is None:
        text = say("explain.gave-score", plugin=plugin, node=node_name, score=raw)
        explanation = Explanation(text, raw=raw, normalized=normalized)
    else:
        explanation = _checked_score(_of_facts(facts), raw, normalized)
    total = dict(cycle.normalized.totals).get(node_name) if cycle.normalized else None
    return _weighted(explanation, node_name, weight, total)


def _recorded_score(cycle: Cycle, node_name: str, plugin: str) -> tuple[int | None, int | None, int]:
    """Return raw and normalized score, None if there is none, and the weight of a plugin or an extender."""
    asked = cycle.ranked_by(plugin)
    if asked is not None:
        raw = next((score for node, score, _ in asked.scores if node == node_name), None)
        return raw, None if raw is None else raw * POINTS, asked.weight
    if cycle.score is None:
        return None, None, 0
    raws, normalized = (
        dict(dict(table).get(plugin, ()))
        for table in (cycle.score.raw, cycle.normalized.normalized if cycle.normalized else ())
    )
    return raws.get(node_name), normalized.get(node_name), dict(cycle.score.weights).get(plugin, 0)


def _weighted(explanation: Explanation, node_name: str, weight: int, total: int | None) -> Explanation:
    """Add a line on what the score contributes to the node's ``total``, if that is known."""
    if explanation.normalized is None:
        return explanation
    share = explanation.normalized * weight
    key = "explain.weight" if total is None else "explain.weight-of-total"
    note = say(key, weight=weight, share=share, total=total, node=node_name)
    line = Line(say("explain.weighted"), f"{explanation.normalized} × {weight} = {share}", note)
    return replace(explanation, lines=(*explanation.lines, line))


def _checked_score(explanation: Explanation, raw: int, normalized: int | None) -> Explanation:
    if explanation.raw == raw and normalized in (None, explanation.normalized):
        return explanation
    score = f"{raw} → {normalized}" if normalized is not None else str(raw)
    line = Line(say("explain.recorded"), score, say("explain.recorded-note"))
    text = say("explain.recorded-score", score=score)
    return Explanation(text, (line, *explanation.lines), raw=raw, normalized=normalized)
