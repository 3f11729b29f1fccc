"""The command log: the only way in which a sandbox changes.

One writer per sandbox, on any worker: this worker's live simulation is brought up to the log and executes; then one
transaction locks the sandbox's row, finds the log as it was (else it executes anew, at the head it finds), appends and
commits; only then do the browsers hear of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.db import transaction

from sandbox import engine, quotas, statements, tokens
from sandbox.live import Live, Position, StateGone, live
from sandbox.models import CommandRecord, Sandbox
from sandbox.statements import Place
from sandbox.threads import tell
from scheduler_engine import ENGINE_VERSION


def group(sandbox_id: UUID) -> str:
    """Name of the channel group of a sandbox's browsers."""
    return f"sandbox.{sandbox_id.hex}"


def create(
    title: str,
    scenario: str = "",
    seed: int = 42,
    configuration: Any = None,
    setup: list[dict[str, Any]] | None = None,
    queue_rules: str = engine.QUEUE_RULES[0],
) -> tuple[Sandbox, str]:
    """Make a sandbox, execute ``setup`` as its first commands, and return it with its edit token."""
    token = tokens.new_token()
    with transaction.atomic():
        sandbox = Sandbox.objects.create(
            edit_token_hash=tokens.digest(token),
            view_token_hash=tokens.digest(tokens.view_token(token)),
            title=title,
            scenario=scenario,
            seed=seed,
            configuration=json.dumps(configuration),
            queue_rules=queue_rules,
            engine_version=ENGINE_VERSION,
        )
        for command in setup or ():
            execute(sandbox, command)
    return sandbox, token


@dataclass(frozen=True, slots=True)
class Step:
    """A command that the simulation has executed at ``position``, and its place and text in the log to be."""

    position: Position
    n: int
    text: str


def execute(sandbox: Sandbox, command: dict[str, Any], who: str = "") -> Position:
    """Execute ``command`` at the head and append it; what lay beyond the head is dropped.

    A tick of playing after another one takes its record's place, with the time of both.
    Raises ``Rejected`` or ``OverQuota``, with nothing changed.
    """
    simulation = live(sandbox)
    with simulation.lock:
        # The engine works before the transaction, so that nobody waits for the database meanwhile.
        step = _step(simulation, statements.place(sandbox.pk), command)
        with transaction.atomic():
            place = statements.place(sandbox.pk, lock=True)
            if step is None or step.position != place.position:
                # Another worker was quicker. Now it has to wait.
                simulation.move_to(place.position)
                step = _carry_out(simulation, place.position, command)
            if step.n <= place.position.length:
                CommandRecord.objects.filter(sandbox=sandbox.pk, n__gte=step.n).delete()
            record = statements.append(sandbox.pk, step.n, step.text, who)
            position = _commit(sandbox.pk, place, Position(record.pk, record.n, record.n))
        # Only now: a key that is rolled back may be given out again.
        simulation.arrive(record)
    return position


def go_to(sandbox: Sandbox, choose: Callable[[Position], int]) -> Position:
    """Set the head to what ``choose`` makes of the present position, within what the log holds."""
    with transaction.atomic():
        place = statements.place(sandbox.pk, lock=True)
        here = place.position
        n = max(0, min(choose(here), here.length))
        if n == here.head:
            return here
        state = CommandRecord.objects.get(sandbox=sandbox.pk, n=n).pk if n else 0
        return _commit(sandbox.pk, place, Position(state, n, here.length))


def _step(simulation: Live, place: Place, command: dict[str, Any]) -> Step | None:
    """The command executed at ``place``; None when the log no longer holds it."""
    try:
        simulation.move_to(place.position)
    except StateGone:
        return None
    return _carry_out(simulation, place.position, command)


def _carry_out(simulation: Live, position: Position, command: dict[str, Any]) -> Step:
    quotas.check_objects(command, simulation.world)
    n, text = position.head + 1, engine.to_text(command)
    played = _played_before(simulation.sandbox_id, position, command)
    if played:
        # The engine, too, takes ticks of playing that follow each other for one command.
        n, kept = position.head, engine.to_text(command | {"seconds": round(played + command["seconds"], 6)})
    else:
        quotas.check_log(position.head)
        kept = text
    simulation.execute(text)
    return Step(position, n, kept)


def _played_before(sandbox_id: UUID, position: Position, command: dict[str, Any]) -> float:
    """Simulated seconds of the record at head, when it and ``command`` are both ticks of playing; else 0."""
    if not command.get("play"):
        return 0
    last = CommandRecord.objects.filter(sandbox=sandbox_id, n=position.head).first()
    before = json.loads(last.command) if last else {}
    return before["seconds"] if before.get("play") else 0


def _commit(sandbox_id: UUID, before: Place, position: Position) -> Position:
    """Write the new position; the browsers hear of it as soon as it is committed."""
    now = Place(position, before.revision + 1)
    statements.set_place(sandbox_id, now)
    # Robust: the command counts even if nobody can be told; browsers catch up with the next one.
    transaction.on_commit(lambda: _publish(sandbox_id, now), robust=True)
    return position


def _publish(sandbox_id: UUID, place: Place) -> None:
    position = place.position
    message = {
        "type": "sandbox.changed",
        "revision": place.revision,
        "position": [position.state, position.head, position.length],
    }
    layer = get_channel_layer()
    if layer is not None:
        tell(layer.group_send, group(sandbox_id), message)
