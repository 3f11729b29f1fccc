"""TaintToleration and NodeUnschedulable in words and numbers.

Source: seed 002 §5; upstream ``plugins/{tainttoleration,nodeunschedulable}``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, passes, refuses, scaled
from sandbox.panels.words.phrases import plural, taint_text
from sandbox.panels.words.say import say
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
        return say("taints.tolerated", toleration=_toleration(matching))
    tolerations = [item for item in tolerations if item.key == taint.key or item.key not in GIVEN_TO_ALL]
    if not tolerations:
        return say("taints.no-toleration")
    return say("taints.not-tolerated", why="; ".join(_why_not(item, taint) for item in tolerations))


def _toleration(item: Toleration) -> str:
    key, effect = item.key or say("taints.every-key"), item.effect or say("taints.every-effect")
    if item.operator in ("", "Equal"):
        return say("taints.toleration", key=key, value=item.value, effect=effect)
    return say("taints.toleration-exists", key=key, effect=effect)


def _why_not(item: Toleration, taint: Taint) -> str:
    toleration = _toleration(item)
    if item.effect and item.effect != taint.effect:
        return say("taints.for-effect", toleration=toleration, effect=item.effect)
    if item.key and item.key != taint.key:
        return say("taints.for-another-key", toleration=toleration)
    return say("taints.wants-value", toleration=toleration, value=item.value, has=taint.value)


def taint_filter(case: Case) -> Explanation:
    """The first hard taint that is not tolerated decides; all are shown."""
    first: Taint | None = None
    lines = []
    for taint in case.node.taints:
        if taint.effect not in HARD:
            lines.append(Line(taint_text(taint), say("taints.does-not-filter"), say("taints.costs-score")))
            continue
        tolerated = any(item.tolerates(taint) for item in case.pod.tolerations)
        lines.append(Line(taint_text(taint), verdict_on(taint, case.pod.tolerations)))
        if not tolerated and first is None:
            first = taint
    if first is not None:
        text = say("taints.keeps-away", node=case.node.name, taint=taint_text(first), pod=case.name)
        return refuses(text, lines, f"node(s) had untolerated taint {{{first.key}: {first.value}}}", code=UNRESOLVABLE)
    if not case.node.taints:
        return passes(say("taints.no-taints", node=case.node.name), lines)
    return passes(say("taints.none-keeps-away", node=case.node.name, pod=case.name), lines)


def taint_score(case: Case) -> Explanation:
    """Only tolerations for PreferNoSchedule, or for every effect, are looked at."""
    tolerations = [item for item in case.pod.tolerations if item.effect in ("", SOFT)]
    lines, raw = [], 0
    for taint in case.node.taints:
        if taint.effect == SOFT:
            counts = not any(item.tolerates(taint) for item in tolerations)
            raw += counts
            lines.append(Line(taint_text(taint), "1" if counts else "0", verdict_on(taint, tolerations)))
    lines.append(Line(say("explain.raw"), str(raw), say("taints.raw-note")))
    if raw:
        text = say("taints.would-rather-not", node=case.node.name, pod=case.name, taints=plural(raw, "taint"))
    else:
        text = say("taints.none-asks-elsewhere", node=case.node.name, pod=case.name)
    return scaled(case, text, lines, raw, reverse=True)


def unschedulable_filter(case: Case) -> Explanation:
    if not case.node.unschedulable:
        return passes(say("taints.not-cordoned", node=case.node.name), [Line("spec.unschedulable", "false")])
    line = Line("spec.unschedulable", "true", say("taints.cordon-counts-as", taint=taint_text(CORDON_TAINT)))
    said = Line(taint_text(CORDON_TAINT), verdict_on(CORDON_TAINT, case.pod.tolerations))
    if any(item.tolerates(CORDON_TAINT) for item in case.pod.tolerations):
        return passes(say("taints.cordon-tolerated", node=case.node.name, pod=case.name), [line, said])
    return refuses(say("taints.cordoned", node=case.node.name), [line, said], CORDONED, code=UNRESOLVABLE)
