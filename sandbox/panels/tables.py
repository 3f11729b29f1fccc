"""The tables of the page as rows of numbers and names, for spreadsheets: all rows, from the facts of the panels.

Times are simulated seconds, cpu is in millicores, memory and
storage in bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sandbox.panels.facts.kubelet_deeds import deed_row, deeds_of_all
from sandbox.panels.facts.node_conditions import rank, troubles
from sandbox.panels.facts.sampling import Search, search_of
from sandbox.panels.facts.scoring import scoring_of
from sandbox.panels.model.state import Cycle, by_error_expiry, by_expiry, by_priority, by_time
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import SECOND
from sandbox.words.say import say
from scheduler_engine.api.conditions import condition_statuses
from scheduler_engine.trace import events as ev

Row = Iterable[Any]
LISTED = " "
"""Separates names in a cell; no name contains a space."""
REASONS = "; "
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a text that a spreadsheet takes for a formula."""
RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")


def as_csv(rows: Iterable[Row]) -> str:
    """Return comma-separated values (RFC 4180). A text that looks like a formula gets an apostrophe in front."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    for row in rows:
        writer.writerow([f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in row])
    return stream.getvalue()


def _head(key: str, **parts: str) -> list[str]:
    """Return the names of columns in a row of the words."""
    return say(key, **parts).split(", ")


def _seconds(us: int | None) -> float | str:
    return "" if us is None else us / SECOND


def _attempt(cycle: Cycle) -> list[Any]:
    return [cycle.pod, cycle.attempt, cycle.number]


def filters(world: World, view: View) -> Iterator[Row]:
    """Yield a row per node in visiting order. Of each plugin: pass, fail, skipped, not run, or also (not reported)."""
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    search = search_of(cycle) if cycle else None
    plugins = search.table.plugins if search else ()
    yield [*_head("csv.filter"), *plugins]
    if cycle is None or search is None:
        return
    places = {node: place for place, node in enumerate(search.whole, 1)}
    also = dict(search.table.also)
    for node, plugin, code, reasons, _ in search.table.looked_at:
        answers = _answers(search, plugin, {name for name, _, _ in also.get(node, ())})
        verdict = ("fail" if plugin else "pass", plugin, code, REASONS.join(reasons))
        yield [*_attempt(cycle), places.get(node, ""), node, _zone(world, node), *verdict, *answers]
    for node in (*search.unvisited, *search.left_out):
        head = [places.get(node, ""), node, _zone(world, node), "not visited", "", "", ""]
        yield [*_attempt(cycle), *head, *("" for _ in plugins)]


def _answers(search: Search, failed: str, others: set[str]) -> Iterator[str]:
    reached = True
    for plugin in search.table.plugins:
        if plugin == failed:
            yield "fail"
            reached = False
        elif plugin in search.table.skipped:
            yield "skipped"
        elif reached:
            yield "pass"
        else:
            yield "also" if plugin in others else "not run"


def _zone(world: World, node: str) -> str:
    return world.nodes[node].zone if node in world.nodes else ""


def scores(world: World, view: View) -> Iterator[Row]:
    """Yield a row per node, the best first: raw, normalized and weighted score of each plugin, and the total."""
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    scoring = scoring_of(cycle) if cycle else None
    weights = scoring.weights if scoring else {}
    yield [*_head("csv.scores"), *(name for plugin in weights for name in _head("csv.scores-of-plugin", plugin=plugin))]
    if cycle is None or scoring is None:
        return
    parts = (scoring.raw, scoring.normalized, scoring.weighted)
    for place, node in enumerate(scoring.nodes, 1):
        numbers = [part.get(plugin, {}).get(node, "") for plugin in weights for part in parts]
        selected = "yes" if node == scoring.winner else "no"
        yield [*_attempt(cycle), place, node, _zone(world, node), selected, scoring.totals.get(node, ""), *numbers]


def preemption(world: World, view: View) -> Iterator[Row]:
    """Yield a row per node: the result of the dry run, and the number of the criterion at which a candidate fell."""
    yield _head("csv.preemption")
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    if cycle is None:
        return
    chosen = cycle.post_filter.nominated_node if cycle.post_filter else ""
    fell = {node: rung for rung, applied in enumerate(cycle.ladder, 1) for node in applied.fallen}
    for tried in cycle.tried:
        yield [
            *_attempt(cycle),
            tried.node,
            "yes" if tried.node == chosen else "no",
            "no" if tried.rejected else "yes",
            tried.rejected,
            LISTED.join(tried.victims),
            tried.pdb_violations,
            fell.get(tried.node, ""),
        ]


def queue(world: World, view: View) -> Iterator[Row]:
    """Yield a row per waiting pod, lane by lane, in the order in which they would leave."""
    yield _head("csv.queue")
    for lane, order in LANES.items():
        for place, queued in enumerate(sorted(world.in_lane(lane), key=order), 1):
            move = queued.move
            yield [
                *(lane, place, move.pod, move.priority, move.attempts),
                *(_seconds(move.timestamp_us), _seconds(move.backoff_until_us), world.nominations.get(move.pod, "")),
                *(LISTED.join(move.unschedulable_plugins), LISTED.join(move.pending_plugins)),
                *(move.gating_plugin, queued.came.cause),
            ]


LANES: dict[str, Callable[[Any], tuple[int | str, ...]]] = {
    "inFlight": by_time,
    "activeQ": by_priority,
    "backoffQ": by_expiry,
    "errorBackoffQ": by_error_expiry,
    "unschedulablePods": by_time,
    "gated": by_time,
}


def events(world: World, view: View) -> Iterator[Row]:
    """Yield Kubernetes' events, the oldest first."""
    yield _head("csv.events")
    for recorded in world.kube_events:
        event = recorded.event
        about = (event.type, event.reason, event.regarding_kind, event.regarding)
        yield [_seconds(recorded.at_us), *about, recorded.count, event.message]


