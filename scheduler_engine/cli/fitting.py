"""``fit``: count how many copies of a pod fit into a scenario's cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from scheduler_engine.answers.balance import ResourceUse
from scheduler_engine.answers.copies import Refusal
from scheduler_engine.answers.headroom import WITH_TEMPLATE, Headroom, headroom, scarcest
from scheduler_engine.answers.nodes_needed import NodesNeeded, nodes_needed
from scheduler_engine.answers.room import MOST_COPIES, Room, room, room_by_node
from scheduler_engine.api.loading import load_manifests, located
from scheduler_engine.api.validation import validate
from scheduler_engine.cli import OK
from scheduler_engine.cli.files import FILE, MANIFESTS, STDIN, Unusable, one_file, read, shown
from scheduler_engine.cli.formats import TEXT, echo_data, in_a_format
from scheduler_engine.cli.lines import wrapped
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import simulation_of
from scheduler_engine.cli.version import by_rules, version_data, versioned
from scheduler_engine.config.reading import in_file
from scheduler_engine.errors import Rejected
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario.version import Version
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import Rules
from scheduler_engine.words import say


@click.command()
@click.argument("scenario", metavar="FILE", type=FILE)
@click.option(
    "--pod",
    metavar="POD|FILE",
    help="A pod of the scenario, or a file with a manifest. Default: each workload of the scenario.",
)
@click.option("--per-node", is_flag=True, help="Count for each node alone, as if every copy went there.")
@click.option("--nodes-for", type=click.IntRange(1), metavar="N", help="Count the new nodes that N copies need.")
@click.option("--shape", metavar="NODE|FILE", help="With --nodes-for: a node of the scenario, or a file with one.")
@click.option("--most", type=click.IntRange(1), default=MOST_COPIES, show_default=True, help="Stop at this number.")
@in_a_format
@with_plugins
@versioned
def command(
    scenario: str,
    pod: str | None,
    per_node: bool,
    nodes_for: int | None,
    shape: str | None,
    most: int,
    output: str,
    version: Version,
    plugins: OwnPlugins,
) -> int:
    """Count how many copies of a pod fit at the end of a scenario, and say why no more do.

    The scheduler places one copy after the other. Other waiting pods do not compete, and copies preempt nobody. The
    manifest may be a pod, or a workload with a template.
    """
    if (nodes_for is None) != (shape is None) or (per_node and shape is not None):
        raise Unusable("use --nodes-for N and --shape NODE together, without --per-node")
    if pod is None and (per_node or shape is not None):
        raise Unusable("--per-node and --nodes-for need --pod")
    simulation = simulation_of(scenario, version, plugins)
    if pod is None:
        _show_headroom(simulation, most, output)
        return OK
    manifest = manifest_of(simulation, pod)
    name = name_of(manifest)
    if nodes_for is not None and shape is not None:
        node = shape_of(simulation, shape)
        needed = nodes_needed(simulation, manifest, nodes_for, node)
        answer: Any = {"pod": name, "copies": nodes_for, "nodes": needed.nodes, **_room_data(needed.room)}
        lines = _lines_needed(name, nodes_for, str(node["metadata"]["name"]), needed)
    elif per_node:
        alone = dict(room_by_node(simulation, manifest, most))
        answer = {"pod": name, "nodes": {node: _room_data(found) for node, found in alone.items()}}
        lines = _lines_by_node(name, alone)
    else:
        found = room(simulation, manifest, most)
        answer = {"pod": name, **_room_data(found)}
        lines = _lines(name, found)
    show(output, answer, lines, simulation.rules)
    return OK


def manifest_of(simulation: Simulation, name: str) -> Mapping[str, Any]:
    """Return the manifest of an existing pod, or of the first pod or workload in a file. Raises Unusable, Rejected."""
    keys = [pod for pod in simulation.api.pods() if name in (pod.key, pod.name)]
    if len(keys) == 1:
        return keys[0].manifest
    if keys:
        raise Unusable(f"{name}: which one? {', '.join(pod.key for pod in keys)}")
    if name != STDIN and not Path(name).exists():
        raise Unusable(f'pods "{name}" not found, and there is no such file')
    found = _first(name, ("Pod", *WITH_TEMPLATE), simulation.rules)
    if found is None:
        raise Unusable(f"{shown(name)}: there is no pod or workload in it")
    return found


def _first(name: str, kinds: Sequence[str], rules: Rules) -> Mapping[str, Any] | None:
    """Return the first manifest of these kinds in a file. Raises Unusable for an invalid one."""
    name = one_file(name, MANIFESTS)
    try:
        manifests = load_manifests(read(name))
    except Rejected as refusal:
        raise Unusable("\n".join(in_file(shown(name), error) for error in refusal.errors)) from refusal
    item = next((item for item in manifests if item.data.get("kind") in kinds), None)
    if item is None:
        return None
    errors = located(validate(item.data, item.document, rules=rules), manifests)
    if errors:
        raise Unusable("\n".join(in_file(shown(name), error) for error in errors))
    return item.data


def shape_of(simulation: Simulation, name: str) -> Mapping[str, Any]:
    """Return the manifest of an existing node, or of the first node in a file. Raises Unusable, Rejected."""
    existing = simulation.api.get("Node", name)
    if existing is not None:
        return existing.manifest
    if name != STDIN and not Path(name).exists():
        raise Unusable(f'nodes "{name}" not found, and there is no such file')
    found = _first(name, ("Node",), simulation.rules)
    if found is None:
        raise Unusable(f"{shown(name)}: there is no node in it")
    return found


def name_of(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata") or {}
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name') or metadata.get('generateName') or 'pod'}"


def show(output: str, answer: Mapping[str, Any], lines: Iterable[str], rules: Rules) -> None:
    """Print an answer as data, or its lines, which are wrapped; with the version by whose rules it holds."""
    if output != TEXT:
        echo_data(output, {**version_data(rules), **answer})
        return
    lines = (*lines, by_rules(rules))
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        click.echo("\n".join(wrapped(line.lstrip(), indent, rest=f"{indent}  ")))


def counted(placed: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each node with its number of copies."""
    width = max(map(len, placed), default=0)
    digits = max((len(str(count)) for count in placed.values()), default=0)
    for node, count in placed.items():
        yield f"  {node:{width}}  {count:>{digits}}"


