"""Jobs that read a sandbox: its objects, its queue, its trace, and the data of a panel."""

from __future__ import annotations

from typing import Any

from sandbox.panels import PANELS, faults
from sandbox.panels.cache.dump import dump
from sandbox.panels.facts import finding, offering
from sandbox.panels.facts.admission import admitted_lines
from sandbox.panels.facts.finding import Hit
from sandbox.panels.leader import panel as leader
from sandbox.panels.model import steps
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.state import by_error_expiry, by_expiry, by_priority
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.words.yaml_text import written
from sandbox.worker import expecting, rendering
from sandbox.worker.job import reading
from sandbox.worker.live import Live
from scheduler_engine import metrics
from scheduler_engine.plain import plain
from scheduler_engine.replay import entry_line

LANES = {"activeQ": by_priority, "backoffQ": by_expiry, "errorBackoffQ": by_error_expiry} | dict.fromkeys(
    ("unschedulablePods", "gated", "inFlight"), by_priority
)


@reading
def manifest(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> dict[str, Any] | None:
    """Return an object at a moment, None if there is none. ``key``: ``namespace/name``, or name without a namespace."""
    live.move_to(position)
    return live.at(at).objects.get(kind, {}).get(key)


@reading
def manifest_text(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> str | None:
    """Return an object at a moment as YAML, None if there is none. As in kubectl, ``managedFields`` are hidden."""
    data = manifest(live, position, kind, key, at)
    if data is None:
        return None
    metadata = {name: value for name, value in data["metadata"].items() if name != "managedFields"}
    return written({**data, "metadata": metadata})


@reading
def admission(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> list[Any] | None:
    """Return what the API server changed in the applied manifest, line by line, at a moment."""
    live.move_to(position)
    return admitted_lines(live.at(at), kind, key)


@reading
def names(live: Live, position: Position, kind: str, namespace: str) -> list[str]:
    """Return the names of the objects of a kind. ``namespace``: "" for a kind without namespaces."""
    start = f"{namespace}/" if namespace else ""
    return [key.removeprefix(start) for key in _world(live, position).objects.get(kind, {}) if key.startswith(start)]


@reading
def objects(live: Live, position: Position, kind: str, after: str, limit: int) -> tuple[list[Any], str]:
    """Return manifests of a kind by key, after key ``after``; and the key to continue from, "" at the end."""
    manifests = _world(live, position).objects.get(kind, {})
    keys = sorted(key for key in manifests if key > after)
    return [manifests[key] for key in keys[:limit]], keys[limit - 1] if len(keys) > limit else ""


@reading
def find(live: Live, position: Position, text: str, at: Moment | None = None) -> tuple[list[Hit], int]:
    """Return the objects that match a search text at a moment, and how many more there are."""
    live.move_to(position)
    return finding.find(live.at(at), text)


@reading
def offers(live: Live, position: Position) -> dict[str, Any]:
    """Return the names that an editor offers for manifests."""
    return offering.offers(_world(live, position))


@reading
def fault_choices(live: Live, position: Position, point: str, profile: str) -> dict[str, Any]:
    return faults.choices(_world(live, position), point, profile)


@reading
def leader_form(live: Live, position: Position) -> dict[str, Any]:
    return leader.form(_world(live, position))


@reading
def steps_done(live: Live, position: Position) -> int:
    """Return how many steps of the scenario were taken."""
    return steps.steps_done(_world(live, position))


@reading
def state(live: Live, position: Position) -> dict[str, Any]:
    """Return the numbers of the sandbox, and the pods of each lane in the order in which they would leave it."""
    _world(live, position)
    return numbers(live)


def numbers(live: Live) -> dict[str, Any]:
    """Return the same of the present world."""
    world = live.world
    waiting = {lane: sorted(world.lane(lane), key=key) for lane, key in LANES.items()}
    rules = live.simulation.rules
    return {
        "kubernetes": rules.kubernetes,
        "feature_gates": dict(rules.feature_gates),
        "seconds": world.clock_us / 1_000_000,
        "nodes": len(world.existing_nodes()),
        "pods": len(world.pods),
        "bound": sum(bool(pod.pod.node_name) for pod in world.pods.values()),
        "cycle": world.cycle.number if world.cycle else 0,
        "queue": {lane: [queued.move.pod for queued in pods] for lane, pods in waiting.items() if pods},
        "stopped": world.stopped,
    }


@reading
def facts(live: Live, position: Position, panel: str, view: View) -> dict[str, Any]:
    """Return the data that a panel shows."""
    live.move_to(position)
    live.look_up_expected(None)
    return plain(PANELS[panel].stats(rendering.world_in_view(live, view), view))


@reading
def expectation(
    live: Live, position: Position, fact: str, about: dict[str, Any], at: Moment | None = None
) -> tuple[dict[str, Any] | None, int, int, int]:
    """Return a fact as an expectation, and its moment, as ``expecting.fact``. Raises ``Rejected``."""
    live.move_to(position)
    live.check_replayed()
    return expecting.fact(live, at, fact, about)


@reading
def trace(live: Live, position: Position, after: int, limit: int) -> list[str]:
    """Return at most ``limit`` entries of the trace as JSON texts, after the first ``after``."""
    entries = _world(live, position).entries[after : after + limit]
    return [entry_line(entry) for entry in entries]


@reading
def prometheus(live: Live, position: Position) -> str:
    live.move_to(position)
    return metrics.render(live.simulation)


@reading
def cache_dump(live: Live, position: Position, view: View) -> str:
    """Return what the scheduler in view would log on SIGUSR2 at the moment in view."""
    live.move_to(position)
    world = live.at(view.at)
    world.look_at(view.replica)
    return dump(world)


def _world(live: Live, position: Position) -> World:
    live.move_to(position)
    live.world.look_at("")
    return live.world
