"""Limits on the work of one command: counts, never seconds, so that every replay refuses the same commands.

Source: design of the sandbox. Each worker counts here: the recorder its entries, the clock its timers, a simulation
its stages and the rounds in which it hands out watch events, the API server the pods that owners create.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.errors import OverBudget
from scheduler_engine.words import say

MOST_ENTRIES = 500_000
"""Trace entries of one command. To schedule a pod takes about 40, so 10,000 pods in one `run` take 400,000."""
MOST_STEPS = 3_000_000
"""Rounds, timers and stages of one command. A pod takes about 40, a quiet day of five schedulers 250,000."""
MOST_PODS = 10_000
"""Pods that one owner creates in one instant: twice the number that controllers may have in a sandbox."""
MOST_COST = 50_000_000
"""The cost of the expressions of one command, in units of CEL. A simple one costs about 10 for a pod and a node."""
MERGING_SHARE = 10
"""Ticks of playing merge while they have used less than this part of a command's budget."""


@dataclass(slots=True)
class Effort:
    """The work of the present command. ``created``: owner (kind and key) → pods that it has created at
    ``instant_us`` (simulated microseconds). ``cost``: of the expressions of plugins, checked at each step.
    """

    entries: int = 0
    steps: int = 0
    cost: int = 0
    instant_us: int = 0
    created: dict[str, int] = field(default_factory=dict)

    def count_entry(self) -> None:
        """Count an entry. Raises OverBudget."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise OverBudget(say("overrun.entries", most=MOST_ENTRIES))

    def count_step(self) -> None:
        """Count a step. Raises OverBudget."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise OverBudget(say("overrun.steps", most=MOST_STEPS))
        if self.cost > MOST_COST:
            raise OverBudget(say("overrun.cost", most=MOST_COST))

    def count_pod(self, owner: str, now_us: int) -> None:
        """Count a pod that ``owner`` creates. Raises OverBudget."""
        if now_us != self.instant_us:
            self.instant_us, self.created = now_us, {}
        self.created[owner] = self.created.get(owner, 0) + 1
        if self.created[owner] > MOST_PODS:
            raise OverBudget(say("overrun.pods", owner=owner, most=MOST_PODS))

    def small(self) -> bool:
        """Return True if what comes next may still belong to the same command."""
        used = (self.entries, MOST_ENTRIES), (self.steps, MOST_STEPS), (self.cost, MOST_COST)
        return all(number * MERGING_SHARE < most for number, most in used)

    def copy(self) -> Effort:
        return Effort(self.entries, self.steps, self.cost, self.instant_us, dict(self.created))
