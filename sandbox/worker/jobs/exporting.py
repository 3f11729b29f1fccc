"""Jobs that export a sandbox at a moment as the text of a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.content.scenarios import Story, story
from sandbox.limits.quotas import OverQuota
from sandbox.panels import TABLES
from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.steps import step_commands
from sandbox.panels.tables import as_csv
from sandbox.panels.view import View
from sandbox.storage.commands import to_text
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker import earlier, expecting, simulations
from sandbox.worker.job import listing, replaying, writing
from sandbox.worker.live import Live
from scheduler_engine.commands import COMMANDS
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import entry_line
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.facts import PLACEMENTS, STRICTNESS, expect_everything
from scheduler_engine.scenario.manifests import manifests, manifests_text, simulator_snapshot
from scheduler_engine.scenario.writing import dump, dump_compact
from scheduler_engine.shapes import Data
from scheduler_engine.versions import named

NONE, COLLECTED = "none", "collected"
EXPECT = (NONE, COLLECTED, *STRICTNESS)
"""Levels of expectations in an exported scenario: none, the collected ones, or everything at its end, each stricter."""
MOST_CHARACTERS = 32 * 1024 * 1024
"""Characters of one file."""


RUN = {"kind": "run"}
WORDS = ("name", "say")
"""Keys of a scenario's step for people."""
MOST_EXPECTED = 20_000
"""Expectations in one file. The strictest level writes many for each pod."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export. ``form``: one of ``FORMS``.

    ``setup``: number of commands in the scenario's setup, None = those before the first step. ``expect``: one of
    ``EXPECT``. ``added``: write manifests with the fields that the cluster added. ``kwok``: write nodes for KWOK.
    ``compact``: write the scenario as JSON on one line.
    """

    form: str
    setup: int | None = None
    expect: str = NONE
    added: bool = False
    kwok: bool = False
    compact: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported file. ``text``: the file or its beginning. ``size``: characters of all of it.

    ``notes``: sentences about it. ``setup``: how many of its ``commands`` are in the setup of a scenario.
    """

    text: str
    size: int
    notes: tuple[str, ...] = ()
    setup: int = 0
    commands: int = 0


@writing
def export(
    live: Live,
    position: Position,
    options: ExportOptions,
    title: str,
    at: Moment | None = None,
    longest: int | None = None,
) -> Exported:
    """Return the sandbox at a moment as a file, with ``options``. ``longest``: characters of it, None = all.

    Raises ``Rejected``, ``ReplayFailed``, or ``OverQuota`` if the file is too large.
    """
    live.move_to(position)
    if options.form != "manifests":  # Of a log that stops, the objects can be saved as they are there.
        live.check_replayed()
    file = FORMS[options.form](live, options, title, at)
    if file.size > MOST_CHARACTERS:
        raise OverQuota(say("export.too-large", megabytes=MOST_CHARACTERS // 2**20), 413)
    version = say("export.version", version=named(rules_in(live.at(at).configured)))
    return Exported(file.text[:longest], file.size, (*file.notes, version), file.setup, file.commands)


@replaying
def mended(
    live: Live, position: Position, fix: Sequence[dict[str, Any]], pod: str, title: str, at: Moment | None = None
) -> Exported:
    """Return a scenario that ends with the commands of a fix, and expects that the pod waits before and not after.

    Raises ``Rejected`` if a command is refused, or if the pod still waits.
    """
    live.move_to(position)
    live.check_replayed()
    log = [json.loads(text) for text in live.texts_until(at)]
    simulation = copy.deepcopy(earlier.simulation_at(live, at))
    for command in (*fix, RUN):
        simulations.execute(simulation, to_text(command))
    placed = [item for item in expect_everything(simulation, PLACEMENTS) if item.get("pod") == pod]
    if not placed or placed[0].get("pending"):
        raise Rejected(say("fixes.still-waits", pod=pod))
    plan, waits = live.plan, {"pod": pod, "pending": True}
    scenario = from_log(
        plan.seed,
        json.loads(plan.configuration),
        plan.queue_rules,
        [*log, *fix, RUN],
        kubernetes=plan.kubernetes,
        feature_gates=json.loads(plan.feature_gates),
        setup=len(log),
        title=title,
        expect=placed,
        held={len(log): [waits]},
    )
    text = dump(scenario)
    return Exported(text, len(text))


@listing
def csv(live: Live, position: Position, name: str, view: View) -> str:
    """Return all rows of a table (one of ``TABLES``) at the moment in view as CSV. Raises ``OverQuota``."""
    live.move_to(position)
    world = live.at(view.at)
    world.look_at(view.replica)
    text = as_csv(TABLES[name](world, view))
    if len(text) > MOST_CHARACTERS:
        raise OverQuota(say("export.too-large", megabytes=MOST_CHARACTERS // 2**20), 413)
    return text


def _scenario(live: Live, options: ExportOptions, title: str, at: Moment | None) -> Exported:
    commands = [json.loads(text) for text in live.texts_until(at)]
    setup = _first_step(live, commands) if options.setup is None else min(options.setup, len(commands))
    plan, opened = live.plan, story(live.plan.scenario, live.plan.story)
    expectations, left, red = _collected(live, at) if options.expect == COLLECTED else ({}, 0, 0)
    strict = options.expect in STRICTNESS
    everything = expect_everything(earlier.simulation_at(live, at), options.expect) if strict else []
    if len(everything) > MOST_EXPECTED:
        raise OverQuota(say("export.too-many", count=len(everything), most=MOST_EXPECTED), 413)
    setup = min([setup, *expectations])
    words, unplayed = _story(live, opened, at)
    scenario = from_log(
        plan.seed,
        json.loads(plan.configuration),
        plan.queue_rules,
        commands,
        kubernetes=plan.kubernetes,
        feature_gates=json.loads(plan.feature_gates),
        setup=setup,
        title=title,
        about=opened.about if opened else "",
        tab=opened.tab if opened else "",
        expect=everything,
        held=expectations,
        words=words,
    )
    text = dump_compact(scenario) if options.compact else dump(scenario)
    notes = [say("export.setup-note", count=setup, of=len(commands))]
    if unplayed:
        notes.append(say("export.unplayed", count=unplayed))
    if options.expect == COLLECTED:
        notes.append(say("export.collected", count=sum(map(len, expectations.values()))))
    if red:
        notes.append(say("export.red", count=red))
    if left:
        notes.append(say("export.left-out", count=left))
    if everything:
        notes.append(say("export.expects", count=len(everything)))
    return Exported(text, len(text), tuple(notes), setup, len(commands))


def _story(live: Live, opened: Story | None, at: Moment | None) -> tuple[dict[int, Data], int]:
    """Return number of a command → the words of the scenario's step that it is, and how many steps are left out."""
    then, words = opened.then if opened else (), dict[int, Data]()
    steps = live.guide.steps
    for place, number in enumerate(step_commands(live.at(at))):
        if not steps[place].refused:
            words[number] = {name: then[place][name] for name in WORDS if name in then[place]}
    return words, len(steps) - len(words)


