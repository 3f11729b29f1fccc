"""Send jobs to the worker of a sandbox, retry when the log changes, and stop what runs."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import Error as DatabaseError

from sandbox.panels.view import View
from sandbox.pool.pool import Pool
from sandbox.pool.turns import turn
from sandbox.storage import statements
from sandbox.storage.models import Sandbox
from sandbox.storage.records import QUEUE_RULES, START, Database, Place, Plan, Position
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import Occupied
from sandbox.worker.job import KINDS, Job
from sandbox.worker.live import Live, StateGone
from sandbox.worker.messages import Call
from sandbox.worker.rendering import Fragment
from sandbox.worker.so_far import SoFar

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 4
"""Attempts of ``at_present`` if other web processes keep changing the log."""
CHANGING = say("limits.changing")
MOST_SIMULATIONS = 64
"""Simulations in memory with ``ENGINE_PROCESSES=0``."""


class Inside:
    """Does jobs in this process, with ``ENGINE_PROCESSES=0``. Nothing can be stopped."""

    def __init__(self) -> None:
        self.lives: OrderedDict[UUID, Live] = OrderedDict()
        self.lock = Lock()

    def live(self, plan: Plan) -> Live:
        with self.lock:
            live = self.lives.get(plan.sandbox_id)
            if live is None:
                live = self.lives[plan.sandbox_id] = Live(plan, Database())
            self.lives.move_to_end(plan.sandbox_id)
            while len(self.lives) > MOST_SIMULATIONS:
                self.lives.popitem(last=False)
            return live

    def ask(self, call: Call, seconds: float) -> Any:
        return call.work(self.live(call.plan))

    def tell(self, call: Call) -> None:
        with suppress(StateGone):  # As in a worker: nobody hears of it.
            self.ask(call, 0)

    def stop(self, sandbox_id: UUID) -> bool:
        return False

    def so_far(self, call: Call) -> SoFar | None:
        return None

    def close(self) -> None:
        self.lives.clear()


_engines: Pool | Inside | None = None
_start = Lock()


def started() -> Pool | Inside:
    """Return the workers of this web process. The first call starts them."""
    global _engines
    with _start:
        if _engines is None:
            processes = settings.ENGINE_PROCESSES
            _engines = Pool(processes, settings.ENGINE_LONG) if processes else Inside()
            atexit.register(_engines.close)
        return _engines


def ask(plan: Plan, position: Position, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of a job. Call it in the sandbox's turn. Raises what the job raises, or ``EngineError``."""
    least = KINDS[job.kind].seconds
    # On a server where commands may take longer, so may all else.
    longer = settings.COMMAND_SECONDS / settings.USUAL_COMMAND_SECONDS
    seconds = settings.COMMAND_SECONDS if least is None else least * max(1, longer)
    return started().ask(Call(plan, position, job.name, args, kwargs), seconds)


def tell(plan: Plan, position: Position, job: Job[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Send a short job without waiting for its answer."""
    started().tell(Call(plan, position, job.name, args, kwargs))


def stop(sandbox_id: UUID) -> bool:
    """Stop what runs or waits in a sandbox. Return False if nothing does."""
    return started().stop(sandbox_id)


def so_far(sandbox: Sandbox, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> SoFar | None:
    """Return the progress of a job that another request waits for; None if there is no news."""
    return started().so_far(Call(Plan.of(sandbox), START, job.name, args, kwargs))


def at_present(
    sandbox: Sandbox, attempt: Callable[[Place], T | None], expected: Callable[[], Place] | None = None
) -> T:
    """Return ``attempt(present place)``, called in the sandbox's turn.

    If the log changes meanwhile, ``attempt`` returns None or raises ``StateGone``, and is called again. Raises
    ``Occupied`` after ``TRIES`` attempts, or as ``turn``.

    ``expected`` returns the place for the first attempt without asking the database. If the sandbox turns out to be
    elsewhere, what the attempt raises does not count, unless the database failed. It must change nothing then.
    """
    with turn(sandbox.pk):
        return _in_turn(sandbox, attempt, expected)


def _in_turn(sandbox: Sandbox, attempt: Callable[[Place], T | None], expected: Callable[[], Place] | None = None) -> T:
    for number in range(TRIES):
        guess = expected() if expected and not number else None
        try:
            result = attempt(guess or statements.place(sandbox.pk))
        except StateGone:
            continue
        except DatabaseError:
            # Its last statement may be committed: a second attempt would do it twice.
            raise
        except Exception:
            if guess is None or statements.place(sandbox.pk).position == guess.position:
                raise
            continue
        if result is not None:
            return result
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


def read_with_turns(sandbox: Sandbox, job: Job[Concatenate[str, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of a job that reads the present. Its first argument are the turns of the sandbox until now."""
    plan = Plan.of(sandbox)
    return at_present(sandbox, lambda place: ask(plan, place.position, job, place.turns, *args, **kwargs))


def fragments(
    sandbox: Sandbox,
    hint: Place | None,
    view: View,
    panels: Sequence[str],
    can_edit: bool,
    follow: bool,
    digests: dict[str, bytes],
) -> tuple[Place, dict[str, Fragment]]:
    """Return a place and its panels: those of ``hint`` if a worker need not replay for it, else of the present."""
    plan, parameters = Plan.of(sandbox), (view, panels, can_edit, follow, digests)
    with turn(sandbox.pk):
        if hint is not None:
            try:
                return hint, ask(plan, hint.position, jobs.fragments, *parameters, hint.expected_at, at_hand=True)
            except StateGone:
                pass  # The worker is at another state, perhaps a newer one of which the browser has not heard yet.
        return _in_turn(sandbox, lambda place: (place, ask(plan, place.position, jobs.fragments, *parameters)))
