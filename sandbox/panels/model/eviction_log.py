"""Eviction requests and their answers, drains, and evictions planned for taints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Request:
    """An answer to an eviction request. The same answer again is counted in ``times``; ``at_us`` is its last time.

    ``leaves_us``: when the grace period of an evicted pod ends. ``then``: the sequel, at ``ended_us``: ``gone``, or
    after a refusal ``allowed``, ``deleting`` (the next request came during the deletion), ``deleted`` or ``other``
    (another answer, or another requester). ``row``: number of refusals of this pod in a row, by any requester.
    ``late``: the pod was already being deleted at the time of the request.
    """

    pod: str
    node: str
    code: int
    message: str
    cause: str
    budgets: tuple[str, ...]
    asked_by: str
    first_us: int
    at_us: int
    command: int
    times: int = 1
    row: int = 0
    late: bool = False
    grace_us: int = 0
    leaves_us: int | None = None
    then: str = ""
    ended_us: int = 0
    number: int = 0

    @property
    def refused(self) -> bool:
        return self.code != 200


@dataclass(slots=True)
class Drain:
    """A drain of a node. ``what``: its state since ``at_us``, as in DrainChanged.

    ``entry``: number of the entry of that change. ``refused``: pods that may not go now; ``staying``: pods of
    DaemonSets; ``evicted``: pods that were evicted → number of the entry of the answer.
    ``rounds``: number of rounds of requests, the last one at ``asked_us``, the next one at ``next_us``. ``flags``:
    kubectl's flags of this drain; with the flags ``helping`` a failed drain would not have failed. ``warning`` and
    ``error`` are kubectl's texts.
    """

    node: str
    started_us: int
    command: int
    what: str = "started"
    at_us: int = 0
    entry: int = 0
    refused: tuple[str, ...] = ()
    staying: tuple[str, ...] = ()
    next_us: int | None = None
    rounds: int = 0
    asked_us: int | None = None
    flags: tuple[str, ...] = ()
    helping: tuple[str, ...] = ()
    warning: str = ""
    error: str = ""
    evicted: dict[str, int] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.what in ("finished", "failed", "stopped")


@dataclass(slots=True)
class Plan:
    """A planned eviction: the pod must leave ``node`` at ``at_us`` because of ``taint``.

    ``seconds``: how long it tolerates the taint, None = not at all. ``state``: planned, evicted, cancelled (``why``) or
    overtaken (the pod went before).
    """

    pod: str
    node: str
    taint: str
    seconds: int | None
    since_us: int
    at_us: int
    state: str = "planned"
    why: str = ""
    ended_us: int = 0
    number: int = 0


@dataclass(slots=True)
class Happening:
    """The last thing that a person or time caused; ``n``: number of its last entry. ``item`` depends on ``kind``."""

    n: int
    at_us: int
    kind: str
    item: Any


@dataclass
class EvictionLog:
    """Requests, drains and plans, the oldest first.

    ``open``: pod → its newest request. ``planned``: pod → the plan to evict it; ``leaving``: pod → the plan that
    evicted it. All three end with the pod. ``happened``: the last happening.
    """

    requests: dict[int, Request] = field(default_factory=dict)
    open: dict[str, Request] = field(default_factory=dict)
    drains: dict[str, Drain] = field(default_factory=dict)
    plans: dict[int, Plan] = field(default_factory=dict)
    planned: dict[str, Plan] = field(default_factory=dict)
    leaving: dict[str, Plan] = field(default_factory=dict)
    happened: Happening | None = None
    number: int = 0

    def news(self, entry: int) -> Happening | None:
        """Return the last happening if it came after ``entry``, else None."""
        return self.happened if self.happened is not None and self.happened.n > entry else None

    def move_to_end(self, request: Request) -> None:
        """Give a request a new number, and put it at the end."""
        self.requests.pop(request.number, None)
        self.number += 1
        request.number = self.number
        self.requests[self.number] = request

    def plan(self, plan: Plan) -> None:
        """Add a plan with the next number."""
        self.number += 1
        plan.number = self.number
        self.plans[self.number] = plan
