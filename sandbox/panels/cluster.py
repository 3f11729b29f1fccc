"""The cluster by zone: zones are columns in nodeTree order, so that the round robin reads like text."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from sandbox.panels.drawing.blocks import Block, block
from sandbox.panels.drawing.shapes import Drawing, bar
from sandbox.panels.facts.domains import domain_key, domain_of
from sandbox.panels.facts.skew import is_history, skews
from sandbox.panels.facts.verdicts import NOTHING, Word, words_for
from sandbox.panels.model.state import NodeState, PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import cores, memory, ratio, seconds, short_name
from sandbox.panels.words.phrases import taint_text, zone_title
from sandbox.panels.words.say import say
from scheduler_engine.api.taints import UNSCHEDULABLE
from scheduler_engine.trace import events as ev

CARDS = 40
"""Up to so many nodes are cards; more are tiles."""
FEW_NODES, FEW_PODS = 2, 4
"""So many nodes in a zone, and pods on a node, keep their names when the cards fold."""


ELSEWHERE = frozenset(
    {
        ev.CommandGiven,
        ev.ObjectAdded,
        ev.ObjectApplied,
        ev.ObjectModified,
        ev.ObjectDeleted,
        ev.StageFinished,
        ev.EventRecorded,
        ev.PodMoved,
        ev.HintAnswered,
        ev.MoveRequested,
        ev.EventNoted,
        ev.PreFilterRan,
        ev.PodUnschedulable,
        ev.PreemptionCriterionApplied,
        ev.PreScoreRan,
        ev.CycleStateWritten,
        ev.ScoreRan,
        ev.PluginsRan,
        ev.ElectorTried,
        ev.LockChanged,
    }
)
"""Events that change nothing in this panel, but for objects of ``SHOWN``."""
SHOWN = ("Node", "Pod")


def same_while(world: World, view: View) -> object:
    """The clock counts only while pods go: they show the seconds that are left to them."""
    cycle = world.cycle_in_view(view.cycle)
    leaving = any(pod.terminating_since_us is not None for pod in world.pods.values())
    present = cycle is world.cycle
    number, replica = cycle.number if cycle else 0, world.scheduler.replica
    objects = max(world.changed.get(kind, 0) for kind in SHOWN)
    history = cycle is not None and is_history(world, cycle)
    return number, present, history, replica, objects, world.latest_but(ELSEWHERE), world.clock_us if leaving else 0


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    pod = world.pods.get(cycle.pod) if cycle else None
    asking = pod if pod is not None and (cycle is None or not cycle.outcome or not pod.node) else None
    many = len(world.nodes) > CARDS if not view.layout else view.layout == "tiles"
    words = words_for(world, cycle)
    places = {name: place for place, name in enumerate(world.cache.order, 1)}
    start = _start(world)
    asked = asking.requests if asking else {}
    asked_on = {} if asking is None or asking.node else asked
    key = domain_key(world)
    spread = skews(world, cycle, key)
    zones: list[dict[str, Any]] = []
    for title, names in _domains(world, key) if key else _columns(world):
        build = _tile if many else _card
        nodes: list[Any] = [
            build(world, world.nodes[name], places.get(name, 0), name == start, asked_on, words.get(name, NOTHING))
            for name in names
            if name in world.nodes
        ]
        fit = sum(1 for name in names if words.get(name, NOTHING).kind in ("ok", "plain", "best"))
        zones.append({"title": title, "count": len(nodes), "fit": fit, "skew": spread.get(title), "nodes": nodes})
    return {
        "zones": zones,
        "columns": min(max(len(zones), 1), 4),
        "rows": 1 + max((zone["count"] for zone in zones), default=0),
        "many": many,
        "few": _few(world, zones),
        "nodes": len(world.nodes),
        "count": len(world.nodes) - sum(1 for node in world.nodes.values() if node.ghost),
        "pods": sum(len(pods) for pods in world.pods_on.values()),
        "asking": short_name(asking.key) if asking and asked_on else "",
        "filtered": bool(cycle and cycle.filter),
        "past": cycle.number if cycle and cycle is not world.cycle else 0,
        "key": key,
        "can_switch": len(world.nodes) > 12,
    }


def _few(world: World, zones: list[dict[str, Any]]) -> bool:
    """There is room for the names of pods beside a tall decision pane."""
    tallest = max((zone["count"] for zone in zones), default=0)
    return tallest <= FEW_NODES and all(len(pods) <= FEW_PODS for pods in world.pods_on.values())


def _start(world: World) -> str:
    """The node where the current or the next search starts."""
    cycle = world.cycle
    if cycle is not None and cycle.filter is not None and cycle.order and not cycle.outcome:
        return cycle.order[cycle.filter.start_index % len(cycle.order)]
    order = world.cache.lists.nodes or world.cache.order
    return order[world.next_start % len(order)] if order else ""


def _columns(world: World) -> list[tuple[str, list[str]]]:
    columns = [(zone_title(key), list(names)) for key, names in world.cache.zones]
    known = {name for _, names in columns for name in names}
    for node in world.nodes.values():
        if node.name not in known:
            title = node.zone or say("phrases.no-zone")
            column = next((names for name, names in columns if name == title), None)
            if column is None:
                columns.append((title, [node.name]))
            else:
                column.append(node.name)
    return columns


def _domains(world: World, key: str) -> list[tuple[str, list[str]]]:
    """Without zones the nodeTree has one list of all nodes; here they stand by the label that pods spread over."""
    columns: dict[str, list[str]] = {}
    for name in dict.fromkeys((*world.cache.order, *world.nodes)):
        if name in world.nodes:
            columns.setdefault(domain_of(world.nodes[name], key), []).append(name)
    return [(value or say("cluster.no-label", key=key), names) for value, names in columns.items()]


def _parts(world: World, node: NodeState) -> list[tuple[PodState, str]]:
    pods = sorted(world.pods_of(node.name), key=lambda pod: -pod.pod.priority)
    return [(pod, "nominated") for pod in world.nominated_to(node.name)] + [(pod, pod.state) for pod in pods]


def _bar(parts: list[tuple[PodState, str]], resource: str, asked: int, total: int) -> Drawing:
    if resource == "pods":
        return bar(tuple((0, 1, "") for _, state in parts if state != "nominated"), asked, total)
    return bar(tuple((pod.app, pod.requests.get(resource, 0), state) for pod, state in parts), asked, total)


def _card(world: World, node: NodeState, place: int, start: bool, asked: dict[str, int], word: Word) -> dict[str, Any]:
    parts = _parts(world, node)
    used = world.used(node.name)
    bars = []
    asking = bool(asked) and not node.ghost
    for resource, title in (("cpu", "cpu"), ("memory", "mem"), ("pods", "pods")):
        total = node.allocatable.get(resource, 0)
        ask = (1 if resource == "pods" else asked.get(resource, 0)) if asking else 0
        taken = sum(pod.requests.get(resource, 0) for pod, _ in parts) if resource != "pods" else used["pods"]
        bars.append(
            {
                "title": title,
                "text": str(taken) if resource == "pods" else ratio(resource, taken, total),
                "short": ask > 0 and taken + ask > total,
                "drawing": _bar(parts, resource, ask, total),
            }
        )
    return {
        "name": node.name,
        "place": place,
        "start": start,
        "ghost": node.ghost,
        "last": place == len(world.cache.order),
        "cordoned": node.node.unschedulable,
        "taints": [
            {
                "text": taint.key.rpartition("/")[2] + (f"={taint.value}" if taint.value else ""),
                "title": taint_text(taint),
                "soft": taint.effect == "PreferNoSchedule",
            }
            for taint in node.node.taints
            if taint.key != UNSCHEDULABLE
        ],
        "extended": [
            f"{used.get(name, 0)}/{total} {name.rpartition('/')[2]}"
            for name, total in node.allocatable.items()
            if "/" in name
        ],
        "bars": bars,
        "word": word,
        "pods": [_block(world, pod, state) for pod, state in parts],
    }


def _block(world: World, pod: PodState, state: str) -> Block:
    left = seconds(pod.left_us(world.clock_us)) if state == "terminating" else ""
    return block(pod, state=state, note=left)


class Level(NamedTuple):
    """In percent of what the node has: ``used``, None = it has none of it; ``asked`` on top of that; ``over``: what is
    asked is too much. 0 = nothing to draw.
    """

    used: int | None
    asked: int = 0
    over: int = 0


class Tile(NamedTuple):
    """A node as a small square. There may be thousands, so the shapes are left to the style sheet."""

    node: str
    kind: str
    ghost: bool
    cordoned: bool
    start: bool
    place: int
    title: str
    cpu: Level
    memory: Level


def _tile(world: World, node: NodeState, place: int, start: bool, asked: dict[str, int], word: Word) -> Tile:
    used, has = world.used(node.name), node.allocatable
    cpu = (used.get("cpu", 0), has.get("cpu", 0), asked.get("cpu", 0))
    mem = (used.get("memory", 0), has.get("memory", 0), asked.get("memory", 0))
    return _tile_of(node.name, node.ghost, node.node.unschedulable, place, start, cpu, mem, word)


@lru_cache(20_000)
def _tile_of(
    node: str,
    ghost: bool,
    cordoned: bool,
    place: int,
    start: bool,
    cpu: tuple[int, int, int],
    mem: tuple[int, int, int],
    word: Word,
) -> Tile:
    """``cpu`` and ``mem`` are used, total and asked. Most are as they were at the step before, hence the cache."""
    verdict = word.why or say("cluster.ghost" if ghost else "cluster.not-visited")
    title = say(
        "cluster.tile",
        node=node,
        cpu=cores(cpu[0]),
        cpus=cores(cpu[1]),
        memory=memory(mem[0]),
        memories=memory(mem[1]),
        verdict=verdict,
    )
    kind = {"plain": "ok", "best": "ok is-best"}.get(word.kind, word.kind)
    refused = word.kind in ("no", "hard")
    return Tile(node, kind, ghost, cordoned, start, place, title, _level(*cpu, refused), _level(*mem, refused))


def _level(used: int, total: int, asked: int, refused: bool) -> Level:
    if total <= 0:
        return Level(None)
    level = min(round(100 * used / total), 100)
    if asked and used + asked > total:
        return Level(level, over=100 - level)
    return Level(level, asked=0 if refused else min(round(100 * asked / total), 100 - level))
