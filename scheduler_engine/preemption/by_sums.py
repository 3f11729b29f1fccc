"""The dry run by sums: without copies and without running the filters again for each pod that is put back.

It is possible if each active filter reads no pods of the node (then its verdict stays what it is), or compares sums
over them (``Plugin.slack`` and ``Plugin.frees``). It decides as ``candidates.py`` does; where the preemptor does not
fit at all, or no pod must go, that one gives the answer. The trace must not show the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import FrameworkView
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.preemption.candidates import Budget, DryRun, by_importance, lower_pods, turns_of

Amounts = list[int]
Notes = dict[str, dict[Any, Any]]


class SumsOfPods:
    """The filters of one pod that preempts. ``steady``: those that read no pods; ``summing``: those with sums."""

    __slots__ = ("framework", "pod", "state", "steady", "summing")

    def __init__(
        self, framework: FrameworkView, state: CycleState, pod: Pod, steady: Sequence[Any], summing: Sequence[Any]
    ) -> None:
        self.framework = framework
        self.state = state.clone()
        self.pod = pod
        self.steady = steady
        self.summing = summing

    def dry_run(self, node_info: NodeInfo, budgets: Sequence[Budget], noted: Notes) -> DryRun | None:
        """Return the dry run on a node; the filters note in ``noted``. None: the plain one must answer."""
        self.state.noted = noted
        if self.framework.ask(self.steady, self.state, self.pod, node_info) is not None:
            return None
        removed = lower_pods(self.pod, node_info)
        freed = {info.pod.uid: self._freed(info) for info in removed}
        left = [amount for plugin in self.summing for amount in plugin.slack(self.state, self.pod, node_info)]
        for amounts in freed.values():
            _add(left, amounts, 1)
        if _negative(left):
            return None
        run = DryRun(node_info.name, removed=tuple(info.pod for info in removed))
        run.turns = tuple(turns_of(removed, budgets))
        victims, violating = [], []
        for turn in run.turns:
            amounts = freed[turn.info.pod.uid]
            _add(left, amounts, -1)
            if _negative(left):
                _add(left, amounts, 1)
                victims.append(turn.info)
                run.pdb_violations += turn.violates
            if turn.violates:
                violating.append(turn.info.pod.key)
        if not victims:
            return None
        if violating and len(violating) < len(run.turns):
            victims = by_importance(victims)
        run.violating, run.victims = tuple(violating), [info.pod for info in victims]
        return run

    def _freed(self, info: PodInfo) -> Amounts:
        return [amount for plugin in self.summing for amount in plugin.frees(self.state, info)]


def sums_of_pods(framework: FrameworkView, state: CycleState, pod: Pod) -> SumsOfPods | None:
    """Return the filters of ``pod`` for dry runs by sums. None: one of them must see every removed pod."""
    if framework.updated_by_pods(state):
        return None
    steady: list[Any] = []
    summing: list[Any] = []
    for plugin in framework.active_filters(state):
        if hasattr(plugin, "slack"):
            summing.append(plugin)
        elif not plugin.reads_pods and plugin.sign(pod) is not None:
            steady.append(plugin)
        else:
            return None
    return SumsOfPods(framework, state, pod, steady, summing)


def _add(left: Amounts, amounts: Amounts, sign: int) -> None:
    for place, amount in enumerate(amounts):
        left[place] += sign * amount


def _negative(left: Amounts) -> bool:
    return any(amount < 0 for amount in left)
