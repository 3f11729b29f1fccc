"""Every panel can be drawn for any valid object: with each field of its kind empty, and at any moment of any history.

The suite checks one field in twenty-four, and the profile ``thorough`` each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.panels import PANELS, View, World
from sandbox.worker.rendering import render_panel
from scheduler_engine import commands
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import histories
from tests.engine.test_validation import VALID

Path = tuple[str, ...]
THOROUGH = hypothesis.settings.get_current_profile_name() == "thorough"
EACH = 1 if THOROUGH else 24
DEEPEST = 6
"""Most names in a path: a container of a pod of a Deployment, and a field of it."""
EMPTY: dict[str, Any] = {"one": {}, "list": [{}], "map": {"a": {}}}
"""How a field holds a type with fields → its value with all of these left out."""


def fields(kind: str, before: Path = (), above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield paths to the fields of a kind, and to their contents."""
    for name, field in TYPES[kind].items():
        if before or name not in ("apiVersion", "kind"):
            yield (*before, name)
        if field.type in TYPES and field.type not in above and len(before) < DEEPEST:
            yield from fields(field.type, (*before, name), (*above, kind))


def emptied(manifest: Any, kind: str, path: Path, null: bool) -> Any:
    """Return the manifest with the field at ``path`` null or empty. Create the fields that the path leads through.

    None: it has no fields that could be left out.
    """
    name, field = path[0], TYPES[kind][path[0]]
    if len(path) == 1:
        if null or field.type in TYPES:
            return {**manifest, name: None if null else deepcopy(EMPTY[field.holds])}
        return None if field.holds == "one" else {**manifest, name: {} if field.holds == "map" else []}
    held = manifest.get(name) or EMPTY[field.holds]
    inner = held if field.holds == "one" else next(iter(held.values())) if field.holds == "map" else held[0]
    inner = emptied(inner, field.type, path[1:], null)
    if inner is None:
        return None
    return {**manifest, name: inner if field.holds == "one" else {"a": inner} if field.holds == "map" else [inner]}


def tried(simulation: Simulation, command: Command) -> bool:
    with suppress(Rejected):
        simulation.execute(command)
        return True
    return False


def drawn(world: World) -> None:
    for panel in PANELS:
        render_panel(panel, world, View(), True)


def acted(manifest: Any) -> bool:
    """Return False if it is refused. Else let controllers and the scheduler act on it, and draw every panel."""
    simulation = Simulation()
    others = [make_node(name).zone(name).obj() for name in ("a", "b")] + [make_pod("other").cpu("1").obj()]
    simulation.execute(commands.Apply(tuple(others)))
    if not tried(simulation, commands.Apply((manifest,))):
        return False
    for command in (commands.Settle(), commands.Advance(400), commands.Apply((manifest,)), commands.Drain("a")):
        tried(simulation, command)
    drawn(World.fold(simulation.recorder.entries))
    return True


BASES = {manifest["kind"]: deepcopy(manifest) for manifest in reversed(VALID.values())}
"""Kind → a small valid object of it."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_with_an_empty_field_is_refused_or_shown(kind: str) -> None:
    for path in list(fields(kind))[::EACH]:
        for null in (True, False):
            manifest = emptied(BASES[kind], kind, path, null)
            assert manifest is None or acted(manifest) in (True, False), ".".join(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_valid_object_of_each_kind_is_shown(kind: str) -> None:
    assert acted(BASES[kind])


BACKOFFS = st.sampled_from([(1, 10), (0, 0), (0, 10), (1, 1), (7, 3)])
"""Initial and maximum seconds. Some are refused, and then the default remains."""


@hypothesis.settings(max_examples=100 if THOROUGH else 4, deadline=None)
@given(
    st.lists(
        st.one_of(histories.NEW_PODS, histories.VIPS, histories.WRITES, histories.TROUBLE, histories.AROUND)
        | histories.STEPS
        | histories.LONGER
        | histories.MISHAPS
        | histories.REPLICAS
        | histories.faults(),
        min_size=8,
        max_size=14,
    ),
    BACKOFFS,
    st.sampled_from(["v1.34", "design-doc"]),
)
def test_every_panel_can_be_drawn_at_every_moment_of_a_history(
    history: list[Command], backoff: tuple[int, int], rules: str
) -> None:
    simulation = Simulation(queue_rules=rules)
    initial, longest = backoff
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "podInitialBackoffSeconds": initial,
        "podMaxBackoffSeconds": longest,
    }
    tried(simulation, commands.Configure(configuration))
    for command in (histories.START, *history):
        tried(simulation, command)
    entries, world = simulation.recorder.entries, World()
    moments = {number for number, _ in simulation.recorder.rests} | {len(entries)}
    shown = sorted(moments)[:: max(1, len(moments) // (len(moments) if THOROUGH else 12))]
    for before, moment in zip([0, *shown], shown, strict=False):
        for entry in entries[before:moment]:
            world.apply(entry)
        drawn(world)
