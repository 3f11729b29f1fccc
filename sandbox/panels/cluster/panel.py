"""The cluster by zone. Zones are columns in nodeTree order, so that the round robin reads like text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.cluster.heat import MOST_ZONES, Scene, Zone, heat
from sandbox.panels.cluster.tiles import tile
from sandbox.panels.drawing.blocks import block
from sandbox.panels.drawing.shapes import Drawing, bar
from sandbox.panels.facts.devices import in_short, offers
from sandbox.panels.facts.domains import domain_key, domain_of
from sandbox.panels.facts.sampling import start_of
from sandbox.panels.facts.skew import is_history, skews
from sandbox.panels.facts.verdicts import NOTHING, Word, words_for
from sandbox.panels.model.state import Cycle, NodeState, PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import ratio, seconds, short_name
from sandbox.words.phrases import zone_title, zone_titles
from sandbox.words.say import say
from scheduler_engine.api.taints import UNSCHEDULABLE
from scheduler_engine.api.topology import zone_key
from scheduler_engine.trace import events as ev

CARDS, TILES = 40, 400
"""Up to ``CARDS`` nodes are cards, up to ``TILES`` are tiles; more are a heat map."""
SWITCH = 12
"""With more nodes than this, there is another way to draw them."""
LAYOUTS = (("cards", "cluster.as-cards"), ("tiles", "cluster.as-tiles"), ("map", "cluster.as-map"))

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
        ev.PreemptionLimited,
        ev.PreScoreRan,
        ev.CycleStateWritten,
        ev.ScoreRan,
        ev.PluginsRan,
        ev.ElectorTried,
        ev.LockChanged,
    }
)
"""Events that do not change this panel, except for objects of ``SHOWN``."""
SHOWN = ("Node", "Pod", "ResourceClaim", "ResourceSlice")


def same_while(world: World, view: View) -> object:
    """Return what the panel depends on. The clock counts only while pods leave: they show the seconds left."""
    cycle = world.cycle_in_view(view.cycle)
    leaving = any(pod.terminating_since_us is not None for pod in world.pods.values())
    present = cycle is None or not _is_over(world, cycle)
    number, replica = cycle.number if cycle else 0, world.scheduler.replica
    objects = max(world.changed.get(kind, 0) for kind in SHOWN)
    history = cycle is not None and is_history(world, cycle)
    return number, present, history, replica, objects, world.latest_but(ELSEWHERE), world.clock_us if leaving else 0


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    pod = world.pod_of(cycle) if cycle else None
    asking = pod if pod is not None and (cycle is None or not cycle.outcome or not pod.node) else None
    layout = _layout(world, view)
    words = words_for(world, cycle, world.nodes if layout == "cards" else ())
    places = {name: place for place, name in enumerate(world.cache.order, 1)}
    start = start_of(world)
    requests = asking.requests if asking else {}
    requests_on_bars = {} if asking is None or asking.node else requests
    key = domain_key(world)
    columns = [
        zone._replace(names=[name for name in zone.names if name in world.nodes])
        for zone in (_domains(world, key) if key else _columns(world))
    ]
    if layout == "map" and len(columns) > MOST_ZONES:
        columns = [Zone(say("heat.all-nodes"), [name for zone in columns for name in zone.names])]
    spread, offered = skews(world, cycle, key), offers(world)
    feasible = frozenset(cycle.filter.feasible if cycle and cycle.filter else ())
    zones: list[dict[str, Any]] = []
    for title, names, domain in columns:
        nodes = [
            build(
                world, world.nodes[name], places.get(name, 0), name == start, requests_on_bars, words.get(name, NOTHING)
            )
            for build in BUILD[layout]
            for name in names
        ]
        if layout == "cards":
            _land(world, view.lands, nodes)
            for card in nodes:
                card["devices"] = in_short(world.nodes[card["name"]].node, offered)
        fit = sum(name in feasible for name in names)
        zones.append({"title": title, "count": len(names), "fit": fit, "skew": spread.get(domain), "nodes": nodes})
    return {
        "zones": zones,
        "columns": min(max(len(zones), 1), 4),
        "rows": 1 + max((zone["count"] for zone in zones), default=0),
        "layout": layout,
        "layouts": _layouts(len(world.nodes)),
        "many": layout != "cards",
        "nodes": len(world.nodes),
        "count": len(world.existing_nodes()),
        "pods": sum(len(pods) for pods in world.pods_on.values()),
        "asking": short_name(asking.key) if asking and requests_on_bars and layout != "map" else "",
        "filtered": bool(cycle and cycle.filter),
        "past": cycle.number if cycle and words and _is_over(world, cycle) else 0,
        "key": key,
        "heat": heat(Scene(world, cycle, words, places, start), columns, view.colour) if layout == "map" else None,
    }


def _land(world: World, lands: str, cards: list[dict[str, Any]]) -> None:
    """Add the pod of ``lands``, as in a ``View``, to the card of its node, as long as it waits."""
    key, _, name = lands.partition("@")
    pod = world.pods.get(key)
    if pod is not None and not pod.node and not pod.pod.finished:
        shown = block(pod, state="landing")._replace(title=say("blocks.would-land", pod=short_name(key), node=name))
        for card in cards:
            if card["name"] == name:
                card["pods"].insert(0, shown)


def _is_over(world: World, cycle: Cycle) -> bool:
    """Return True if something may have changed since the attempt, so that its words need a date."""
    over = bool(cycle.outcome) and (world.clock_us > cycle.ended_us or world.head > cycle.last_command)
    return over or cycle is not world.cycle


def _layout(world: World, view: View) -> str:
    nodes = len(world.nodes)
    default = "cards" if nodes <= CARDS else "tiles" if nodes <= TILES else "map"
    return default if not view.layout or (view.layout == "map" and nodes <= CARDS) else view.layout


def _layouts(nodes: int) -> list[dict[str, str]]:
    """Return the ways to draw this number of nodes."""
    layouts = LAYOUTS[: 3 if nodes > CARDS else 2] if nodes > SWITCH else ()
    return [{"name": name, "title": say(key)} for name, key in layouts]


def _columns(world: World) -> list[Zone]:
    """Return the nodes by nodeTree zone; ghosts stay in their zone."""
    names_of = {key: list(names) for key, names in world.cache.zones}
    in_tree = {name for names in names_of.values() for name in names}
    for node in world.nodes.values():
        if node.name not in in_tree:
            names_of.setdefault(zone_key(node.node.labels), []).append(node.name)
    titles = zone_titles(names_of)
    return [Zone(titles[key], names, zone_title(key)) for key, names in names_of.items()]


def _domains(world: World, key: str) -> list[Zone]:
    """Return the nodes by the label that pods spread over. Without zones the nodeTree has one list of all nodes."""
    columns: dict[str, list[str]] = {}
    for name in dict.fromkeys((*world.cache.order, *world.nodes)):
        if name in world.nodes:
            columns.setdefault(domain_of(world.nodes[name], key), []).append(name)
    return [Zone(value or say("cluster.no-label", key=key), names, value) for value, names in columns.items()]


def _bar(parts: list[tuple[PodState, str]], resource: str, request: int, total: int) -> Drawing:
    if resource == "pods":
        return bar(tuple((0, 1, "") for _, state in parts if state != "nominated"), request, total)
    return bar(tuple((pod.app, pod.requests.get(resource, 0), state) for pod, state in parts), request, total)


def _card(
    world: World, node: NodeState, place: int, start: bool, requests: dict[str, int], word: Word
) -> dict[str, Any]:
    pods = sorted(world.pods_of(node.name), key=lambda pod: -pod.pod.priority)
    parts = [(pod, "nominated") for pod in world.nominated_to(node.name)] + [(pod, pod.state) for pod in pods]
    used, bars = world.used(node.name), []
    asking = bool(requests) and not node.ghost
    for resource, title in (("cpu", "cpu"), ("memory", "mem"), ("pods", "pods")):
        total = node.allocatable.get(resource, 0)
        ask = (1 if resource == "pods" else requests.get(resource, 0)) if asking else 0
        requested = sum(pod.requests.get(resource, 0) for pod, _ in parts) if resource != "pods" else used["pods"]
        bars.append(
            {
                "title": title,
                "text": str(requested) if resource == "pods" else ratio(resource, requested, total),
                "short": ask > 0 and requested + ask > total,
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
        "leaving": node.leaving,
        "taints": [
            {
                "text": taint.key.rpartition("/")[2] + (f"={taint.value}" if taint.value else ""),
                "title": taint.text,
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
        "pods": [
            block(pod, state=state, note=seconds(pod.left_us(world.clock_us)) if state == "terminating" else "")
            for pod, state in parts
        ],
    }


BUILD: dict[str, tuple[Callable[..., Any], ...]] = {"cards": (_card,), "tiles": (tile,), "map": ()}
"""Layout → functions that draw a node; the heat map draws all nodes at once."""
