"""Questions of practice about pods that wait: the order of the queue, what wakes a pod, preemption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.lesson.daily_parts import APPS, apply, delete, node, node_names, patch, pod, wait
from scheduler_engine.lesson.model import Option, Question
from scheduler_engine.lesson.practice_parts import (
    Asked,
    Trait,
    asked,
    busy,
    cpu,
    flow,
    label,
    list_nodes,
    name_of,
    pod_with,
)
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

PRIORITIES = {"least": -10, "low": 10, "usual": 50, "middle": 100, "upper": 300, "high": 1000, "vital": 2000}
"""Name of a PriorityClass → its value. Pods without a class have 0."""
PATIENT = "patient"
"""The class whose pods never preempt."""


def _classes(*more: Data) -> list[Data]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return [*({**kind, "metadata": {"name": name}, "value": value} for name, value in PRIORITIES.items()), *more]


# --- the queue -------------------------------------------------------------------------------------------------------


def queue_cluster(draw: Random, level: int) -> list[Data]:
    """Draw nodes with hard disks. Each has a pod, and less than 3 CPUs free."""
    names = node_names(draw, 2)
    nodes = [node(name, 4, {"disk": "hdd"}) for name in names]
    placed = [busy(draw, name, 1, draw.randrange(1250, 3001, 250)) for name in names] if level > 1 else []
    return [apply(*_classes(), *nodes, *placed), {"settle": {}}]


def queue(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask for the order in which pods are tried, or where a pod is after an event."""
    return _order(draw, number, simulation) if level == 1 else _woken(draw, level, number, simulation)


def _order(draw: Random, number: int, simulation: Simulation) -> Asked:
    classes = {f"{app}-{number + 1}": draw.choice((*PRIORITIES, "")) for app in draw.sample(APPS, 3)}
    values = {name: PRIORITIES.get(each, 0) for name, each in classes.items()}
    by_priority = sorted(values, key=lambda name: -values[name])
    rising = sorted(values, key=lambda name: values[name])
    latest_first = sorted(values, key=lambda name: (values[name], [*values].index(name)), reverse=True)
    orders = dict.fromkeys(tuple(each) for each in (values, by_priority, rising, latest_first))
    options = tuple(
        Option(", ".join(each), ({"order": [{"popped": f"default/{name}"} for name in each]},)) for each in orders
    )
    manifests = [pod(name, name.partition("-")[0], 100, **_class(each)) for name, each in classes.items()]
    listed = ", ".join(say("practice.with-priority", pod=name, value=value) for name, value in values.items())
    return Asked(
        say("practice.created-in-order", pods=listed),
        Question("options", ask=say("practice.ask-order"), options=tuple(draw.sample(options, len(options)))),
        [apply(*manifests), {"settle": {}}],
        say("practice.create-three"),
        say("practice.rule-order"),
        [", ".join(values), ", ".join(rising), ", ".join(by_priority)],
        reveals="the-queue-is-first-in-first-out",
    )


def _class(name: str) -> Data:
    return {"priorityClassName": name} if name else {}


def _large(draw: Random) -> Trait:
    return Trait({}, "", say("practice.rule-wakes"))


def _wants_disk(draw: Random) -> Trait:
    spec = {"nodeSelector": {"disk": "ssd"}}
    return Trait(spec, say("practice.selects", selector=flow(spec["nodeSelector"])), say("practice.rule-wakes"))


def _gated(draw: Random) -> Trait:
    spec = {"schedulingGates": [{"name": "example.com/quota"}]}
    return Trait(spec, say("practice.gated"), say("practice.rule-gate"))


CAUSES = (_large, _wants_disk, _gated)
"""Why a pod may wait. A pod that requests little has no other cause."""
Happens = tuple[Data, str]


def _node_joins(draw: Random, simulation: Simulation, name: str) -> Happens:
    disk, cpus = draw.choice(("ssd", "hdd")), draw.choice((1, 8))
    new = f"extra-{len(list(simulation.api.list('Node')))}"
    return apply(node(new, cpus, {"disk": disk})), say("practice.node-joins", node=new, count=cpus, disk=disk)


def _pod_leaves(draw: Random, simulation: Simulation, name: str) -> Happens:
    there = [each.name for each in simulation.api.pods() if each.node_name]
    if not there:
        return _node_joins(draw, simulation, name)
    gone = draw.choice(there)
    step = delete(gone)
    step["delete"]["grace_period_seconds"] = 0
    return step, say("practice.pod-leaves", pod=gone)


def _disk_changes(draw: Random, simulation: Simulation, name: str) -> Happens:
    changed = draw.choice([each.name for each in simulation.api.list("Node")])
    changes = {"metadata": {"labels": {"disk": "ssd"}}}
    return patch("Node", changed, changes), say("practice.disk-changes", node=changed)


def _gate_goes(draw: Random, simulation: Simulation, name: str) -> Happens:
    return patch("Pod", f"default/{name}", {"spec": {"schedulingGates": None}}), say("practice.gate-goes", pod=name)


