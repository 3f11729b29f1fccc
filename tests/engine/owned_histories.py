"""Random histories of full clusters, whose pods are made again by their owners."""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler_engine import commands
from scheduler_engine.testing import HOSTNAME, make_node, make_pod
from tests.engine import controllers as world

Data = dict[str, Any]
OWNERS = (world.deployment, world.deployment, world.replica_set, world.stateful_set, world.daemon_set, world.job)
APPS = ("web", "db", "cache")


def _node(pick: Random, name: str) -> Data:
    builder = make_node(name).capacity(
        cpu=pick.choice(["1", "2", "3"]), memory="8Gi", pods=pick.choice(["2", "3", "20"])
    )
    builder.label(HOSTNAME, name)
    if pick.randint(0, 3):
        builder.zone(pick.choice("ab"))
    if pick.randint(0, 4) == 0:
        builder.taint("dedicated", "gpu")
    if pick.randint(0, 6) == 0:
        builder.cordoned()
    return builder.obj()


def _owner(pick: Random, app: str) -> Data:
    make = pick.choice(OWNERS)
    pod: Data = {"priority": pick.choice([0, 0, 10])}
    if pick.randint(0, 1):
        pod["terminationGracePeriodSeconds"] = pick.choice([0, 5])
    if pick.randint(0, 3) == 0:
        term = {"labelSelector": {"matchLabels": {"app": pick.choice(APPS)}}, "topologyKey": HOSTNAME}
        pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    fields: Data = {"cpu": pick.choice(["200m", "500m", "1"]), "pod": pod}
    if make is world.daemon_set:
        return make(app, **fields)
    count = pick.randint(1, 4)
    return make(app, parallelism=count, **fields) if make is world.job else make(app, count, **fields)  # type: ignore[operator]


def _pod(pick: Random, number: int) -> Data:
    builder = make_pod(f"pod-{number}").label("app", pick.choice(APPS)).priority(pick.choice([0, 0, 5, 10]))
    builder.cpu(pick.choice(["300m", "1", "1500m", "3"]))
    if pick.randint(0, 3) == 0:
        builder.host_port(80)
    if pick.randint(0, 4) == 0:
        builder.anti_affinity(HOSTNAME, {"app": pick.choice(APPS)})
    if pick.randint(0, 4) == 0:
        builder.spread(HOSTNAME, {"app": pick.choice(APPS)})
    if pick.randint(0, 5) == 0:
        builder.priority(20)
        builder.spec(preemptionPolicy="Never")
    return builder.obj()


def owned(seed: int) -> list[commands.Command]:
    """Return commands that fill a cluster with the pods of owners, and add pods of nobody."""
    pick = Random(seed)
    steps: list[commands.Command] = [
        commands.Apply(tuple(_node(pick, f"n{number}") for number in range(1, pick.randint(2, 4)))),
        *(commands.Apply((_owner(pick, app),)) for app in pick.sample(APPS, pick.randint(1, 3))),
        commands.Run(),
    ]
    for number in range(pick.randint(1, 4)):
        steps += [commands.Apply((_pod(pick, number),)), pick.choice([commands.Run(), commands.PodCycle()])]
    return steps
