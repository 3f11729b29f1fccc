"""The format of a scenario file: its version, its keys, and the shape of each value."""

from __future__ import annotations

from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.steps import Step
from scheduler_engine.shapes import Anything, Data, Either, Fields, ListOf, MapOf, Nothing, Number, Shape, Text

API_VERSION, KIND = "scheduler-sandbox/v1", "Scenario"

KEYS: dict[str, Shape] = {
    "apiVersion": Text("The version of this format; left out, it is this one.", values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text("A line that names the scenario."),
    "group": Text("A name to sort by."),
    "about": Text("What is set up, and what to watch."),
    "outcome": Text("What should come out, in words."),
    "source": Text("Where it comes from."),
    "engine": Text("The version of the engine that it was written with."),
    "seed": Number("Decides draws among equal nodes; 42 when left out.", whole=True),
    "queue_rules": Text("The queue of Kubernetes, or that of its design document.", values=tuple(QUEUES)),
    "configuration": Either(
        (MapOf(Anything()), Nothing()),
        "must be a KubeSchedulerConfiguration, or left empty",
        "A KubeSchedulerConfiguration; left out, it is the default one.",
    ),
    "tab": Text("The tab of the workbench that is shown first."),
    "setup": ListOf(Step(full=False), "Commands that are executed when the scenario is opened."),
    "then": ListOf(Step(full=True), "What happens after that, and what holds on the way."),
    "expect": EXPECTATIONS,
}
"""Key → shape, in the order of writing a file."""

SCENARIO = Fields(KEYS, ("title",), "A cluster, what to do with it, and what should come out.")


def wrong_version(data: Data) -> tuple[str, str] | None:
    """Return (key, problem) of a file that is not a scenario of this version."""
    version, kind = data.get("apiVersion", API_VERSION), data.get("kind", KIND)
    if kind != KIND:
        return "kind", f"this is a {kind}, and no {KIND}; a manifest stands under setup, in the list behind apply"
    if version == API_VERSION:
        return None
    if isinstance(version, str) and version.startswith("scheduler-sandbox/"):
        return "apiVersion", f"the file is written in {version}, and this engine reads {API_VERSION}"
    return "apiVersion", f"must be {API_VERSION}"