EVENTS: tuple[Callable[[Random, Simulation, str], Happens], ...] = (_node_joins, _pod_leaves, _disk_changes)
"""What may happen then. An event that changes nothing is drawn again. Gates may go once, if there are some."""


def _woken(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask where a pod is after an event, or at level 3 after two."""
    name, app = name_of(draw, number)
    cause = draw.choice(CAUSES)
    trait, milli = cause(draw), draw.randrange(3000, 3501, 250) if cause is _large else 100
    steps: list[Data] = [{"settle": {}}]
    texts = [say("practice.tried")]
    possible = [*EVENTS, *([_gate_goes] if cause is _gated else [])]
    for _ in range(level - 1):
        seconds, event = draw.choice((0, 2, 5)), draw.choice(possible)
        if event is _gate_goes:
            possible.remove(event)
        step, text = event(draw, simulation, name)
        steps += [*([wait(seconds)] if seconds else []), step]
        texts.append(
            say("practice.seconds-later", seconds=seconds, event=text)
            if seconds
            else say("practice.at-once", event=text)
        )
    told = Trait(trait.spec, " ".join((trait.text, *texts)).strip(), trait.rule)
    manifest, question = pod_with(name, app, milli, [trait]), Question("lane", f"default/{name}")
    facts = list_nodes(simulation, cpu, label("disk"))
    tempting = draw.sample(("activeQ", "unschedulablePods", "backoffQ", "bound"), 4)
    return asked(simulation, manifest, [told], question, facts, tempting, steps, say("practice.happen"))


# --- preemption ------------------------------------------------------------------------------------------------------


SHARES = ((2000, 1500, 500), (2000, 2000), (2500, 1500))
"""Requests of the pods of a node with 4 CPUs."""
VICTIM_RULES = ("lower", "returned", "budgets")
"""Names of the rules, by level."""


def preemption_cluster(draw: Random, level: int) -> list[Data]:
    """Draw full nodes with pods of several priorities: at level 1 of several sizes, with one pod on each.

    At level 3 a budget protects an app.
    """
    names = node_names(draw, 6 if level == 1 else 3 + level // 3)
    sizes = {name: draw.choice((2, 3, 4)) if level == 1 else 4 for name in names}
    kept, placed = draw.choice(APPS), []
    for name, size in sizes.items():
        for copy, milli in enumerate((1000 * size,) if level == 1 else draw.choice(SHARES)):
            app = kept if level > 2 and draw.random() < 0.4 else draw.choice(APPS)
            of = f"{app}-on-{name.rpartition('-')[2]}-{copy + 1}"
            placed.append(pod(of, app, milli, nodeName=name, **_class(draw.choice((*PRIORITIES, "")))))
    patient = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": PATIENT}}
    classes = _classes(*([patient | {"value": 5000, "preemptionPolicy": "Never"}] if level > 2 else []))
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": kept}}
    budget |= {"spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": kept}}}}
    budgets = [budget] if level > 2 else []
    return [apply(*classes, *budgets, *(node(name, size) for name, size in sizes.items()), *placed), {"settle": {}}]


def _with_priorities(info: NodeInfo) -> str:
    listed = (
        say(
            "practice.pod-with-priority",
            pod=f"[{each.pod.name}](pod:{each.pod.key})",
            value=each.pod.priority,
            milli=each.resource.request.milli_cpu,
        )
        for each in info.pods
    )
    return ", ".join(listed)


def preemption(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which pods have to leave for a new one."""
    name, app = name_of(draw, number)
    chosen = draw.choice(("middle", "upper", "high", "vital", *((PATIENT,) if level > 2 else ())))
    value = PRIORITIES.get(chosen, 5000)
    texts = [
        say("practice.has-priority", value=value),
        *([say("practice.never-preempts")] if chosen == PATIENT else []),
    ]
    texts += [say("practice.budget", app=each.name) for each in simulation.api.list("PodDisruptionBudget")]
    trait = Trait(_class(chosen), " ".join(texts), say(f"practice.rule-victims-{VICTIM_RULES[level - 1]}"))
    milli = draw.randrange(1500, 3501, 500)
    # The victims are gone before the next question. A later attempt does not count, since it finds them leaving.
    steps: Sequence[Data] = ({"pod": {}}, wait(40))
    lowest = sorted((each for each in simulation.api.pods() if each.node_name), key=lambda each: each.priority)
    tempting, question = [each.key for each in lowest], Question("victims", f"default/{name}", at="PostFilter")
    facts, manifest = list_nodes(simulation, cpu, _with_priorities), pod_with(name, app, milli, [trait])
    # Nobody leaves for a patient pod: naming a victim is not an error about which one.
    shown = "higher-priority-always-preempts" if chosen == PATIENT else "the-lowest-priority-is-the-victim"
    return asked(simulation, manifest, [trait], question, facts, tempting, steps, reveals=shown)
