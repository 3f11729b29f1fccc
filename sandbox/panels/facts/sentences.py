"""One plain sentence per stage: what just happened to the pod in question."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.panels.model.state import Cycle
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.phrases import listed, plural, short_reason


def verdict_counts(cycle: Cycle) -> tuple[int, int, int]:
    """(fit, may be helped by eviction, cannot be helped) of the Filter stage."""
    table = cycle.filter
    if table is None:
        return 0, 0, 0
    hard = sum(1 for row in table.rows if row[1] and row[2] != "Unschedulable")
    soft = sum(1 for row in table.rows if row[1] and row[2] == "Unschedulable")
    return len(table.feasible), soft, hard


def _pop(cycle: Cycle) -> str:
    first = "its first attempt" if cycle.attempt <= 1 else f"attempt {cycle.attempt}"
    return f"it left the queue for {first}; everyone else waits their turn."


def _snapshot(cycle: Cycle) -> str:
    taken = cycle.snapshot
    if taken is None:
        return "the cache was copied for all plugins to see."
    total = taken.length
    if not taken.cloned:
        return "nothing changed since the last cycle, so no NodeInfo was cloned."
    names = listed(list(taken.cloned))
    if len(taken.cloned) >= total:
        all_of_them = "the only NodeInfo" if total == 1 else f"all {total} NodeInfos"
        return f"{all_of_them} changed since the last snapshot, so {'it was' if total == 1 else 'all were'} cloned."
    stop = f"; the walk stopped at {taken.stopped_at}" if taken.stopped_at else ""
    few = f"{len(taken.cloned)} of {plural(total, 'NodeInfo')} changed since the last cycle"
    return f"{few}, so only {names} {'was' if len(taken.cloned) == 1 else 'were'} cloned{stop}."


def _pre_filter(cycle: Cycle) -> str:
    ran = cycle.pre_filter
    if ran is None:
        return "no plugin had anything to prepare."
    refused = [verdict for verdict in ran.verdicts if verdict[1] not in ("Success", "Skip")]
    if refused:
        plugin, _, reasons = refused[0]
        return f"{plugin} already says no: {'; '.join(reasons) or 'it gave no reason'}."
    skipped = sum(1 for verdict in ran.verdicts if verdict[1] == "Skip")
    text = (
        f"{plural(len(ran.verdicts), 'plugin')} looked at the pod; {skipped} have nothing to check and sit Filter out"
    )
    if ran.node_names is not None:
        text += f". Only {listed(list(ran.node_names))} will be looked at"
    return text + "."


def _filter(cycle: Cycle) -> str:
    table = cycle.filter
    if table is None:
        return "the nodes were checked."
    fit, soft, hard = verdict_counts(cycle)
    looked = len(table.rows)
    if fit == 0:
        return _nowhere(table.all_nodes, soft, hard)
    if fit == 1:
        return f"{_only(table.feasible[0], looked, table.all_nodes)}, so there is nothing to score."
    if looked < table.all_nodes:
        return (
            f"{fit} nodes fit; the search stopped after {looked} of {table.all_nodes}, which is enough to choose from."
        )
    return f"{fit} of {plural(table.all_nodes, 'node')} fit.{_refusals(cycle)}"


def _only(node: str, looked: int, nodes: int) -> str:
    if nodes == 1:
        return "the only node fits"
    return f"{node} fits, and no other was looked at" if looked == 1 else f"only {node} of {looked} nodes fits"


def _nowhere(nodes: int, soft: int, hard: int) -> str:
    """``soft`` of the nodes may be helped by an eviction, ``hard`` may not."""
    if nodes == 1:
        never = "it can never take the pod as it is, and evicting pods would not change that."
        return f"the only node does not fit: {never if hard else 'evicting lower-priority pods may help.'}"
    text = f"none of {nodes} nodes fits."
    if hard:
        text += f" {hard} can never take it as {'it is' if hard == 1 else 'they are'};"
    if soft:
        text += f" {'on' if hard else 'On'} {soft}, evicting lower-priority pods may help."
    elif hard:
        text = text[:-1] + ", and evicting pods would not change that."
    return text


def _refusals(cycle: Cycle) -> str:
    """The commonest reasons: `` Refused: 36 for cpu, 18 for spread.``"""
    counts: dict[str, int] = {}
    for row in cycle.filter.rows if cycle.filter else ():
        if row[1]:
            short = short_reason(row[3])
            counts[short] = counts.get(short, 0) + 1
    if not counts:
        return ""
    common = sorted(counts.items(), key=lambda item: -item[1])
    most = listed([f"{number} for {short}" for short, number in common[:3]])
    return f" Refused: {most}{' and others' if len(common) > 3 else ''}."


def _post_filter(cycle: Cycle) -> str:
    ran = cycle.post_filter
    if ran is None:
        return "no plugin could make room."
    if ran.nominated_node and ran.victims:
        candidates = sum(1 for tried in cycle.tried if not tried.rejected)
        names = listed([short_name(victim) for victim in ran.victims])
        text = f"evicting {names} makes room on {ran.nominated_node}."
        if candidates > 1:
            text += f" {candidates} nodes could do it; {ran.nominated_node} hurts least."
        return text
    if ran.nominated_node:
        return f"it is nominated to {ran.nominated_node}."
    failed = next((verdict for verdict in ran.verdicts if verdict[1] == "Error"), None)
    if failed:
        return f"{failed[0]} failed, so nobody looked for room: {'; '.join(failed[2])}."
    return "evicting pods would not make room anywhere."


def _pre_score(cycle: Cycle) -> str:
    verdicts = cycle.pre_score.verdicts if cycle.pre_score else ()
    skipped = sum(1 for verdict in verdicts if verdict[1] == "Skip")
    return f"{plural(len(verdicts), 'plugin')} prepared scoring; {skipped} have nothing to say about this pod."


def _score(cycle: Cycle) -> str:
    if cycle.score is None:
        return "the nodes got their raw scores."
    nodes = len(cycle.filter.feasible) if cycle.filter else 0
    return f"{plural(len(cycle.score.weights), 'plugin')} gave each of {plural(nodes, 'node')} a raw score."


def _normalize(cycle: Cycle) -> str:
    if cycle.outcome == "error" and cycle.normalized is None:
        return f"no node got a total: {cycle.message}."
    return "raw scores became 0 to 100, and each was multiplied by its plugin's weight."


def _select(cycle: Cycle) -> str:
    chosen = cycle.selected
    if chosen is None:
        return "a node was chosen."
    if chosen.how == "only":
        return f"{chosen.node} is the only node that fits, so it is chosen without a score."
    if chosen.how == "draw":
        share = f"{plural(len(chosen.ties), 'node')} share the top total {chosen.total}"
        return f"{share}; the seeded draw picked {chosen.node}."
    totals = sorted(dict(cycle.normalized.totals).items(), key=lambda item: -item[1]) if cycle.normalized else []
    others = [item for item in totals if item[0] != chosen.node]
    if not others or chosen.total is None:
        return f"{chosen.node} wins with {chosen.total}."
    ahead = chosen.total - others[0][1]
    wins = f"{chosen.node} wins with {chosen.total}, {ahead} ahead of {others[0][0]}"
    return f"{wins}. One node has the top total, so nothing was drawn."


def _where(cycle: Cycle) -> str:
    return cycle.node or (cycle.selected.node if cycle.selected else "the node")


def _assume(cycle: Cycle) -> str:
    return f"the cache now counts it on {_where(cycle)}, before the API server knows."


def _plugins(cycle: Cycle, point: str, done: str, empty: str) -> str:
    ran = cycle.plugins.get(point)
    verdicts = ran.verdicts if ran else ()
    for plugin, code, reasons in verdicts:
        if code == "Wait":
            return f"{plugin} makes it wait."
        if code == "Error" and point == "PostBind":
            return f"it is bound to {_where(cycle)}, whatever {plugin} says: {'; '.join(reasons)}."
        if code not in ("Success", "Skip"):
            return f"{plugin} says no: {'; '.join(reasons) or 'it gave no reason'}.{_undone(cycle)}"
    return (done if verdicts else empty).format(node=_where(cycle))


def _undone(cycle: Cycle) -> str:
    """What a failure after Reserve sets off, in its order."""
    told = cycle.plugins.get("Unreserve")
    if told is None:
        return ""
    names = listed([plugin for plugin, _, _ in told.verdicts]) or "no plugin"
    text = f" Unreserve goes back in reverse order ({names})"
    if cycle.forgotten:
        text += f", ForgetPod takes it off {cycle.forgotten}"
    return f"{text}, and it returns to {cycle.requeued.target}." if cycle.requeued else f"{text}."


def _wait_on_permit(cycle: Cycle) -> str:
    undone = _undone(cycle)
    if undone:
        return f"nobody allowed it in time, so it is rejected.{undone}"
    return "the wait is over: it may be bound."


AT_POINT = {
    "Reserve": ("what the pod needs on {node} is set aside.", "no plugin had anything to set aside on {node}."),
    "Permit": ("every plugin approves {node}.", "no plugin has a say here, so it is approved."),
    "PreBind": ("what must be ready on {node} is ready.", "nothing has to be ready before it is bound."),
    "Bind": ("the API server now says that it runs on {node}.", "the API server now says that it runs on {node}."),
    "PostBind": ("it is bound to {node}, and all is cleaned up.", "it is bound to {node}; this attempt is over."),
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
    "Assume": _assume,
    "WaitOnPermit": _wait_on_permit,
}


def sentence(cycle: Cycle) -> str:
    """What just happened, without the pod's name and stage."""
    stage = cycle.last_stage
    if stage in SENTENCES:
        return SENTENCES[stage](cycle)
    if stage in AT_POINT:
        return _plugins(cycle, stage, *AT_POINT[stage])
    return "it was taken from the queue."
