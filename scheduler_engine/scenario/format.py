"""The format of a scenario file: its version, its keys, and the shape of each value."""

from __future__ import annotations

from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.steps import Step
from scheduler_engine.shapes import Anything, Data, Either, Fields, ListOf, MapOf, Nothing, Number, Shape, Text

API_VERSION, KIND = "scheduler-sandbox/v1", "Scenario"

KEYS: dict[str, Shape] = {
    "apiVersion": Text("The version of this format. Default: this version.", values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text("The title of the scenario, in one line."),
    "group": Text("A name to group scenarios by."),
    "about": Text("A description: the cluster, and what to watch."),
    "outcome": Text("The expected result, in words."),
    "source": Text("The source of the scenario."),
    "engine": Text("The version of the engine that wrote the file."),
    "seed": Number("The seed for draws among equal nodes. Default: 42.", whole=True),
    "queue_rules": Text(
        "The rules of the scheduling queue: of Kubernetes, or of its design document.", values=tuple(QUEUES)
    ),
    "configuration": Either(
        (MapOf(Anything()), Nothing()),
        "must be a KubeSchedulerConfiguration, or left empty",
        "A KubeSchedulerConfiguration. Default: the one of Kubernetes.",
    ),
    "tab": Text("The tab that the workbench opens first."),
    "setup": ListOf(Step(full=False), "Commands that run when you open the scenario."),
    "then": ListOf(Step(full=True), "The next steps, and what must hold between them."),
    "expect": EXPECTATIONS,
}
"""Key → shape, in the order of writing a file."""

SCENARIO = Fields(KEYS, ("title",), "A cluster, commands, and the expected result.")


def wrong_version(data: Data) -> tuple[str, str] | None:
    """Return (key, problem) of a file that is not a scenario of this version."""
    version, kind = data.get("apiVersion", API_VERSION), data.get("kind", KIND)
    if kind != KIND:
        return "kind", f"this is a {kind}, and no {KIND}; a manifest stands under setup, in the list behind apply"
    if version == API_VERSION:
        return None
    if isinstance(version, str) and version.startswith("scheduler-sandbox/"):
        return "apiVersion", f"the file has version {version}, but this engine reads {API_VERSION}"
    return "apiVersion", f"must be {API_VERSION}"
