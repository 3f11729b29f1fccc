"""The dry run on one node: which pods must go so that the preemptor fits, and which of them may stay.

Remove all lower-priority pods; if the preemptor fits then, add them back one by one as long as it still fits: first
those whose eviction would violate a PodDisruptionBudget, each group from the most important pod down. The rest are
victims.
Source: seed 002 §9; upstream ``plugins/defaultpreemption/default_preemption.go`` (SelectVictimsOnNode).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_engine.api.labels import Selector, selector_from
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import FrameworkView, PluginError
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.status import Status, error, unresolvable
from scheduler_engine.trace.events import NO_VICTIMS

NOT_STARTED_US = 2**63 - 1
"""Stands for "now" if a pod has no start time: no actual start is later."""
Judge = Callable[[CycleState, Pod, NodeInfo], Status | None]
"""Runs the filters on a node; None = the pod fits."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node where the preemptor would fit without ``victims`` (most important first, never empty).

    ``values``: name of a criterion → its value, as far as they were compared.
    """

    node: str
    victims: tuple[Pod, ...]
    pdb_violations: int
    values: dict[str, int] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget with ``allowed`` disruptions left; ``disrupted`` pods are already being evicted."""

    key: str
    namespace: str
    selector: Selector
    allowed: int
    disrupted: tuple[str, ...]

    def protects(self, pod: Pod) -> bool:
        return (
            self.namespace == pod.namespace
            and not self.selector.empty
            and self.selector.matches(pod.labels)
            and pod.name not in self.disrupted
        )


class Charge(NamedTuple):
    """One eviction counted against a budget: the disruptions that it allows ``before`` and ``after``."""

    budget: str
    before: int
    after: int


class Turn(NamedTuple):
    """A removed pod that may be put back, and what its eviction takes from each budget that protects it."""

    info: PodInfo
    charges: tuple[Charge, ...]

    @property
    def violates(self) -> bool:
        """Return True if evicting the pod would violate a budget."""
        return bool(self.violated)

    @property
    def violated(self) -> tuple[str, ...]:
        """Return the keys of the budgets that its eviction would violate."""
        return tuple(charge.budget for charge in self.charges if charge.after < 0)


@dataclass(slots=True)
class DryRun:
    """The dry run on ``node``. ``rejected`` None = a candidate. ``steps`` as in ``PreemptionNodeTried``.

    ``removed``: the pods of lower priority, in the order of removal; ``turns``: the same in the order of reprieve.
    ``candidate`` and ``victim_keys`` are worked out once: a dry run may be kept for later preemptors.
    """

    node: str
    rejected: Status | None = None
    victims: list[Pod] = field(default_factory=list)
    pdb_violations: int = 0
    violating: tuple[str, ...] = ()
    steps: list[tuple[str, str, bool, str]] = field(default_factory=list)
    removed: tuple[Pod, ...] = ()
    turns: tuple[Turn, ...] = ()
    _candidate: Candidate | None = None
    _victim_keys: tuple[str, ...] | None = None

    @property
    def victim_keys(self) -> tuple[str, ...]:
        if self._victim_keys is None:
            self._victim_keys = tuple([victim.key for victim in self.victims])
        return self._victim_keys

    @property
    def candidate(self) -> Candidate:
        """Return the candidate that the dry run has shown. Call this only if nothing ``rejected`` it."""
        if self._candidate is None:
            self._candidate = Candidate(self.node, tuple(self.victims), self.pdb_violations)
        return self._candidate


def budget_from(pdb: KubeObject) -> Budget:
    return Budget(
        pdb.key,
        pdb.namespace,
        selector_from(pdb.spec.get("selector")),
        pdb.status.get("disruptionsAllowed") or 0,
        tuple(pdb.status.get("disruptedPods") or ()),
    )


def start_us(pod: Pod) -> int:
    """Return the pod's start in simulated microseconds."""
    return NOT_STARTED_US if pod.start_time_us is None else pod.start_time_us


