"""The evaluator: may the pod preempt, which nodes would help, which is best, and making room there.

``evaluate`` only decides (and records the film: every node tried, every criterion applied); ``prepare_candidate`` acts.
If nodes are equal under all criteria the real scheduler takes any (the order of a Go map); here it is the first by
name. By default v1.34.1 deletes the victims in a goroutine after the attempt; a stage takes no time here, so
``prepare_candidate`` does it within PostFilter.
Source: seed 002 §9; upstream ``framework/preemption/preemption.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.fit_error import fit_error_message
from scheduler_engine.framework.interface import FrameworkView, Handle, NodeToStatus, PluginError, PostFilterResult
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_engine.preemption.by_sums import SumsOfPods, sums_of_pods
from scheduler_engine.preemption.candidates import (
    Budget,
    Candidate,
    DryRun,
    budget_from,
    in_vain,
    select_victims_on_node,
)
from scheduler_engine.preemption.criteria import climb
from scheduler_engine.preemption.extending import ask_about_candidates
from scheduler_engine.trace.events import (
    EventRecorded,
    PreemptionCriterionApplied,
    PreemptionLimited,
    PreemptionNodeTried,
)

NEVER, WAITING = "never", "waiting"
INELIGIBLE = {
    NEVER: "not eligible due to preemptionPolicy=Never.",
    WAITING: "not eligible due to a terminating pod on the nominated node.",
}
"""Why a pod may not preempt → Kubernetes' message."""
IN_MEMORY = " (in kube-scheduler memory)."
"""The end of the event about a victim that is not deleted."""
NO_CANDIDATE = "no candidate node for preemption"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
DISRUPTION_REASON = "PreemptionByScheduler"
PLUGIN = "DefaultPreemption"
EVALUATION, INELIGIBILITY = "evaluation", "ineligibility"
"""The plugin's notes in the CycleState, for facts: the ``Evaluation``, or the ``Ineligibility`` that prevents one."""
TERMINATING, GONE, AWAITING_PERMIT = "terminating", "gone", "waiting"
"""Why a victim need not be deleted."""
NotDeleted = tuple[tuple[str, str], ...]
"""((key of a victim, why nobody had to delete it), …)"""


@dataclass(frozen=True, slots=True)
class Ineligibility:
    """Why ``pod`` may not preempt: ``NEVER`` (its policy), or ``WAITING`` for the pods that are ``leaving`` its
    nominated node, by their keys.
    """

    why: str
    pod: Pod
    leaving: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return INELIGIBLE[self.why]

    @property
    def waits_for(self) -> str:
        """Return the node that the pod waits for, or ""."""
        return self.pod.nominated_node_name if self.leaving else ""


@dataclass(slots=True)
class Evaluation:
    """The findings of preemption for one pod.

    Evicting pods may help on the ``potential_nodes``, in snapshot order. Of the ``candidates`` among them (those
    without PDB violations first) the ``best_nodes`` (by name) are equal under every criterion, and ``chosen`` is the
    first of those. ``rejected``: why tried nodes are not candidates. ``lower_nominations``: keys of lower-priority
    pods nominated to the chosen node.

    ``pod``, ``budgets`` and ``nominated`` (node → the nominated pods that counted there) are what the dry runs used.
    ``tried``: node → notes of the filters in its dry run, in order. Filter's own notes may be older.
    ``failure``: an extender failed, or left no candidate.
    """

    pod: Pod
    budgets: tuple[Budget, ...]

    potential_nodes: tuple[str, ...] = ()
    candidates_to_find: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    rejected: dict[str, Status] = field(default_factory=dict)
    best_nodes: tuple[str, ...] = ()
    chosen: Candidate | None = None
    lower_nominations: tuple[str, ...] = ()
    nominated: dict[str, tuple[PodInfo, ...]] = field(default_factory=dict)
    tried: dict[str, dict[str, dict[Any, Any]]] = field(default_factory=dict)
    failure: Status | None = None


