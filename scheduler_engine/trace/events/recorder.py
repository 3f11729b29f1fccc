"""Events in their places, and who puts them there."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.effort import Effort
from scheduler_engine.trace.events.base import Event


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in its place. ``at_us``: simulated microseconds; ``command``: number of the command (1-based).

    ``replica``: the scheduler replica that did it; "" = somebody else, or the one scheduler of a sandbox without
    replicas.
    """

    n: int
    at_us: int
    command: int
    event: Event
    replica: str = ""


@dataclass(slots=True)
class Recorder:
    """Collects entries. Copying shares the entries, which are immutable.

    ``full`` says whether tables of verdicts and scores are wanted (lean traces leave ``rows``, ``raw``, ``normalized``
    and ``weighted`` empty). ``effort``: what the present command has brought about. ``rests``: how many entries there
    were, and the time, whenever the engine stood between two steps: the moments at which a command can end.
    """

    full: bool = True
    entries: list[Entry] = field(default_factory=list)
    now_us: int = 0
    command: int = 0
    replica: str = ""
    effort: Effort = field(default_factory=Effort)
    rests: list[tuple[int, int]] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Append ``event`` at the current simulated time. Raises OverBudget."""
        self.effort.count_entry()
        self.entries.append(Entry(len(self.entries) + 1, self.now_us, self.command, event, self.replica))

    def rest(self) -> None:
        """The engine stands between two steps."""
        if not self.rests or self.rests[-1][0] < len(self.entries):
            self.rests.append((len(self.entries), self.now_us))

    def forget_from(self, entries: int, rests: int) -> None:
        """Nothing has happened since there were so many entries and rests."""
        del self.entries[entries:]
        del self.rests[rests:]

    def doing(self, replica: str) -> Doing:
        """``with recorder.doing(name)``: what is recorded inside was done by ``replica``."""
        return Doing(self, replica)

    def __deepcopy__(self, memo: dict[int, object]) -> Recorder:
        effort, rests = self.effort.copy(), list(self.rests)
        copy = Recorder(self.full, list(self.entries), self.now_us, self.command, self.replica, effort, rests)
        memo[id(self)] = copy
        return copy


@dataclass(slots=True)
class Doing:
    """Entered around every stage and every watch event, and so no generator."""

    recorder: Recorder
    replica: str
    before: str = ""

    def __enter__(self) -> None:
        self.before, self.recorder.replica = self.recorder.replica, self.replica

    def __exit__(self, *_: object) -> None:
        self.recorder.replica = self.before
