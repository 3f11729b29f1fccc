"""What an engine can be asked: functions of a live simulation and a position, whose answers are plain data.

Each may raise ``StateGone`` when the log does not hold the position any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import Error as DatabaseFailure

from sandbox import expecting, quotas, rendering
from sandbox import trial as trials
from sandbox.engines import asking, embedding, exporting, importing, teaching
from sandbox.live import Live, ReplayFailed, StateGone
from sandbox.panels import PANELS, faults
from sandbox.panels.cache.dump import dump
from sandbox.panels.facts import finding, offering
from sandbox.panels.facts.admission import admitted
from sandbox.panels.facts.finding import Hit
from sandbox.panels.leader import panel as leader
from sandbox.panels.model import steps
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.state import by_expiry, by_priority
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.plain import plain
from sandbox.records import Position, Record
from sandbox.rendering import Fragment
from sandbox.yaml_text import written
from scheduler_engine import metrics
from scheduler_engine.api.checking import Checked, check_text
from scheduler_engine.api.loading import DEFAULT_LIMITS, located
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.replay import entry_line

EXPECTED = (Rejected, quotas.OverQuota, StateGone, ReplayFailed, DatabaseFailure)
"""Errors that are answers."""


LANES = {"activeQ": by_priority, "backoffQ": by_expiry, "errorBackoffQ": by_expiry} | dict.fromkeys(
    ("unschedulablePods", "gated", "inFlight"), by_priority
)
LONG = ("import_read", "import_scenario", "import_outlook", "import_commands", "lesson_read")
"""Jobs that are not tried in the quick lane at all."""
COMMANDS = ("execute", "export", *LONG)
"""Jobs that nobody needs any more when nobody waits for them."""


def execute(live: Live, position: Position, commands: list[dict[str, Any]], texts: list[str]) -> list[str | None]:
    """Execute commands, given as what they say and as they will be kept; ``arrive`` is to follow.

    For each: what is to be kept in place of the last one and itself, if the two merge.

    Raises ``Rejected``, ``OverQuota`` or ``ReplayFailed``, with nothing changed.
    """
    live.move_to(position)
    live.check_whole()
    for command in commands:
        quotas.check_objects(command, live.world)
    return live.execute(texts)


def arrive(live: Live, position: Position, records: list[Record]) -> None:
    """What was executed at ``position`` stands in the log, at its end. Who looks on will ask for it at once."""
    if live.arrive_from(position.state, records):
        last = records[-1]
        rendering.draw_ahead(live, position, Position(last.key, last.n, last.n))


def fragments(
    live: Live,
    position: Position,
    view: View,
    panels: list[str],
    can_edit: bool,
    follow: bool,
    held: dict[str, bytes],
    expected_at: int | None = None,
    at_hand: bool = False,
) -> dict[str, Fragment]:
    """Panel → fragment, of ``position``; one whose digest is ``held`` comes without its HTML.

    ``expected_at``: of the place that is shown, None = not known. ``at_hand``: raise ``StateGone`` rather than replay.
    """
    if at_hand and not live.stands_at(position):
        raise StateGone(position)
    live.look_up_expected(expected_at)
    found = rendering.fragments(live, position, view, panels, can_edit, follow)
    return {panel: made.unless(held.get(panel)) for panel, made in found.items()}


def log_until(live: Live, position: Position, moment: Moment) -> tuple[int, str | None]:
    """The log that ends at a moment: how many commands, and the text of one more that ends early; None: there is none.

    Raises ``Rejected``.
    """
    live.move_to(position)
    return live.log_until(moment)


def manifest(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> dict[str, Any] | None:
    """The object ``kind``/``key`` (``namespace/name``, or the name of what has no namespace), at a moment."""
    live.move_to(position)
    return live.at(at).objects.get(kind, {}).get(key)


def manifest_text(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> str | None:
    """The same as YAML."""
    found = manifest(live, position, kind, key, at)
    return None if found is None else written(found)


def admission(live: Live, position: Position, kind: str, key: str, at: Moment | None = None) -> list[Any] | None:
    """What the API server changed in the manifest that was applied, line by line, at a moment."""
    live.move_to(position)
    return admitted(live.at(at), kind, key)


def names(live: Live, position: Position, kind: str, namespace: str) -> list[str]:
    """Of the objects of a kind; ``namespace``: "" for a kind without."""
    start = f"{namespace}/" if namespace else ""
    return [key.removeprefix(start) for key in _world(live, position).objects.get(kind, {}) if key.startswith(start)]


def steps_made(live: Live, position: Position) -> int:
    """How many steps of the scenario lie behind."""
    return steps.made(_world(live, position))


def find(live: Live, position: Position, wanted: str, at: Moment | None = None) -> tuple[list[Hit], int]:
    """What a few letters may mean, at a moment; and how many more there are."""
    live.move_to(position)
    return finding.find(live.at(at), wanted)


def offers(live: Live, position: Position) -> dict[str, Any]:
    """What the manifests of an editor may speak of."""
    return offering.offers(_world(live, position))


def trial(live: Live, position: Position, command: dict[str, Any]) -> list[str]:
    """What a command would come to, in sentences; nothing of it stays."""
    live.move_to(position)
    return trials.trial(live, command)


def fault_choices(live: Live, position: Position, point: str, profile: str) -> dict[str, Any]:
    return faults.choices(_world(live, position), point, profile)


def cache_dump(live: Live, position: Position, view: View) -> str:
    """What the scheduler that is looked at would log on SIGUSR2, at the moment that is looked at."""
    live.move_to(position)
    world = live.at(view.at)
    world.look_at(view.replica)
    return dump(world)


def leader_form(live: Live, position: Position) -> dict[str, Any]:
    return leader.form(_world(live, position))


def prometheus(live: Live, position: Position) -> str:
    live.move_to(position)
    return metrics.render(live.simulation)


def state(live: Live, position: Position) -> dict[str, Any]:
    """Where the sandbox stands, in numbers, and who waits in which lane, in the order in which they would leave."""
    world = _world(live, position)
    waiting = {lane: sorted(world.lane(lane), key=key) for lane, key in LANES.items()}
    return {
        "seconds": world.clock_us / 1_000_000,
        "nodes": len(world.nodes),
        "pods": len(world.pods),
        "bound": sum(bool(pod.pod.node_name) for pod in world.pods.values()),
        "cycle": world.cycle.number if world.cycle else 0,
        "queue": {lane: [queued.move.pod for queued in found] for lane, found in waiting.items() if found},
    }


def facts(live: Live, position: Position, panel: str, view: View) -> dict[str, Any]:
    """What a panel shows."""
    live.move_to(position)
    live.look_up_expected(None)
    found: dict[str, Any] = plain(PANELS[panel].stats(rendering.world_in_view(live, view), view))
    return found


def objects(live: Live, position: Position, kind: str, after: str, limit: int) -> tuple[list[Any], str]:
    """Manifests of a kind in order of their keys, those after a key; and the key to go on from, "" at the end."""
    held = _world(live, position).objects.get(kind, {})
    keys = sorted(key for key in held if key > after)
    return [held[key] for key in keys[:limit]], keys[limit - 1] if len(keys) > limit else ""


def trace(live: Live, position: Position, after: int, limit: int) -> list[str]:
    """Entries of the trace as JSON texts, those after so many."""
    entries = _world(live, position).entries[after : after + limit]
    return [entry_line(entry) for entry in entries]


def expectation(
    live: Live, position: Position, fact: str, about: dict[str, Any], at: Moment | None = None
) -> tuple[dict[str, Any] | None, int, int, int]:
    """A fact as an expectation, and where it stands. Raises ``Rejected``."""
    live.move_to(position)
    live.check_whole()
    return expecting.fact(live, at, fact, about)


def check(live: Live, position: Position, text: str | bytes) -> tuple[list[Any], Checked]:
    """The manifests of a text as plain data, and what is wrong with it; where they stand in the text stays here."""
    checked = check_text(text, _limits())
    return [item.data for item in checked.manifests], replace(checked, manifests=[])


def locate(live: Live, position: Position, text: str | bytes, errors: list[FieldError]) -> list[FieldError]:
    """Errors that came up later, with their lines in the text."""
    return located(errors, check_text(text, _limits()).manifests)


def _limits() -> Limits:
    """What may be pasted is limited in one place."""
    return replace(DEFAULT_LIMITS, size=quotas.quotas().manifest_bytes)


def _world(live: Live, position: Position) -> World:
    live.move_to(position)
    live.world.look_at("")
    return live.world


JOBS: dict[str, Callable[..., Any]] = {
    job.__name__: job
    for job in (
        execute,
        arrive,
        fragments,
        log_until,
        manifest,
        manifest_text,
        admission,
        names,
        steps_made,
        find,
        offers,
        trial,
        fault_choices,
        cache_dump,
        leader_form,
        prometheus,
        state,
        facts,
        objects,
        trace,
        expectation,
        check,
        locate,
        embedding.embedded,
        exporting.export,
        exporting.csv,
        importing.import_read,
        importing.import_scenario,
        importing.import_outlook,
        importing.import_commands,
        importing.way_to,
        teaching.lesson_read,
        teaching.lesson_stands,
        teaching.lesson_steps,
        teaching.lesson_way,
        teaching.lesson_comes_true,
        teaching.lesson_guess,
        asking.room_question,
        asking.room_outcome,
    )
}
