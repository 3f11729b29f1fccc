"""Scheduling and binding cycles: a table per stage, faults, and the outcome."""

from __future__ import annotations

from typing import Literal

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event, Verdict
from scheduler_engine.trace.events.pairs import Pairs, Tables

FilterRow = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
"""(node, failing plugin or "", code, reasons, nominated pods that counted there)"""


@record(frozen=True, slots=True)
class CycleStarted(Event):
    """A pod was popped. ``cycle`` numbers scheduling cycles from 1."""

    cycle: int
    pod: str
    profile: str
    attempt: int
    nominated_node: str


@record(frozen=True, slots=True)
class StageFinished(Event):
    """A stage of THE table ran. ``note`` says in words what it came to; ``next_stage`` "" = the cycle is over.

    Stages that a cycle skips (PostFilter if nodes fit, PreScore and Score with one feasible node) have no event.
    """

    cycle: int
    pod: str
    stage: str
    note: str
    next_stage: str


@record(frozen=True, slots=True)
class PreFilterRan(Event):
    """``verdicts`` of every PreFilter plugin asked, in order; ``node_names`` the nodes the search was narrowed to."""

    cycle: int
    verdicts: tuple[Verdict, ...]
    node_names: tuple[str, ...] | None


@record(frozen=True, slots=True)
class FilterRan(Event):
    """One whole Filter stage.

    ``plugins`` are the Filter plugins in running order, then ``Extender`` if one filters; ``skipped`` those PreFilter
    skipped. ``rows`` hold, in visiting order, ``(node, plugin, code, reasons, with_nominated)``: plugin "" and code
    Success = passes; else the first plugin that failed. ``with_nominated`` lists the nominated pods that were added for
    the first of the two runs.
    ``start_index`` … ``next_start_index`` are indices into the snapshot's list; ``feasible`` in the order found.
    ``also``: per failed node, the verdicts of the filters after the first failing one, each run alone (the real
    scheduler does not run them). ``nominated``: the row of the nominated node, which was tried first and did not fit;
    the search may visit it again. It counts in ``next_start_index``, unless its code is Error.
    """

    cycle: int
    plugins: tuple[str, ...]
    skipped: tuple[str, ...]
    rows: tuple[FilterRow, ...]
    feasible: tuple[str, ...]
    all_nodes: int
    searched: int
    nodes_to_find: int
    start_index: int
    next_start_index: int
    nominated_first: str
    also: tuple[tuple[str, tuple[Verdict, ...]], ...] = ()
    feasible_count: int = 0
    nominated: FilterRow | None = None

    @property
    def tried_first(self) -> str:
        """Return the nominated node if the search did not visit it again, else ""."""
        if self.nominated is None or any(row[0] == self.nominated[0] for row in self.rows):
            return ""
        return self.nominated[0]

    @property
    def looked_at(self) -> tuple[FilterRow, ...]:
        """Return one row per visited node: the nominated one first, then ``rows``."""
        if self.nominated is None or not self.tried_first:
            return self.rows
        return (self.nominated, *self.rows)

    @property
    def cut_short(self) -> Literal["", "nominated", "enough"]:
        """Return why nodes that may fit were not visited: ``nominated``, as the nominated node fits, or ``enough``, as
        enough nodes fit. Return "" if there was no such node, and in a lean trace.
        """
        passing = [row[0] for row in self.rows if not row[1]]
        if self.nominated is None and passing == [self.nominated_first]:
            return "nominated" if self.all_nodes > 1 else ""
        return "enough" if len(passing) > len(self.feasible) or 0 < len(self.rows) < self.searched else ""


