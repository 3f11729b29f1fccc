"""Write a scenario as the text of its file: readable, reproducible, and read back as the same scenario."""

from __future__ import annotations

import json
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.format import API_VERSION, KEYS, KIND
from scheduler_engine.scenario.loading import PLAIN
from scheduler_engine.scenario.model import RUN, Scenario
from scheduler_engine.scenario.steps import as_written
from scheduler_engine.scenario.yaml_text import Make, Node, Where, block_list, block_map, can_hold, emit, plain, spread
from scheduler_engine.shapes import Data
from scheduler_engine.words import say

MOST_DIGITS = 40
"""The most digits of a whole number that is read back exactly."""


def dump(scenario: Scenario) -> str:
    """Return the file of ``scenario``, without its comments. Keys have a fixed order; default values are omitted.

    YAML; JSON for numbers that YAML would change (5.0, and those of 20 digits). Raises Rejected for a number that
    neither can hold.
    """
    data = _as_file(scenario)
    if can_hold(data):
        return emit(block_map(((key, value, MAKE.get(key, plain)) for key, value in data.items()), Where()))
    _check_digits(data)
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def dump_compact(scenario: Scenario) -> str:
    """Return the file on one line, as JSON. Raises as ``dump``."""
    data = _as_file(scenario)
    _check_digits(data)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _as_file(scenario: Scenario) -> Data:
    """Return the scenario as in a file, as plain data."""
    defaults = {name: item.default for name, item in Scenario.__dataclass_fields__.items()}
    fields = {name: getattr(scenario, name) for name in PLAIN if getattr(scenario, name) != defaults[name]}
    data: Data = {"apiVersion": API_VERSION, "kind": KIND, **fields}
    if scenario.setup:
        data["setup"] = [as_written(step) for step in scenario.setup]
    if scenario.opened or scenario.then != RUN:
        opened = [{"expect": scenario.opened}] if scenario.opened else []
        data["then"] = [*opened, *map(as_written, scenario.then)]
    if scenario.expect:
        data["expect"] = scenario.expect
    return {name: data[name] for name in KEYS if name in data}


def _check_digits(data: Any) -> None:
    """Raises Rejected."""
    if isinstance(data, dict):
        data = data.values()
    if isinstance(data, (list, tuple)) or not isinstance(data, (str, int, float, type(None))):
        for item in data:
            _check_digits(item)
    elif isinstance(data, int) and len(str(data)) > MOST_DIGITS:
        raise Rejected(say("scenario-errors.too-many-digits", most=MOST_DIGITS))


def _expectations(value: Any, where: Where) -> Node:
    return block_list(value, where, plain)


def _manifests(value: Any, where: Where) -> Node:
    return block_list(value, where, spread)


IN_STEPS: dict[str, Make] = {"apply": _manifests, "expect": _expectations}


def _step(value: Any, where: Where) -> Node:
    return block_map(((key, item, IN_STEPS.get(key, plain)) for key, item in value.items()), where)


def _steps(value: Any, where: Where) -> Node:
    return block_list(value, where, _step)


MAKE: dict[str, Make] = {"setup": _steps, "then": _steps, "expect": _expectations}
"""Key → how its value is laid out; the others as they fit."""
