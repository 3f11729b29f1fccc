"""A refused command names its fields as Kubernetes or the page does, never by a name of this program."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.scenario import load_scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

INTERNAL = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
TYPE_OF_PYTHON = re.compile(r"\b(?:NoneType|str|int|float|bool|dict|tuple)\b")
KUBERNETES = "'my_value'"
"""Kubernetes' own text about labels."""
GOOD: dict[str, Any] = {
    "manifests": [make_node("n2").obj()],
    "manifest": make_pod("web").obj(),
    "object_kind": "Pod",
    "key": "default/web",
    "changes": {},
    "node": "n1",
    "replicas": 2,
    "seconds": 1,
    "plugin": "DefaultBinder",
    "point": "bind",
    "pod": "default/web",
    "type": "Ready",
    "status": "True",
    "effect": "NoSchedule",
    "count": 2,
    "replica": "kube-scheduler-1",
    "action": "kill",
    "subresource": "",
}
"""Field → a value it may have."""
BAD: tuple[Any, ...] = ("", "no_such_thing", "-1", -1, 10**9, True, None, ["x"], {"a_b": 1})
MEANT: dict[str, dict[str, Any]] = {
    "scale": {"object_kind": "Deployment"},
    "taint": {"key": "gpu"},
    "usage": {"node": ""},
    "admission": {"plugin": "LimitPodHardAntiAffinityTopology"},
}
"""Arguments of commands that replace those of ``GOOD``."""


def needed(kind: str) -> dict[str, Any]:
    """Return a command in its JSON form, with all fields that have a value in ``GOOD``."""
    known = [*commands.COMMANDS[kind].rows]
    return {"kind": kind} | {name: GOOD[name] for name in known if name in GOOD} | MEANT.get(kind, {})


def wrong(kind: str) -> Iterator[dict[str, Any]]:
    good = needed(kind)
    yield good | {"no_such_field": 1}
    yield {"kind": kind}
    for name in commands.COMMANDS[kind].rows:
        yield from (good | {name: value} for value in BAD)
    if kind == "replica":
        for action in ("skew", "rate"):
            yield from (good | {"action": action, "seconds": 0, "rate": value} for value in BAD)


@functools.cache
def world() -> Simulation:
    """Return a shared simulation. Copy it before you change it."""
    simulation = Simulation(undoes=False)
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("web").obj())))
    return simulation


def refusals(data: dict[str, Any]) -> list[FieldError]:
    try:
        command = commands.from_json(data)
        copy.deepcopy(world()).execute(command)
    except Rejected as refusal:
        return refusal.errors
    return []


def internal_names(text: str, command: dict[str, Any]) -> list[str]:
    """List internal names, except those written in the command and quoted values to write there."""
    written = json.dumps(command)
    text = text.replace(KUBERNETES, "")
    names = [*INTERNAL.findall(text), *TYPE_OF_PYTHON.findall(text)]
    keys = commands.COMMANDS[command["kind"]].rows
    return [name for name in names if f'"{name}"' not in written and not (name in keys and f'"{name}"' in text)]


@pytest.mark.parametrize("kind", commands.COMMANDS)
def test_no_message_of_a_command_has_an_internal_name(kind: str) -> None:
    by_error = {str(error): data for data in wrong(kind) for error in refusals(data)}
    assert by_error, "each of these has an error"
    assert {text: names for text, data in by_error.items() if (names := internal_names(text, data))} == {}


def test_every_internal_name_of_a_field_has_another_that_people_know() -> None:
    names = [name for command in commands.COMMANDS.values() for name in command.rows]
    assert [name for name in names if "_" in name and name not in commands.SPELLED] == []
    assert not any("_" in name for name in commands.SPELLED.values())


def test_a_scenario_names_the_field_as_written(tmp_path: Any) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: t\n"
        "then:\n- delete: {object_kind: Pod, key: default/web, propagation_policy: Never}\n- replicas: {count: 9}\n"
    )
    with pytest.raises(Rejected) as refusal:
        load_scenario(path)
    assert [(error.path, error.line) for error in refusal.value.errors] == [
        ("then[0].delete.propagation_policy", 5),
        ("then[1].replicas.count", 6),
    ]
