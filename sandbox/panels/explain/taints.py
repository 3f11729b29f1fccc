"""TaintToleration and NodeUnschedulable in words and numbers.

Source: seed 002 §5; upstream ``plugins/{tainttoleration,nodeunschedulable}``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, passes, refuses, scaled
from sandbox.panels.words.phrases import plural, taint_text
from scheduler_engine.api.taints import Taint, Toleration

CORDONED = "node(s) were unschedulable"
CORDON_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
HARD = ("NoSchedule", "NoExecute")
SOFT = "PreferNoSchedule"
GIVEN_TO_ALL = tuple(f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable", "memory-pressure"))
"""Keys that admission tolerates for pods; not worth naming where the taint is another."""


def verdict_on(taint: Taint, tolerations: Sequence[Toleration]) -> str:
    """Which toleration matches, or why none does."""
    matching = next((item for item in tolerations if item.tolerates(taint)), None)
    if matching is not None:
        return f"tolerated by {_toleration(matching)}"
    tolerations = [item for item in tolerations if item.key == taint.key or item.key not in GIVEN_TO_ALL]
    if not tolerations:
        return "not tolerated: the pod has no toleration that could match"
    return "not tolerated: " + "; ".join(f"{_toleration(item)} {_why_not(item, taint)}" for item in tolerations)


def _toleration(item: Toleration) -> str:
    what = f"{item.key or 'every key'}"
    if item.operator in ("", "Equal"):
        what += f"={item.value}"
    else:
        what += " exists"
    return f"“{what}:{item.effect or 'every effect'}”"


def _why_not(item: Toleration, taint: Taint) -> str:
    if item.effect and item.effect != taint.effect:
        return f"is for {item.effect}"
    if item.key and item.key != taint.key:
        return "is for another key"
    return f"wants the value “{item.value}”, the taint has “{taint.value}”"


def taint_filter(case: Case) -> Explanation:
    """The first hard taint that is not tolerated decides; all are shown."""
    first: Taint | None = None
    lines = []
    for taint in case.node.taints:
        if taint.effect not in HARD:
            lines.append(Line(taint_text(taint), "does not filter", "it only costs score"))
            continue
        tolerated = any(item.tolerates(taint) for item in case.pod.tolerations)
        lines.append(Line(taint_text(taint), verdict_on(taint, case.pod.tolerations)))
        if not tolerated and first is None:
            first = taint
    if first is not None:
        keeps = f"{case.node.name} keeps pods away with the taint {taint_text(first)}"
        text = f"{keeps}, and {case.name} does not tolerate it."
        return refuses(text, lines, f"node(s) had untolerated taint {{{first.key}: {first.value}}}", code=UNRESOLVABLE)
    if not case.node.taints:
        return passes(f"{case.node.name} has no taints.", lines)
    return passes(f"No taint of {case.node.name} keeps {case.name} away.", lines)


def taint_score(case: Case) -> Explanation:
    """Only tolerations for PreferNoSchedule, or for every effect, are looked at."""
    tolerations = [item for item in case.pod.tolerations if item.effect in ("", SOFT)]
    lines, raw = [], 0
    for taint in case.node.taints:
        if taint.effect == SOFT:
            counts = not any(item.tolerates(taint) for item in tolerations)
            raw += counts
            lines.append(Line(taint_text(taint), "1" if counts else "0", verdict_on(taint, tolerations)))
    lines.append(Line("Raw", str(raw), "PreferNoSchedule taints that the pod does not tolerate; fewer is better"))
    if raw:
        text = f"{case.node.name} would rather not have {case.name}: {plural(raw, 'taint')} that it does not tolerate."
    else:
        text = f"{case.node.name} has no taint that asks {case.name} to go elsewhere."
    return scaled(case, text, lines, raw, reverse=True)


def unschedulable_filter(case: Case) -> Explanation:
    if not case.node.unschedulable:
        return passes(f"{case.node.name} is not cordoned.", [Line("spec.unschedulable", "false")])
    line = Line("spec.unschedulable", "true", f"counts as the taint {taint_text(CORDON_TAINT)}")
    said = Line(taint_text(CORDON_TAINT), verdict_on(CORDON_TAINT, case.pod.tolerations))
    if any(item.tolerates(CORDON_TAINT) for item in case.pod.tolerations):
        return passes(f"{case.node.name} is cordoned, but {case.name} tolerates that.", [line, said])
    return refuses(f"{case.node.name} is cordoned: it takes no new pods.", [line, said], CORDONED, code=UNRESOLVABLE)
