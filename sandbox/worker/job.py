"""Jobs: what a worker can be asked, as typed calls. A view names the job itself; its name goes over the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, TypeVar

from sandbox.storage.records import Position
from sandbox.worker.live import Live

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Work = Callable[Concatenate[Live, Position, P], T]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a job is treated.

    ``seconds``: how long its caller waits, None = ``settings.COMMAND_SECONDS``. ``stops``: it ends when nobody waits
    any more; otherwise it continues, as its replay helps the next caller. ``slow``: the quick lane does not try it.
    """

    seconds: float | None
    stops: bool = False
    slow: bool = False


READING, WRITING, EXECUTING, UPLOADING = "reading", "writing", "executing", "uploading"
KINDS = {
    READING: Kind(10.0),
    WRITING: Kind(30.0, stops=True),
    EXECUTING: Kind(None, stops=True),
    UPLOADING: Kind(None, stops=True, slow=True),
}


@dataclass(frozen=True, slots=True)
class Job(Generic[P, T_co]):
    """A function of a live simulation and a position; what it takes and returns can be pickled."""

    work: Work[P, T_co]
    kind: str

    @property
    def name(self) -> str:
        return self.work.__name__

    def __call__(self, live: Live, position: Position, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Do it, in this process."""
        return self.work(live, position, *args, **kwargs)


def reading(work: Work[P, T]) -> Job[P, T]:
    """Make a job that reads for a page."""
    return Job(work, READING)


def writing(work: Work[P, T]) -> Job[P, T]:
    """Make a job that writes a file."""
    return Job(work, WRITING)


def executing(work: Work[P, T]) -> Job[P, T]:
    """Make a job that executes commands."""
    return Job(work, EXECUTING)


def uploading(work: Work[P, T]) -> Job[P, T]:
    """Make a job that reads a file which somebody brings."""
    return Job(work, UPLOADING)
