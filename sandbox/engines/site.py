"""What the rest of the site calls: ask the engine of a sandbox, and stop what runs there."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from threading import Lock
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings

from sandbox import statements
from sandbox.engines import jobs
from sandbox.engines.errors import Occupied
from sandbox.engines.pool import Pool
from sandbox.engines.turns import turn
from sandbox.live import Live, StateGone
from sandbox.models import Sandbox
from sandbox.records import Database, Place, Plan, Position
from sandbox.rendering import Fragment

READING_SECONDS = 10.0
"""How long somebody waits for a page. When the log has to be replayed first, that may take longer, and goes on."""
WRITING_SECONDS = 30.0
"""How long somebody waits for a file."""
TRIES = 4
"""Looks at the log, should other workers change it between the look and the answer."""
CHANGING = "Others are changing this sandbox at the same time. Nothing was changed; try again."
HELD = 64
"""Simulations that are held where there are no processes."""


class Engines(Protocol):
    def ask(self, plan: Plan, position: Position, name: str, arguments: tuple[Any, ...], seconds: float) -> Any: ...

    def tell(self, plan: Plan, position: Position, name: str, *arguments: Any) -> None: ...

    def stop(self, sandbox_id: UUID) -> bool: ...

    def close(self) -> None: ...


class Inside:
    """The engines of a site with ``ENGINE_PROCESSES=0``: this process itself, where nothing can be stopped."""

    def __init__(self) -> None:
        self.lives: OrderedDict[UUID, Live] = OrderedDict()
        self.lock = Lock()

    def live(self, plan: Plan) -> Live:
        with self.lock:
            found = self.lives.get(plan.sandbox_id)
            if found is None:
                found = self.lives[plan.sandbox_id] = Live(plan, Database())
            self.lives.move_to_end(plan.sandbox_id)
            while len(self.lives) > HELD:
                self.lives.popitem(last=False)
            return found

    def ask(self, plan: Plan, position: Position, name: str, arguments: tuple[Any, ...], seconds: float) -> Any:
        return jobs.JOBS[name](self.live(plan), position, *arguments)

    def tell(self, plan: Plan, position: Position, name: str, *arguments: Any) -> None:
        self.ask(plan, position, name, arguments, 0)

    def stop(self, sandbox_id: UUID) -> bool:
        return False

    def close(self) -> None:
        self.lives.clear()


_engines: Engines | None = None
_start = Lock()


def engines() -> Engines:
    """Those of this web process, started on the first call."""
    global _engines
    with _start:
        if _engines is None:
            processes = settings.ENGINE_PROCESSES
            _engines = Pool(processes, settings.ENGINE_LONG) if processes else Inside()
            atexit.register(_engines.close)
        return _engines


def ask(plan: Plan, position: Position, name: str, *arguments: Any, seconds: float | None = None) -> Any:
    """The answer of one job. Whoever asks has the sandbox's turn. Raises what the job raises, or an ``EngineError``."""
    return engines().ask(plan, position, name, arguments, READING_SECONDS if seconds is None else seconds)


def now(sandbox: Sandbox, name: str, *arguments: Any, seconds: float | None = None) -> tuple[Place, Any]:
    """The answer of a job that reads the present state, and which one that was."""
    with turn(sandbox.pk):
        return _now(sandbox, name, *arguments, seconds=seconds)


def drawn(sandbox: Sandbox, hint: Place | None, *arguments: Any) -> tuple[Place, dict[str, Fragment]]:
    """The job ``fragments``, and which state it shows: that of ``hint`` where it is at hand, else the present one."""
    with turn(sandbox.pk):
        if hint is not None:
            try:
                job = (Plan.of(sandbox), hint.position, "fragments")
                return hint, ask(*job, *arguments, hint.expected_at, True)
            except StateGone:
                pass  # Something newer has happened; the news of it may still be on their way.
        return _now(sandbox, "fragments", *arguments)


def _now(sandbox: Sandbox, name: str, *arguments: Any, seconds: float | None = None) -> tuple[Place, Any]:
    plan = Plan.of(sandbox)
    for _ in range(TRIES):
        place = statements.place(sandbox.pk)
        try:
            return place, ask(plan, place.position, name, *arguments, seconds=seconds)
        except StateGone:
            continue
    raise Occupied(CHANGING)


def read(sandbox: Sandbox, name: str, *arguments: Any, seconds: float | None = None) -> Any:
    """The answer alone."""
    return now(sandbox, name, *arguments, seconds=seconds)[1]
