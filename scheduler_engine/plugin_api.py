"""What the author of a scheduler plugin imports: base classes with types, and all that their methods take and return.

A plugin is a class with a ``name`` that derives from the base classes of its extension points::

    class Quiet(FilterPlugin, ScorePlugin):
        name = "Quiet"

        def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
            return unschedulable("node is loud") if node_info.node.labels.get("loud") == "yes" else None

        def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
            return 100 - min(100, len(node_info.pods))

Plugins decide and record nothing. They keep nothing between cycles except what follows from their arguments: data of
one cycle goes into ``state``. They use no clock, no file and no random number of their own, so that every run is the
same. An exception in a plugin becomes a status with code Error, as an error that it returns: the attempt fails with
Kubernetes' words, and the pod is tried again after its backoff. (In kube-scheduler, a panic ends the process.)

Amounts are whole numbers: millicores of CPU, bytes of memory and storage, whole units of anything else. Times are
microseconds of the simulated clock.

Source: upstream ``framework/interface.go``. docs/plugins.md shows how to write, test and run a plugin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, cast

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, fact
from scheduler_engine.framework.guarding import guard
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, PluginError, PreFilterResult
from scheduler_engine.framework.interface import Plugin as EnginePlugin
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable

__all__ = [
    "SKIP",
    "ActionType",
    "ClusterEvent",
    "Code",
    "CycleState",
    "EnqueueExtensions",
    "EventRegistration",
    "Fact",
    "Facts",
    "FilterPlugin",
    "Handle",
    "Hint",
    "KubeObject",
    "Node",
    "NodeInfo",
    "PermitPlugin",
    "Plugin",
    "PluginError",
    "Pod",
    "PodInfo",
    "PostBindPlugin",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "ReservePlugin",
    "Resource",
    "ScorePlugin",
    "Status",
    "because",
    "detail",
    "error",
    "unresolvable",
    "unschedulable",
]


class NodeInfo(Protocol):
    """A node as a cycle sees it, to read only. ``pods`` are the pods on it, with those that are assumed there.

    ``requested`` is what these pods request, ``allocatable`` what the node has for pods.
    """

    @property
    def name(self) -> str: ...

    @property
    def node(self) -> Node: ...

    @property
    def pods(self) -> Sequence[PodInfo]: ...

    @property
    def requested(self) -> Resource: ...

    @property
    def allocatable(self) -> Resource: ...


class Plugin(EnginePlugin, ABC):
    """The base of all plugins. ``args``: the plugin's ``pluginConfig[].args`` as written, {} without any.

    Check them in ``__init__``: an exception there refuses the configuration. ``handle`` is all that a plugin may reach.
    """

    name: ClassVar[str] = ""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.args = args

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        guard(cls)

    @property
    def now_us(self) -> int:
        """Return the simulated time in microseconds."""
        return self.handle.now_us

    def node_infos(self) -> Sequence[NodeInfo]:
        """Return all nodes of the cycle's snapshot."""
        return cast(Sequence[NodeInfo], self.handle.snapshot.list())

    def node_info(self, node_name: str) -> NodeInfo | None:
        """Return a node of the cycle's snapshot, None if it is not there."""
        return cast("NodeInfo | None", self.handle.snapshot.get(node_name))

    def objects(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        """Return the objects of a kind as they are now: of a namespace, or all of them."""
        return self.handle.objects.list(kind, namespace)


class EnqueueExtensions(Plugin):
    """Says which changes may make a pod schedulable that this plugin has rejected.

    Without it, every change of any object makes such a pod try again.
    """

    @abstractmethod
    def events_to_register(self) -> tuple[EventRegistration, ...]:
        """Return the events. The hint of one is a method ``(pod, old, new) → (Hint, why)``: ``old`` and ``new`` are the
        object before and after the change, None if it did not exist. Without a hint, the pod is always tried again.
        """


class PreEnqueuePlugin(Plugin):
    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Return None if the pod may enter activeQ, or why it is gated."""


class PreFilterPlugin(Plugin):
    """Computes what Filter needs, once for each pod.

    ``add_pod`` and ``remove_pod`` (state, pod, pod_info, node_info) update it when preemption tries a node without some
    of its pods: have them if ``state`` depends on pods. A value in ``state`` that they change needs ``clone()``.
    """

    @abstractmethod
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return the only nodes that can fit (None: any), and None, SKIP to leave out this plugin's Filter, or why the
        pod fits nowhere.
        """


class FilterPlugin(Plugin):
    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        """Return None if the pod fits on the node, ``unschedulable(reason)`` if it does not, or
        ``unresolvable(reason)`` if it would not even without the pods there.
        """


class PreScorePlugin(Plugin):
    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Compute what Score needs, once for each pod. ``nodes`` passed all filters. SKIP leaves out this plugin's
        Score.
        """


class ScorePlugin(Plugin):
    """Rates nodes. A method ``normalize_score(state, pod, scores)`` may change the dict ``scores``, node → score."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return a whole number, higher is better; after ``normalize_score`` it must be from 0 to 100."""


class ReservePlugin(Plugin):
    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Set something aside for the pod on its node, or return why that is impossible."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Undo ``reserve``, even if it was not called: a later step failed."""


class PermitPlugin(Plugin):
    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        """Return None to permit the binding, a rejection, or ``Status(Code.WAIT)``, with the longest wait in
        microseconds.
        """


class PreBindPlugin(Plugin):
    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Return False if ``pre_bind`` has nothing to do for the pod (upstream ``PreBindPreFlight``)."""
        return True

    @abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Do what must be done before the binding, or return why it failed."""


class PostBindPlugin(Plugin):
    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Tidy up: the pod is bound."""


# --- why a plugin decided ---


def because(text: str, ok: bool | None = None) -> Fact:
    """Return a conclusion or a remark of an ``explain_`` method, in a sentence. ``ok``: True speaks for the node.

    ``explain_filter(state, pod, node_info)`` returns ``Facts(because(…), (detail(…), …), status)``, with the status of
    ``filter``. ``explain_score(state, pod, node_info, raw)`` returns ``Facts(because(…), (detail(…), …), raw=…,
    normalized=…)``: the score of ``score``, and what ``normalize_score`` makes of it. Without these methods, answers
    show the recorded reasons and scores.
    """
    return fact("own.because", ok, text=text)


def detail(label: str, formula: str, note: str = "", ok: bool | None = None) -> Fact:
    """Return a line of arithmetic: its subject, the sum itself, and a remark."""
    return fact("own.detail", ok, label=label, formula=formula, note=note)
