"""Very many nodes as a heat map with a cell for each: short texts per zone, which static/js/heat.js draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sandbox.panels.drawing.runs import names, runs
from sandbox.panels.facts.verdicts import NOTHING, Word
from sandbox.panels.model.state import Cycle, NodeState
from sandbox.panels.model.world import World
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say

MOST_ZONES = 24
"""With more zones there is no room for their names: all nodes are one field."""
KINDS = {"ok": "ok", "plain": "ok", "best": "ok", "no": "no", "hard": "hard", "out": "out", "": "none"}
"""Kind of a word → kind of a cell."""
TITLES = {
    "ok": "heat.kind-ok",
    "no": "heat.kind-no",
    "hard": "heat.kind-hard",
    "out": "heat.kind-out",
    "none": "heat.kind-none",
}
FILLS = {"fill": ("cpu", "memory", "pods"), "cpu": ("cpu",), "memory": ("memory",)}
"""What is coloured → the resources; the fullest one counts."""


class Colour(NamedTuple):
    """Keys of its words: on its button, above the legend, and behind a number."""

    choice: str
    title: str
    value: str = ""


COLOURS = {
    "verdict": Colour("heat.choice-verdict", "heat.title-verdict"),
    "score": Colour("heat.choice-score", "heat.title-score"),
    "fill": Colour("heat.choice-fill", "heat.title-fill", "heat.value-fill"),
    "cpu": Colour("heat.choice-cpu", "heat.title-cpu", "heat.value-cpu"),
    "memory": Colour("heat.choice-memory", "heat.title-memory", "heat.value-memory"),
}

Values = Mapping[str, int | None]


class Zone(NamedTuple):
    """A column of nodes. ``domain``: the label value that its nodes share; a zone of another region may share it."""

    title: str
    names: Sequence[str]
    domain: str = ""


class Scene(NamedTuple):
    """What is drawn. By node: ``words`` of the attempt, ``places`` in the nodeTree. ``start``: of the search."""

    world: World
    cycle: Cycle | None
    words: Mapping[str, Word]
    places: Mapping[str, int]
    start: str


def heat(scene: Scene, zones: Sequence[Zone], wanted: str) -> dict[str, Any]:
    """Return the heat map. ``wanted`` is a colour of a View, "" = that of the stage.

    ``data`` is for the script, the rest for the template; ``summaries`` are whole sentences, one per zone.
    """
    colours = _colours(scene)
    shown = wanted if wanted in colours else colours[0]
    values = _values(scene, shown)
    cells = _cells(scene)
    low, high = _scale(shown, values)
    unit = "" if shown == "score" else " %"
    counts = Counter(cells[name][0] for zone in zones for name in zone.names) if shown in ("verdict", "score") else {}
    return {
        "choices": _choices(colours, wanted, shown),
        "shown": say(COLOURS[shown].title),
        "legend": [
            {"kind": kind, "title": _title(scene, kind), "count": counts[kind]}
            for kind in dict.fromkeys(KINDS.values())
            if counts.get(kind) and not (values and kind == "ok")
        ],
        "ramp": {"low": f"{low}{unit}", "high": f"{high}{unit}"} if values else None,
        "summaries": [_summary(scene, zone, shown, values, cells) for zone in zones],
        "data": {
            "zones": [_drawn(scene, zone, values, cells) for zone in zones],
            "said": [list(row) for row in dict.fromkeys(cells.values())],
            "low": low,
            "high": high,
            "signs": bool(counts),
            "title": say(COLOURS[shown].value) if COLOURS[shown].value else "",
            "unit": unit,
            "place": say("heat.place"),
            "marks": _marks(scene),
        },
    }


# --- what is coloured ------------------------------------------------------------------------------------------------


def _colours(scene: Scene) -> list[str]:
    """Return what can be coloured now. The stage's subject is first."""
    is_scored = scene.cycle is not None and scene.cycle.normalized is not None and bool(scene.cycle.normalized.totals)
    return ["score"] * is_scored + ["verdict"] * bool(scene.words) + [*FILLS]


def _values(scene: Scene, shown: str) -> Values:
    """Return node → number, {} for verdicts. A fill is the requested percentage of the fullest resource."""
    if shown in FILLS:
        return {node.name: _fill(scene.world, node, FILLS[shown]) for node in scene.world.nodes.values()}
    normalized = scene.cycle.normalized if scene.cycle else None
    return dict(normalized.totals) if shown == "score" and normalized else {}


