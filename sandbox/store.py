"""The command log: the only way in which a sandbox changes.

One writer per sandbox, on any worker: each change is one transaction that locks the sandbox's row, brings this worker's
live simulation up to the log, executes, appends and commits; only then do the browsers hear of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from sandbox import engine, quotas, tokens
from sandbox.live import Live, Position, StateGone, live
from sandbox.models import CommandRecord, Sandbox
from scheduler_engine import ENGINE_VERSION


def group(sandbox_id: UUID) -> str:
    """Name of the channel group of a sandbox's browsers."""
    return f"sandbox.{sandbox_id.hex}"


def create(
    title: str, scenario: str = "", seed: int = 42, configuration: Any = None, setup: list[dict[str, Any]] | None = None
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
            engine_version=ENGINE_VERSION,
        )
        for command in setup or ():
            execute(sandbox, command)
    return sandbox, token


def execute(sandbox: Sandbox, command: dict[str, Any], who: str = "") -> Position:
    """Execute ``command`` at the head and append it; what lay beyond the head is dropped.

    A tick of playing after another one takes its record's place, with the time of both.
    Raises ``Rejected`` or ``OverQuota``, with nothing changed.
    """
    simulation = live(sandbox)
    with simulation.lock:
        # A long replay happens here, before the transaction, so that it holds no lock of the database.
        with suppress(StateGone):
            simulation.move_to(Position.of(sandbox))
        simulation.remember()
        with transaction.atomic():
            row = Sandbox.objects.select_for_update().get(pk=sandbox.pk)
            simulation.move_to(Position.of(row))
            record = _append(row, simulation, command, who)
            position = _commit(row, record.pk, record.n, record.n)
        # Only now: a key that is rolled back may be given out again.
        simulation.arrive(record)
    return position


def go_to(sandbox: Sandbox, choose: Callable[[Position], int]) -> Position:
    """Set the head to what ``choose`` makes of the present position, within what the log holds."""
    with transaction.atomic():
        row = Sandbox.objects.select_for_update().get(pk=sandbox.pk)
        n = max(0, min(choose(Position.of(row)), row.length))
        if n == row.head:
            return Position.of(row)
        state = row.records.get(n=n).pk if n else 0
        return _commit(row, state, n, row.length)


def _append(row: Sandbox, simulation: Live, command: dict[str, Any], who: str) -> CommandRecord:
    quotas.check_objects(command, simulation.world)
    n, text = row.head + 1, engine.to_text(command)
    played = _played_before(row, command)
    if played:
        # The engine, too, takes ticks of playing that follow each other for one command.
        n, kept = row.head, engine.to_text(command | {"seconds": round(played + command["seconds"], 6)})
    else:
        quotas.check_log(row.head)
        kept = text
    simulation.execute(text)
    if n <= row.length:
        row.records.filter(n__gte=n).delete()
    return CommandRecord.objects.create(sandbox=row, n=n, command=kept, who=who)


def _played_before(row: Sandbox, command: dict[str, Any]) -> float:
    """Simulated seconds of the record at head, when it and ``command`` are both ticks of playing; else 0."""
    if not command.get("play"):
        return 0
    last = row.records.filter(n=row.head).first()
    before = json.loads(last.command) if last else {}
    return before["seconds"] if before.get("play") else 0


def _commit(row: Sandbox, state: int, head: int, length: int) -> Position:
    """Write the new position; the browsers hear of it as soon as it is committed."""
    row.state, row.head, row.length = state, head, length
    row.revision += 1
    row.save(update_fields=["state", "head", "length", "revision", "last_used"])
    position = Position.of(row)
    # Robust: the command counts even if nobody can be told; browsers catch up with the next one.
    transaction.on_commit(lambda: _publish(row, position), robust=True)
    return position


def _publish(row: Sandbox, position: Position) -> None:
    message = {
        "type": "sandbox.changed",
        "revision": row.revision,
        "position": [position.state, position.head, position.length],
    }
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(group(row.pk), message)
