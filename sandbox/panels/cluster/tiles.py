"""Many nodes as small squares."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sandbox.panels.facts.verdicts import Word
from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from sandbox.words.amounts import cores, memory
from sandbox.words.say import say


class Level(NamedTuple):
    """Percentages of a resource: ``used`` (None = there is none), ``asked`` on top, ``over``: more than there is."""

    used: int | None
    asked: int = 0
    over: int = 0


class Tile(NamedTuple):
    """A node as a small square. There may be thousands, so the stylesheet draws the shapes."""

    node: str
    kind: str
    ghost: bool
    cordoned: bool
    leaving: bool
    start: bool
    place: int
    title: str
    cpu: Level
    memory: Level


def tile(world: World, node: NodeState, place: int, start: bool, requests: dict[str, int], word: Word) -> Tile:
    used, has = world.used(node.name), node.allocatable
    cpu = (used.get("cpu", 0), has.get("cpu", 0), requests.get("cpu", 0))
    mem = (used.get("memory", 0), has.get("memory", 0), requests.get("memory", 0))
    return _tile_of(node.name, node.ghost, node.node.unschedulable, node.leaving, place, start, cpu, mem, word)


@lru_cache(20_000)
def _tile_of(
    node: str,
    ghost: bool,
    cordoned: bool,
    leaving: bool,
    place: int,
    start: bool,
    cpu: tuple[int, int, int],
    mem: tuple[int, int, int],
    word: Word,
) -> Tile:
    """Return a tile. ``cpu``, ``mem``: (used, total, request). Cached, because few tiles change between steps."""
    verdict = word.why or say("cluster.ghost" if ghost else "cluster.not-visited")
    verdict = say("cluster.leaving", verdict=verdict) if leaving else verdict
    amounts = {"cpu": cores(cpu[0]), "cpus": cores(cpu[1]), "memory": memory(mem[0]), "memories": memory(mem[1])}
    title = say("cluster.tile", node=node, verdict=verdict, **amounts)
    kind = {"plain": "ok", "best": "ok is-best"}.get(word.kind, word.kind)
    refused = word.kind in ("no", "hard")
    levels = _level(*cpu, refused), _level(*mem, refused)
    return Tile(node, kind, ghost, cordoned, leaving, start, place, title, *levels)


def _level(used: int, total: int, request: int, refused: bool) -> Level:
    if total <= 0:
        return Level(None)
    level = min(round(100 * used / total), 100)
    if request and used + request > total:
        return Level(level, over=100 - level)
    return Level(level, asked=0 if refused else min(round(100 * request / total), 100 - level))
