"""Record when the server works on which phase of a step. Only the benchmark uses this; the site's code has no clocks.

The settings beside it install this application. It puts a clock around a few functions, in the site's process and in
its engines. Each process appends phase, start and end to a separate file in the folder ``TIMINGS``. Times are on the
monotonic clock, which all processes of a machine share, Chromium included.
"""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string

PHASES = {
    "answer": "sandbox.web.handler.OneThreadHandler.answer",
    "execute": "sandbox.worker.simulations.execute",
    "fold": "sandbox.worker.live.Live._fold",
    "keyframe": "sandbox.worker.live.Live.take_keyframe",
    "commit": "sandbox.storage.statements.append_next",
    "changes": "sandbox.web.consumers.WorkbenchConsumer._send_changes",
    "panels": "sandbox.worker.rendering.fragments",
    "panel": "sandbox.worker.rendering.render_panel",
}
"""Phase → the function with a clock around it."""


class Timing(AppConfig):
    name = "tests.bench.ui"
    label = "timing"

    def ready(self) -> None:
        for phase, path in PHASES.items():
            owner_path, _, name = path.rpartition(".")
            owner = import_string(owner_path) if owner_path.rpartition(".")[2][0].isupper() else _module(owner_path)
            setattr(owner, name, timed(phase, getattr(owner, name)))


def _module(path: str) -> Any:
    return __import__(path, fromlist=["_"])


def timed(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function`` to record each time span in which it runs."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            begin = time.monotonic_ns()
            try:
                return await function(*args, **kwargs)
            finally:
                note(phase, begin, time.monotonic_ns())

        return later

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        begin = time.monotonic_ns()
        try:
            return function(*args, **kwargs)
        finally:
            note(f"{phase} {args[0]}" if phase == "panel" else phase, begin, time.monotonic_ns())

    return now


def note(phase: str, begin: int, end: int) -> None:
    with (Path(os.environ["TIMINGS"]) / str(os.getpid())).open("a") as file:
        file.write(f"{begin} {end} {phase}\n")
