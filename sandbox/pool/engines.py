"""The way to the engines: ask the engine of a sandbox for a job, and stop what runs there."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID, uuid4

from django.conf import settings

from sandbox.panels.view import View
from sandbox.pool.pool import Pool
from sandbox.pool.turns import turn
from sandbox.storage import statements
from sandbox.storage.models import Sandbox
from sandbox.storage.records import QUEUE_RULES, START, Database, Place, Plan, Position
from sandbox.worker import jobs
from sandbox.worker.errors import Occupied
from sandbox.worker.job import KINDS, Job
from sandbox.worker.live import Live, StateGone
from sandbox.worker.messages import Call
from sandbox.worker.rendering import Fragment

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 4
"""Looks at the log, should other workers change it between the look and the answer."""
CHANGING = "Others are changing this sandbox at the same time. Nothing was changed; try again."
HELD = 64
"""Simulations that are held where there are no processes."""


class Engines(Protocol):
    def ask(self, call: Call, seconds: float) -> Any: ...

    def tell(self, call: Call) -> None: ...

    def stop(self, sandbox_id: UUID) -> bool: ...

    def close(self) -> None: ...


class Inside:
    """The engines of a site with ``ENGINE_PROCESSES=0``: this process itself, where nothing can be stopped."""

    def __init__(self) -> None:
        self.lives: OrderedDict[UUID, Live] = OrderedDict()
        self.lock = Lock()

    def live(self, plan: Plan) -> Live:
        with self.lock:
            live = self.lives.get(plan.sandbox_id)
            if live is None:
                live = self.lives[plan.sandbox_id] = Live(plan, Database())
            self.lives.move_to_end(plan.sandbox_id)
            while len(self.lives) > HELD:
                self.lives.popitem(last=False)
            return live

    def ask(self, call: Call, seconds: float) -> Any:
        return call.work(self.live(call.plan))

    def tell(self, call: Call) -> None:
        self.ask(call, 0)

    def stop(self, sandbox_id: UUID) -> bool:
        return False

    def close(self) -> None:
        self.lives.clear()


_engines: Engines | None = None
_start = Lock()


def started() -> Engines:
    """The engines of this web process. The first call starts them."""
    global _engines
    with _start:
        if _engines is None:
            processes = settings.ENGINE_PROCESSES
            _engines = Pool(processes, settings.ENGINE_LONG) if processes else Inside()
            atexit.register(_engines.close)
        return _engines


def ask(plan: Plan, position: Position, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of a job. The caller has the sandbox's turn.

    Raises what the job raises, or an ``EngineError``.
    """
    seconds = KINDS[job.kind].seconds or settings.COMMAND_SECONDS
    answer: T = started().ask(Call(plan, position, job.name, args, kwargs), seconds)
    return answer


def tell(plan: Plan, position: Position, job: Job[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Give a job that is over at once, and whose answer nobody waits for."""
    started().tell(Call(plan, position, job.name, args, kwargs))


def stop(sandbox_id: UUID) -> bool:
    """Stop what runs or waits in a sandbox. Return False if nothing does."""
    return started().stop(sandbox_id)


def at_present(sandbox: Sandbox, attempt: Callable[[Place], T | None]) -> T:
    """Return what ``attempt`` makes of the present place, in the sandbox's turn.

    When the log changes meanwhile, the attempt returns None or raises ``StateGone``, and is made again. Raises
    ``Occupied`` after ``TRIES`` attempts.
    """
    with turn(sandbox.pk):
        for _ in range(TRIES):
            try:
                made = attempt(statements.place(sandbox.pk))
            except StateGone:
                continue
            if made is not None:
                return made
    raise Occupied(CHANGING)


def now(sandbox: Sandbox, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[Place, T]:
    """Return the present place, and the answer of a job that reads it."""
    plan = Plan.of(sandbox)
    return at_present(sandbox, lambda place: (place, ask(plan, place.position, job, *args, **kwargs)))


def of_file(job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of a job about a file that belongs to no sandbox yet. Raises as ``ask``."""
    return ask(Plan(uuid4(), 0, "null", QUEUE_RULES[0], ""), START, job, *args, **kwargs)


def read(sandbox: Sandbox, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of a job that reads the present."""
    return now(sandbox, job, *args, **kwargs)[1]


def fragments(
    sandbox: Sandbox,
    hint: Place | None,
    view: View,
    panels: Sequence[str],
    can_edit: bool,
    follow: bool,
    digests: dict[str, bytes],
) -> tuple[Place, dict[str, Fragment]]:
    """Return the place that panels show, and the panels: those of ``hint`` if it is at hand, else of the present."""
    given = view, panels, can_edit, follow, digests
    if hint is not None:
        try:
            with turn(sandbox.pk):
                shown = ask(Plan.of(sandbox), hint.position, jobs.fragments, *given, hint.expected_at, at_hand=True)
            return hint, shown
        except StateGone:
            pass  # Something newer has happened; the news of it may still be on their way.
    return now(sandbox, jobs.fragments, *given)
