"""The recorded forms of attempts: in full, or reduced (``sampling``, ``ties``, ``summary``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler_engine.conformance.cycle_attempt import Attempt
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.dynamic_resources.plugin import STATE as CLAIMS
from scheduler_engine.plugins.dynamic_resources.plugin import ClaimState
from scheduler_engine.preemption.candidates import Candidate
from scheduler_engine.preemption.criteria import CRITERIA
from scheduler_engine.preemption.preemption import Evaluation, Evaluator
from scheduler_engine.scheduler.search import Search

Fields = dict[str, Any]

SAMPLED_FROM = 100
"""With fewer nodes the search visits all of them, and a full record omits it."""


@dataclass(slots=True)
class Scene:
    """The context of an attempt. ``limit`` knows the profile's limit on preemption candidates."""

    several_profiles: bool
    start_index: int
    limit: Evaluator | None
    order_changed: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """A form; ``every_filter``: it shows every filter's verdict on every node."""

    describe: Callable[[Attempt, Scene], Fields]
    every_filter: bool


def _verdict(status: Status) -> Fields:
    described = {"plugin": status.plugin} if status.plugin else {}
    return described | {"code": status.code.value, "reasons": list(status.reasons)}


def _start(attempt: Attempt, scene: Scene) -> Fields:
    fields: Fields = {"pod": attempt.pod.key}
    if scene.several_profiles and not attempt.skipped:
        fields["profile"] = attempt.pod.scheduler_name
    if attempt.pod.nominated_node_name:
        fields["nominated"] = attempt.pod.nominated_node_name
    return fields


def _end(attempt: Attempt) -> Fields:
    """Return fields of only some attempts."""
    fields: Fields = {}
    if attempt.volumes:
        fields["volumes"] = attempt.volumes
    allocation = _allocation(attempt)
    if allocation:
        fields["allocation"] = allocation
    failure = attempt.cycle.reserve
    if failure is not None:
        # Kubernetes names the plugin of a rejection; that of an error is in its text.
        fields["reserve"] = _verdict(failure) if failure.is_rejected else _unnamed(failure)
    if attempt.message:
        fields["message"] = attempt.message
    for name in ("error", "skipped"):
        if getattr(attempt, name):
            fields[name] = getattr(attempt, name)
    return fields


def _allocation(attempt: Attempt) -> Fields:
    """Return the devices that claims got in this attempt."""
    held = attempt.state.read(CLAIMS)
    if not isinstance(held, ClaimState):
        return {}
    return {held.claims[number].key: _shown_allocation(item) for number, item in held.reserved.items()}


def _shown_allocation(allocation: Fields) -> Fields:
    devices = allocation["devices"]
    shown = {"devices": devices.get("results", [])}
    if "nodeSelector" in allocation:
        shown["nodeSelector"] = allocation["nodeSelector"]
    return shown | ({"config": devices["config"]} if "config" in devices else {})


def _pre_filter(attempt: Attempt) -> Fields | None:
    if not attempt.nodes:
        return None
    status = attempt.cycle.pre_filter
    narrowed = attempt.cycle.narrowed_to if status is None else None
    return {
        "code": status.code.value if status is not None else "Success",
        "plugin": status.plugin or None if status is not None else None,
        "reasons": list(status.reasons) if status is not None else [],
        "nodeNames": sorted(narrowed) if narrowed is not None else None,
        "skip": sorted(attempt.state.skip_filter_plugins),
    }


def _unschedulable_plugins(attempt: Attempt) -> Fields:
    plugins = sorted(attempt.cycle.diagnosis.unschedulable_plugins)
    return {"unschedulablePlugins": plugins} if attempt.message and attempt.nodes else {}


def _scored(attempt: Attempt) -> bool:
    return attempt.scores_enabled and len(attempt.feasible) > 1


# --- PostFilter ------------------------------------------------------------------------------------------------------