@record(frozen=True, slots=True)
class ExtenderAsked(Event):
    """An extender was asked: ``call`` is ``filter``, ``prioritize``, ``preempt`` or ``bind``, about ``nodes``.

    ``remaining``: the nodes that pass, or the candidates that remain. ``failed``: (node, code, message). ``scores``:
    (node, the extender's score, the points that it adds to the total), by its ``weight``. ``victims``: (node, pods to
    evict there).
    ``error``: the call failed; ``ignored``: that did not fail the pod.
    """

    cycle: int
    pod: str
    extender: str
    call: str
    nodes: tuple[str, ...]
    remaining: tuple[str, ...] = ()
    failed: tuple[tuple[str, str, str], ...] = ()
    scores: tuple[tuple[str, int, int], ...] = ()
    victims: tuple[tuple[str, tuple[str, ...]], ...] = ()
    error: str = ""
    ignored: bool = False
    weight: int = 0

    def drops(self, node: str) -> bool:
        """Return True if a node is not among those that remain."""
        return not self.error and node not in self.remaining


@record(frozen=True, slots=True)
class PodUnschedulable(Event):
    """The FitError: no node was feasible. ``message`` is the text after Filter (no PostFilter part yet)."""

    cycle: int
    pod: str
    message: str
    plugins: tuple[str, ...]


NO_VICTIMS = "No preemption victims found for incoming pod"
"""Why a node without pods of lower priority is no candidate."""


@record(frozen=True, slots=True)
class PreemptionNodeTried(Event):
    """The dry run on one node.

    ``steps`` are (action, pod, ok, reason): action ``remove`` (a lower-priority pod out), ``fits`` (the filters after
    all are out; pod ""), ``reprieve`` (back in: ok = stays, not ok = victim). ``violates`` = the pod's PDB would be
    violated (those are reprieved first). ``victims`` most important first; ``rejected`` is the reason if the node is
    not a candidate.
    """

    cycle: int
    node: str
    steps: tuple[tuple[str, str, bool, str], ...]
    violating: tuple[str, ...]
    victims: tuple[str, ...]
    pdb_violations: int
    rejected: str

    @property
    def has_nobody_lower(self) -> bool:
        """Return whether the node has no pod of lower priority: nobody tried whether evictions would make room."""
        return self.rejected == NO_VICTIMS


@record(frozen=True, slots=True)
class PreemptionLimited(Event):
    """The dry run is over. It did not have to try every node.

    Evictions may help on ``nodes``, and ``candidates_to_find`` of them are enough: the larger of ``percentage`` of
    the nodes and ``absolute``. It began at node ``first``, which was drawn, and tried ``tried``. ``surplus``:
    candidates beyond ``candidates_to_find``, which are not compared.
    """

    cycle: int
    nodes: int
    candidates_to_find: int
    percentage: int
    absolute: int
    first: str
    tried: int
    surplus: tuple[str, ...]


@record(frozen=True, slots=True)
class PreemptionCriterionApplied(Event):
    """One rung of the ladder: ``values`` ((node, value as text), …); ``survivors`` continue, ``fallen`` are out."""

    cycle: int
    criterion: str
    values: tuple[tuple[str, str], ...]
    survivors: tuple[str, ...]
    fallen: tuple[str, ...]


@record(frozen=True, slots=True)
class PostFilterRan(Event):
    """``verdicts`` of the PostFilter plugins run. ``nominated_node`` "" = none; ``victims`` are being deleted.

    ``not_deleted``: (victim, why), those that nobody had to delete: it was ``terminating`` in the snapshot, ``gone``
    since then, or ``waiting`` on Permit, where it was rejected. ``ineligible``: why the pod may not preempt, so that no
    node was tried: ``never``, by its preemptionPolicy, or ``waiting``, because a victim is still terminating on the
    node ``waits_for``, where the pod is nominated.
    """

    cycle: int
    verdicts: tuple[Verdict, ...]
    nominated_node: str
    victims: tuple[str, ...]
    best_nodes: tuple[str, ...]
    cleared_nominations: tuple[str, ...]
    not_deleted: tuple[tuple[str, str], ...] = ()
    ineligible: str = ""
    waits_for: str = ""


