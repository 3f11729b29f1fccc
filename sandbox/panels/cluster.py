"""The cluster by zone: zones are columns in nodeTree order, so that the round robin reads like text."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sandbox.panels.drawing import markup
from sandbox.panels.drawing.markup import Markup
from sandbox.panels.facts.skew import is_history, skews
from sandbox.panels.facts.verdicts import NOTHING, Word, words_for
from sandbox.panels.model.state import NodeState, PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import cores, memory, ratio, seconds, short_name
from sandbox.panels.words.phrases import taint_text, zone_title
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
    spread = skews(world, cycle)
    zones: list[dict[str, Any]] = []
    for title, names in _columns(world):
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
            title = node.zone or "no zone"
            column = next((names for name, names in columns if name == title), None)
            if column is None:
                columns.append((title, [node.name]))
            else:
                column.append(node.name)
    return columns


def _parts(world: World, node: NodeState) -> list[tuple[PodState, str]]:
    pods = sorted(world.pods_of(node.name), key=lambda pod: -pod.pod.priority)
    return [(pod, "nominated") for pod in world.nominated_to(node.name)] + [(pod, pod.state) for pod in pods]


def _bar(parts: list[tuple[PodState, str]], resource: str, asked: int, total: int) -> Markup:
    if resource == "pods":
        return markup.bar([(0, 1, "") for _, state in parts if state != "nominated"], asked, total)
    return markup.bar([(pod.app, pod.requests.get(resource, 0), state) for pod, state in parts], asked, total)


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
                "svg": _bar(parts, resource, ask, total),
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
        "pods": markup.join(_block(world, pod, state) for pod, state in parts),
        "empty": not parts,
    }


def _block(world: World, pod: PodState, state: str) -> str:
    count = seconds(pod.left_us(world.clock_us)) if state == "terminating" else ""
    return markup.pod_block(pod, state=state, count=count)


def _tile(world: World, node: NodeState, place: int, start: bool, asked: dict[str, int], word: Word) -> Markup:
    used, has = world.used(node.name), node.allocatable
    cpu = (used.get("cpu", 0), has.get("cpu", 0), asked.get("cpu", 0))
    mem = (used.get("memory", 0), has.get("memory", 0), asked.get("memory", 0))
    return _tile_html(node.name, node.ghost, node.node.unschedulable, place, start, cpu, mem, word)


@lru_cache(20_000)
def _tile_html(
    node: str,
    ghost: bool,
    cordoned: bool,
    place: int,
    start: bool,
    cpu: tuple[int, int, int],
    mem: tuple[int, int, int],
    word: Word,
) -> Markup:
    """A node as a small square: how full it is, what the pod asks for (``cpu`` and ``mem`` are used, total and asked),
    and the verdict. There may be thousands, so the shapes are left to the style sheet: levels are numbers from 0 to
    100. Most are as they were at the step before, hence the cache.
    """
    said = word.why or ("left the nodeTree" if ghost else "not visited")
    full = f"cpu {cores(cpu[0])} of {cores(cpu[1])}, memory {memory(mem[0])} of {memory(mem[1])}"
    kind = {"plain": "ok", "best": "ok is-best"}.get(word.kind, word.kind)
    signs = (("is-ghost", ghost), ("is-cordoned", cordoned), ("is-start", start))
    flags = " ".join([kind, *(name for name, on in signs if on)])
    refused = word.kind in ("no", "hard")
    levels = _levels("c", *cpu, refused) + _levels("m", *mem, refused)
    name = markup.esc(node)
    return Markup(
        f'<button type="button" class="tile {flags}" id="n:{name}" data-node="{name}" '
        f'title="{name}, {full}: {markup.esc(said)}" style="{levels}"><b>{place or "–"}</b></button>'
    )


def _levels(name: str, used: int, total: int, asked: int, refused: bool) -> str:
    """``--c`` the level, ``--ca`` what is asked on top of it, ``--co`` the same when it is too much."""
    if total <= 0:
        return ""
    level = min(round(100 * used / total), 100)
    if not asked or used + asked <= total:
        more = f"--{name}a:{min(round(100 * asked / total), 100 - level)};" if asked and not refused else ""
    else:
        more = f"--{name}o:{100 - level};"
    return f"--{name}:{level};{more}"