class Evaluator:
    """Preemption for one profile. ``percentage`` and ``absolute`` limit the search for candidates."""

    def __init__(self, handle: Handle, percentage: int, absolute: int) -> None:
        self.handle = handle
        self.percentage = percentage
        self.absolute = absolute

    def preempt(self, state: CycleState, pod: Pod, statuses: NodeToStatus) -> tuple[PostFilterResult | None, Status]:
        """Make room for ``pod`` if that helps.

        Without a result the pod's nomination stays; a nominated node "" clears it.
        """
        latest = self.handle.objects.get("Pod", pod.key)
        if not isinstance(latest, Pod) or latest.finished:
            return None, error(f'pod "{pod.name}" not found')
        ineligible = self.ineligible(latest, statuses)
        if ineligible is not None:
            state.notes(PLUGIN).setdefault(INELIGIBILITY, ineligible)
            result = PostFilterResult(None, ineligible=ineligible.why, waits_for=ineligible.waits_for)
            return result, unschedulable(ineligible.message)
        evaluation = self.evaluate(state, latest, statuses)
        if evaluation.failure is not None:
            return None, evaluation.failure
        if evaluation.chosen is None:
            return self._nowhere(evaluation)
        # If all victims are already terminating, upstream does nothing more, so lower nominations stay, too.
        all_leave = all(victim.terminating for victim in evaluation.chosen.victims)
        cleared = () if all_leave else evaluation.lower_nominations
        problem, not_deleted = self.prepare_candidate(evaluation.chosen, cleared, latest)
        if problem is not None:
            return None, problem
        return (
            PostFilterResult(
                evaluation.chosen.node,
                evaluation.chosen.victims,
                evaluation.best_nodes,
                cleared,
                not_deleted,
            ),
            SUCCESS,
        )

    def _nowhere(self, evaluation: Evaluation) -> tuple[PostFilterResult | None, Status]:
        errors = [status.message for status in evaluation.rejected.values() if status.code is Code.ERROR]
        if errors:
            distinct = list(dict.fromkeys(errors))
            return None, error(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")
        statuses = NodeToStatus(unresolvable(NOT_HELPFUL), evaluation.rejected)
        message = fit_error_message(len(self.handle.snapshot.list()), statuses)
        return PostFilterResult(""), unschedulable(message)

    def ineligible(self, pod: Pod, statuses: NodeToStatus) -> Ineligibility | None:
        """Return why ``pod`` may not preempt, None if it may."""
        if pod.preemption_policy == "Never":
            return Ineligibility(NEVER, pod)
        nominated = pod.nominated_node_name
        if not nominated or statuses.get(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return None
        node_info = self.handle.snapshot.get(nominated)
        leaving = tuple(
            info.pod.key
            for info in (node_info.pods if node_info is not None else ())
            if info.pod.priority < pod.priority and _terminating_by_preemption(info.pod)
        )
        return Ineligibility(WAITING, pod, leaving) if leaving else None

    def evaluate(self, state: CycleState, pod: Pod, statuses: NodeToStatus, *, every_node: bool = False) -> Evaluation:
        """Find candidates and the best of them, changing nothing. ``every_node`` removes the limit on candidates."""
        potential = statuses.nodes_for_code(self.handle.snapshot, Code.UNSCHEDULABLE)
        evaluation = Evaluation(
            pod,
            tuple(budget_from(pdb) for pdb in self.handle.objects.list("PodDisruptionBudget")),
            tuple(info.name for info in potential),
            self.candidates_to_find(len(potential)),
        )
        state.notes(PLUGIN).setdefault(EVALUATION, evaluation)
        enough = len(potential) if every_node else evaluation.candidates_to_find
        self._find_candidates(evaluation, state, pod, potential, enough)
        if evaluation.candidates and self.handle.extenders:
            self._ask_extenders(evaluation)
        best, rungs = climb(evaluation.candidates)
        for rung in rungs:
            self.handle.recorder.add(
                PreemptionCriterionApplied(
                    self.handle.cycle, rung.criterion.name, rung.values, rung.survivors, rung.fallen
                )
            )
        if best:
            best.sort(key=lambda candidate: candidate.node)
            evaluation.best_nodes = tuple(candidate.node for candidate in best)
            evaluation.chosen = best[0]
            nominated = self.handle.nominator.nominated_pods_for_node(best[0].node)
            evaluation.lower_nominations = tuple(
                info.pod.key for info in nominated if info.pod.priority < pod.priority and info.pod.nominated_node_name
            )
        return evaluation

    def _ask_extenders(self, evaluation: Evaluation) -> None:
        try:
            evaluation.candidates = ask_about_candidates(self.handle, evaluation.pod, evaluation.candidates)
        except ExtenderError as problem:
            evaluation.candidates, evaluation.failure = [], error(str(problem))
        else:
            evaluation.failure = None if evaluation.candidates else unschedulable(NO_CANDIDATE)

    def framework(self) -> FrameworkView:
        framework = self.handle.framework
        if framework is None:
            raise PluginError("preemption needs the framework that runs it")
        return framework

    def candidates_to_find(self, potential_nodes: int) -> int:
        return min(max(potential_nodes * self.percentage // 100, self.absolute), potential_nodes)

    def _find_candidates(
        self, evaluation: Evaluation, state: CycleState, pod: Pod, potential: list[NodeInfo], enough: int
    ) -> None:
        """Try node after node until there are ``enough``, one of them without PDB violation.

        The first node is drawn only if not all nodes may be tried. With few nodes a percentage alone can give 0
        candidates: then every node is tried in vain, as upstream.
        """
        framework = self.framework()
        offset = self.handle.random.randrange(len(potential)) if enough < len(potential) else 0
        sums = None if self.handle.recorder.full else sums_of_pods(self.handle, framework, state, pod)
        named = dict.fromkeys(self.handle.nominator.nominated_nodes())
        harmless: list[Candidate] = []
        violating: list[Candidate] = []
        for node_info in potential[offset:] + potential[:offset]:
            run = self._dry_run(evaluation, state, node_info, sums, node_info.name in named)
            self._record(run)
            if run.rejected is not None:
                evaluation.rejected[run.node] = run.rejected
                continue
            candidate = run.candidate
            (violating if candidate.pdb_violations else harmless).append(candidate)
            if enough and harmless and len(harmless) + len(violating) >= enough:
                break
        evaluation.candidates = harmless[:enough] + violating[:enough]
        if enough < len(potential):
            surplus = harmless[enough:] + violating[enough:]
            tried = len(evaluation.rejected) + len(harmless) + len(violating)
            self._record_limit(evaluation, potential[offset].name, tried, surplus)

    def _dry_run(
        self, evaluation: Evaluation, state: CycleState, node_info: NodeInfo, sums: SumsOfPods | None, named: bool
    ) -> DryRun:
        """Try one node in the cheapest way that answers. ``named``: pods are nominated to it."""
        framework, pod, name = self.framework(), evaluation.pod, node_info.name
        noted = evaluation.tried[name] = {}
        nominated = framework.nominated_for(pod, name) if named else ()
        if not nominated and sums is not None and not evaluation.budgets:
            run = sums.kept.get(node_info.slot)
            if run is not None:
                return run
        run = in_vain(pod, node_info)
        if run is not None:
            return run
        if nominated:
            evaluation.nominated[name] = tuple(nominated)
        elif sums is not None:
            run = sums.dry_run(node_info, evaluation.budgets, noted)
            if run is not None:
                return run
        copied = state.clone()
        copied.noted = noted
        return select_victims_on_node(framework, copied, pod, node_info.clone(), evaluation.budgets)

    def _record_limit(self, evaluation: Evaluation, first: str, tried: int, surplus: Sequence[Candidate]) -> None:
        self.handle.recorder.add(
            PreemptionLimited(
                self.handle.cycle,
                len(evaluation.potential_nodes),
                evaluation.candidates_to_find,
                self.percentage,
                self.absolute,
                first,
                tried,
                tuple(candidate.node for candidate in surplus),
            )
        )

    def _record(self, run: DryRun) -> None:
        recorder = self.handle.recorder
        recorder.add(
            PreemptionNodeTried(
                self.handle.cycle,
                run.node,
                tuple(run.steps) if recorder.full else (),
                run.violating,
                run.victim_keys,
                run.pdb_violations,
                run.rejected.message if run.rejected is not None else "",
            )
        )

    def prepare_candidate(
        self, chosen: Candidate, cleared_nominations: Sequence[str], pod: Pod
    ) -> tuple[Status | None, NotDeleted]:
        """Withdraw lower nominations to the chosen node, then delete the victims.

        Return an error status if that is refused, and the victims that nobody had to delete. The order is that of
        upstream's asynchronous preemption (``prepareCandidateAsync``), the default.
        """
        not_deleted: list[tuple[str, str]] = []
        try:
            for key in cleared_nominations:
                if self.handle.objects.get("Pod", key) is not None:
                    self.handle.api.patch("Pod", key, {"status": {"nominatedNodeName": None}})
            for victim in chosen.victims:
                why = self._make_go(victim, chosen.node, pod)
                if why:
                    not_deleted.append((victim.key, why))
        except ApiError as refusal:
            return error(str(refusal)), ()
        return None, tuple(not_deleted)

    def _make_go(self, victim: Pod, node: str, pod: Pod) -> str:
        """Delete a victim; return "", or why that is not needed."""
        if victim.terminating:
            return TERMINATING
        if not self._still_there(victim):
            return GONE
        return "" if self._preempt_pod(victim, node, pod) else AWAITING_PERMIT

    def _still_there(self, victim: Pod) -> bool:
        """Check that the victim still exists: the snapshot may be out of date."""
        current = self.handle.objects.get("Pod", victim.key)
        return current is not None and current.uid == victim.uid

    def _preempt_pod(self, victim: Pod, node: str, pod: Pod) -> bool:
        """Delete the victim. Return False if it waits on Permit: then its wait ends, and it is queued again."""
        message = f"{pod.scheduler_name}: preempting to accommodate a higher priority pod"
        scheduler, backs_off = self.handle.scheduler, self.handle.rules.preempted_waiting_pods_back_off
        if backs_off:
            waited = scheduler.preempt_binding_pod(victim.uid, PLUGIN)
        else:
            waited = scheduler.reject_waiting_pod(victim.uid, PLUGIN, "preempted")
        if not waited:
            self.handle.api.delete_pod(victim.key, DISRUPTION_REASON, message)
        text = f"Preempted by pod {pod.uid} on node {node}{IN_MEMORY if waited and backs_off else ''}"
        self.handle.recorder.add(EventRecorded("Pod", victim.key, "Normal", "Preempted", text, uid=victim.uid))
        return not waited


def ineligibility_of(state: CycleState) -> Ineligibility | None:
    """Return the note on why the pod of this cycle may not preempt, None if there is none."""
    note: Ineligibility | None = state.noted.get(PLUGIN, {}).get(INELIGIBILITY)
    return note


def evaluation_of(state: CycleState) -> Evaluation:
    """Return the note on the dry runs of this cycle. Raises PluginError if there were none."""
    evaluation = state.noted.get(PLUGIN, {}).get(EVALUATION)
    if not isinstance(evaluation, Evaluation):
        raise PluginError("there was no dry run")
    return evaluation


def _terminating_by_preemption(pod: Pod) -> bool:
    if not pod.terminating:
        return False
    disruption = pod.condition("DisruptionTarget") or {}
    return disruption.get("status") == "True" and disruption.get("reason") == DISRUPTION_REASON
