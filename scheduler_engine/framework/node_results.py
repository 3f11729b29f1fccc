"""A cache of results per node, valid while the node does not change.

A filter or score plugin that looks only at the pod and one node (``reads_other_nodes`` False) answers the same
for every pod with the same signature until that node's generation changes. If similar pods are placed one after the
other, only the node that took the last one is evaluated again. Dry runs must not use this: their NodeInfos change
without a new generation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Handle, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status

MAX_SIGNATURES = 16
"""The number of pod signatures to cache; the least recently used go first."""


def score_failure(plugin: str, problem: PluginError) -> PluginError:
    """Return the error of the cycle if ``plugin`` cannot score a node."""
    return PluginError(f'running Score plugins: plugin "{plugin}" failed with: {problem}')


@dataclass(slots=True)
class SignatureResults:
    """The results of one pod signature: node name → (generation, verdict), and plugin → node name → raw score with
    generations.
    """

    verdicts: dict[str, tuple[int, Status | None]] = field(default_factory=dict)
    scored: dict[str, int] = field(default_factory=dict)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)


class NodeResults:
    """All pod signatures of one profile. A copy starts empty: this cache only saves time."""

    __slots__ = ("signatures",)

    def __init__(self) -> None:
        self.signatures: OrderedDict[tuple[Any, ...], SignatureResults] = OrderedDict()

    def of(self, pod: Pod, plugins: Sequence[Any], total_nodes: int = 0) -> SignatureResults:
        """Return the results for ``pod``'s signature and these plugins, and for the cluster size if it matters."""
        key = (pod.signature, total_nodes, *(plugin.name for plugin in plugins))
        results = self.signatures.get(key)
        if results is None:
            results = self.signatures[key] = SignatureResults()
            if len(self.signatures) > MAX_SIGNATURES:
                self.signatures.popitem(last=False)
        self.signatures.move_to_end(key)
        return results

    def raw_scores(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], plugins: Sequence[Any], total_nodes: int
    ) -> dict[str, dict[str, int]]:
        """Return plugin → node → raw score. Raises PluginError when a plugin fails."""
        results = self.of(pod, plugins, total_nodes)
        scored, scores = results.scored, results.scores
        for plugin in plugins:
            scores.setdefault(plugin.name, {})
        for info in nodes:
            if scored.get(info.name) != info.generation:
                for plugin in plugins:
                    try:
                        scores[plugin.name][info.name] = plugin.score(state, pod, info)
                    except PluginError as problem:
                        raise score_failure(plugin.name, problem) from problem
                scored[info.name] = info.generation
        names = [info.name for info in nodes]
        return {name: dict(zip(names, map(known.__getitem__, names), strict=True)) for name, known in scores.items()}

    def __deepcopy__(self, memo: dict[int, object]) -> NodeResults:
        return NodeResults()

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeResults, ()


class Filters(Protocol):
    """The methods of the framework that NodeFilter needs."""

    results: NodeResults
    handle: Handle

    def ask(self, plugins: Sequence[Any], state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None: ...

    def nominated_for(self, pod: Pod, node_name: str) -> Sequence[Any]: ...

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None: ...


class NodeFilter:
    """One pod's filters over the nodes of a snapshot: first the cached ``local`` plugins, then the ``others``."""

    __slots__ = ("framework", "known", "local", "nominations", "others", "pod", "state")

    def __init__(
        self, framework: Filters, state: CycleState, pod: Pod, local: Sequence[Any], others: Sequence[Any]
    ) -> None:
        self.framework = framework
        self.state = state
        self.pod = pod
        self.local = local
        self.others = others
        self.known = framework.results.of(pod, local).verdicts
        self.nominations = framework.handle.nominator.has_nominations()

    def knows_all(self, nodes: Sequence[NodeInfo]) -> bool:
        """Update the cached results of ``nodes``. Return True if they settle every verdict, False if each node must be
        asked.
        """
        if self.nominations or self.others:
            return False
        known = self.known
        for info in nodes:
            held = known.get(info.name)
            if held is None or held[0] != info.generation:
                status = self.framework.ask(self.local, self.state, self.pod, info)
                if status is not None and not status.is_rejected:
                    return False
                known[info.name] = (info.generation, status)
        return True

    def passing(self, nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
        known = self.known
        return [info for info in nodes if known[info.name][1] is None]

    def failing(self, nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
        known = self.known
        return [info for info in nodes if known[info.name][1] is not None]

    def verdict(self, info: NodeInfo) -> Status | None:
        """Return the first failing plugin's status on the node, None if all pass; nominated pods count."""
        if self.nominations and self.framework.nominated_for(self.pod, info.name):
            return self.framework.run_filter_plugins_with_nominated_pods(self.state, self.pod, info)
        known = self.known.get(info.name)
        if known is not None and known[0] == info.generation:
            status = known[1]
        else:
            status = self.framework.ask(self.local, self.state, self.pod, info)
            if status is None or status.is_rejected:
                self.known[info.name] = (info.generation, status)
        if status is None and self.others:
            return self.framework.ask(self.others, self.state, self.pod, info)
        return status
