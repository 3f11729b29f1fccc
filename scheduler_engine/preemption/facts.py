"""Why the dry run on a node ended as it did, and why one candidate won: the facts of what ``preemption`` decided.

The dry run is repeated with the same code and the same data. Filters that give facts say why they pass or refuse.
Source: upstream ``plugins/defaultpreemption/default_preemption.go`` and ``framework/preemption/preemption.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import pod_requests, resource_of
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import (
    DryRunFacts,
    DryRunRoom,
    DryRunStep,
    Fact,
    Facts,
    Keys,
    RungFacts,
    Value,
    fact,
)
from scheduler_engine.framework.interface import FrameworkView, PluginError
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.runtime import ACTIVE_FILTERS, refusal_by
from scheduler_engine.framework.status import Status, error, unresolvable, unschedulable
from scheduler_engine.preemption.candidates import (
    NOT_STARTED_US,
    Candidate,
    DryRun,
    Turn,
    lower_pods,
    select_victims_on_node,
    start_us,
    turns_of,
)
from scheduler_engine.preemption.criteria import CRITERIA, PRIORITY_OFFSET, Rung, climb
from scheduler_engine.preemption.preemption import NOT_HELPFUL, Evaluation, Ineligibility
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import NO_VICTIMS

Checked = tuple[tuple[str, Facts], ...]
"""((plugin, its facts), …): the filters that were asked, up to the first refusal."""


@dataclass(slots=True)
class ExplainingFilters:
    """Judge a node as the filters did, with the nominated pods of that moment, and keep the facts of each check."""

    framework: FrameworkView
    nominated: Sequence[PodInfo]
    checks: list[Checked] = field(default_factory=list)

    def __call__(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        status, checked = self._both_runs(state, pod, info)
        self.checks.append(checked)
        return status

    def _both_runs(self, state: CycleState, pod: Pod, info: NodeInfo) -> tuple[Status | None, Checked]:
        if self.nominated:
            with_state, with_info, problem = self.framework.with_pods(state, pod, info, self.nominated)
            if problem is not None:
                return problem, ()
            status, checked = self._asked(with_state, pod, with_info)
            if status is not None:
                return status, self._with_nominated(checked, "nominated.counted")
        status, checked = self._asked(state, pod, info)
        if status is not None and self.nominated:
            checked = self._with_nominated(checked, "nominated.must-pass-without")
        return status, checked

    def _with_nominated(self, checked: Checked, key: str) -> Checked:
        """Add to the refusal that nominated pods counted, or that the pod must fit without them, too."""
        *others, (plugin, facts) = checked
        line = fact(key, pods=Keys(item.pod.key for item in self.nominated))
        return (*others, (plugin, replace(facts, shown=(*facts.shown, line))))

    def _asked(self, state: CycleState, pod: Pod, info: NodeInfo) -> tuple[Status | None, Checked]:
        checked: list[tuple[str, Facts]] = []
        for name in (item.name for item in state.data[ACTIVE_FILTERS]):
            facts = self._facts(name, state, pod, info)
            checked.append((name, facts))
            if facts.status is not None:
                return refusal_by(name, facts.status), tuple(checked)
        return None, tuple(checked)

    def _facts(self, name: str, state: CycleState, pod: Pod, info: NodeInfo) -> Facts:
        """Return the facts of a filter; of one without facts, its status."""
        plugin = self.framework.plugins[name]
        try:
            if hasattr(plugin, "explain_filter"):
                facts: Facts = plugin.explain_filter(state, pod, info)
                return facts
            status: Status | None = plugin.filter(state, pod, info)  # type: ignore[attr-defined]
        except PluginError as problem:
            status = error(str(problem))
        if status is None:
            return Facts(fact("preemption.passes", True, plugin=name, node=info.name))
        return Facts(
            fact("preemption.refuses", False, plugin=name, node=info.name, reasons=status.message), status=status
        )


def dry_run_facts(
    framework: FrameworkView, state: CycleState, node_info: NodeInfo, evaluation: Evaluation
) -> DryRunFacts:
    """Repeat the dry run on a node and say why."""
    name, pod = node_info.name, evaluation.pod
    judge = ExplainingFilters(framework, evaluation.nominated.get(name, ()))
    copied = state.clone()
    copied.noted = {topic: dict(notes) for topic, notes in evaluation.tried[name].items()}
    run = select_victims_on_node(framework, copied, pod, node_info.clone(), evaluation.budgets, judge)
    steps = tuple(_steps(run, pod, judge.checks))
    victims = tuple(victim.key for victim in run.victims)
    violated = violated_budgets(node_info, evaluation)
    violations = {key: violated[key] for key in victims if key in violated}
    return DryRunFacts(_conclusion(run, pod, steps), victims, violations, steps)


def not_tried_facts(node: str, evaluation: Evaluation) -> DryRunFacts:
    """Say why no dry run took place on a node."""
    about: dict[str, Value] = {"node": node, "pod": Keys((evaluation.pod.key,)), "count": evaluation.candidates_to_find}
    if node in evaluation.potential_nodes:
        return DryRunFacts(Facts(fact("preemption.enough-before", **about)))
    return DryRunFacts(Facts(fact("preemption.cannot-help", False, **about), status=unresolvable(NOT_HELPFUL)))


def ineligible_facts(ineligible: Ineligibility) -> Facts:
    """Say why preemption tries no node."""
    row = "waits-for-victims" if ineligible.leaving else "never-preempts"
    says = fact(
        f"preemption.{row}",
        False,
        pod=Keys((ineligible.pod.key,)),
        node=ineligible.waits_for,
        victims=Keys(ineligible.leaving),
        count=len(ineligible.leaving),
    )
    return Facts(says, status=unschedulable(ineligible.message))


def violated_budgets(node_info: NodeInfo, evaluation: Evaluation) -> dict[str, tuple[str, ...]]:
    """Return key of a pod of lower priority → keys of the budgets that its eviction would violate."""
    turns = turns_of(lower_pods(evaluation.pod, node_info), evaluation.budgets)
    return {turn.info.pod.key: turn.violated for turn in turns if turn.violates}


def room_on(pod: Pod, node_info: NodeInfo, resource: str, evaluation: Evaluation) -> DryRunRoom:
    """Return what the dry run on a node reckoned with; ``pod``: as popped, for PreFilter read its requests then."""
    asked = resource_of(pod_requests(pod, use_status=False)).of(resource)
    waiting = _requests(evaluation.nominated.get(node_info.name, ()), resource)
    return DryRunRoom(node_info.allocatable.of(resource), asked, _requests(node_info.pods, resource), waiting)


def _requests(pods: Sequence[PodInfo], resource: str) -> tuple[tuple[str, int], ...]:
    return tuple((item.pod.key, item.resource.request.of(resource)) for item in pods)


def _conclusion(run: DryRun, pod: Pod, steps: Sequence[DryRunStep]) -> Facts:
    about: dict[str, Value] = {"node": run.node, "pod": Keys((pod.key,))}
    if run.rejected is None:
        victims = Keys(victim.key for victim in run.victims)
        row = "candidate-with-violations" if run.pdb_violations else "candidate"
        says = fact(f"preemption.{row}", True, **about, victims=victims, count=run.pdb_violations)
        return Facts(says, tuple(item for step in steps for item in step.facts.shown))
    if not run.removed and run.rejected.reasons == (NO_VICTIMS,):
        return Facts(fact("preemption.nobody-lower", False, **about, priority=pod.priority), status=run.rejected)
    refused = next((step.facts for step in steps if step.action == "fits" and not step.ok), None)
    if refused is not None:
        return Facts(refused.says, refused.shown, run.rejected)
    return Facts(fact("preemption.failed", False, **about, reason=run.rejected.message), status=run.rejected)


def _steps(run: DryRun, pod: Pod, checks: Sequence[Checked]) -> Iterator[DryRunStep]:
    """Yield the steps in order; the filters ran in all but those that remove a pod."""
    removed, turns, left = iter(run.removed), iter(enumerate(run.turns, 1)), iter(checks)
    for action, key, ok, reason in run.steps:
        if action == "remove":
            yield DryRunStep(action, key, ok, reason, _removal(next(removed), pod))
            continue
        checked = next(left)
        if action == "fits":
            facts = _all_out(run, pod, ok, checked)
        else:
            number, turn = next(turns)
            facts = _reprieve(run, pod, ok, checked, turn, number)
        yield DryRunStep(action, key, ok, reason, facts, checked)


def _removal(victim: Pod, pod: Pod) -> Facts:
    values: dict[str, Value] = {"victim": Keys((victim.key,)), "priority": victim.priority, "own": pod.priority}
    return Facts(fact("preemption.removed", True, **values))


def _all_out(run: DryRun, pod: Pod, ok: bool, checked: Checked) -> Facts:
    about: dict[str, Value] = {"node": run.node, "pod": Keys((pod.key,)), "count": len(run.removed)}
    if ok:
        return Facts(fact("preemption.fits-without", True, **about))
    why, shown = _refusal(run, checked)
    return Facts(fact("preemption.still-refused", False, **about, why=why), shown, run.rejected)


def _reprieve(run: DryRun, pod: Pod, ok: bool, checked: Checked, turn: Turn, number: int) -> Facts:
    victim = turn.info.pod
    about: dict[str, Value] = {"node": run.node, "pod": Keys((pod.key,)), "victim": Keys((victim.key,))}
    shown = (_turn(turn, number, len(run.turns)), *_charges(turn))
    if ok:
        return Facts(fact("preemption.may-stay", True, **about), shown)
    why, refused = _refusal(run, checked)
    return Facts(fact("preemption.must-leave", False, **about, why=why), (*shown, *refused))


def _refusal(run: DryRun, checked: Checked) -> tuple[Fact, tuple[Fact, ...]]:
    """Return what the filter that refused says, and what of its arithmetic does not speak for the node."""
    if not checked or checked[-1][1].status is None:
        return fact("preemption.nominated-pod-failed", False, node=run.node), ()
    facts = checked[-1][1]
    return facts.says, tuple(item for item in facts.shown if item.ok is not True)


def _turn(turn: Turn, number: int, count: int) -> Fact:
    row, victim = "turn-of-protected" if turn.violates else "turn", turn.info.pod
    start = _start(start_us(victim))
    return fact(f"preemption.{row}", number=number, count=count, priority=victim.priority, start=start)


def _charges(turn: Turn) -> Iterator[Fact]:
    for charge in turn.charges:
        row = "budget-violated" if charge.after < 0 else "budget-allows"
        budget = Keys((charge.budget,))
        yield fact(f"preemption.{row}", charge.after >= 0, budget=budget, before=charge.before, after=charge.after)


def _start(at_us: int) -> Fact:
    if at_us == NOT_STARTED_US:
        return fact("preemption.not-started")
    return fact("preemption.started", seconds=at_us / SECOND_US)


# --- the ladder -------------------------------------------------------------------------------------------------------


def _number(candidate: Candidate, number: int) -> dict[str, Value]:
    return {"number": number}


def _sum(candidate: Candidate, number: int) -> dict[str, Value]:
    victims = len(candidate.victims)
    return {"number": number, "priorities": number - victims * PRIORITY_OFFSET, "victims": victims}


def _latest(candidate: Candidate, number: int) -> dict[str, Value]:
    return {"number": number, "start": _start(-number)}


VALUES: dict[str, tuple[str, Callable[[Candidate, int], dict[str, Value]]]] = {
    "preemption.smallest-sum": ("preemption.value-sum", _sum),
    "preemption.latest-start": ("preemption.value-start", _latest),
}
"""Key of a criterion → key and values of a candidate's fact; for the others, the plain number."""


