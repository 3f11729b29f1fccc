"""Requests to evict and their answers, drains, and evictions that taints have planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Request:
    """An answer to a request to evict; the same one again counts on it (``times``, ``at_us`` is the last time).

    ``leaves_us``: when the grace period of a pod that may go ends. ``then`` tells how it went on, at ``ended_us``:
    ``gone``, or after a refusal ``allowed``, ``deleting`` (asked again, it was being deleted already), ``deleted`` or
    ``other`` (another answer, or asked by somebody else). ``row``: refusals of this pod one after the other, whoever
    asked. ``late``: the pod was being deleted already when it was asked for.
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
    """``what`` as in DrainChanged, since ``at_us``. ``evicted``: pods that went; ``rounds``: how often it asked, the
    last time at ``asked_us``. ``flags`` were given; with ``helping`` a failed drain would not have failed.
    ``warning`` and ``error`` are kubectl's texts.
    """

    node: str
    started_us: int
    command: int
    what: str = "started"
    at_us: int = 0
    refused: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    next_us: int | None = None
    rounds: int = 0
    asked_us: int | None = None
    flags: tuple[str, ...] = ()
    helping: tuple[str, ...] = ()
    warning: str = ""
    error: str = ""
    evicted: dict[str, None] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.what in ("finished", "failed", "stopped")


@dataclass(slots=True)
class Plan:
    """A pod must leave ``node`` at ``at_us`` for ``taint``; ``seconds`` None: it tolerates the taint not at all.

    ``state``: planned, evicted, cancelled (``why``) or overtaken (the pod went before).
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
    """Something that a person did or the clock brought; entry ``n`` is its last. ``item`` is what ``kind`` is about."""

    n: int
    at_us: int
    kind: str
    item: Any


@dataclass
class EvictionLog:
    """Oldest first. ``open``: pod → its newest request, ``planned`` and ``leaving``: pod → the plan to evict it and the
    one that did, all as long as the pod is there.
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
        """The last that happened, if it came after ``entry``."""
        return self.happened if self.happened is not None and self.happened.n > entry else None

    def newest(self, request: Request) -> None:
        """Put it at the end."""
        self.requests.pop(request.number, None)
        self.number += 1
        request.number = self.number
        self.requests[self.number] = request

    def plan(self, plan: Plan) -> None:
        self.number += 1
        plan.number = self.number
        self.plans[self.number] = plan
