"""Questions of practice about filters: resources, node selectors, ports, taints."""

from __future__ import annotations

from random import Random

from scheduler_engine.lesson.daily_parts import apply, cordon, node, node_names
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.practice_parts import (
    Asked,
    Draw,
    Trait,
    asked,
    busy,
    container,
    cpu,
    emptiest,
    flow,
    infos,
    label,
    list_nodes,
    name_of,
    pod_with,
    ports,
    taints,
)
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

DISKS, PORTS = ("ssd", "hdd"), (80, 8080)
PLUGINS = ("NodeResourcesFit", "TaintToleration", "NodeAffinity", "NodePorts", "NodeUnschedulable")
"""Filters that a learner may name for a node."""


# --- resources, selectors and ports ----------------------------------------------------------------------------------


def filter_cluster(draw: Random, level: int) -> list[Data]:
    """Draw nodes of several sizes and disks, each partly used; from level 2 on one is cordoned, and ports are used."""
    names = node_names(draw, 3 + level)
    sizes = {name: draw.choice((2, 4, 8)) for name in names}
    nodes = [node(name, size, {"disk": draw.choice(DISKS)}) for name, size in sizes.items()]
    pods = []
    for name, size in sizes.items():
        pods.append(busy(draw, name, 1, draw.randrange(500, 1000 * size - 249, 250)))
        if level > 1 and draw.random() < 0.6:
            pods.append(_with_port(busy(draw, name, 2, 0), draw.choice(PORTS)))
    shut = [cordon(draw.choice(names))] if level > 1 else []
    return [apply(*nodes, *pods), *shut, {"settle": {}}]


def _with_port(manifest: Data, port: int) -> Data:
    manifest["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return manifest


def _plain(draw: Random, simulation: Simulation) -> Trait:
    return Trait({}, "", say("practice.rule-fit"))


def _selects(draw: Random, simulation: Simulation) -> Trait:
    disk = draw.choice(DISKS)
    spec = {"nodeSelector": {"disk": disk}}
    return Trait(spec, say("practice.selects", selector=flow(spec["nodeSelector"])), say("practice.rule-selector"))


def _port(draw: Random, simulation: Simulation) -> Trait:
    port = draw.choice(PORTS)
    ports = [{"containerPort": port, "hostPort": port}]
    return Trait({}, say("practice.port", port=port), say("practice.rule-port"), {"ports": ports})


def _beside(draw: Random, simulation: Simulation) -> Trait:
    milli = draw.randrange(250, 1501, 250)
    spec = {"containers": [container("beside", milli)]}
    return Trait(spec, say("practice.second-container", milli=milli), say("practice.rule-sum"))


def _first(draw: Random, simulation: Simulation) -> Trait:
    milli, goes_on = draw.randrange(500, 3001, 250), draw.random() < 0.4
    kind = "sidecar" if goes_on else "init-container"
    more = {"restartPolicy": "Always"} if goes_on else {}
    spec = {"initContainers": [container("first", milli, **more)]}
    return Trait(spec, say(f"practice.{kind}", milli=milli), say(f"practice.rule-{kind}"))


def _limit(draw: Random, simulation: Simulation) -> Trait:
    milli = draw.randrange(500, 3001, 250)
    limits = {"resources": {"limits": {"cpu": f"{milli}m"}}}
    return Trait({}, say("practice.limit", milli=milli), say("practice.rule-limit"), limits)


FILTERS: tuple[tuple[Draw, ...], ...] = ((_plain, _selects), (_selects, _port, _beside), (_first, _limit, _port))
"""Traits of a pod, by level."""


def filters(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which nodes pass, or from level 2 on sometimes which plugin refuses a node."""
    name, app = name_of(draw, number)
    traits = [draw.choice(FILTERS[level - 1])(draw, simulation)]
    manifest = pod_with(name, app, draw.randrange(250, 2501, 250), traits)
    facts = list_nodes(simulation, cpu, label("disk"), ports, taints)
    if level > 1 and draw.random() < 0.4:
        refused = draw.choice(emptiest(simulation))
        question, tempting = Question("refuses", f"default/{name}", refused), draw.sample(PLUGINS, len(PLUGINS))
        traits = [Trait(traits[0].spec, traits[0].text, say("practice.rule-first"))]
        return asked(simulation, manifest, traits, question, facts, tempting)
    return asked(simulation, manifest, traits, Question("passes", f"default/{name}"), facts, emptiest(simulation))


# --- taints ----------------------------------------------------------------------------------------------------------

KEYS = {"dedicated": ("gpu", "batch"), "team": ("red", "blue"), "lifecycle": ("spot", "old")}
EFFECTS = (("NoSchedule",), ("NoSchedule", "NoExecute", "PreferNoSchedule"))
"""Effects of taints at level 1, and at the others."""


def _taint(draw: Random, key: str, level: int) -> Data:
    effect = draw.choice(EFFECTS[min(level, 2) - 1])
    return {"key": key, "value": draw.choice(KEYS[key]), "effect": effect}


def taint_cluster(draw: Random, level: int) -> list[Data]:
    """Draw nodes with taints: the first one has none, from level 2 on some have two."""
    first, *others = node_names(draw, 4 + level // 2)
    most = min(level, 2)
    nodes = [node(first, 8)]
    for name in others:
        keys = draw.sample([*KEYS], draw.randint(1, most))
        nodes.append(node(name, 8, None, [_taint(draw, key, level) for key in keys]))
    return [apply(*nodes), {"settle": {}}]


def _equal(draw: Random, taint: Data) -> Data:
    return {"key": taint["key"], "value": taint["value"]}


def _other_value(draw: Random, taint: Data) -> Data:
    return {"key": taint["key"], "value": draw.choice(KEYS[taint["key"]])}


def _exists(draw: Random, taint: Data) -> Data:
    return {"key": taint["key"], "operator": "Exists"}


def _of_effect(draw: Random, taint: Data) -> Data:
    return {"key": taint["key"], "operator": "Exists", "effect": draw.choice(("NoSchedule", "NoExecute"))}


def _of_all(draw: Random, taint: Data) -> Data:
    return {"operator": "Exists", "effect": draw.choice(("NoSchedule", "NoExecute"))}


TOLERATIONS = ((_equal, _other_value), (_equal, _exists, _of_effect), (_exists, _of_effect, _of_all, _other_value))
"""Tolerations of a taint, by level."""
TAINT_RULES = ("equal", "effects", "keys")
"""Names of the rules, by level."""


def tolerations(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which nodes pass for a pod with tolerations: one, or at level 3 sometimes two."""
    name, app = name_of(draw, number)
    known = [
        {"key": taint.key, "value": taint.value}
        for info in infos(simulation)
        if info.node
        for taint in info.node.taints
    ]
    count = draw.randint(1, 2) if level == 3 else 1
    listed = [draw.choice(TOLERATIONS[level - 1])(draw, draw.choice(known)) for _ in range(count)]
    text = say("practice.tolerates", tolerations=" · ".join(f"`{flow(each)}`" for each in listed))
    traits = [Trait({"tolerations": listed}, text, say(f"practice.rule-taints-{TAINT_RULES[level - 1]}"))]
    facts = list_nodes(simulation, taints)
    manifest = pod_with(name, app, 100, traits)
    tolerated = [each for each in emptiest(simulation) if each != infos(simulation)[0].name]
    return asked(simulation, manifest, traits, Question("passes", f"default/{name}"), facts, tolerated)
