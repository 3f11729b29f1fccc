"""The comparison of all explanations with the trace."""

from __future__ import annotations

from sandbox.panels.explain import Explanation, explain_filter, explain_score
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World


def differences(world: World) -> list[str]:
    """Every verdict and score whose arithmetic comes to something else than the scheduler recorded."""
    found: list[str] = []
    for cycle in world.cycles:
        found += _pre_filter_differences(world, cycle)
        found += _filter_differences(world, cycle)
        found += _score_differences(world, cycle)
    return found


def counted(world: World) -> dict[str, int]:
    """How many refusals and scores of each plugin the trace has."""
    total: dict[str, int] = {}
    for cycle in world.cycles:
        failed = [row[1] for row in cycle.filter.rows if row[1]] if cycle.filter else []
        failed += [verdict[0] for _, verdicts in cycle.filter.also for verdict in verdicts] if cycle.filter else []
        scores = [plugin for plugin, rows in cycle.score.raw for _ in rows] if cycle.score else []
        for name in (*(f"{plugin} filter" for plugin in failed), *(f"{plugin} score" for plugin in scores)):
            total[name] = total.get(name, 0) + 1
    return total


def _pre_filter_differences(world: World, cycle: Cycle) -> list[str]:
    """Refusals in PreFilter of plugins that explain them."""
    found = []
    for plugin, code, reasons in cycle.pre_filter.verdicts if cycle.pre_filter else ():
        if code in ("Success", "Skip", "Error") or plugin not in EXPLAIN_PRE_FILTER:
            continue
        told = explain_filter(world, cycle, "n1", plugin)
        if (told.code, told.reasons) != (code, reasons) or not told.lines or _corrected(told):
            found.append(f"cycle {cycle.number} {cycle.pod}, {plugin}: {told}, not {code} {reasons}")
    return found


EXPLAIN_PRE_FILTER = ("VolumeRestrictions", "VolumeBinding", "VolumeZone")


def _filter_differences(world: World, cycle: Cycle) -> list[str]:
    found = []
    for node, failed, code, reasons, _ in cycle.filter.rows if cycle.filter else ():
        assert cycle.filter is not None
        recorded = {failed: (code, reasons)} if failed else {}
        for plugin, other_code, other_reasons in dict(cycle.filter.also).get(node, ()):
            recorded.setdefault(plugin, (other_code, other_reasons))
        for plugin in cycle.filter.plugins:
            if plugin in cycle.filter.skipped:
                continue
            told = explain_filter(world, cycle, node, plugin)
            if (told.code, told.reasons) != recorded.get(plugin, ("Success", ())) or _corrected(told):
                found.append(
                    f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {told}, not {recorded.get(plugin)}"
                )
    return found


def _score_differences(world: World, cycle: Cycle) -> list[str]:
    found = []
    for plugin, rows in cycle.score.raw if cycle.score else ():
        normalized = dict(dict(cycle.normalized.normalized)[plugin]) if cycle.normalized else {}
        for node, raw in rows:
            told = explain_score(world, cycle, node, plugin)
            if told.raw != raw or told.normalized != normalized.get(node, told.normalized) or _corrected(told):
                said = f"{raw} → {normalized.get(node)}"
                found.append(f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {told}, not {said}")
    return found


def _corrected(told: Explanation) -> bool:
    return (not told.lines and told.sentence.startswith("The scheduler")) or any(
        item.label == "Recorded" for item in told.lines
    )
