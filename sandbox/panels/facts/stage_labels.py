"""What a finished stage came to, in one to three words, for the ribbon."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.panels.facts.extenders import failed_to_bind
from sandbox.panels.facts.search_end import looked_for_room
from sandbox.panels.model.state import Cycle
from sandbox.words.say import say
from scheduler_engine.trace.events.base import Verdict

PASSED = ("Success", "Skip", "Wait")
"""Codes of plugins that neither refuse the pod nor fail."""


def stage_label(cycle: Cycle, stage: str) -> str:
    """Return the label of a stage that the attempt has finished, "" if there is nothing to say."""
    return LABELS[stage](cycle) or (say("ribbon.failed") if _failed_at(cycle, stage) else "")


def _failed_at(cycle: Cycle, stage: str) -> bool:
    return cycle.outcome == "error" and stage == cycle.last_stage


def _pop(cycle: Cycle) -> str:
    if cycle.outcome == "skipped":
        return say("ribbon.skipped")
    return say("ribbon.attempt", number=cycle.attempt)


def _snapshot(cycle: Cycle) -> str:
    return say("ribbon.cloned", count=len(cycle.snapshot.cloned)) if cycle.snapshot is not None else ""


def _pre_filter(cycle: Cycle) -> str:
    ran = cycle.pre_filter
    if ran is None:
        return ""
    if refusal := _refusal(ran.verdicts):
        return refusal
    if ran.node_names == () and cycle.filter is None:
        return say("ribbon.no-node-left")
    return say("ribbon.skip", count=_skips(ran.verdicts))


def _filter(cycle: Cycle) -> str:
    ran = cycle.filter
    return (
        say("ribbon.fit", fit=ran.feasible_count or len(ran.feasible), nodes=ran.all_nodes) if ran is not None else ""
    )


def _post_filter(cycle: Cycle) -> str:
    ran = cycle.post_filter
    if ran is None:
        return ""
    if ran.waits_for:
        return say("ribbon.waits-for-victim")
    if ran.nominated_node:
        return say("ribbon.nominates", node=ran.nominated_node)
    if ran.ineligible:
        return say("ribbon.may-not-preempt")
    if failed := next((plugin for plugin, code, _ in ran.verdicts if code == "Error"), ""):
        return say("ribbon.plugin-failed", plugin=failed)
    return say("ribbon.cannot-help" if looked_for_room(cycle) else "ribbon.no-dry-run")


def _pre_score(cycle: Cycle) -> str:
    ran = cycle.pre_score
    return (_refusal(ran.verdicts) or say("ribbon.skip", count=_skips(ran.verdicts))) if ran is not None else ""


def _score(cycle: Cycle) -> str:
    return say("ribbon.plugins", count=len(cycle.score.weights)) if cycle.score is not None else ""


def _normalize(cycle: Cycle) -> str:
    return say("ribbon.normalized") if cycle.normalized is not None else ""


def _select(cycle: Cycle) -> str:
    return cycle.selected.node if cycle.selected is not None else ""


def _assume(cycle: Cycle) -> str:
    return "" if _failed_at(cycle, "Assume") else say("ribbon.assumed")


def _wait(cycle: Cycle) -> str:
    rejected = cycle.last_stage == "WaitOnPermit" and bool(cycle.outcome)
    return say("ribbon.rejected") if rejected else say("ribbon.allowed")


def _permit(cycle: Cycle) -> str:
    return say("ribbon.must-wait") if _waits(cycle, "Permit") else _passed(cycle, "Permit", say("ribbon.allowed"))


def _pre_bind(cycle: Cycle) -> str:
    return say("ribbon.waiting") if _waits(cycle, "PreBind") else _passed(cycle, "PreBind", say("ribbon.ready"))


def _bind(cycle: Cycle) -> str:
    failed = failed_to_bind(cycle)
    if failed is not None:
        return say("ribbon.plugin-failed", plugin=failed.extender)
    return say("ribbon.waiting") if _waits(cycle, "Bind") else _passed(cycle, "Bind", _select(cycle))


def _waits(cycle: Cycle, stage: str) -> bool:
    ran = cycle.plugins.get(stage)
    return ran is not None and any(code == "Wait" for _, code, _ in ran.verdicts)


def _passed(cycle: Cycle, stage: str, label: str) -> str:
    """Return ``label``, or which plugin refused or failed."""
    ran = cycle.plugins.get(stage)
    return (_refusal(ran.verdicts) if ran is not None else "") or label


def _refusal(verdicts: tuple[Verdict, ...]) -> str:
    """Return which plugin refused or failed, "" if none did."""
    for plugin, code, _ in verdicts:
        if code not in PASSED:
            return say("ribbon.plugin-failed" if code == "Error" else "ribbon.says-no", plugin=plugin)
    return ""


def _skips(verdicts: tuple[Verdict, ...]) -> int:
    return sum(code == "Skip" for _, code, _ in verdicts)


LABELS: dict[str, Callable[[Cycle], str]] = {
    "Pop": _pop,
    "Snapshot": _snapshot,
    "PreFilter": _pre_filter,
    "Filter": _filter,
    "PostFilter": _post_filter,
    "PreScore": _pre_score,
    "Score": _score,
    "NormalizeScore": _normalize,
    "SelectHost": _select,
    "Assume": _assume,
    "Reserve": lambda cycle: _passed(cycle, "Reserve", say("ribbon.reserved")),
    "Permit": _permit,
    "WaitOnPermit": _wait,
    "PreBind": _pre_bind,
    "Bind": _bind,
    "PostBind": lambda cycle: say("ribbon.done"),
}
