"""NodeDeclaredFeatures: a pod that needs certain features of a kubelet only runs on nodes that declare them.

Few pods need any. The features differ between versions, and so do the messages: the rules ``declared_features`` and
``names_missing_features``. While the gate is off, the plugin does nothing.
Source: upstream ``plugins/nodedeclaredfeatures`` and ``component-helpers/nodedeclaredfeatures``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent, declared_features
from scheduler_engine.framework.facts import Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import SKIP, Status, unresolvable

STATE = "PreFilterNodeDeclaredFeatures"
REASON = "node(s) didn't match Pod's required features"
NAMING = "node declared features check failed - unsatisfied requirements: "


def _restarts_all_containers(pod: Pod) -> bool:
    rules = (rule for item in (*pod.containers, *pod.init_containers) for rule in item.get("restartPolicyRules") or ())
    return any(rule.get("action") == "RestartAllContainers" for rule in rules)


def _host_network_in_user_namespace(pod: Pod) -> bool:
    return bool(pod.spec.get("hostNetwork")) and pod.spec.get("hostUsers") is False


FEATURES: dict[str, tuple[str, Callable[[Pod], bool]]] = {
    "restart": ("RestartAllContainersOnContainerExits", _restarts_all_containers),
    "user-namespaces": ("UserNamespacesHostNetworkSupport", _host_network_in_user_namespace),
}
"""Word in the rule → (name of the feature, whether a pod needs it), by name."""


class NodeDeclaredFeatures(Plugin):
    name = "NodeDeclaredFeatures"
    reads_pods = False

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.enabled = handle.rules.checks_declared_features
        self.features = tuple(FEATURES[word] for word in handle.rules.declared_features)

    def sign(self, pod: Pod) -> Hashable:
        return self.needed(pod)

    def needed(self, pod: Pod) -> tuple[str, ...]:
        """Return the names of the features that ``pod`` needs, sorted."""
        return tuple(name for name, needs in self.features if needs(pod)) if self.enabled else ()

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        if not self.enabled:
            return ()
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE)
        pod_event = ClusterEvent("Pod", ActionType.UPDATE)
        return (
            EventRegistration(node_event, self.after_node_change),
            EventRegistration(pod_event, self.after_pod_update),
        )

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if isinstance(old, Node) and isinstance(new, Node) and declared_features(old) == declared_features(new):
            return Hint.SKIP, "hints.same-features"
        return Hint.QUEUE, "hints.features-declared"

    def after_pod_update(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or not isinstance(new, Pod) or new.uid != pod.uid:
            return Hint.SKIP, "hints.another-pod-changed"
        if self.needed(old) == self.needed(new):
            return Hint.SKIP, "hints.needs-same-features"
        return Hint.QUEUE, "hints.needs-other-features"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        needed = self.needed(pod)
        if not needed:
            return None, SKIP
        state.write(STATE, needed)
        return None, None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        missing = self._missing(state, node_info)
        if not missing:
            return None
        naming = self.handle.rules.names_missing_features
        return unresolvable(NAMING + ", ".join(missing) if naming else REASON)

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        missing, needed = self._missing(state, node_info), self.needed(pod)
        shown = tuple(
            fact("node-rules.feature-missing" if name in missing else "node-rules.feature-there", feature=name)
            for name in needed
        )
        key = "node-rules.features-missing" if missing else "node-rules.features-there"
        says = fact(key, not missing, node=node_info.name, pod=Keys((pod.key,)), count=len(missing or needed))
        return Facts(says, shown, self.filter(state, pod, node_info))

    def _missing(self, state: CycleState, node_info: NodeInfo) -> tuple[str, ...]:
        """Return the features that the pod needs and the node does not declare. Raises PluginError without PreFilter's
        state.
        """
        if not self.enabled:
            return ()
        needed = state.read(STATE)
        if needed is None:
            raise PluginError(f'error reading "{STATE}" from cycle-state: not found')
        declared = declared_features(node_info.node) if isinstance(node_info.node, Node) else ()
        return tuple(name for name in needed if name not in declared)
