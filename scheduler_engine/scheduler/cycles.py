"""The two cycles of a pod as plain data: the stage each has reached and its results so far.

Source: seed 002 §6 and 004 (scheduling cycle, binding cycle); upstream ``schedule_one.go``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import PostFilterResult, QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.nodes import NodeScores
from scheduler_engine.framework.runtime import Framework, Scores
from scheduler_engine.framework.status import Status
from scheduler_engine.scheduler.fit_error import Diagnosis
from scheduler_engine.scheduler.search import Search
from scheduler_engine.versions import Rules


@dataclass(slots=True)
class Cycle:
    """A pod on its way from Pop to PostBind. ``stage`` is the next one to run.

    ``pod`` is the pod as popped, ``assumed`` is the same pod with its node, once it is assumed. ``info`` has the pod's
    latest version after a failure. A cycle whose ``stage`` is a binding stage is a binding cycle: the next scheduling
    cycle may start beside it.
    ``percentage_of_nodes_to_score`` comes from the general configuration at the start of the cycle. ``pre_filter``,
    ``post_filter`` and ``reserve`` hold the status of these points; None: success, or not run. ``nominated``: node →
    the nominated pods that Filter counted there. ``preempted``: the binding cycle is over, because another pod needs
    the place. ``works_in_pre_bind``: a plugin has work there; ``waits_for`` is the one that asked to wait.
    ``cannot_bind``: why a plugin cannot say whether it has.
    ``sign``: the signature of the pod, if it has one and it matters; ``hint``: the node of an earlier ranking to try
    first.
    """

    number: int
    info: QueuedPodInfo
    framework: Framework
    stage: str
    pod: Pod = field(init=False)
    percentage_of_nodes_to_score: int = 0
    state: CycleState = field(default_factory=CycleState)
    note: str = ""
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    pre_filter: Status | None = None
    narrowed_to: tuple[str, ...] | None = None
    search: Search | None = None
    nominated: dict[str, tuple[PodInfo, ...]] = field(default_factory=dict)
    post_filter: tuple[PostFilterResult | None, Status] | None = None
    raw: Scores = field(default_factory=dict)
    normalized: Scores = field(default_factory=dict)
    totals: NodeScores | None = None
    host: str = ""
    assumed: Pod | None = None
    reserve: Status | None = None
    waits: dict[str, int] = field(default_factory=dict)
    wait_until_us: int | None = None
    rejected_because: str = ""
    rejected_by: str = ""
    preempted: bool = False
    waits_for: str = ""
    sign: Hashable = None
    hint: str = ""
    works_in_pre_bind: bool = False
    cannot_bind: str = ""

    def __post_init__(self) -> None:
        self.pod = self.info.pod

    @property
    def rules(self) -> Rules:
        """Return the rules that it began with."""
        return self.framework.handle.rules

    @property
    def waits_on_permit(self) -> bool:
        """Return True while plugins keep it waiting: nobody has rejected it, and its end has not begun."""
        return bool(self.waits) and self.wait_until_us is not None and not self.rejected_because

    @property
    def placed(self) -> Pod:
        """Return the assumed pod. Call this only after Assume."""
        assert self.assumed is not None
        return self.assumed
