"""Faults on demand: the next call of a plugin fails, is denied, or has to wait.

This is a teaching device; the real scheduler has nothing like it. A ``FaultyPlugin`` replaces the plugin at one
extension point of a profile, answers once, and steps aside. The runtime does not know about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import NodeToStatus, PluginError, PostFilterResult, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.runtime import ACTIVE_FILTERS, Framework
from scheduler_engine.framework.status import Code, Status, error, unschedulable
from scheduler_engine.trace.events import FaultSet, FaultStruck
from scheduler_engine.words import say

ANSWERS: dict[str, tuple[str, ...]] = {
    "preEnqueue": ("error", "deny"),
    "preFilter": ("error", "deny"),
    "filter": ("error", "deny"),
    "postFilter": ("error", "deny"),
    "preScore": ("error",),
    "score": ("error",),
    "normalizeScore": ("error",),
    "reserve": ("error", "deny"),
    "permit": ("error", "deny", "wait"),
    "preBind": ("error", "deny", "wait"),
    "bind": ("error", "wait", "late"),
    "postBind": ("error",),
}
"""Extension point → the faults a plugin can have there. QueueSort has none: it compares two pods."""
OPEN_TO_ALL = ("permit", "postBind")
"""The default profile has no plugin there, so any plugin of a profile can get a fault."""
NORMALIZE = "normalizeScore"
"""Not an extension point in a configuration: it applies to score plugins with this method."""

TOGETHER = ("filter_all", "score_all", "normalize_all", "sums_sign")
"""The methods that make calls of other methods unnecessary."""
ERROR, DENIAL, DELAY = "injected error", "injected denial", "injected delay"


class FaultyPlugin:
    """A stand-in for ``original`` (None: the plugin does not normally take part at ``point``).

    ``number``: the command that asked for it. ``duration_us``: the length of a wait. At Permit it is the timeout
    after which the pod is rejected unless allowed; at PreBind and Bind the plugin is called when it is over.
    ``late``: the plugin binds the pod, but the scheduler hears of it only after that time.
    """

    def __init__(
        self, framework: Framework, point: str, name: str, answer: str, duration_us: int, original: Any
    ) -> None:
        self.framework = framework
        self.number = framework.handle.recorder.command
        self.point = point
        self.name = name
        self.answer = answer
        self.duration_us = duration_us
        self.original = original
        self.until_us: int | None = None
        self.waiting_uid = ""
        self.spent = False

    def __getattr__(self, attribute: str) -> Any:
        """Pass everything else to the original, but judge node by node: each answer can be the faulty one."""
        if attribute.startswith("__") or attribute in ("original", *TOGETHER):
            raise AttributeError(attribute)
        return getattr(self.original, attribute)

    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Return True while there is a fault to come."""
        return not self.spent or self.original.works_in_pre_bind(state, pod, node_name)

    def sign(self, pod: Pod) -> None:
        """Sign nothing: the answer changes with time."""

    def _take(self, pod: Pod) -> Status | None:
        """Return the fault's answer, or None to ask the original. A delay holds up one pod, not later ones."""
        if self.spent or self.waiting_uid not in ("", pod.uid):
            return None
        if self.answer == "wait" and self.point != "permit":
            self.waiting_uid = pod.uid
            now_us = self.framework.handle.now_us
            if self.until_us is None:
                self.until_us = now_us + self.duration_us
                self._tell(pod, self.until_us)
            if now_us < self.until_us:
                return Status(Code.WAIT, (DELAY,))
            self._step_aside(pod)
            return None
        self._step_aside(pod, record=self.answer != "late")
        if self.answer == "late":
            self.framework.handle.scheduler.hear_late_of(pod, self.duration_us, self.number)
            return None
        if self.answer == "wait":
            return Status(Code.WAIT)
        return error(ERROR) if self.answer == "error" else unschedulable(DENIAL)

    def _tell(self, pod: Pod, until_us: int | None) -> None:
        self.framework.handle.recorder.add(FaultStruck(self.number, pod.key, until_us))

    def _step_aside(self, pod: Pod, record: bool = True) -> None:
        if record:
            self._tell(pod, None)
        self.spent = True
        plugins = _plugins_at(self.framework, self.point)
        kept = [self.original if plugin is self else plugin for plugin in plugins]
        plugins[:] = [plugin for plugin in kept if plugin is not None]

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return self._take(pod) or self.original.pre_enqueue(pod)

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        answer = self._take(pod)
        return self.original.pre_filter(state, pod, nodes) if answer is None else (None, answer)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return self._take(pod) or self.original.filter(state, pod, node_info)

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        answer = self._take(pod)
        if answer is not None:
            return None, answer
        result, status = self.original.post_filter(state, pod, statuses)
        return result, status

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        return self._take(pod) or self.original.pre_score(state, pod, nodes)

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        if self.point == "score" and self._take(pod) is not None:
            raise PluginError(ERROR)
        return int(self.original.score(state, pod, node_info))

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        if self.point == NORMALIZE and self._take(pod) is not None:
            raise PluginError(ERROR)
        if hasattr(self.original, "normalize_score"):
            self.original.normalize_score(state, pod, scores)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._take(pod) or self.original.reserve(state, pod, node_name)

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        answer = self._take(pod)
        if answer is None and self.original is not None:
            status, timeout_us = self.original.permit(state, pod, node_name)
            return status, timeout_us
        return answer, self.duration_us

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._take(pod) or self.original.pre_bind(state, pod, node_name)

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._take(pod) or self.original.bind(state, pod, node_name)

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if self._take(pod) is not None:
            raise PluginError(ERROR)
        self.original.post_bind(state, pod, node_name)


def inject(framework: Framework, point: str, plugin: str, answer: str, duration_us: int) -> str:
    """Make the next call fail. Return what is wrong with the request, "" if it is done."""
    plugins = _plugins_at(framework, point)
    original = next((item for item in plugins if item.name == plugin), None)
    normalizes = point != NORMALIZE or hasattr(framework.plugins.get(plugin), "normalize_score")
    if not normalizes or (original is None and not (point in OPEN_TO_ALL and plugin in framework.plugins)):
        return say("refusals.not-a-plugin-there", plugin=plugin, point=point, profile=framework.profile_name)
    faulty = FaultyPlugin(framework, point, plugin, answer, duration_us, original)
    if original is None:
        plugins.append(faulty)
    else:
        plugins[plugins.index(original)] = faulty
    event = FaultSet(faulty.number, framework.profile_name, plugin, point, answer, duration_us)
    framework.handle.recorder.add(event)
    return ""


def _plugins_at(framework: Framework, point: str) -> list[Any]:
    """Return the list to change in place, because the queue holds the one for PreEnqueue."""
    return framework.points["score" if point == NORMALIZE else point]


def hurry(state: CycleState, framework: Framework) -> None:
    """Apply a Filter fault to a cycle that has already chosen its filters."""
    active = state.read(ACTIVE_FILTERS)
    if active is not None:
        named = {plugin.name: plugin for plugin in framework.points["filter"]}
        state.write(ACTIVE_FILTERS, tuple(named.get(plugin.name, plugin) for plugin in active))
