"""A simulated extender: it answers as a server would that evaluates expressions of the configuration.

Nothing is sent anywhere, and no time passes. Errors have the words of kube-scheduler's HTTP client. Source: design of
the sandbox; upstream ``extender.go`` and Go's package ``net/http`` for the words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_engine.framework.extender import EXTENDER, MAX_EXTENDER_PRIORITY
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import TOO_LATE, Address, View
from scheduler_engine.framework.facts import Fact, Facts, fact
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import unresolvable, unschedulable
from scheduler_engine.plugins.expressions.evaluation import Evaluation
from scheduler_engine.plugins.expressions.facts import extender_score_facts, failure_facts, verdict_facts
from scheduler_engine.plugins.expressions.points import default_message, most_cost
from scheduler_engine.plugins.expressions.variables import Moment
from scheduler_engine.words import say

SCHEME = "simulated://"
VERBS = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt", "bindVerb": "bind"}
"""Field of an extender with a verb → the expression that answers it."""
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class SimulatedExtender:
    """``url``: its ``urlPrefix``. ``timeout_ns``: how long an answer may take. ``verbs``: verb → the expression that
    answers it. ``settings``: as configured.
    """

    url: str
    timeout_ns: int
    verbs: Mapping[str, str]
    settings: Mapping[str, Any]

    def ask(self, address: Address, verb: str, arguments: Mapping[str, Any], view: View) -> Any:
        """Return the answer to a call. Raises ExtenderError if the call or an expression fails."""
        if self.is_late:
            raise ExtenderError(f'Post "{address.verb_url(verb)}": {TOO_LATE}')
        if self.settings.get("failure"):
            raise ExtenderError(self.settings["failure"])
        try:
            return ANSWERS[self.verbs[verb]](self, arguments, view)
        except PluginError as problem:
            raise ExtenderError(str(problem)) from problem

    @property
    def is_late(self) -> bool:
        return bool(self.settings.get("answersAfterSeconds", 0) * SECOND_NS > self.timeout_ns)

    def evaluation(self, view: View) -> Evaluation:
        return Evaluation(self.settings, most_cost(view.nodes), view.effort)

    def refusal(self, view: View, moment: Moment) -> str:
        """Return why it refuses a node, "" if it does not. Raises PluginError."""
        evaluation = self.evaluation(view)
        return "" if evaluation.answer("filter", moment) else evaluation.message("filter", moment)

    def score(self, view: View, moment: Moment) -> int:
        """Return the score of a node. Raises PluginError."""
        score: int = self.evaluation(view).answer("prioritize", moment)
        if not 0 <= score <= MAX_EXTENDER_PRIORITY:
            raise PluginError(say("expressions.score-range", score=score, most=MAX_EXTENDER_PRIORITY))
        return score

    def explain_filter(self, view: View, node: str) -> Facts | None:
        """Return why it passes or refuses a node; None if it is not asked, or if its calls fail."""
        if "filter" not in self.settings or self.is_late or self.settings.get("failure"):
            return None
        moment = Moment(view.pod, node_in(view, node))
        try:
            text = self.refusal(view, moment)
        except PluginError as problem:
            return self._named(failure_facts(moment, str(problem)))
        refused = unresolvable if self.settings.get("unresolvable") else unschedulable
        status = refused(text).by(EXTENDER) if text else None
        expression = self.evaluation(view).expression("filter")
        return self._named(verdict_facts(expression, moment, status, most_cost(view.nodes)))

    def explain_score(self, view: View, node: str) -> Facts | None:
        """Return why it gives a node its score; None if it gives none."""
        moment = Moment(view.pod, node_in(view, node))
        try:
            score = self.score(view, moment)
        except PluginError:
            return None
        expression = self.evaluation(view).expression("prioritize")
        return self._named(extender_score_facts(expression, moment, score, most_cost(view.nodes)))

    def _named(self, facts: Facts) -> Facts:
        shown: tuple[Fact, ...] = (fact("expressions.extender", name=self.url), *facts.shown)
        return replace(facts, shown=shown)


def node_in(view: View, name: str) -> NodeInfo:
    """Return a node without the pod, which may be assumed there. Raises PluginError."""
    info = view.node(name)
    if info is None or info.node is None:
        raise PluginError(f'nodeinfo not found for node name "{name}"')
    if any(there.pod.uid == view.pod.uid for there in info.pods):
        info = info.clone()
        info.remove_pod(view.pod)
    return info


def _filtered(extender: SimulatedExtender, arguments: Mapping[str, Any], view: View) -> Any:
    nodes = {item["metadata"]["name"]: item for item in (arguments["Nodes"] or {}).get("items", ())}
    names = nodes if arguments["NodeNames"] is None else arguments["NodeNames"]
    said = {name: extender.refusal(view, Moment(view.pod, node_in(view, name))) for name in names}
    passing = [name for name, text in said.items() if not text]
    failed = "FailedAndUnresolvableNodes" if extender.settings.get("unresolvable") else "FailedNodes"
    return {
        "NodeNames": None if arguments["NodeNames"] is None else passing,
        "Nodes": {"items": [nodes[name] for name in passing]} if arguments["NodeNames"] is None else None,
        failed: {name: text for name, text in said.items() if text},
    }


def _ranked(extender: SimulatedExtender, arguments: Mapping[str, Any], view: View) -> Any:
    items = (arguments["Nodes"] or {}).get("items", ())
    names = arguments["NodeNames"] or [item["metadata"]["name"] for item in items]
    return [{"Host": name, "Score": extender.score(view, Moment(view.pod, node_in(view, name)))} for name in names]


def _left(extender: SimulatedExtender, arguments: Mapping[str, Any], view: View) -> Any:
    """Keep candidates with all their victims. Only uids are sent back, as victims are named there."""
    candidates = arguments["NodeNameToMetaVictims"] or arguments["NodeNameToVictims"] or {}
    kept: dict[str, Any] = {}
    for name, chosen in candidates.items():
        info = node_in(view, name)
        uids = [pod.get("UID") or pod["metadata"]["uid"] for pod in chosen["Pods"]]
        victims = tuple(there.pod.manifest for there in info.pods if there.pod.uid in uids)
        if extender.evaluation(view).answer("preempt", Moment(view.pod, info, victims=victims)):
            kept[name] = {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": chosen["NumPDBViolations"]}
    return {"NodeNameToMetaVictims": kept}


def _bound(extender: SimulatedExtender, arguments: Mapping[str, Any], view: View) -> Any:
    agrees = extender.evaluation(view).answer("bind", Moment(view.pod, node_in(view, arguments["Node"])))
    return {"Error": "" if agrees else default_message(extender.settings["bind"])}


ANSWERS: dict[str, Callable[[SimulatedExtender, Mapping[str, Any], View], Any]] = {
    "filter": _filtered,
    "prioritize": _ranked,
    "preempt": _left,
    "bind": _bound,
}
"""Expression → the function that answers a call by it."""
