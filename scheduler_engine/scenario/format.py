"""The format of a scenario file: its version, its keys, and the shape of each value."""

from __future__ import annotations

from scheduler_engine.config import schema as config
from scheduler_engine.errors import FieldError
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.steps import Step
from scheduler_engine.shapes import Data, Either, Fields, Flag, ListOf, Manifest, MapOf, Nothing, Number, Shape, Text
from scheduler_engine.versions import VERSIONS
from scheduler_engine.words import say

API_VERSION, KIND = "scheduler-sandbox/v1", "Scenario"
LEVELS = ("first-steps", "everyday", "deep")
"""How much a reader should know, the easiest first."""

KEYS: dict[str, Shape] = {
    "apiVersion": Text(say("scenario-keys.version"), values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text(say("scenario-keys.title")),
    "group": Text(say("scenario-keys.group")),
    "level": Text(say("scenario-keys.level"), values=LEVELS),
    "shows": Text(say("scenario-keys.shows")),
    "tags": ListOf(Text(pattern=r"[A-Za-z_][A-Za-z0-9_]*"), say("scenario-keys.tags")),
    "about": Text(say("scenario-keys.about")),
    "outcome": Text(say("scenario-keys.outcome")),
    "source": Text(say("scenario-keys.source")),
    "engine": Text(say("scenario-keys.engine")),
    "seed": Number(say("scenario-keys.seed"), whole=True),
    "queue_rules": Text(say("scenario-keys.queue-rules"), values=tuple(QUEUES)),
    "kubernetes": Text(say("scenario-keys.kubernetes"), values=VERSIONS),
    "feature_gates": MapOf(Flag(), say("scenario-keys.feature-gates")),
    "configuration": Either(
        (Manifest("", config.API_VERSION, config.KIND), Nothing()),
        say("scenario-errors.configuration-or-nothing"),
        say("scenario-keys.configuration"),
    ),
    "tab": Text(say("scenario-keys.tab")),
    "setup": ListOf(Step(full=False), say("scenario-keys.setup")),
    "then": ListOf(Step(full=True), say("scenario-keys.then")),
    "expect": EXPECTATIONS,
}
"""Key → shape, in the order of writing a file."""

SCENARIO = Fields(KEYS, ("title",), say("scenario-keys.scenario"))


def wrong_version(data: Data) -> tuple[str, str] | None:
    """Return (key, problem) of a file that is not a scenario of this version."""
    version, kind = data.get("apiVersion", API_VERSION), data.get("kind", KIND)
    if kind != KIND:
        return "kind", say("scenario-errors.other-kind", kind=kind, wanted=KIND)
    if version == API_VERSION:
        return None
    if isinstance(version, str) and version.startswith("scheduler-sandbox/"):
        return "apiVersion", say("scenario-errors.other-version", version=version, known=API_VERSION)
    return "apiVersion", say("refusals.must-be", what=API_VERSION)


def other_kind(data: Data, wanted: str) -> list[FieldError]:
    """Return that a file is of another kind than ``wanted``, or of another version; [] if it is neither."""
    kind, version = data.get("kind", wanted), data.get("apiVersion", API_VERSION)
    if kind != wanted:
        text = say("lesson-errors.other-kind", kind=kind, wanted=wanted)
        return [FieldError("kind", "FieldValueNotSupported", text)]
    if version != API_VERSION:
        text = say("scenario-errors.other-version", version=version, known=API_VERSION)
        return [FieldError("apiVersion", "FieldValueNotSupported", text)]
    return []