def choice_facts(evaluation: Evaluation) -> tuple[RungFacts, ...]:
    """Climb the ladder again and say why one candidate won; then the criteria that were not needed."""
    by_node = {candidate.node: candidate for candidate in evaluation.candidates}
    best, rungs = climb(evaluation.candidates)
    facts = [_rung(rung, by_node) for rung in rungs]
    last = fact("preemption.first-by-name")
    if len(best) > 1:
        return (*facts, _first_by_name(last, evaluation))
    idle = [fact(criterion.key) for criterion in CRITERIA[len(rungs) :]] if rungs else []
    return (*facts, *(RungFacts(item, Facts(item)) for item in (*idle, *([last] if rungs else []))))


def _rung(rung: Rung, by_node: dict[str, Candidate]) -> RungFacts:
    criterion = fact(rung.criterion.key)
    key, values = VALUES.get(rung.criterion.key, ("preemption.value", _number))
    shown = tuple(
        fact(key, node in rung.survivors, node=node, **values(by_node[node], number)) for node, number in rung.numbers
    )
    survivors, fallen = Keys(rung.survivors), Keys(rung.fallen)
    row = "rung-decides" if fallen else "rung-equal"
    says = fact(f"preemption.{row}", criterion=criterion, survivors=survivors, fallen=fallen, count=len(survivors))
    return RungFacts(criterion, Facts(says, shown), rung.survivors, rung.fallen)


def _first_by_name(criterion: Fact, evaluation: Evaluation) -> RungFacts:
    first, *others = evaluation.best_nodes
    shown = tuple(fact("preemption.value-name", node == first, node=node) for node in evaluation.best_nodes)
    says = fact("preemption.rung-draw", node=first, count=len(evaluation.best_nodes))
    return RungFacts(criterion, Facts(says, shown), (first,), tuple(others))
