"""The dry run by sums: without copies and without running the filters again for each pod that is put back.

It is possible if each active filter reads no pods of the node (then its verdict stays what it is), or compares sums
over them (``Plugin.sums_sign``, ``slack`` and ``frees``). It decides as ``candidates.py`` does; where the preemptor
does not fit at all, or no pod must go, that one gives the answer. The trace must not show the steps.

Without budgets, the result follows from the node and from what the filters read of the preemptor. It is kept for the
next one that is the same to them, until the node changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.columns import PASSED, Verdicts
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import FrameworkView, Handle
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.preemption.candidates import Budget, DryRun, Turn, by_importance, lower_pods, reprieve, turns_of

Amounts = tuple[int, ...]
Notes = dict[str, dict[Any, Any]]
Freed = list[tuple[PodInfo, Amounts]]
"""The pods of a node, the most important first, and what each of them frees."""


class SumsOfPods:
    """The filters of one pod that preempts.

    ``steady``: those that read no pods, with what they have answered so far; ``summing``: those with sums.
    ``freed``: slot → what has been computed since the node changed; ``kept``: slot → the dry run there, without
    nominated pods, which no other one would differ from.
    """

    __slots__ = ("answers", "framework", "freed", "kept", "pod", "state", "steady", "summing")

    def __init__(
        self,
        handle: Handle,
        framework: FrameworkView,
        state: CycleState,
        pod: Pod,
        steady: list[Any],
        summing: dict[Any, Hashable],
    ) -> None:
        slots, columns = handle.snapshot.slots, framework.columns
        self.framework = framework
        self.pod = pod
        self.state = state.clone()
        self.steady = steady
        looks = tuple((plugin.name, plugin.sign(pod)) for plugin in steady)
        self.answers: list[Verdicts] = [
            columns.verdicts(plugin, sign, slots) for plugin, (_, sign) in zip(steady, looks, strict=True)
        ]
        self.summing = [*summing]
        signs = tuple((plugin.name, sign) for plugin, sign in summing.items())
        self.freed: dict[int, Freed] = columns.objects(("freed", signs), slots)
        self.kept: dict[int, DryRun] = columns.objects(("dry run", pod.priority, signs, looks), slots)

    def dry_run(self, node_info: NodeInfo, budgets: Sequence[Budget], noted: Notes) -> DryRun | None:
        """Return the dry run on a node; the filters note in ``noted``. None: the plain one must answer."""
        known = self._is_known_to_pass(node_info)
        if not known and not self._steadily_passes(node_info, noted):
            return None
        priority = self.pod.priority
        lower = [item for item in self._freed(node_info) if item[0].pod.priority < priority]
        slack = [amount for plugin in self.summing for amount in plugin.slack(self.state, self.pod, node_info)]
        left = _sums([slack, *(amounts for _, amounts in lower)])
        if min(left, default=0) < 0:
            return None
        freed = {info.pod.uid: amounts for info, amounts in lower}

        def stays(info: PodInfo) -> bool:
            nonlocal left
            rest = [have - taken for have, taken in zip(left, freed[info.pod.uid], strict=True)]
            if min(rest, default=0) < 0:
                return False
            left = rest
            return True

        run = DryRun(node_info.name)
        # The kept order is that of ``turns_of`` without budgets.
        turns = turns_of(lower_pods(self.pod, node_info), budgets) if budgets else [Turn(info, ()) for info, _ in lower]
        reprieve(run, turns, stays)
        if not run.victims:
            return None
        if known and not budgets:
            self.kept[node_info.slot] = run
        return run

    def _is_known_to_pass(self, node_info: NodeInfo) -> bool:
        """Return True if the steady filters have passed the node since it changed, so that they need not note it."""
        return all(answer.codes[node_info.slot] == PASSED for answer in self.answers)

    def _steadily_passes(self, node_info: NodeInfo, noted: Notes) -> bool:
        self.state.noted = noted
        return self.framework.ask(self.steady, self.state, self.pod, node_info) is None

    def _freed(self, node_info: NodeInfo) -> Freed:
        freed = self.freed.get(node_info.slot)
        if freed is None:
            freed = self.freed[node_info.slot] = [
                (info, tuple(amount for plugin in self.summing for amount in plugin.frees(self.state, info)))
                for info in by_importance(node_info.pods)
            ]
        return freed


def sums_of_pods(handle: Handle, framework: FrameworkView, state: CycleState, pod: Pod) -> SumsOfPods | None:
    """Return the filters of ``pod`` for dry runs by sums. None: one of them must see every removed pod."""
    if framework.updated_by_pods(state):
        return None
    steady: list[Any] = []
    summing: dict[Any, Hashable] = {}
    for plugin in framework.active_filters(state):
        sums_sign = plugin.sums_sign(state) if hasattr(plugin, "sums_sign") else None
        if sums_sign is not None:
            summing[plugin] = sums_sign
        elif plugin.reads_pods or plugin.sign(pod) is None:
            return None
        else:
            steady.append(plugin)
    return SumsOfPods(handle, framework, state, pod, steady, summing)


def _sums(rows: Iterable[Iterable[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]