def by_importance(infos: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the most important pod first: higher priority, then the older start.

    Equals that have started keep their order. Of equals that have not, the last comes first: upstream reads the clock
    for each side of a comparison, so each seems older than the one before it. That holds for up to 12 pods;
    with more, upstream sorts in another way whose order is unpredictable, and this code keeps its rule.
    """
    placed = enumerate(infos)
    ranked = sorted(placed, key=lambda item: (*_age(item[1].pod), item[0] if _started(item[1].pod) else -item[0]))
    return [info for _, info in ranked]


def _age(pod: Pod) -> tuple[int, int]:
    return -pod.priority, start_us(pod)


def _started(pod: Pod) -> bool:
    return pod.start_time_us is not None


def lower_pods(pod: Pod, node_info: NodeInfo) -> list[PodInfo]:
    """Return the pods on the node that ``pod`` may preempt."""
    return [info for info in node_info.pods if info.pod.priority < pod.priority]


def turns_of(removed: Sequence[PodInfo], budgets: Sequence[Budget]) -> list[Turn]:
    """Return the pods in the order of reprieve: first those whose eviction violates a budget, each group from the most
    important pod down. The most important pods use up the allowance of a budget.
    """
    left = [budget.allowed for budget in budgets]
    turns: list[Turn] = []
    for info in by_importance(removed):
        charges: list[Charge] = []
        for index, budget in enumerate(budgets if info.pod.labels else ()):
            if budget.protects(info.pod):
                charges.append(Charge(budget.key, left[index], left[index] - 1))
                left[index] -= 1
        turns.append(Turn(info, tuple(charges)))
    return sorted(turns, key=lambda turn: not turn.violates)


def in_vain(pod: Pod, node_info: NodeInfo) -> DryRun | None:
    """Return the dry run on a node without pods of lower priority: it needs no copies. None: there are some."""
    if any(info.pod.priority < pod.priority for info in node_info.pods):
        return None
    return DryRun(node_info.name, rejected=unresolvable(NO_VICTIMS))


def select_victims_on_node(
    framework: FrameworkView,
    state: CycleState,
    pod: Pod,
    node_info: NodeInfo,
    budgets: Sequence[Budget],
    judge: Judge | None = None,
) -> DryRun:
    """Find the victims for ``pod`` on one node. ``state`` and ``node_info`` are used up: pass copies.

    ``judge``: runs the filters; None = the framework, with the nominated pods of this moment.
    """
    run = in_vain(pod, node_info)
    if run is not None:
        return run
    judge = judge or framework.run_filter_plugins_with_nominated_pods
    node = _Node(framework, state, pod, node_info, judge)
    run = DryRun(node_info.name)
    try:
        _select(node, run, budgets)
    except PluginError as problem:
        run.rejected = error(str(problem))
    return run


@dataclass(slots=True)
class _Node:
    """The copies that the dry run changes. ``remove`` and ``add`` raise PluginError when a plugin fails."""

    framework: FrameworkView
    state: CycleState
    pod: Pod
    info: NodeInfo
    judge: Judge

    def remove(self, victim: PodInfo) -> None:
        self.info.remove_pod(victim.pod)
        _check(self.framework.run_remove_pod(self.state, self.pod, victim, self.info))

    def add(self, victim: PodInfo) -> None:
        self.info.add_pod_info(victim)
        _check(self.framework.run_add_pod(self.state, self.pod, victim, self.info))

    def verdict(self) -> Status | None:
        return self.judge(self.state, self.pod, self.info)


def _check(status: Status | None) -> None:
    if status is not None and not status.is_success:
        raise PluginError(status.message)


def _select(node: _Node, run: DryRun, budgets: Sequence[Budget]) -> None:
    removed = lower_pods(node.pod, node.info)
    run.removed = tuple(info.pod for info in removed)
    for info in removed:
        node.remove(info)
        run.steps.append(("remove", info.pod.key, True, f"priority {info.pod.priority} is below {node.pod.priority}"))
    run.rejected = node.verdict()
    run.steps.append(("fits", "", run.rejected is None, _text(run.rejected)))
    if run.rejected is not None:
        return
    reprieve(run, turns_of(removed, budgets), lambda info: _stays(node, run, info))
    if not run.victims:
        raise PluginError(f'expected at least one victim pod on node "{run.node}"')


def reprieve(run: DryRun, turns: Sequence[Turn], stays: Callable[[PodInfo], bool]) -> None:
    """Put back the pods that may stay, and note the victims.

    ``stays``: puts one pod back if the preemptor still fits, and returns whether it does.
    """
    run.turns = tuple(turns)
    violating = [turn.info for turn in turns if turn.violates]
    others = [turn.info for turn in turns if not turn.violates]
    run.violating = tuple(info.pod.key for info in violating)
    victims = [info for info in violating if not stays(info)]
    run.pdb_violations = len(victims)
    victims += [info for info in others if not stays(info)]
    run.victims = [info.pod for info in (by_importance(victims) if violating and others else victims)]


def _stays(node: _Node, run: DryRun, info: PodInfo) -> bool:
    """Put ``info`` back if the preemptor still fits."""
    node.add(info)
    verdict = node.verdict()
    run.steps.append(("reprieve", info.pod.key, verdict is None, _text(verdict)))
    if verdict is not None:
        node.remove(info)
    return verdict is None


def _text(verdict: Status | None) -> str:
    return "" if verdict is None else verdict.message
