"""Plugins of somebody else, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.plugin_api import (
    ActionType,
    ClusterEvent,
    Code,
    CycleState,
    EnqueueExtensions,
    EventRegistration,
    Facts,
    FilterPlugin,
    Handle,
    Hint,
    KubeObject,
    NodeInfo,
    PermitPlugin,
    Plugin,
    Pod,
    PostBindPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
    Status,
    because,
    detail,
    unschedulable,
)

KIND = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def profile(name: str, args: Mapping[str, Any] | None = None, **points: Any) -> dict[str, Any]:
    """Return a configuration that enables a plugin at all its extension points, unless ``points`` are given."""
    plugins = points or {"multiPoint": {"enabled": [{"name": name, "weight": 3}]}}
    return KIND | {
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": plugins,
                "pluginConfig": [] if args is None else [{"name": name, "args": dict(args)}],
            }
        ]
    }


class Quiet(EnqueueExtensions, FilterPlugin, ScorePlugin):
    """Refuses loud nodes, and prefers those with few pods."""

    name = "Quiet"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.label = str(args.get("label", "loud"))
        if not self.label:
            raise ValueError("label must not be empty")

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (EventRegistration(event, self.after_node_change),)

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None or new.labels.get(self.label) == "yes":
            return Hint.SKIP, "the node is loud"
        return Hint.QUEUE, "the node is quiet"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return unschedulable("node is loud") if node_info.node.labels.get(self.label) == "yes" else None

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        shown = detail(self.label, node_info.node.labels.get(self.label, "not set"), "it must not be yes")
        return Facts(because(f"{node_info.name} is too loud for {pod.name}.", status is None), (shown,), status)

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return max(0, 100 - 10 * len(node_info.pods))

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        score = self.score(state, pod, node_info)
        return Facts(because(f"{len(node_info.pods)} pods are there."), raw=score, normalized=score)


class Everywhere(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    PostBindPlugin,
):
    """Takes part everywhere; at the point ``args.at`` it raises, answers ``args.answer``, or waits."""

    name = "Everywhere"

    def _at(self, point: str, otherwise: Any = None) -> Any:
        if point != self.args.get("at"):
            return otherwise
        if "answer" in self.args:
            return self.args["answer"]
        raise ValueError("it broke")

    def pre_enqueue(self, pod: Pod) -> Status | None:
        answer: Status | None = self._at("preEnqueue")
        return answer

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        state.write("everywhere", len(nodes))
        answer: tuple[None, None] = self._at("preFilter", (None, None))
        return answer

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        answer: Status | None = self._at("filter")
        return answer

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        answer: Status | None = self._at("preScore")
        return answer

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        answer: int = self._at("score", 7)
        return answer

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        return self._at("normalizeScore")  # type: ignore[no-any-return]

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer: Status | None = self._at("reserve")
        return answer

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if self.args.get("unreserve") == "fails":
            raise ValueError("it stays reserved")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        if self.args.get("waits"):
            return Status(Code.WAIT), 5_000_000
        answer: tuple[None, int] = self._at("permit", (None, 0))
        return answer

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer: Status | None = self._at("preBind")
        return answer

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._at("postBind")


class Unfinished(FilterPlugin):
    name = "Unfinished"


class Nameless(ScorePlugin):
    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return 0


class Taken(Nameless):
    name = "NodeAffinity"


class QuietAgain(Nameless):
    name = "Quiet"


class Static(FilterPlugin):
    name = "Static"

    @staticmethod
    def filter(state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return None


class Pointless(Plugin):
    name = "Pointless"


class OneWay(Plugin):
    name = "OneWay"

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None
