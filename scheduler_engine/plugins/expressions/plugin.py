"""A plugin whose answers are expressions: a class for each set of extension points.

A refusal that no eviction can change is UnschedulableAndUnresolvable: its expression reads neither the pods of the node
nor what they request. Source: design of the sandbox; messages as in upstream ``ValidatingAdmissionPolicy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.interface import Handle, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Code, Status, unresolvable, unschedulable
from scheduler_engine.plugins.expressions.evaluation import Evaluation
from scheduler_engine.plugins.expressions.facts import failure_facts, score_facts, verdict_facts
from scheduler_engine.plugins.expressions.points import Expression, compile_for, most_cost
from scheduler_engine.plugins.expressions.variables import Moment
from scheduler_engine.timeline import SECOND_US

NAME = "name"
"""The argument that holds the name of the plugin, which its class cannot know."""
TIMEOUT = "permitTimeoutSeconds"


class ExpressionPlugin(Plugin):
    """Evaluates expressions. ``args``: as in the configuration, with the plugin's ``name``."""

    name = ""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.name = args[NAME]  # type: ignore[misc]
        self.args = args

    def expression(self, field: str) -> Expression:
        return compile_for(field, self.args[field])

    @property
    def most_cost(self) -> int:
        return most_cost(len(self.handle.snapshot.list()))

    def evaluation(self, counts: bool = True) -> Evaluation:
        """Return what evaluates. ``counts``: the cost counts for the present command, as it is not only explained."""
        return Evaluation(self.args, self.most_cost, self.handle.recorder.effort if counts else None)

    def answer(self, field: str, moment: Moment, counts: bool = True) -> Any:
        """Return the result of an expression. Raises PluginError."""
        return self.evaluation(counts).answer(field, moment)

    def judge(self, field: str, moment: Moment, counts: bool = True) -> Status | None:
        """Return why an expression refuses the pod, None if it does not. Raises PluginError."""
        evaluation = self.evaluation(counts)
        if evaluation.answer(field, moment):
            return None
        refused = unschedulable if self.expression(field).reads_pods else unresolvable
        return refused(evaluation.message(field, moment))

    def explain(self, field: str, moment: Moment) -> Facts:
        """Return why an expression gives True or False, or why it fails."""
        try:
            status = self.judge(field, moment, counts=False)
        except PluginError as problem:
            return failure_facts(moment, str(problem))
        return verdict_facts(self.expression(field), moment, status, self.most_cost)


class WithPreFilter(ExpressionPlugin):
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        return None, self.judge("preFilter", Moment(pod))

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Facts:
        return self.explain("preFilter", Moment(pod))


class WithFilter(ExpressionPlugin):
    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return self.judge("filter", Moment(pod, node_info))

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        return self.explain("filter", Moment(pod, node_info))


class WithScore(ExpressionPlugin):
    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return int(self.answer("score", Moment(pod, node_info)))

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        moment = Moment(pod, node_info)
        score = int(self.answer("score", moment, counts=False))
        return score_facts(self.expression("score"), moment, score, self.most_cost)


class WithPermit(ExpressionPlugin):
    """With ``permitTimeoutSeconds``, a pod waits for True. When another pod comes to Permit, those that wait are judged
    again; for them, it waits, too.
    """

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        held = self.handle.scheduler.waiting_for(self.name, self.handle.framework)
        others = [other for other, _ in held]
        status = self.judge("permit", Moment(pod, self.handle.snapshot.get(node_name), tuple(others)))
        for other, host in held:
            self.ask_again(other, host, (*(item for item in others if item is not other), pod))
        if status is not None and TIMEOUT in self.args:
            return Status(Code.WAIT), self.args[TIMEOUT] * SECOND_US
        return status, 0

    def ask_again(self, pod: Pod, node_name: str, waiting: tuple[Pod, ...]) -> None:
        """Allow a waiting pod if the expression is true by now. An error, or a node that is gone, rejects it."""
        try:
            if self.answer("permit", Moment(pod, self.node_without(pod, node_name), waiting)):
                self.handle.scheduler.allow_waiting(pod.uid, self.name)
        except PluginError as problem:
            self.handle.scheduler.reject_waiting_pod(pod.uid, self.name, str(problem))

    def node_without(self, pod: Pod, node_name: str) -> NodeInfo:
        """Return the node of a waiting pod as it was on Permit: the pod is not among its pods. Raises PluginError."""
        node_info = self.handle.snapshot.get(node_name)
        if node_info is None:
            raise PluginError(f'nodeinfo not found for node name "{node_name}"')
        alone = node_info.clone()
        if any(info.pod.uid == pod.uid for info in alone.pods):
            alone.remove_pod(pod)
        return alone


PARTS: dict[str, type[ExpressionPlugin]] = {
    "preFilter": WithPreFilter,
    "filter": WithFilter,
    "score": WithScore,
    "permit": WithPermit,
}
"""Extension point → the class with its method."""
CLASSES: dict[tuple[str, ...], type[ExpressionPlugin]] = {}
"""Extension points → the class of plugins with just these. Each has a name in this module, so that pickle finds it."""


def plugin_class(args: Mapping[str, Any]) -> type[ExpressionPlugin]:
    """Return the class of a plugin with these arguments, with a method for each extension point that they have."""
    return CLASSES[tuple(point for point in PARTS if point in args)]


def _add_classes() -> None:
    for number in range(1, 2 ** len(PARTS)):
        points = tuple(point for place, point in enumerate(PARTS) if number >> place & 1)
        name = f"Plugin{number}"
        bases = tuple(PARTS[point] for point in points)
        CLASSES[points] = globals()[name] = type(name, bases, {"__module__": __name__})


_add_classes()