def evictions(world: World, view: View) -> Iterator[Row]:
    """Yield eviction requests, planned evictions, then evictions and removals by kubelets; each the oldest first."""
    yield _head("csv.evictions")
    for request in world.evictions.requests.values():
        asking = (_seconds(request.first_us), _seconds(request.at_us), request.times, request.asked_by)
        message = f"{request.message} {request.cause}".strip()
        went = (_seconds(request.leaves_us), request.then, _seconds(request.ended_us) if request.then else "")
        answer = (request.code, message, LISTED.join(request.budgets))
        yield ["request", request.pod, request.node, *asking, *answer, "", *went]
    for plan in world.evictions.plans.values():
        ended = _seconds(plan.ended_us) if plan.state != "planned" else ""
        head = ("plan", plan.pod, plan.node, _seconds(plan.since_us), "", "", "", "", plan.why, "")
        yield [*head, plan.taint, _seconds(plan.at_us), plan.state, ended]
    for deed in deeds_of_all(world):
        row, event = deed_row(deed), deed.event
        leaves = _seconds(deed.at_us + event.grace_seconds * SECOND) if isinstance(event, ev.PodEvicted) else ""
        message = " ".join(filter(None, (row["note"], row["text"], row["first"])))
        head = ("kubelet", row["pod"], row["node"], _seconds(deed.at_us), "", "", "", "", message, "")
        yield [*head, "", leaves, row["kind"], ""]


def nodes(world: World, view: View) -> Iterator[Row]:
    """Yield a row per node, those in trouble first: allocatable, requested, conditions."""
    in_order = sorted(world.existing_nodes(), key=rank)
    scalars = sorted({name for node in in_order for name in node.allocatable} - set(RESOURCES))
    resources = [*RESOURCES, *scalars]
    conditions = list(dict.fromkeys(kind for node in in_order for kind in condition_statuses(node.node)))
    amounts = (name for resource in resources for name in _head("csv.amounts-of-node", resource=resource))
    yield [*_head("csv.nodes"), *amounts, *conditions]
    for node in in_order:
        used, statuses = world.used(node.name), condition_statuses(node.node)
        yield [
            *(node.name, node.zone, "yes" if node.node.unschedulable else "no", LISTED.join(troubles(node.node))),
            REASONS.join(taint.text for taint in node.node.taints),
            *(number for name in resources for number in (used.get(name, 0), node.allocatable.get(name, ""))),
            *(statuses.get(kind, "") for kind in conditions),
        ]
