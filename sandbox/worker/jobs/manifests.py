"""Jobs for manifests in an editor: check them, find the line of an error, try them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
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
from scheduler_engine.simulation import rules_about


@reading
def check(live: Live, position: Position, text: str | bytes) -> tuple[list[Any], Checked]:
    """Return the manifests of a text as plain data, and its errors. The positions in the text are left out."""
    live.move_to(position)
    checked = check_text(text, _limits(), rules_of=partial(rules_about, live.simulation))
    return [item.data for item in checked.manifests], replace(checked, manifests=[])


@reading
def locate(live: Live, position: Position, text: str | bytes, errors: Iterable[FieldError]) -> list[FieldError]:
    """Return errors that were raised later, with their lines in the text."""
    return located(list(errors), check_text(text, _limits()).manifests)


@reading
def trial(live: Live, position: Position, command: dict[str, Any]) -> list[str]:
    """Return sentences on what a command would do. It is tried on a copy."""
    live.move_to(position)
    return trials.trial(live, command)


def _limits() -> Limits:
    """Return the limits of a text. Its size is limited by the quotas alone."""
    return replace(DEFAULT_LIMITS, size=quotas.quotas().manifest_bytes)