def _post_filter(attempt: Attempt) -> Fields:
    if attempt.cycle.post_filter is None:
        return {}
    result, status = attempt.cycle.post_filter
    nominated = result.nominated_node if result is not None else None
    fields: Fields = {
        "code": status.code.value,
        "reasons": list(status.reasons),
        "nominatedNode": nominated or None,
    }
    evaluation = attempt.evaluation
    if nominated and result is not None and evaluation is not None:
        fields["victims"] = [victim.key for victim in result.victims]
        fields["candidates"] = {
            candidate.node: {
                "victims": [victim.key for victim in candidate.victims],
                "pdbViolations": candidate.pdb_violations,
            }
            for candidate in evaluation.candidates
        }
        fields["bestNodes"] = list(result.best_nodes)
        if evaluation.lower_nominations:
            fields["clearedNominations"] = sorted(evaluation.lower_nominations)
    if attempt.deallocated:
        fields["deallocated"] = attempt.deallocated
    if evaluation is not None and evaluation.rejected and status.code is not Code.ERROR:
        fields["rejected"] = {node: _verdict(reason) for node, reason in evaluation.rejected.items()}
    return {"postFilter": fields}


def _reduced_post_filter(attempt: Attempt, scene: Scene) -> Fields:
    """Include the numbers around the limit on candidates."""
    described = _post_filter(attempt)
    evaluation = attempt.evaluation
    if evaluation is None or not evaluation.candidates or scene.limit is None:
        return described
    fields = described["postFilter"]
    potential = len(evaluation.potential_nodes)
    wanted = scene.limit.candidates_to_find(potential)
    fields |= {
        "potentialNodes": potential,
        "candidatesToFind": wanted,
        "candidateCount": len(evaluation.candidates),
    }
    if wanted < potential:
        fields["possibleNodes"] = _possible_nodes(evaluation, wanted)
    return described


def _possible_nodes(evaluation: Evaluation, wanted: int) -> list[str]:
    """Return nodes that may be chosen if only ``wanted`` candidates are found: enough others must be no better."""
    candidates = evaluation.candidates
    ranks = {candidate.node: _rank(candidate) for candidate in candidates}
    harmless = [candidate for candidate in candidates if not candidate.pdb_violations] or candidates
    needed = min(wanted, len(candidates))
    return sorted(
        candidate.node
        for candidate in harmless
        if sum(rank >= ranks[candidate.node] for rank in ranks.values()) >= needed
    )


def _rank(candidate: Candidate) -> tuple[int, ...]:
    return tuple(criterion.value(candidate) for criterion in CRITERIA)


# --- the full form ---------------------------------------------------------------------------------------------------


def full(attempt: Attempt, scene: Scene) -> Fields:
    """Return every verdict and every score."""
    fields = _start(attempt, scene) | {
        "nodeOrder": [info.name for info in attempt.nodes],
        "preFilter": _pre_filter(attempt),
        "filter": {node: None if status is None else _verdict(status) for node, status in attempt.filters.items()},
        "filterEach": {
            node: {plugin: _unnamed(status) for plugin, status in failures.items()}
            for node, failures in attempt.filters_each.items()
        },
        "feasible": sorted(info.name for info in attempt.feasible),
        "preScoreSkip": sorted(attempt.state.skip_score_plugins),
        "scored": _scored(attempt),
        "scores": _scores(attempt),
        "totals": attempt.totals,
        "best": attempt.best,
        "selected": attempt.selected or None,
    }
    search = attempt.search
    if search is not None and len(attempt.nodes) >= SAMPLED_FROM:
        fields |= {"nodesToFind": search.nodes_to_find, "startIndex": scene.start_index}
    return fields | _unschedulable_plugins(attempt) | _post_filter(attempt) | _end(attempt)


def _unnamed(status: Status) -> Fields:
    return {"code": status.code.value, "reasons": list(status.reasons)}


def _scores(attempt: Attempt) -> Fields:
    return {
        plugin: {
            node: {
                "raw": raw,
                "normalized": attempt.cycle.normalized[plugin][node],
                "weighted": attempt.cycle.normalized[plugin][node] * attempt.cycle.framework.weights[plugin],
            }
            for node, raw in scores.items()
        }
        for plugin, scores in attempt.cycle.raw.items()
    }


