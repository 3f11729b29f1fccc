"""Parts of the questions of practice: what a topic is, what a pod has in its spec, and facts of nodes in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.lesson.daily_parts import APPS, apply, delete, pod, to_node
from scheduler_engine.lesson.model import Question
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a round. ``tempting``: choices that are likely to be named, the likeliest first; the round uses the
    first one that is wrong. ``reveals``: the misconception that the likeliest one shows.
    """

    text: str
    question: Question
    do: Sequence[Data]
    label: str
    then: str
    tempting: Sequence[str]
    reveals: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """``setup``: draws the cluster of a level. ``ask``: draws a question about the present cluster, by its number."""

    setup: Callable[[Random, int], list[Data]]
    ask: Callable[[Random, int, int, Simulation], Asked]


@dataclass(frozen=True, slots=True)
class Trait:
    """What a pod has in its spec, the sentence that says so, and the rule that decides, for afterwards.

    ``container``: keys of its first container. Lists of ``spec`` are added to those that the pod has.
    """

    spec: Data
    text: str
    rule: str
    container: Data = field(default_factory=dict)


Draw = Callable[[Random, Simulation], Trait]
Column = Callable[[NodeInfo], str]


def infos(simulation: Simulation) -> list[NodeInfo]:
    """Return what the scheduler knows of each node, in order of their creation."""
    known = simulation.scheduler.cache.nodes
    return [known[each.name] for each in simulation.api.list("Node")]


def free_milli(info: NodeInfo) -> int:
    return info.allocatable.milli_cpu - info.requested.milli_cpu


def emptiest(simulation: Simulation) -> list[str]:
    """Return the nodes, those with the most free CPU first."""
    return [info.name for info in sorted(infos(simulation), key=free_milli, reverse=True)]


def list_nodes(simulation: Simulation, *columns: Column) -> str:
    """Return a list in Markdown: a line for each node with its facts."""
    rows = ((info.name, ", ".join(filter(None, (column(info) for column in columns)))) for info in infos(simulation))
    return "\n".join(f"- {to_node(name)}: {facts or say('practice.nothing')}" for name, facts in rows)


def cpu(info: NodeInfo) -> str:
    return say("practice.free-cpu", free=free_milli(info), of=info.allocatable.milli_cpu)


def memory(info: NodeInfo) -> str:
    free = (info.allocatable.memory - info.requested.memory) // MIB
    return say("practice.free-memory", free=free, of=info.allocatable.memory // MIB)


def taints(info: NodeInfo) -> str:
    listed = info.node.taints if info.node else ()
    pairs = ((f"{each.key}={each.value}" if each.value else each.key, each.effect) for each in listed)
    return ", ".join(f"`{pair}:{effect}`" for pair, effect in pairs)


def ports(info: NodeInfo) -> str:
    used = sorted({port for _, _, port in info.used_ports})
    return say("practice.ports", ports=", ".join(map(str, used))) if used else ""


def label(key: str) -> Column:
    """Return the column of a label. One with a domain in its name is no literal label: it is shown without that."""
    domain, _, name = key.rpartition("/")

    def column(info: NodeInfo) -> str:
        value = info.node.labels.get(key, "") if info.node else ""
        if not value:
            return ""
        return f"{name} `{value}`" if domain else f"`{name}={value}`"

    return column


def pods(info: NodeInfo) -> str:
    names = (f"[{each.pod.name}](pod:{each.pod.key})" for each in info.pods)
    return ", ".join(names)


def flow(value: Any) -> str:
    """Return plain data as YAML on one line, as a text shows it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(each) for each in value) + "]"
    return str(value)


def name_of(draw: Random, number: int) -> tuple[str, str]:
    """Return the name and the app of the pod of a question."""
    app = draw.choice(APPS)
    return f"{app}-{number + 1}", app


def cleared(simulation: Simulation) -> list[str]:
    """Return the pods that wait. They are deleted first, so that the next attempt is for the pod of the question."""
    return [each.name for each in simulation.api.pods() if not each.node_name]


def pod_with(name: str, app: str, milli: int, traits: Sequence[Trait]) -> Data:
    """Return a pod that requests ``milli`` and has these traits."""
    manifest = pod(name, app, milli)
    spec = manifest["spec"]
    for trait in traits:
        for key, value in trait.spec.items():
            spec[key] = [*spec.get(key, ()), *value] if isinstance(value, list) else value
        spec["containers"][0] |= trait.container
    return manifest


def container(name: str, milli: int, **more: Any) -> Data:
    """Return another container of a pod."""
    requests = {"cpu": f"{milli}m", "memory": "64Mi"}
    return {"name": name, "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}} | more


def asked(
    simulation: Simulation,
    manifest: Data,
    traits: Sequence[Trait],
    question: Question,
    facts: str,
    tempting: Sequence[str],
    steps: Sequence[Data] = ({"pod": {}},),
    button: str = "",
    reveals: str = "",
) -> Asked:
    """Return a question about a new pod: the text lists its traits and ``facts``, the steps create and schedule it.

    ``button``: the label, "" = the usual one.
    """
    name, gone = manifest["metadata"]["name"], cleared(simulation)
    requests = manifest["spec"]["containers"][0]["resources"].get("requests", {})
    begin = [say("practice.cleared", pods=", ".join(gone), count=len(gone))] if gone else []
    opens = say("practice.arrives", pod=name, milli=requests["cpu"]) if requests else say("practice.comes", pod=name)
    text = " ".join((*begin, opens, *(trait.text for trait in traits if trait.text)))
    do = [*(delete(each) for each in gone), apply(manifest), *steps]
    then = " ".join(trait.rule for trait in traits if trait.rule)
    return Asked(
        f"{text}\n\n{facts}", question, do, button or say("practice.create", pod=name), then, tempting, reveals
    )


def busy(draw: Random, name: str, number: int, milli: int, **more: Any) -> Data:
    """Return a pod that already is on a node."""
    app = draw.choice(APPS)
    return pod(f"{app}-on-{name.rpartition('-')[2]}-{number}", app, milli, nodeName=name, **more)


def sized(milli: int, mib: int) -> Trait:
    """Return the trait of a pod that requests these amounts."""
    requests = {"cpu": f"{milli}m", "memory": f"{mib}Mi"}
    return Trait({}, "", "", {"resources": {"requests": requests}})
