"""Jobs for manifests that somebody is writing: check them, find the line of an error, try them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sandbox.limits import quotas
from sandbox.storage.records import Position
from sandbox.worker import trial as trials
from sandbox.worker.job import reading
from sandbox.worker.live import Live
from scheduler_engine.api.checking import Checked, check_text
from scheduler_engine.api.loading import DEFAULT_LIMITS, located
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError


@reading
def check(live: Live, position: Position, text: str | bytes) -> tuple[list[Any], Checked]:
    """The manifests of a text as plain data, and what is wrong with it; where they stand in the text stays here."""
    checked = check_text(text, _limits())
    return [item.data for item in checked.manifests], replace(checked, manifests=[])


@reading
def locate(live: Live, position: Position, text: str | bytes, errors: Iterable[FieldError]) -> list[FieldError]:
    """Errors that came up later, with their lines in the text."""
    return located(list(errors), check_text(text, _limits()).manifests)


@reading
def trial(live: Live, position: Position, command: dict[str, Any]) -> list[str]:
    """What a command would come to, in sentences; nothing of it stays."""
    live.move_to(position)
    return trials.trial(live, command)


def _limits() -> Limits:
    """What may be pasted is limited in one place."""
    return replace(DEFAULT_LIMITS, size=quotas.quotas().manifest_bytes)