@record(frozen=True, slots=True)
class CycleStateWritten(Event):
    """Values that plugins saved in the cycle's CycleState at ``extension_point``: ((key, value as text), …)."""

    cycle: int
    extension_point: str
    values: tuple[tuple[str, str], ...]


@record(frozen=True, slots=True)
class PreScoreRan(Event):
    cycle: int
    verdicts: tuple[Verdict, ...]


@record(frozen=True, slots=True)
class ScoreRan(Event):
    """``raw``: plugin → ((node, raw), …), nodes in feasible order; ``weights``: plugin → weight, in running order."""

    cycle: int
    weights: tuple[tuple[str, int], ...]
    raw: Tables


@record(frozen=True, slots=True)
class NormalizeRan(Event):
    """Like ``ScoreRan``: ``normalized`` (0–100 each) and ``weighted``; ``totals`` per node."""

    cycle: int
    normalized: Tables
    weighted: Tables
    totals: Pairs


@record(frozen=True, slots=True)
class HostSelected(Event):
    """``how``: ``highest`` (one top total), ``draw`` (seeded choice among ``ties``), ``first`` (of the ``ties``, the
    one on top of the ranking's heap), ``only`` (one feasible node).
    """

    cycle: int
    pod: str
    node: str
    how: str
    ties: tuple[str, ...]
    total: int | None


@record(frozen=True, slots=True)
class RankingAsked(Event):
    """A pod may take the next node of an earlier ranking: that of the cycle ``of_cycle`` for ``of_pod``. ``hint`` is
    the node to try first; "" if the ranking cannot be used, because of ``why_not`` (Kubernetes' word in its metric).
    ``left``: how many nodes the ranking still has. ``outdated``: the pod had the signature of an older version of it.
    """

    cycle: int
    pod: str
    of_cycle: int
    of_pod: str
    hint: str
    why_not: str
    left: int
    outdated: bool = False


@record(frozen=True, slots=True)
class PluginsRan(Event):
    """Reserve, Unreserve, Permit, PreBind, Bind or PostBind plugins ran for ``node``."""

    cycle: int
    extension_point: str
    node: str
    verdicts: tuple[Verdict, ...]


@record(frozen=True, slots=True)
class PodGroupCounted(Event):
    """On Permit or in Unreserve a plugin counted the pods of a group that have a node, bound or assumed, and how many
    must have one before any is bound. ``group`` is the key of its PodGroup.
    """

    cycle: int
    group: str
    assigned: int
    min_member: int


@record(frozen=True, slots=True)
class PermitWait(Event):
    """Permit made a pod wait: ``waits`` are (plugin, simulated microseconds of its timeout); the first timeout rejects
    the pod. Empty: the wait is over, because the pod was allowed, or rejected before any timeout: ``rejected`` is then
    ``preempted``, ``removed`` (it was deleted), or the reason of a plugin.
    """

    cycle: int
    pod: str
    waits: tuple[tuple[str, int], ...]
    rejected: str = ""


@record(frozen=True, slots=True)
class FaultSet(Event):
    """The next call of ``plugin`` at ``point`` (an extension point as in a configuration) will return ``answer``.

    ``number`` is the command that asked for it; ``duration_us`` a wait's length. Source: ``framework/faults.py``.
    """

    number: int
    profile: str
    plugin: str
    point: str
    answer: str
    duration_us: int


@record(frozen=True, slots=True)
class FaultStruck(Event):
    """Fault ``number`` hit ``pod``. ``until_us``: it delays the pod until then; None: it is over."""

    number: int
    pod: str
    until_us: int | None


@record(frozen=True, slots=True)
class CycleFinished(Event):
    """``outcome``: bound, unschedulable, nominated (unschedulable, but victims are on their way), error, skipped
    or deleted.
    """

    cycle: int
    pod: str
    outcome: str
    node: str
    message: str
