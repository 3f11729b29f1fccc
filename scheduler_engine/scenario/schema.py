"""The format of scenarios as one JSON Schema (draft 2020-12), for editors and other programs.

It is built from the tables that files are checked with. It omits what only the engine can check: whether Kubernetes
accepts a manifest, a configuration or a feature gate, and that no two steps have the same name.
"""

from __future__ import annotations

import json
from pathlib import Path

from scheduler_engine.scenario.expectations import ASSERTIONS
from scheduler_engine.scenario.format import SCENARIO
from scheduler_engine.scenario.steps import BESIDE, COMMANDS
from scheduler_engine.shapes import Data, Shape

FILE = Path(__file__).with_name("schema.json")
"""The text of the schema, as returned by ``text``."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(shape: Shape, name: str, title: str) -> Data:
    """Return the schema of a file whose steps and expectations are those of scenarios, as plain JSON."""
    shapes = {**COMMANDS, **BESIDE, **{f"expect-{name}": row.shape(name) for name, row in ASSERTIONS.items()}}
    return {
        "$schema": DRAFT,
        "$id": f"urn:scheduler-sandbox:{name}:v1",
        "title": title,
        **shape.schema(),
        "$defs": {name: shape.schema() for name, shape in shapes.items()},
    }


def schema() -> Data:
    """Return the schema of scenarios."""
    return schema_of(SCENARIO, "scenario", "Scenario of Scheduler Sandbox")


def text_of(schema: Data) -> str:
    """Return a schema as text."""
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


def text() -> str:
    """Return the schema as in ``FILE``."""
    return text_of(schema())