def stop_lines(found: Room) -> Iterator[str]:
    """Yield why the next copy has no place, and the nodes by reason. Nothing if the limit was reached."""
    if found.stopped is None:
        return
    yield say("room.next-failed" if found.stopped.failed else "room.next", message=found.stopped.message)
    for (plugin, reasons), nodes in found.reasons().items():
        yield "  " + say(
            "room.reasons", plugin=plugin, reasons="; ".join(reasons), count=len(nodes), nodes=", ".join(nodes)
        )


def _lines(name: str, found: Room) -> Iterator[str]:
    yield say("room.total" if found.stopped is not None else "room.at-least", pod=name, count=found.total)
    yield from counted(found.placed)
    yield from stop_lines(found)


def _lines_by_node(name: str, alone: Mapping[str, Room]) -> Iterator[str]:
    yield say("room.by-node", pod=name)
    for node, found in alone.items():
        if found.stopped is None:
            yield "  " + say("room.alone-limit", count=found.total, node=node)
        else:
            yield "  " + say("room.alone", count=found.total, node=node, why=_why(found.stopped, node))


def _lines_needed(name: str, copies: int, shape: str, needed: NodesNeeded) -> Iterator[str]:
    if needed.nodes is None:
        yield say("room.no-number", pod=name, count=copies, shape=shape)
        yield from stop_lines(needed.room)
        return
    yield say("room.needed", pod=name, copies=copies, count=needed.nodes, shape=shape)
    yield from counted(needed.room.placed)


def _why(stopped: Refusal, node: str) -> str:
    """Return the reasons of the node itself, or else the message."""
    reasons: Sequence[str] = stopped.statuses[node][1] if node in stopped.statuses else ()
    return "; ".join(reasons) or stopped.message


def _show_headroom(simulation: Simulation, most: int, output: str) -> None:
    """Show each workload with the room for more replicas, and the resources of the cluster, the scarcest first."""
    rows, scarce = [*headroom(simulation, most)], scarcest(simulation)
    answer = {
        "workloads": [_headroom_data(row) for row in rows],
        "resources": [
            {"resource": row.resource, "requested": row.whole.requested, "allocatable": row.whole.allocatable}
            for row in scarce
        ],
    }
    show(output, answer, _lines_headroom(rows, scarce), simulation.rules)


def _headroom_data(row: Headroom) -> dict[str, Any]:
    name = {"kind": row.kind, "key": row.key}
    return {**name, "problem": row.problem} if row.room is None else {**name, **_room_data(row.room)}


def _lines_headroom(rows: Sequence[Headroom], scarce: Sequence[ResourceUse]) -> Iterator[str]:
    for row in rows:
        name, found = f"{row.kind} {row.key}", row.room
        if found is None:
            yield f"{name}: {row.problem}"
        elif found.stopped is None:
            yield say("room.at-least", pod=name, count=found.total)
        else:
            yield say("room.replicas", workload=name, count=found.total, message=found.stopped.message)
    if not rows:
        yield say("room.no-workloads")
    for use in scarce:
        yield say("room.supply", resource=use.resource, share=f"{use.whole.share:.0%}")


def _room_data(found: Room) -> dict[str, Any]:
    stopped = found.stopped
    reasons = [
        {"plugin": plugin, "reasons": [*texts], "nodes": [*nodes]} for (plugin, texts), nodes in found.reasons().items()
    ]
    why = None if stopped is None else {"message": stopped.message, "failed": stopped.failed, "reasons": reasons}
    return {"total": found.total, "placed": dict(found.placed), "stopped": why}
