"""Commands about the replicas of the scheduler: their checks and actions. Source: seed 003."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine import commands
from scheduler_engine.cluster import Cluster
from scheduler_engine.durations import format_duration, parse_duration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.replica import ElectionSettings, Replica
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.words import say

DURATIONS = ("lease_duration", "renew_deadline", "retry_period")

MIN_RETRY_NS = 500_000_000

Condition = tuple[Callable[[Replica], bool], str]
RUNS: Condition = (lambda replica: replica.runs, "replicas.stopped")
POSSIBLE: dict[str, tuple[Condition, ...]] = {
    "kill": (RUNS,),
    "release": (
        RUNS,
        (lambda replica: not replica.timers.paused, "replicas.paused"),
    ),
    "restart": (
        (lambda replica: not replica.runs, "replicas.running"),
        (
            lambda replica: replica.reachable or replica.election is not None,
            "replicas.cut-off",
        ),
    ),
    "pause": (RUNS, (lambda replica: not replica.timers.paused, "replicas.already-paused")),
    "resume": ((lambda replica: replica.timers.paused, "replicas.not-paused"),),
    "partition": ((lambda replica: replica.reachable, "replicas.already-cut-off"),),
    "heal": ((lambda replica: not replica.reachable, "replicas.not-cut-off"),),
    "skew": (),
    "rate": (),
}
"""Action → (condition on the replica, key of the message if it does not hold)."""


def replicas(cluster: Cluster, command: commands.Replicas) -> None:
    cluster.replicas.replace(command.count, _election(cluster, command) if command.leader_elect else None)
    cluster.deliver()


def _election(cluster: Cluster, command: commands.Replicas) -> ElectionSettings:
    """Read the settings. Raises Rejected for an invalid duration, with the text of Kubernetes' command line."""
    defaults = cluster.replicas.configuration.defaulted["leaderElection"]
    durations: dict[str, int] = {}
    errors: list[FieldError] = []
    for name in DURATIONS:
        text = getattr(command, name)
        text = defaults[commands.SPELLED[name]] if text is None else text
        try:
            durations[name] = parse_duration(text)
        except ValueError as problem:
            flag = f"--leader-elect-{name.replace('_', '-')}"
            message = f'invalid argument "{text}" for "{flag}" flag: {problem}'
            errors.append(commands.wrong_field(name, message))
    if not errors and 0 < durations["retry_period"] < MIN_RETRY_NS:
        message = say("replicas.retry-too-short", least=format_duration(MIN_RETRY_NS))
        errors.append(commands.wrong_field("retry_period", message))
    if errors:
        raise Rejected(errors)
    return ElectionSettings(
        command.lock,
        defaults["resourceNamespace"],
        defaults["resourceName"],
        durations["lease_duration"],
        durations["renew_deadline"],
        durations["retry_period"],
        command.release_on_cancel,
    )


def replica(cluster: Cluster, command: commands.Replica) -> None:
    members = cluster.replicas.members
    if not cluster.replicas.named:
        raise Rejected(say("replicas.only-one"))
    target = next((member for member in members if member.name == command.replica), None)
    if target is None:
        names = ", ".join(member.name for member in members)
        raise Rejected(say("replicas.unknown", replica=command.replica, replicas=names))
    for holds, why_not in POSSIBLE[command.action]:
        if not holds(target):
            raise Rejected(say(why_not, replica=target.name))
    if command.action == "skew":
        target.skew(round(command.seconds * SECOND_US))
    elif command.action == "rate":
        target.run_at(commands.rate_of(command))
    else:
        getattr(target, command.action)()
    cluster.deliver()


HANDLERS: dict[str, Callable[[Cluster, Any], None]] = {"replicas": replicas, "replica": replica}
