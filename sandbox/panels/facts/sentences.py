"""One plain sentence per stage: what just happened to the pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sandbox.panels.facts.extenders import calls, failed_to_bind
from sandbox.panels.facts.search_end import looked_for_room, search_end
from sandbox.panels.facts.victims import evicted, spared_sentences
from sandbox.panels.model.state import Cycle
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed, plural, short_reason
from sandbox.words.say import say
from scheduler_engine.trace.events import PostFilterRan, PreemptionLimited, SnapshotTaken


def verdict_counts(cycle: Cycle) -> tuple[int, int, int]:
    """Return (fit, eviction may help, it cannot) of the Filter stage; nodes that PreFilter excluded cannot."""
    table = cycle.filter
    if table is None:
        return 0, 0, 0
    rows = table.looked_at
    hard = sum(1 for row in rows if row[1] and row[2] != "Unschedulable")
    fit = table.feasible_count or len(table.feasible)
    hard += 0 if fit else table.all_nodes - max(table.searched, len(rows))
    soft = sum(1 for row in rows if row[1] and row[2] == "Unschedulable")
    return fit, soft, hard


def _pop(cycle: Cycle) -> str:
    return say("stages.another-attempt" if cycle.attempt > 1 else "stages.first-attempt", attempt=cycle.attempt)


def _snapshot(cycle: Cycle) -> str:
    snapshot = cycle.snapshot
    if snapshot is None:
        return say("stages.cache-copied")
    if cycle.outcome and not cycle.order:
        return say("stages.no-node")
    return _joined(_cloned(snapshot), *_left(snapshot))


def _cloned(snapshot: SnapshotTaken) -> str:
    if not snapshot.cloned:
        return say("stages.none-newer" if snapshot.dropped or snapshot.ghosts else "stages.nothing-cloned")
    if len(snapshot.cloned) >= snapshot.length:
        return say("stages.all-cloned", count=snapshot.length)
    key = "stages.some-cloned-until" if snapshot.stopped_at else "stages.some-cloned"
    infos, names = plural(snapshot.length, "NodeInfo"), listed(list(snapshot.cloned))
    return say(key, count=len(snapshot.cloned), infos=infos, names=names, stop=snapshot.stopped_at)


def _left(snapshot: SnapshotTaken) -> Iterator[str]:
    """Yield what happened to the copies of nodes that left."""
    if snapshot.dropped:
        yield say("stages.copies-dropped", count=len(snapshot.dropped), nodes=listed(list(snapshot.dropped)))
    ghosts = [name for name in snapshot.ghosts if name not in snapshot.dropped]
    if ghosts:
        yield say("stages.ghosts-passed-over", count=len(ghosts), nodes=listed(ghosts))


def _pre_filter(cycle: Cycle) -> str:
    ran = cycle.pre_filter
    if ran is None:
        return say("stages.nothing-to-prepare")
    refused = [verdict for verdict in ran.verdicts if verdict[1] not in ("Success", "Skip")]
    if refused:
        plugin, code, reasons = refused[0]
        key = "stages.plugin-failed" if code == "Error" else "stages.refused-before-filter"
        return say(key, plugin=plugin, reasons=_reasons(reasons))
    skipped = sum(1 for verdict in ran.verdicts if verdict[1] == "Skip")
    text = say("stages.prepared", plugins=plural(len(ran.verdicts), "plugin"), count=skipped)
    if ran.node_names is None:
        return text
    return _joined(text, say("stages.only-some-nodes", nodes=listed(list(ran.node_names))))


def _reasons(reasons: Sequence[str]) -> str:
    return "; ".join(reasons) or say("stages.no-reason")


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _filter(cycle: Cycle) -> str:
    table = cycle.filter
    if table is None:
        failed = search_end(cycle) == "failed" and cycle.message
        return say("stages.search-failed", message=cycle.message) if failed else say("stages.nodes-checked")
    fit, soft, hard = verdict_counts(cycle)
    looked = len(table.looked_at)
    if fit == 0:
        asked = say("stages.nobody-asked") if cycle.outcome == "unschedulable" and cycle.post_filter is None else ""
        return _joined(_nowhere(table.all_nodes, soft, hard), asked)
    if not looked:
        return say("stages.some-fit", fit=fit, nodes=plural(table.searched, "node"))
    if fit == 1:
        return _only(cycle, table.feasible[0], looked, table.all_nodes)
    if len(table.rows) < table.searched:
        return say("stages.enough-fit", fit=fit, looked=looked, nodes=table.searched)
    return _joined(say("stages.some-fit", fit=fit, nodes=plural(table.searched, "node")), _refusals(cycle))


def _only(cycle: Cycle, node: str, looked: int, nodes: int) -> str:
    if nodes == 1:
        return say("stages.the-only-node-fits")
    if looked == 1:
        return say("stages.first-node-fits", node=node)
    if search_end(cycle) == "enough":
        return say("stages.one-is-enough", node=node)
    return say("stages.only-one-fits", node=node, looked=looked)


def _nowhere(nodes: int, soft: int, hard: int) -> str:
    """Return the sentence that no node fits. Evictions may help on ``soft`` nodes, and cannot on ``hard`` ones.

    It is about the nodes: nobody has looked yet if the pod may preempt, or if any plugin would.
    """
    if nodes == 1:
        return say("stages.the-only-node-never-fits" if hard else "stages.the-only-node-may-fit")
    text = say("stages.none-fits", nodes=nodes)
    why = HELP.get((bool(hard), bool(soft)))
    return _joined(text, say(why, count=hard, soft=soft)) if why else text


def _refusals(cycle: Cycle) -> str:
    """Return the most frequent reasons: ``Refused: 36 for cpu, 18 for spread.``"""
    counts = Counter(short_reason(row[3]) for row in (cycle.filter.looked_at if cycle.filter else ()) if row[1])
    most = listed([say("stages.refused-for", number=number, reason=short) for short, number in counts.most_common(3)])
    return say("stages.refused-and-others" if len(counts) > 3 else "stages.refused", reasons=most) if counts else ""


def _post_filter(cycle: Cycle) -> str:
    ran = cycle.post_filter
    if ran is None:
        return say("stages.no-room")
    if ran.nominated_node and ran.victims:
        dropped = {node for asked in calls(cycle, "preempt") for node in asked.nodes if asked.drops(node)}
        candidates = sum(1 for tried in cycle.tried if not tried.rejected and tried.node not in dropped)
        names, node = evicted(ran), ran.nominated_node
        key = "stages.evicting-makes-room" if names else "stages.room-without-evictions"
        text = _joined(say(key, pods=listed(names), node=node), spared_sentences(ran))
        text = _joined(text, say("stages.hurts-least", candidates=candidates, node=node)) if candidates > 1 else text
        text = _joined(text, _limit(cycle.limited))
        cleared = listed([short_name(pod) for pod in ran.cleared_nominations])
        count = len(ran.cleared_nominations)
        return _joined(text, say("stages.nominations-withdrawn", count=count, pods=cleared)) if cleared else text
    if ran.nominated_node:
        return say("stages.nominated", node=ran.nominated_node)
    if ran.ineligible:
        return say(INELIGIBLE[ran.ineligible], pod=short_name(cycle.pod), node=ran.waits_for)
    return _no_room(cycle, ran)


def _no_room(cycle: Cycle, ran: PostFilterRan) -> str:
    """Return the sentence that PostFilter nominated no node, although the pod may preempt others."""
    plugin, _, reasons = ran.verdicts[-1] if ran.verdicts else ("", "", ())
    about = {"plugin": plugin, "reasons": _reasons(reasons)}
    failed = bool(ran.verdicts) and ran.verdicts[-1][1] == "Error"
    if failed and any(not tried.rejected for tried in cycle.tried):
        return say("stages.room-but-refused", **about)
    if failed:
        return say("stages.failed-after-all-dry-runs" if cycle.tried else "stages.nobody-looked-for-room", **about)
    if cycle.limited is not None and not cycle.limited.candidates_to_find:
        return say("stages.no-candidate-wanted")
    if not looked_for_room(cycle):
        return say("stages.nobody-tried", **about)
    nobody = bool(cycle.tried) and all(tried.has_nobody_lower for tried in cycle.tried)
    return say("stages.nobody-lower" if nobody else "stages.no-room-anywhere")


def _limit(limited: PreemptionLimited | None) -> str:
    """Return which nodes were never tried because there were enough candidates, "" if all were."""
    if limited is None or limited.tried == limited.nodes:
        return ""
    return say("stages.dry-run-stopped", tried=limited.tried, nodes=limited.nodes, first=limited.first)


def _pre_score(cycle: Cycle) -> str:
    verdicts = cycle.pre_score.verdicts if cycle.pre_score else ()
    if failed := next((verdict for verdict in verdicts if verdict[1] not in ("Success", "Skip")), None):
        return say("stages.plugin-failed", plugin=failed[0], reasons=_reasons(failed[2]))
    skipped = sum(1 for verdict in verdicts if verdict[1] == "Skip")
    return say("stages.scoring-prepared", plugins=plural(len(verdicts), "plugin"), count=skipped)


def _score(cycle: Cycle) -> str:
    if cycle.score is None and cycle.outcome == "error":
        return say("stages.no-raw-score", message=cycle.message)
    if cycle.score is None:
        return say("stages.got-raw-scores")
    nodes, _, _ = verdict_counts(cycle)
    plugins = plural(len(cycle.score.weights), "plugin")
    return say("stages.raw-scores", plugins=plugins, nodes=plural(nodes, "node"))


def _normalize(cycle: Cycle) -> str:
    if cycle.outcome == "error" and cycle.normalized is None:
        return say("stages.no-total", message=cycle.message)
    return say("stages.normalized")


AMONG_EQUALS = {"draw": "stages.drawn", "first": "stages.first"}
"""How a node was chosen among equals → key of the sentence."""


def _select(cycle: Cycle) -> str:
    chosen = cycle.selected
    if chosen is None:
        return say("stages.chosen")
    if chosen.how == "only":
        return say(WITHOUT_SCORE[cycle.filter.cut_short if cycle.filter else ""], node=chosen.node)
    if chosen.how in AMONG_EQUALS:
        nodes = plural(len(chosen.ties), "node") if chosen.ties else say("stages.several-nodes")
        return say(AMONG_EQUALS[chosen.how], nodes=nodes, total=chosen.total, node=chosen.node)
    totals = sorted(dict(cycle.normalized.totals).items(), key=lambda item: -item[1]) if cycle.normalized else []
    others = [item for item in totals if item[0] != chosen.node]
    if not others or chosen.total is None:
        return say("stages.wins", node=chosen.node, total=chosen.total)
    second, total = others[0]
    ahead = chosen.total - total
    return say("stages.wins-ahead-of", node=chosen.node, total=chosen.total, ahead=ahead, second=second)


def _where(cycle: Cycle) -> str:
    return cycle.node or (cycle.selected.node if cycle.selected else say("stages.the-node"))


def _plugins(cycle: Cycle, point: str, done: str, empty: str) -> str:
    """Return the sentence on an extension point. ``done`` and ``empty`` are keys: all plugins agree, there is none."""
    ran = cycle.plugins.get(point)
    verdicts = ran.verdicts if ran else ()
    for plugin, code, reasons in verdicts:
        if code == "Wait":
            return _joined(say("stages.must-wait", plugin=plugin), _counted(cycle) if point == "Permit" else "")
        if code == "Error" and point == "PostBind":
            return say("stages.bound-in-spite", node=_where(cycle), plugin=plugin, reasons="; ".join(reasons))
        if code not in ("Success", "Skip"):
            key = "stages.plugin-failed" if code == "Error" else "stages.plugin-refuses"
            return _joined(say(key, plugin=plugin, reasons=_reasons(reasons)), _undone(cycle))
    return say(done if verdicts else empty, node=_where(cycle))


def _bind(cycle: Cycle) -> str:
    """Return the sentence on Bind. An extender that fails is not among the plugins."""
    failed = failed_to_bind(cycle)
    if failed is None:
        return _plugins(cycle, "Bind", "stages.runs", "stages.runs")
    return _joined(say("stages.plugin-failed", plugin=failed.extender, reasons=failed.error), _undone(cycle))


def _counted(cycle: Cycle) -> str:
    """Return how many pods of its group had a node, if a plugin counted them."""
    counted = cycle.counted
    if counted is None:
        return ""
    return say("stages.counted", group=counted.group, assigned=counted.assigned, needed=counted.min_member)


def _undone(cycle: Cycle) -> str:
    """Return what a failure after Reserve sets off, in its order."""
    unreserved = cycle.plugins.get("Unreserve")
    if unreserved is None:
        return ""
    return say(
        UNDONE[bool(cycle.forgotten), cycle.requeued is not None],
        plugins=listed([plugin for plugin, _, _ in unreserved.verdicts]) or say("stages.no-plugin"),
        node=cycle.forgotten,
        queue=cycle.requeued.target if cycle.requeued else "",
    )


def _wait_on_permit(cycle: Cycle) -> str:
    undone = _undone(cycle)
    if not undone:
        return say("stages.wait-is-over")
    if cycle.wait_rejected in WAIT_ENDS:
        return _joined(say(WAIT_ENDS[cycle.wait_rejected]), undone)
    return _joined(say("stages.rejected-while-it-waited", reason=cycle.wait_rejected), undone)


HELP = {(True, True): "stages.never-or-by-eviction", (True, False): "stages.never", (False, True): "stages.by-eviction"}
"""(some nodes can never take the pod, evictions may help on some) → key."""
UNDONE = {
    (False, False): "stages.undone",
    (True, False): "stages.undone-forgotten",
    (False, True): "stages.undone-requeued",
    (True, True): "stages.undone-forgotten-requeued",
}
"""(the cache forgot the pod, it is back in the queue) → key."""
INELIGIBLE = {"never": "stages.never-preempts", "waiting": "stages.waits-for-a-victim"}
"""Why a pod may not preempt → key."""
WITHOUT_SCORE = {
    "": "stages.chosen-without-score",
    "nominated": "stages.nominated-without-score",
    "enough": "stages.first-without-score",
}
"""Why nodes that may fit were not visited (``FilterRan.cut_short``) → key."""
WAIT_ENDS = {
    "": "stages.not-allowed-in-time",
    "preempted": "stages.preempted-while-it-waited",
    "removed": "stages.deleted-while-it-waited",
}
"""Why a pod that waited on Permit was rejected; "" = its time was up → key. Other reasons are those of a plugin."""
AT_POINT = {
    "Reserve": ("stages.set-aside", "stages.nothing-set-aside"),
    "Permit": ("stages.approved", "stages.nobody-to-approve"),
    "PreBind": ("stages.ready", "stages.nothing-to-make-ready"),
    "PostBind": ("stages.cleaned-up", "stages.bound"),
}
SENTENCES: dict[str, Callable[[Cycle], str]] = {
    "Pop": _pop,
    "Snapshot": _snapshot,
    "PreFilter": _pre_filter,
    "Filter": _filter,
    "PostFilter": _post_filter,
    "PreScore": _pre_score,
    "Score": _score,
    "NormalizeScore": _normalize,
    "SelectHost": _select,
    "Assume": lambda cycle: say("stages.assumed", node=_where(cycle)),
    "WaitOnPermit": _wait_on_permit,
    "Bind": _bind,
}


def sentence(cycle: Cycle) -> str:
    """Return what just happened, without the pod's name and stage."""
    stage = cycle.last_stage
    if stage in SENTENCES:
        return SENTENCES[stage](cycle)
    if stage in AT_POINT:
        return _plugins(cycle, stage, *AT_POINT[stage])
    return say("stages.taken-from-the-queue")
