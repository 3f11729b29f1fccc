"""Compare all explanations with the trace."""

from __future__ import annotations

from sandbox.panels.explain import Explanation, explain_filter, explain_score
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World


def differences(world: World) -> list[str]:
    """Return every verdict and score whose explanation differs from the scheduler's record."""
    results: list[str] = []
    for cycle in world.cycles:
        results += _pre_filter_differences(world, cycle)
        results += _filter_differences(world, cycle)
        results += _score_differences(world, cycle)
    return results


def counted(world: World) -> dict[str, int]:
    """Return how many refusals and scores of each plugin the trace has."""
    total: dict[str, int] = {}
    for cycle in world.cycles:
        failed = [row[1] for row in cycle.filter.rows if row[1]] if cycle.filter else []
        failed += [verdict[0] for _, verdicts in cycle.filter.also for verdict in verdicts] if cycle.filter else []
        scores = [plugin for plugin, rows in cycle.score.raw for _ in rows] if cycle.score else []
        for name in (*(f"{plugin} filter" for plugin in failed), *(f"{plugin} score" for plugin in scores)):
            total[name] = total.get(name, 0) + 1
    return total


def _pre_filter_differences(world: World, cycle: Cycle) -> list[str]:
    """Return the differences in PreFilter, for plugins that explain their refusals there."""
    results = []
    for plugin, code, reasons in cycle.pre_filter.verdicts if cycle.pre_filter else ():
        if code in ("Success", "Skip", "Error") or plugin not in EXPLAIN_PRE_FILTER:
            continue
        explanation = explain_filter(world, cycle, "n1", plugin)
        if (
            (explanation.code, explanation.reasons) != (code, reasons)
            or not explanation.lines
            or _corrected(explanation)
        ):
            results.append(f"cycle {cycle.number} {cycle.pod}, {plugin}: {explanation}, not {code} {reasons}")
    return results


EXPLAIN_PRE_FILTER = ("VolumeRestrictions", "VolumeBinding", "VolumeZone")


def _filter_differences(world: World, cycle: Cycle) -> list[str]:
    results = []
    for node, failed, code, reasons, _ in cycle.filter.rows if cycle.filter else ():
        assert cycle.filter is not None
        recorded = {failed: (code, reasons)} if failed else {}
        for plugin, other_code, other_reasons in dict(cycle.filter.also).get(node, ()):
            recorded.setdefault(plugin, (other_code, other_reasons))
        for plugin in cycle.filter.plugins:
            if plugin in cycle.filter.skipped:
                continue
            explanation = explain_filter(world, cycle, node, plugin)
            if (explanation.code, explanation.reasons) != recorded.get(plugin, ("Success", ())) or _corrected(
                explanation
            ):
                results.append(
                    f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {explanation}, not {recorded.get(plugin)}"
                )
    return results


def _score_differences(world: World, cycle: Cycle) -> list[str]:
    results = []
    for plugin, rows in cycle.score.raw if cycle.score else ():
        normalized = dict(dict(cycle.normalized.normalized)[plugin]) if cycle.normalized else {}
        for node, raw in rows:
            explanation = explain_score(world, cycle, node, plugin)
            if (
                explanation.raw != raw
                or explanation.normalized != normalized.get(node, explanation.normalized)
                or _corrected(explanation)
            ):
                said = f"{raw} → {normalized.get(node)}"
                results.append(f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {explanation}, not {said}")
    return results


def _corrected(explanation: Explanation) -> bool:
    return (not explanation.lines and explanation.sentence.startswith("The scheduler")) or any(
        item.label == "Recorded" for item in explanation.lines
    )
