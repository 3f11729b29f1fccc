"""TaintToleration: the pod must tolerate a node's NoSchedule and NoExecute taints; PreferNoSchedule taints cost score.

Source: seed 002 §5; upstream ``plugins/tainttoleration/taint_toleration.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import Taint, first_untolerated, tolerated
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.plugins.normalize_score import default_normalize_score

PRE_SCORE_KEY = "PreScoreTaintToleration"
DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")


class TaintToleration(Plugin):
    name = "TaintToleration"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod_event = ClusterEvent("Pod", ActionType.UPDATE_POD_TOLERATION)
        return (
            EventRegistration(node_event, self.after_node_change),
            EventRegistration(pod_event, self.after_pod_toleration_change),
        )

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if _untolerated(pod, new) is not None:
            return Hint.SKIP, "the node has a taint that the pod does not tolerate"
        if old is not None and _untolerated(pod, old) is None:
            return Hint.SKIP, "the pod tolerated the node's taints before"
        return Hint.QUEUE, "the pod tolerates the node's taints now"

    def after_pod_toleration_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None or new.uid != pod.uid:
            return Hint.SKIP, "another pod's tolerations"
        return Hint.QUEUE, "the pod has a new toleration"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        taint = _untolerated(pod, node_info.node)
        return None if taint is None else unresolvable(f"node(s) had untolerated taint {taint}")

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        wanted = tuple(item for item in pod.tolerations if item.effect in ("", "PreferNoSchedule"))
        state.write(PRE_SCORE_KEY, wanted)
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """How many PreferNoSchedule taints the pod does not tolerate."""
        tolerations = state.read(PRE_SCORE_KEY)
        if tolerations is None:
            raise PluginError(f'failed to read "{PRE_SCORE_KEY}" from cycleState: not found')
        taints = node_info.node.taints if node_info.node is not None else ()
        return sum(taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations) for taint in taints)

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        default_normalize_score(scores, reverse=True)


def _untolerated(pod: Pod, node: KubeObject | None) -> Taint | None:
    """The first taint that keeps ``pod`` off ``node``."""
    if not isinstance(node, Node) or not node.taints:
        return None
    return first_untolerated(node.taints, pod.tolerations, DO_NOT_SCHEDULE)
