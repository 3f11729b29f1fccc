"""One line for people: what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_engine.apiserver.lifecycle import BACKGROUND
from scheduler_engine.commands import kinds
from scheduler_engine.commands.kinds import AMOUNTS, Command

MOST_NAMES = 3
LONGEST_VALUE = 40


def summary(command: Command) -> str:
    """One line that says what ``command`` does, and to what."""
    told = SUMMARIES[command.kind](command)
    return f"{told}, ended early" if getattr(command, "until", 0) else told


def _named(manifest: Any) -> str:
    """Kind and name of a manifest that has not been checked yet."""
    data = manifest if isinstance(manifest, Mapping) else {}
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{data.get('kind', '?')} {name or '?'}"


def _apply(command: kinds.Apply) -> str:
    named = [_named(item) for item in command.manifests]
    more = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
    return f"apply {', '.join(named[:MOST_NAMES])}{more}"


def _delete(command: kinds.Delete) -> str:
    how = "" if command.propagation_policy == BACKGROUND else f" ({command.propagation_policy})"
    return f"delete {command.object_kind} {command.key}{how}"


def _patch(command: kinds.Patch) -> str:
    paths = [*_paths(command.changes, "")]
    more = f" and {len(paths) - MOST_NAMES} more" if len(paths) > MOST_NAMES else ""
    verb = command.subresource or "edit"
    return f"{verb} {command.object_kind} {command.key}: {', '.join(paths[:MOST_NAMES]) or 'nothing'}{more}"


def _paths(changes: Mapping[str, Any], start: str) -> Iterator[str]:
    """What a patch changes: ``spec.replicas=3``, ``no metadata.labels.app``, ``spec.taints``."""
    for name, value in changes.items():
        path = f"{start}{name}"
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{path}.")
        elif value is None:
            yield f"no {path}"
        elif isinstance(value, (str, int, float)) and len(told := str(value)) <= LONGEST_VALUE:
            yield f"{path}={told}"
        else:
            yield path


def _taint(command: kinds.Taint) -> str:
    value = f"={command.value}" if command.value and command.on else ""
    verb = "taint" if command.on else "untaint"
    return f"{verb} {command.node} {command.key}{value}:{command.effect}"


def _usage(command: kinds.Usage) -> str:
    given = ((name.replace("_", " "), getattr(command, name)) for name in AMOUNTS)
    said = ", ".join(f"{name} {amount}" for name, amount in given if amount is not None)
    return f"{command.pod or f'the system on {command.node}'} uses {said or 'as before'}"


def _drain(command: kinds.Drain) -> str:
    given = "".join(f" {flag}" for name, flag in kinds.DRAIN_FLAGS.items() if getattr(command, name))
    return f"drain {command.node}{given}" if command.on else f"stop draining {command.node}"


def _replicas(command: kinds.Replicas) -> str:
    counted = "1 replica" if command.count == 1 else f"{command.count} replicas"
    how = f"elect a leader with {command.lock}" if command.leader_elect else "elect no leader"
    return f"{counted} of the scheduler, which {how}"


def _replica(command: kinds.Replica) -> str:
    amounts = {"skew": f" by {command.seconds:g} s", "rate": f" {command.rate}"}
    return f"{command.replica}: {command.action}{amounts.get(command.action, '')}"


SUMMARIES: dict[str, Callable[[Any], str]] = {
    "apply": _apply,
    "delete": _delete,
    "patch": _patch,
    "replace": lambda command: f"replace {command.object_kind} {command.key}",
    "cordon": lambda command: f"{'cordon' if command.on else 'uncordon'} {command.node}",
    "taint": _taint,
    "scale": lambda command: f"scale {command.object_kind} {command.key} to {command.replicas}",
    "rollout-restart": lambda command: f"restart {command.object_kind} {command.key}",
    "stage": lambda command: "next stage",
    "pod": lambda command: "next pod",
    "settle": lambda command: "settle",
    "advance": lambda command: "play" if command.play else f"advance {command.seconds:g} s",
    "run": lambda command: "run until idle",
    "configure": lambda command: "configure the scheduler",
    "fault": lambda command: f"fault: {command.plugin} at {command.point} answers {command.answer}",
    "allow": lambda command: f"allow {command.pod}",
    "assumed-ttl": lambda command: (
        f"assumed pods expire after {command.seconds:g} s" if command.seconds else "assumed pods never expire"
    ),
    "admission": lambda command: f"switch {'on' if command.enabled else 'off'} admission plugin {command.plugin}",
    "node-condition": lambda command: f"{command.node}: {command.type} is {command.status}",
    "usage": _usage,
    "kubelet": lambda command: f"configure the kubelet on {command.node}",
    "evict": lambda command: f"evict {command.pod}",
    "drain": _drain,
    "replicas": _replicas,
    "replica": _replica,
}