# --- the reduced forms -----------------------------------------------------------------------------------------------


def _reduced(attempt: Attempt, scene: Scene, fields: Fields) -> Fields:
    """Return ``fields`` with those of all reduced forms; empty, false or zero values are omitted."""
    ranked = sorted(attempt.totals.items(), key=lambda item: (-item[1], item[0]))
    fields = _start(attempt, scene) | fields | _reduced_post_filter(attempt, scene) | _end(attempt)
    fields |= {
        "feasibleCount": len(attempt.feasible),
        "top": [{"node": node, "total": total} for node, total in ranked[:3]],
        "bestCount": len(attempt.best),
    }
    kept = {name: value for name, value in fields.items() if value not in (None, False, 0, "", [], {})}
    return kept | {"best": attempt.best, "selected": attempt.selected or None}


def summary(attempt: Attempt, scene: Scene) -> Fields:
    """Return placements and messages only."""
    fields = _reduced(attempt, scene, {})
    post_filter = fields.get("postFilter", {})
    post_filter.pop("candidates", None)
    rejected = post_filter.pop("rejected", {})
    if rejected:
        post_filter["rejectedCount"] = len(rejected)
    return fields


def ties(attempt: Attempt, scene: Scene) -> Fields:
    """Return the order of the search, and sums of the scores."""
    fields: Fields = {}
    if scene.order_changed and attempt.nodes:
        fields["nodeOrder"] = [info.name for info in attempt.nodes]
    if attempt.cycle.pre_filter is not None or attempt.cycle.narrowed_to is not None:
        fields["preFilter"] = _pre_filter(attempt)
    if attempt.search is not None:
        random_order = attempt.cycle.narrowed_to is not None and len(attempt.search.nodes) > 1
        fields |= _search(attempt.search, random_order)
    fields |= {"preScoreSkip": sorted(attempt.state.skip_score_plugins), "scored": _scored(attempt)}
    fields["scoreSums"] = {
        plugin: {"raw": sum(scores.values()), "normalized": sum(attempt.cycle.normalized[plugin].values())}
        for plugin, scores in attempt.cycle.raw.items()
    }
    return _reduced(attempt, scene, fields | _unschedulable_plugins(attempt))


def sampling(attempt: Attempt, scene: Scene) -> Fields:
    """Return ``ties`` with every total."""
    fields = ties(attempt, scene)
    return fields | ({"totals": attempt.totals} if attempt.totals else {})


def _search(search: Search, random_order: bool) -> Fields:
    described: Fields = {}
    nominated_passed = bool(search.nominated_node) and search.nominated_status is None
    if search.nominated_node:
        described["nominatedFirst"] = search.nominated_node
    if search.nominated_status is not None:
        described["nominatedFailure"] = _verdict(search.nominated_status)
    visited = [] if nominated_passed else search.visited
    if not nominated_passed:
        if random_order:
            described["randomOrder"] = True
        described |= {
            "nodes": len(search.nodes),
            "nodesToFind": search.nodes_to_find,
            "visitedCount": len(visited),
            "processed": search.processed,
        }
        if not random_order and visited:
            described |= {"firstVisited": visited[0][0].name, "lastVisited": visited[-1][0].name}
    described |= {"startIndex": search.start_index, "nextStartIndex": search.next_start_index}
    feasible = [info.name for info in search.feasible]
    return {
        "search": described,
        "filterFailures": _failures([(info.name, status) for info, status in visited if status], random_order),
        "feasibleOrder": sorted(feasible) if random_order else feasible,
    }


def _failures(visited: list[tuple[str, Status]], random_order: bool) -> list[Fields]:
    groups: dict[Status, list[str]] = {}
    for node, status in sorted(visited, key=lambda item: item[0]) if random_order else visited:
        groups.setdefault(status, []).append(node)
    return [_verdict(status) | {"nodes": nodes} for status, nodes in groups.items()]


RECORDS: dict[str | None, Record] = {
    None: Record(full, True),
    "sampling": Record(sampling, False),
    "ties": Record(ties, False),
    "summary": Record(summary, False),
}
"""By the scenario's ``record``."""
