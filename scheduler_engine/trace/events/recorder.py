"""Events with their positions, and the recorder that assigns them."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.effort import Effort
from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class Entry:
    """An event with its position. ``at_us``: simulated microseconds; ``command``: number of the command (1-based).

    ``replica``: the scheduler replica that did it; "" = something else, or the one scheduler of a sandbox without
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

    ``full``: record tables of verdicts and scores (lean traces leave ``rows``, ``raw``, ``normalized`` and
    ``weighted`` empty). ``effort``: the work caused by the present command. ``rests``: the number of entries and the
    time at each pause of the engine between two steps: the moments at which a command can end.
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
        entries = self.entries
        entries.append(Entry(len(entries) + 1, self.now_us, self.command, event, self.replica))

    def rest(self) -> None:
        """Note that the engine is between two steps."""
        if not self.rests or self.rests[-1][0] < len(self.entries):
            self.rests.append((len(self.entries), self.now_us))

    def forget_from(self, entries: int, rests: int) -> None:
        """Delete all entries and rests from these counts on."""
        del self.entries[entries:]
        del self.rests[rests:]

    def doing(self, replica: str) -> Doing:
        """Use ``with recorder.doing(name)`` to attribute what is recorded inside to ``replica``."""
        return Doing(self, replica)

    def __deepcopy__(self, memo: dict[int, object]) -> Recorder:
        effort, rests = self.effort.copy(), list(self.rests)
        copy = Recorder(self.full, list(self.entries), self.now_us, self.command, self.replica, effort, rests)
        memo[id(self)] = copy
        return copy


@dataclass(slots=True)
class Doing:
    """A context for every stage and watch event, so not a generator."""

    recorder: Recorder
    replica: str
    before: str = ""

    def __enter__(self) -> None:
        self.before, self.recorder.replica = self.recorder.replica, self.replica

    def __exit__(self, *_: object) -> None:
        self.recorder.replica = self.before
