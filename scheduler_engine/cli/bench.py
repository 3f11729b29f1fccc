"""``bench``: measure how many pods per second the engine schedules on this machine."""

from __future__ import annotations

import time

import click

from scheduler_engine import commands
from scheduler_engine.api.topology import ZONE
from scheduler_engine.cli import OK
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

ZONES = 3


@click.command()
@click.option("--nodes", type=click.IntRange(1, 5_000), default=100, show_default=True)
@click.option("--pods", type=click.IntRange(1, 20_000), default=500, show_default=True)
def command(nodes: int, pods: int) -> int:
    """Schedule pods of several sizes, half of them spread over zones, and report the time.

    The trace is the same on every machine. The time is not.
    """
    simulation = Simulation(seed=1)
    objects = [
        make_node(f"node-{number}").zone(f"zone-{number % ZONES}").capacity(cpu="64", memory="256Gi", pods="250").obj()
        for number in range(nodes)
    ]
    asked = []
    for number in range(pods):
        pod = make_pod(f"pod-{number}").label("app", f"app-{number % 10}").cpu(f"{100 + number % 4 * 50}m")
        if number % 2:
            pod = pod.spread(ZONE, {"app": f"app-{number % 10}"}, when="ScheduleAnyway")
        asked.append(pod.obj())
    simulation.execute(commands.Apply((*objects, *asked)))
    start = time.perf_counter()
    simulation.execute(commands.Settle())
    seconds = time.perf_counter() - start
    bound = sum(bool(pod.node_name) for pod in simulation.api.pods())
    click.echo(f"{bound} of {pods} pods on {nodes} nodes in {seconds:.2f} s: {pods / seconds:.0f} pods per second")
    return OK
