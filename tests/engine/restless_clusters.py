"""Random histories in which pods change in mid-cycle, and configurations that leave plugins out at single points."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random

from scheduler_engine import commands
from scheduler_engine.config.build import takes_part
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.testing import make_pod
from tests.engine.random_clusters import (
    APPS,
    CONFIGURATIONS,
    EXTRAS,
    STEPS,
    STORAGE,
    Data,
    budget_of,
    configuration,
    namespace,
    nodes,
)

POINTS = ("preFilter", "filter", "preScore", "score", "reserve", "preBind")
SECOND = "second-scheduler"
LONG = (
    "NodePorts",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
)
"""Filters that need the pods of a node. Without them preemption compares sums."""
CPU, MEMORY = ("300m", "1", "2"), ("100Mi", "700Mi", "2Gi")


def restless(seed: int) -> list[commands.Command]:
    """Return the commands for nodes with running pods, some of them not started, and for pods that arrive one by one.

    Between their stages these pods, others, nodes, budgets and the configuration change.
    """
    pick = Random(f"restless {seed}")
    names = [f"n{number}" for number in range(1, pick.randint(2, 8))]
    steps: list[commands.Command] = [commands.Configure(profiles(pick)), commands.Apply(STORAGE)]
    steps.append(commands.Apply((namespace("team-a", team="a"), namespace("team-b", team="b"))))
    steps += [commands.Apply((_node(pick, name),)) for name in names]
    for number in range(1, pick.randint(2, 4 * len(names))):
        steps.append(commands.Apply((_running(pick, number, pick.choice(names)),)))
        steps += [commands.Advance(1.0)] * (pick.random() < 0.2)
    steps += [commands.Apply((budget_of(pick, name),)) for name in ("guard", "shield")[: pick.choice([0, 0, 1, 2])]]
    for number in range(41, 41 + pick.randint(3, 10)):
        pod = _pod(pick, number, pick.randint(0, 6))
        steps.append(commands.Apply((pod,)))
        steps += [commands.Stage()] * pick.randint(0, 5)
        steps += [change(pick, pod) for change in pick.choices(CHANGES, k=pick.choice([1, 1, 2]))]
        steps += [commands.Stage()] * pick.randint(0, 5) if pick.random() < 0.2 else [commands.Run(3)]
    return [*steps, commands.Run(20)]


def profiles(pick: Random) -> Data:
    """Return one or two profiles with different arguments. Some lack plugins at a point, others all long filters."""
    one, other = (deepcopy(pick.choice(CONFIGURATIONS) or configuration()) for _ in range(2))
    one["profiles"] += [other["profiles"][0] | {"schedulerName": SECOND}] * (pick.random() < 0.5)
    for profile in one["profiles"]:
        left_out: dict[str, dict[str, None]] = {}
        if pick.random() < 0.5:
            left_out = {"preFilter": dict.fromkeys(LONG), "filter": dict.fromkeys(LONG)}
        for point in pick.sample(POINTS, pick.choice([0, 0, 1, 2])):
            names = [name for name, plugin in REGISTRY.items() if takes_part(plugin, point)]
            left_out.setdefault(point, {})[pick.choice(names)] = None
        disabled = {point: [{"name": name} for name in held] for point, held in left_out.items()}
        profile["plugins"] = {point: {"disabled": held} for point, held in disabled.items()}
    return one


def _node(pick: Random, name: str) -> Data:
    node = nodes(pick, name)
    if pick.random() < 0.7:
        node.pop("spec", None)  # No taints, so that preemption may help there.
    return node


def _pod(pick: Random, number: int, priority: int) -> Data:
    builder = make_pod(f"p-{number}").label("app", pick.choice(APPS)).label("tier", pick.choice(["1", "2"]))
    builder.priority(priority)
    if pick.random() < 0.9:
        builder.cpu(pick.choice(CPU))
    if pick.random() < 0.4:
        builder.memory(pick.choice(MEMORY))
    for extra in pick.choices(EXTRAS, k=pick.choice([0, 0, 0, 0, 1, 2])):
        extra(pick, builder)
    pod = builder.obj()
    if pick.random() < 0.25:
        pod["spec"]["schedulerName"] = SECOND
    return pod


def _running(pick: Random, number: int, node: str) -> Data:
    pod = _pod(pick, number, pick.randint(-2, 2))
    pod["spec"]["nodeName"] = node
    if pick.random() < 0.4:
        pod["status"] = {"startTime": f"2026-01-01T00:00:0{pick.randint(0, 9)}Z"}
    return pod


def _key(pick: Random, pod: Data) -> str:
    """Return the key of the pod that arrived last or, now and then, of another one."""
    if pick.random() < 0.7:
        return f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}"
    return f"default/p-{pick.choice([pick.randint(1, 12), pick.randint(41, 50)])}"


def _resize(pick: Random, pod: Data) -> commands.Command:
    requests = {"cpu": pick.choice(CPU)} | ({"memory": pick.choice(MEMORY)} if pick.random() < 0.7 else {})
    container = {"name": pod["spec"]["containers"][0]["name"], "resources": {"requests": requests}}
    return commands.Patch("Pod", _key(pick, pod), {"spec": {"containers": [container]}}, "resize")


def _resized(pick: Random, pod: Data) -> commands.Command:
    """Let the status say what a container really has, or that its resize has to wait."""
    container = {"name": pod["spec"]["containers"][0]["name"], "resources": {"requests": {"cpu": pick.choice(CPU)}}}
    waits = {"type": "PodResizePending", "status": "True", "reason": pick.choice(["Infeasible", "Deferred"])}
    status = pick.choice([{"containerStatuses": [container]}, {"conditions": [waits]}])
    return commands.Patch("Pod", _key(pick, pod), {"status": status})


def _relabel(pick: Random, pod: Data) -> commands.Command:
    labels = {"app": pick.choice(APPS), "tier": pick.choice(["1", "2", None])}
    return commands.Patch("Pod", _key(pick, pod), {"metadata": {"labels": labels}})


def _tolerate(pick: Random, pod: Data) -> commands.Command:
    tolerations = [*pod["spec"].get("tolerations", ()), {"key": "dedicated", "operator": "Exists"}]
    return commands.Patch("Pod", _key(pick, pod), {"spec": {"tolerations": tolerations}})


def _nominate(pick: Random, pod: Data) -> commands.Command:
    return commands.Patch("Pod", _key(pick, pod), {"status": {"nominatedNodeName": pick.choice(["n1", "n2", None])}})


def _change_node(pick: Random, pod: Data) -> commands.Command:
    changes: Data = pick.choice(
        [
            {"metadata": {"labels": {"rack": pick.choice(["x", "y", "", None])}}},
            {"metadata": {"labels": {"disk": pick.choice(["x", "7", None])}}},
            {"spec": {"taints": [{"key": "dedicated", "effect": pick.choice(["NoSchedule", "PreferNoSchedule"])}]}},
            {"spec": {"unschedulable": pick.choice([True, None])}},
            {"status": {"allocatable": {"cpu": pick.choice(["1", "2", "4"])}}},
        ]
    )
    return commands.Patch("Node", pick.choice(["n1", "n2", "n3"]), changes)


def _deny(pick: Random, pod: Data) -> commands.Command:
    """Deny a pod in PreFilter: then preemption runs without the state of that plugin."""
    plugin = pick.choice(["NodeResourcesFit", "NodeAffinity", "NodePorts", "InterPodAffinity"])
    return commands.Fault(plugin, "preFilter", "deny", profile=pod["spec"].get("schedulerName", "default-scheduler"))


CHANGES: tuple[Callable[[Random, Data], commands.Command], ...] = (
    *[_resize] * 6,
    _resized,
    *[_relabel] * 2,
    _tolerate,
    _nominate,
    *[_change_node] * 2,
    _deny,
    lambda pick, pod: commands.Configure(profiles(pick)),
    lambda pick, pod: commands.Apply((budget_of(pick, pick.choice(["guard", "shield"])),)),
    lambda pick, pod: commands.Apply((namespace("default", team=pick.choice(["a", "b"])),)),
    lambda pick, pod: commands.Delete("Pod", _key(pick, pod)),
    lambda pick, pod: pick.choice(STEPS)(pick),
)
