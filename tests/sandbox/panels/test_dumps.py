"""Every panel can be drawn for any valid dump, with any optional field of any kind missing.

The suite checks one field in twenty-four, and the profile ``thorough`` each of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import hypothesis
import pytest

from sandbox.panels import PANELS, View, World
from scheduler_engine import commands
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.importing import Choices, gather, prepare
from scheduler_engine.simulation import Simulation
from tests.engine import dumps

Path = tuple[str | int, ...]
EACH = 1 if hypothesis.settings.get_current_profile_name() == "thorough" else 24


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, inner in inside:
        yield (*before, name)
        yield from paths(inner, (*before, name))


def fields() -> dict[tuple[Any, ...], tuple[int, Path]]:
    """Return kind and path, with one place for all items of a list → an object and the path in it."""
    results: dict[tuple[Any, ...], tuple[int, Path]] = {}
    for place, item in enumerate(dumps.cluster(1, nodes=3, pods=6).objects):
        for path in paths(item):
            results.setdefault(
                (item["kind"], *("*" if isinstance(name, int) else name for name in path)), (place, path)
            )
    return results


FIELDS = dict(list(fields().items())[::EACH])


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: ".".join(map(str, field)))
def test_a_dump_without_a_field_is_refused_or_shown(field: tuple[Any, ...]) -> None:
    place, path = FIELDS[field]
    objects = dumps.cluster(1, nodes=3, pods=6).objects
    holder = objects[place]
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    try:
        result = prepare(gather(json.dumps(dumps.as_list(objects)).encode()), Choices())
        simulation = Simulation(configuration=result.configuration)
        for command in result.commands():
            simulation.execute(commands.from_json(command))
    except Rejected:
        return
    for command in (commands.Settle(), commands.Advance(400)):
        with suppress(Rejected, NothingToDo):
            simulation.execute(command)
    world = World.fold(simulation.recorder.entries)
    for panel in PANELS.values():
        panel.stats(world, View())