def _fill(world: World, node: NodeState, resources: tuple[str, ...]) -> int | None:
    used = world.used(node.name) if world.pods_on.get(node.name) else {}
    has = [(used.get(name, 0), node.allocatable.get(name, 0)) for name in resources]
    return max((min(round(100 * requested / total), 100) for requested, total in has if total > 0), default=None)


def _scale(shown: str, values: Values) -> tuple[int, int]:
    if shown in FILLS:
        return 0, 100
    numbers = [value for value in values.values() if value is not None]
    return min(numbers, default=0), max(numbers, default=0)


def _choices(colours: Sequence[str], wanted: str, shown: str) -> list[dict[str, Any]]:
    is_chosen = wanted == shown
    follow = {"name": "", "title": say("heat.choice-stage"), "on": not is_chosen}
    return [follow] + [
        {"name": name, "title": say(colour.choice), "on": is_chosen and name == shown}
        for name, colour in COLOURS.items()
        if name in colours
    ]


# --- what is said ----------------------------------------------------------------------------------------------------


def _cells(scene: Scene) -> dict[str, tuple[str, str]]:
    """Return node → (kind of its cell, the words under the pointer)."""
    quiet = say("cluster.not-visited") if scene.words else ""
    silent = ("none", quiet)
    ghost = ("none", say("cluster.ghost"))
    cells = {}
    for node in scene.world.nodes.values():
        word = scene.words.get(node.name, NOTHING)
        why = word.why or word.text
        kind, text = (KINDS[word.kind], why) if why else ghost if node.ghost else silent
        if node.leaving:
            text = say("cluster.leaving", verdict=text) if text else say("cluster.leaving-alone")
        cells[node.name] = (kind, text)
    return cells


def _title(scene: Scene, kind: str) -> str:
    candidates = kind == "ok" and scene.cycle is not None and bool(scene.cycle.tried)
    return say("heat.kind-candidate" if candidates else TITLES[kind])


def _summary(scene: Scene, zone: Zone, shown: str, values: Values, cells: Mapping[str, tuple[str, str]]) -> str:
    leaving = [name for name in zone.names if scene.world.nodes[name].leaving]
    summary = _summary_of_colours(scene, zone, shown, values, cells)
    return say("heat.summary-leaving", summary=summary, nodes=listed(leaving)) if leaving else summary


def _summary_of_colours(
    scene: Scene, zone: Zone, shown: str, values: Values, cells: Mapping[str, tuple[str, str]]
) -> str:
    nodes = plural(len(zone.names), "node")
    if shown == "verdict":
        counts = Counter(cells[name][0] for name in zone.names)
        verdicts = [f"{_title(scene, kind)}: {counts[kind]}" for kind in dict.fromkeys(KINDS.values()) if counts[kind]]
        return say("heat.summary-verdict", zone=zone.title, nodes=nodes, verdicts="; ".join(verdicts))
    numbers = {name: value for name in zone.names if (value := values.get(name)) is not None}
    if not numbers:
        return say("heat.summary-nothing", zone=zone.title, nodes=nodes, what=say(COLOURS[shown].title))
    most = max(numbers, key=lambda name: numbers[name])
    low, high = min(numbers.values()), numbers[most]
    if shown == "score":
        return say(
            "heat.summary-score", zone=zone.title, nodes=nodes, scored=len(numbers), low=low, high=high, node=most
        )
    mean = round(sum(numbers.values()) / len(numbers))
    what = say(COLOURS[shown].title)
    return say("heat.summary-fill", zone=zone.title, nodes=nodes, what=what, low=low, high=high, mean=mean, node=most)


def _drawn(scene: Scene, zone: Zone, values: Values, cells: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    rows = {row: index for index, row in enumerate(dict.fromkeys(cells.values()))}
    data = {
        "title": zone.title,
        "names": names(zone.names),
        "places": runs([scene.places.get(name) for name in zone.names]),
        "said": runs([rows[cells[name]] for name in zone.names]),
    }
    return data | ({"values": runs([values.get(name) for name in zone.names])} if values else {})


def _marks(scene: Scene) -> dict[str, list[str]]:
    """Return kind of mark → nodes: the winner, nodes with nominations, the start of the search, nodes that leave."""
    world = scene.world
    nominated = [node for node in dict.fromkeys(world.nominations.values()) if world.nominated_to(node)]
    return {
        "best": [name for name, word in scene.words.items() if word.kind == "best"],
        "nominated": nominated,
        "start": [scene.start] if scene.start in world.nodes else [],
        "leaving": [node.name for node in world.nodes.values() if node.leaving],
    }
