"""Jobs: typed functions that a worker runs. A view names the function; only its name travels to the worker."""

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
    """How the pool treats a job.

    ``seconds``: how long its caller waits, None = ``settings.COMMAND_SECONDS``; longer where commands may take longer
    than usual. ``stops``: stop the job when its caller gives up. Otherwise it continues, because its replay helps the
    next caller. ``slow``: skip the quick lane. ``ahead``: take it before all jobs that wait, however many do.
    """

    seconds: float | None
    stops: bool = False
    slow: bool = False
    ahead: bool = False


READING, LISTING, WRITING, EXECUTING, UPLOADING = "reading", "listing", "writing", "executing", "uploading"
REPLAYING, PROBING = "replaying", "probing"
KINDS = {
    READING: Kind(10.0),
    LISTING: Kind(30.0),
    WRITING: Kind(30.0, stops=True),
    EXECUTING: Kind(None, stops=True),
    UPLOADING: Kind(None, stops=True, slow=True),
    REPLAYING: Kind(30.0, stops=True, slow=True),
    PROBING: Kind(5.0, ahead=True),
}


@dataclass(frozen=True, slots=True)
class Job(Generic[P, T_co]):
    """A function of a live simulation and a position. Its arguments and its result can be pickled."""

    work: Work[P, T_co]
    kind: str

    @property
    def name(self) -> str:
        return self.work.__name__

    def __call__(self, live: Live, position: Position, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Run the job in this process."""
        return self.work(live, position, *args, **kwargs)


def _of_kind(kind: str) -> Callable[[Work[P, T]], Job[P, T]]:
    return lambda work: Job(work, kind)


reading = _of_kind(READING)
"""Makes a job that reads for a page."""
listing = _of_kind(LISTING)
"""Makes a job that reads a whole table."""
writing = _of_kind(WRITING)
"""Makes a job that writes a file."""
executing = _of_kind(EXECUTING)
"""Makes a job that executes commands."""
uploading = _of_kind(UPLOADING)
"""Makes a job that reads an uploaded file."""
replaying = _of_kind(REPLAYING)
"""Makes a job that plays a whole run besides that of the sandbox."""
probing = _of_kind(PROBING)
"""Makes a job that only shows that a worker answers."""
