"""``new``: write a scenario to start with."""

from __future__ import annotations

from pathlib import Path

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import Unusable, to_a_file, write
from scheduler_engine.scenario import FOLDER, load_scenarios
from scheduler_engine.shapes import did_you_mean

BLANK = """\
apiVersion: scheduler-sandbox/v1
kind: Scenario
title: A web server goes where there is room
setup:
- apply:
  - apiVersion: v1
    kind: Node
    metadata: {name: node-a, labels: {topology.kubernetes.io/zone: zone-a}}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
  - apiVersion: v1
    kind: Node
    metadata: {name: node-b, labels: {topology.kubernetes.io/zone: zone-b}}
    status: {capacity: {cpu: "8", memory: 16Gi, pods: "110"}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web, labels: {app: web}}
    spec:
      containers:
      - {name: main, image: nginx, resources: {requests: {cpu: "1", memory: 1Gi}}}
then:
- run: {}
expect:
- {pod: default/web, node: node-b}
"""


@click.command()
@click.argument("name", default="")
@click.option("--list", "listing", is_flag=True, help="List the scenarios that you can copy.")
@to_a_file
def command(name: str, listing: bool, to: Path | None) -> int:
    """Write a small scenario to start with, or a copy of the installed scenario NAME.

    This does not overwrite an existing file.
    """
    if listing:
        for scenario in load_scenarios():
            click.echo(f"{scenario.slug}  {scenario.title}")
        return OK
    if to is not None and to.exists():
        raise Unusable(f"{to}: File exists")
    write(_text(name) if name else BLANK, to)
    return OK


def _text(name: str) -> str:
    known = {scenario.slug: scenario.origin.name for scenario in load_scenarios() if scenario.origin}
    if name not in known:
        raise Unusable(f"there is no scenario {name!r}{did_you_mean(name, known)}; --list lists all")
    return (FOLDER / known[name]).read_text(encoding="utf-8")
