"""TaintToleration: the pod must tolerate a node's NoSchedule and NoExecute taints; PreferNoSchedule taints cost score.

Source: seed 002 §5; upstream ``plugins/tainttoleration/taint_toleration.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import Taint, Toleration, first_untolerated, tolerated
from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, LabelKey, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.plugins.normalize_score import default_normalize_all, default_normalize_score
from scheduler_engine.plugins.score_facts import scaled
from scheduler_engine.plugins.taint_facts import tolerance_fact

PRE_SCORE_KEY = "PreScoreTaintToleration"
DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")
PREFER_NO_SCHEDULE = "PreferNoSchedule"
UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")


class TaintToleration(Plugin):
    name = "TaintToleration"
    reads_pods = False

    def sign(self, pod: Pod) -> Hashable:
        return pod.tolerations

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod_event = ClusterEvent("Pod", ActionType.UPDATE_POD_TOLERATION)
        return (
            EventRegistration(node_event, self.after_node_change),
            EventRegistration(pod_event, self.after_pod_toleration_change),
        )

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if self._untolerated(pod, new) is not None:
            return Hint.SKIP, "hints.taint-not-tolerated"
        if old is not None and self._untolerated(pod, old) is None:
            return Hint.SKIP, "hints.taints-tolerated-before"
        return Hint.QUEUE, "hints.taints-tolerated-now"

    def after_pod_toleration_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None or new.uid != pod.uid:
            return Hint.SKIP, "hints.tolerations-of-another-pod"
        return Hint.QUEUE, "hints.new-toleration"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        taint = self._untolerated(pod, node_info.node)
        if taint is None:
            return None
        named = self.handle.rules.names_untolerated_taint
        return unresolvable(f"node(s) had untolerated taint {taint}") if named else UNTOLERATED

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        node = node_info.node
        taints = node.taints if node is not None else ()
        decisive, pods = self._untolerated(pod, node), Keys((pod.key,))
        if decisive is None:
            key = "taints.none-keeps-away" if taints else "taints.no-taints"
            says = fact(key, True, node=node_info.name, pod=pods)
        else:
            named = _name(decisive, taints)
            says = fact("taints.keeps-away", False, node=node_info.name, taint=decisive.text, pod=pods, named=named)
        return Facts(says, tuple(self._hard(taint, pod) for taint in taints), self.filter(state, pod, node_info))

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        wanted = tuple(item for item in pod.tolerations if item.effect in ("", PREFER_NO_SCHEDULE))
        state.write(PRE_SCORE_KEY, wanted)
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Count the PreferNoSchedule taints that the pod does not tolerate."""
        tolerations = state.read(PRE_SCORE_KEY)
        if tolerations is None:
            raise PluginError(f'failed to read "{PRE_SCORE_KEY}" from cycleState: not found')
        taints = node_info.node.taints if node_info.node is not None else ()
        compares, soft = self._compares, (taint for taint in taints if taint.effect == PREFER_NO_SCHEDULE)
        return sum(not tolerated(taint, tolerations, compares) for taint in soft)

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: dict[str, int]) -> Facts:
        node, counted = node_info.node, state.data[PRE_SCORE_KEY]
        taints = node.taints if node is not None else ()
        shown = [self._soft(taint, pod, counted) for taint in taints if taint.effect == PREFER_NO_SCHEDULE]
        score = self.score(state, pod, node_info)
        key = "taints.counts-against" if score else "taints.none-counts-against"
        says = fact(key, not score, node=node_info.name, pod=Keys((pod.key,)), count=score)
        shown.append(fact("taints.raw", total=score))
        return scaled(says, shown, score, node_info.name, raw, reverse=True)

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        default_normalize_score(scores, reverse=True)

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray:
        return default_normalize_all(scores, reverse=True)

    @property
    def _compares(self) -> bool:
        return self.handle.rules.tolerations_compare

    def _hard(self, taint: Taint, pod: Pod) -> Fact:
        if taint.effect not in DO_NOT_SCHEDULE:
            return fact("taints.does-not-filter", taint=taint.text)
        verdict = tolerance_fact(taint, pod.tolerations, self._compares)
        return fact("taints.judged", verdict.ok, taint=taint.text, verdict=verdict)

    def _soft(self, taint: Taint, pod: Pod, counted: Sequence[Toleration]) -> Fact:
        verdict = tolerance_fact(taint, pod.tolerations, self._compares, counted)
        return fact("taints.counted", verdict.ok, taint=taint.text, points=int(not verdict.ok), verdict=verdict)

    def _untolerated(self, pod: Pod, node: KubeObject | None) -> Taint | None:
        """Return the first taint that keeps ``pod`` off ``node``."""
        if not isinstance(node, Node) or not node.taints:
            return None
        return first_untolerated(node.taints, pod.tolerations, DO_NOT_SCHEDULE, self._compares)


def _name(taint: Taint, taints: Sequence[Taint]) -> LabelKey:
    """Return what to call ``taint`` among the ``taints`` of its node."""
    name = LabelKey(taint.key)
    return name._replace(whole=any(item.key != taint.key and LabelKey(item.key).name == name.name for item in taints))