def _collected(live: Live, at: Moment | None) -> tuple[dict[int, list[Data]], int, int]:
    """Return number of a command → expectations after it; how many collected ones are left out; how many fail."""
    live.look_up_expected(None)
    judged = expecting.JudgedExpectations(live, live.at(at), at, live.expecting)
    expectations, left = judged.exported()
    return expectations, left, sum(outcome.red for outcome in judged.outcomes())


def _first_step(live: Live, commands: list[dict[str, Any]]) -> int:
    """Return how many commands the setup has: those of the scenario's setup, else those before the first step."""
    if live.guide.setup:
        return min(live.guide.setup, len(commands))
    return next((n for n, command in enumerate(commands) if COMMANDS[command["kind"]].steps), len(commands))


def _manifests(live: Live, options: ExportOptions, title: str, at: Moment | None) -> Exported:
    simulation = earlier.simulation_at(live, at)
    objects = manifests(simulation, options.added, options.kwok)
    text = manifests_text(objects, simulation.rules)
    return Exported(text, len(text), (say("export.objects", count=len(objects)),))


def _snapshot(live: Live, options: ExportOptions, title: str, at: Moment | None) -> Exported:
    snapshot = simulator_snapshot(earlier.simulation_at(live, at))
    text = json.dumps(snapshot, ensure_ascii=False, indent=2) + "\n"
    return Exported(text, len(text), (say("export.snapshot-note"),))


def _trace(live: Live, options: ExportOptions, title: str, at: Moment | None) -> Exported:
    lines, size = list[str](), 0
    for entry in live.at(at).entries:
        lines.append(f"{entry_line(entry)}\n")
        size += len(lines[-1])
        if size > MOST_CHARACTERS:
            break
    return Exported("".join(lines), size, (say("export.entries", count=len(lines)),))


FORMS: dict[str, Callable[[Live, ExportOptions, str, Moment | None], Exported]] = {
    "scenario": _scenario,
    "manifests": _manifests,
    "snapshot": _snapshot,
    "trace": _trace,
}
"""Form of an export → the function that writes it."""
FORM_NAMES = tuple(FORMS)
