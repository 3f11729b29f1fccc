"""What an engine does for an export: the sandbox, at the moment that is looked at, as the text of a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.library.scenarios import story
from sandbox.limits.quotas import OverQuota
from sandbox.panels import TABLES
from sandbox.panels.model.moment import Moment
from sandbox.panels.tables import as_csv
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker import earlier, expecting
from sandbox.worker.job import writing
from sandbox.worker.live import Live
from scheduler_engine.commands import COMMANDS
from scheduler_engine.replay import entry_line
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.facts import STRICTNESS, expect_everything
from scheduler_engine.scenario.manifests import manifests, manifests_text, simulator_snapshot
from scheduler_engine.scenario.writing import dump, dump_compact
from scheduler_engine.shapes import Data

NONE, COLLECTED = "none", "collected"
EXPECT = (NONE, COLLECTED, *STRICTNESS)
"""What a scenario expects: nothing, what people have collected, or everything that happened, at its end and more and
more strictly.
"""
MOST_CHARACTERS = 32 * 1024 * 1024
"""Of one file."""


MOST_EXPECTED = 20_000
"""Expectations of one file; the strictest level makes many for each pod."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written. ``setup``: so many commands are executed when the scenario is opened, None = those before
    the first step; ``expect``: one of ``EXPECT``. ``added``: manifests with what the cluster added; ``kwok``: nodes
    that KWOK plays. ``compact``: a scenario as JSON on one line.
    """

    form: str
    setup: int | None = None
    expect: str = NONE
    added: bool = False
    kwok: bool = False
    compact: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """``text`` is the file or its beginning, ``size`` the characters of all of it, ``notes`` what is to be known of it.

    ``setup`` of ``commands`` stand in the setup of a scenario.
    """

    text: str
    size: int
    notes: tuple[str, ...] = ()
    setup: int = 0
    commands: int = 0


@writing
def export(
    live: Live, position: Position, wanted: Wanted, title: str, at: Moment | None = None, most: int | None = None
) -> Exported:
    """The sandbox as a file of the form ``wanted``, at a moment; its first ``most`` characters, None = all.

    Raises ``Rejected``, or ``OverQuota`` for a file that is too large.
    """
    live.move_to(position)
    live.check_whole()
    made = FORMS[wanted.form](live, wanted, title, at)
    if made.size > MOST_CHARACTERS:
        raise OverQuota(say("export.too-large", megabytes=MOST_CHARACTERS // 2**20), 413)
    return Exported(made.text[:most], made.size, made.notes, made.setup, made.commands)


@writing
def csv(live: Live, position: Position, name: str, view: View) -> str:
    """A table of the page, at the moment that is looked at: one of ``TABLES``, all its rows. Raises ``OverQuota``."""
    live.move_to(position)
    world = live.at(view.at)
    world.look_at(view.replica)
    text = as_csv(TABLES[name](world, view))
    if len(text) > MOST_CHARACTERS:
        raise OverQuota(say("export.too-large", megabytes=MOST_CHARACTERS // 2**20), 413)
    return text


def _scenario(live: Live, wanted: Wanted, title: str, at: Moment | None) -> Exported:
    whole, ended = live.log_until(at)
    texts = [*live.texts(0, whole), *([] if ended is None else [ended])]
    commands = [json.loads(text) for text in texts]
    setup = _first_step(live, commands) if wanted.setup is None else min(wanted.setup, len(commands))
    plan, opened = live.plan, story(live.plan.scenario, live.plan.story)
    held, left, red = _collected(live, at) if wanted.expect == COLLECTED else ({}, 0, 0)
    strict = wanted.expect in STRICTNESS
    everything = expect_everything(earlier.simulation_at(live, at), wanted.expect) if strict else []
    if len(everything) > MOST_EXPECTED:
        raise OverQuota(say("export.too-many", count=len(everything), most=MOST_EXPECTED), 413)
    setup = min([setup, *held])
    made = from_log(
        plan.seed,
        json.loads(plan.configuration),
        plan.queue_rules,
        commands,
        setup=setup,
        title=title,
        about=opened.about if opened else "",
        tab=opened.tab if opened else "",
        expect=everything,
        held=held,
    )
    text = dump_compact(made) if wanted.compact else dump(made)
    notes = [say("export.setup-note", count=setup, of=len(commands))]
    if wanted.expect == COLLECTED:
        notes.append(say("export.collected", count=sum(map(len, held.values()))))
    if red:
        notes.append(say("export.red", count=red))
    if left:
        notes.append(say("export.left-out", count=left))
    if everything:
        notes.append(say("export.expects", count=len(everything)))
    return Exported(text, len(text), tuple(notes), setup, len(commands))


def _collected(live: Live, at: Moment | None) -> tuple[dict[int, list[Data]], int, int]:
    """After how many commands → what is expected there; how many collected ones are left out; how many do not hold."""
    live.look_up_expected(None)
    look = expecting.Look(live, live.at(at), at, live.expecting)
    held, left = look.exported()
    return held, left, sum(outcome.red for outcome in look.outcomes())


def _first_step(live: Live, commands: list[dict[str, Any]]) -> int:
    """How many commands stand before the timeline, as the scenario has it that the sandbox was opened from."""
    if live.guide.setup:
        return min(live.guide.setup, len(commands))
    return next((n for n, command in enumerate(commands) if COMMANDS[command["kind"]].steps), len(commands))


def _manifests(live: Live, wanted: Wanted, title: str, at: Moment | None) -> Exported:
    found = manifests(earlier.simulation_at(live, at), wanted.added, wanted.kwok)
    text = manifests_text(found)
    return Exported(text, len(text), (say("export.objects", count=len(found)),))


def _snapshot(live: Live, wanted: Wanted, title: str, at: Moment | None) -> Exported:
    found = simulator_snapshot(earlier.simulation_at(live, at))
    text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    return Exported(text, len(text), (say("export.snapshot-note"),))


def _trace(live: Live, wanted: Wanted, title: str, at: Moment | None) -> Exported:
    lines, size = list[str](), 0
    for entry in live.at(at).entries:
        lines.append(f"{entry_line(entry)}\n")
        size += len(lines[-1])
        if size > MOST_CHARACTERS:
            break
    return Exported("".join(lines), size, (say("export.entries", count=len(lines)),))


FORMS: dict[str, Callable[[Live, Wanted, str, Moment | None], Exported]] = {
    "scenario": _scenario,
    "manifests": _manifests,
    "snapshot": _snapshot,
    "trace": _trace,
}
"""What a sandbox can be written as."""
FORM_NAMES = tuple(FORMS)
