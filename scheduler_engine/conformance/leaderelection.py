"""Run recorded leader elections: every call, belief and stored lock, and every refusal at construction."""

from __future__ import annotations

from typing import Any

from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.leaderelection_world import NAME, NAMESPACE, Scenario, Server, exact, nothing
from scheduler_engine.leaderelection.elector import SECOND_NS, LeaderElectionConfig, validate
from scheduler_engine.leaderelection.locks import ResourceLock, v1_34_refusal


def run(case: dict[str, Any]) -> list[str]:
    """Return differences of one recorded scenario, [] if it passes."""
    return _construction(case) if case["op"] == "electionConfig" else _election(case)


def _election(case: dict[str, Any]) -> list[str]:
    scenario = Scenario(case["electors"])
    lines: list[str] = []
    for index, (op, expected) in enumerate(zip(case["ops"], case["results"], strict=True)):
        lines += [f"op {index} {op['op']}: {line}" for line in differences(expected, scenario.step(op))]
    return lines


def _construction(case: dict[str, Any]) -> list[str]:
    lock_error = v1_34_refusal(case["config"]["lockType"])
    got: dict[str, Any] = {"lockError": lock_error or None}
    if not lock_error:
        got["error"] = validate(_config(case["config"])) or None
    return differences({key: case[key] for key in ("lockError", "error") if key in case}, got)


def _config(case: dict[str, Any]) -> LeaderElectionConfig:
    lock = ResourceLock(case["lockType"], NAMESPACE, NAME, case["identity"], Server())
    return LeaderElectionConfig(
        None if case.get("nilLock") else lock,
        None if case.get("nilStarted") else nothing,
        None if case.get("nilStopped") else nothing,
        lease_duration_ns=exact(case["lease"], SECOND_NS),
        renew_deadline_ns=exact(case["renew"], SECOND_NS),
        retry_period_ns=exact(case["retry"], SECOND_NS),
    )
