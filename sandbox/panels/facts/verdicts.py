"""What the attempt in view says about each node: one word for its card, one class for its tile."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from sandbox.panels.facts.brief import brief_refusal
from sandbox.panels.facts.sampling import NOT_NEEDED, not_visited, search_of
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.phrases import plural, short_reason
from sandbox.words.say import say
from scheduler_engine.trace.events import PreemptionNodeTried


@dataclass(frozen=True, slots=True)
class Word:
    """The verdict on a node. ``kind``: ok, no (eviction may help), hard (it cannot), out (not visited), best, plain or
    "" (none).

    ``why``: the long form of ``text``. ``plugin``: the filter that refused. ``eviction``: whether evicting pods helps,
    if the node was refused and the caller wants details.
    """

    kind: str
    text: str
    why: str = ""
    plugin: str = ""
    eviction: str = ""


NOTHING = Word("", "")
MAY_HELP, HELPS = "Unschedulable", "phrases.eviction-may-help"
INELIGIBLE = {"never": "phrases.may-not-preempt", "waiting": "phrases.waits-for-node"}


def helps(cycle: Cycle, node: str, code: str) -> str:
    """Return whether evicting pods from a node that was refused with ``code`` lets the pod in.

    After a dry run: what it showed. Without one: that the pod may not preempt. Before it: what the code implies.
    """
    tried = next((item for item in cycle.tried if item.node == node), None)
    if tried is not None:
        return say(_outcome(tried))
    if code != MAY_HELP:
        return say("phrases.eviction-cannot-help")
    ran = cycle.post_filter
    return say(INELIGIBLE[ran.ineligible], node=ran.waits_for) if ran and ran.ineligible else say(HELPS)


def _outcome(tried: PreemptionNodeTried) -> str:
    """Return the key of what a dry run showed."""
    if tried.has_nobody_lower:
        return "phrases.nobody-lower"
    return "phrases.eviction-does-not-help" if tried.rejected else "phrases.eviction-helps"


def words_for(world: World, cycle: Cycle | None, detailed: Container[str] = ()) -> dict[str, Word]:
    """Return node → its word, for the furthest stage that the attempt reached.

    For nodes in ``detailed`` the fact that decided words a refusal, for the others the reason: there may be thousands.
    """
    if cycle is None or cycle.filter is None:
        return {}
    words: dict[str, Word] = {}
    forbidden = cycle.post_filter is not None and cycle.post_filter.ineligible
    for row in cycle.filter.looked_at:
        node, plugin, code, reasons, _ = row
        if plugin:
            kind = "no" if code == MAY_HELP and not forbidden else "hard"
            text = brief_refusal(world, cycle, row) if node in detailed else short_reason(reasons)
            eviction = helps(cycle, node, code) if node in detailed else ""
            words[node] = Word(kind, text, "; ".join(reasons), plugin, eviction)
        else:
            words[node] = Word("ok", say("verdicts.fits"), say("verdicts.fits-note"))
    for node in cycle.filter.feasible:
        words.setdefault(node, Word("ok", say("verdicts.fits"), say("verdicts.fits-note")))
    search = search_of(cycle)
    if search is not None:
        if search.extra:
            words[search.visited[-1]] = Word("out", say("verdicts.not-needed"), say(NOT_NEEDED))
        for why, nodes in not_visited(search):
            words |= {node: Word("out", say("verdicts.not-visited"), why) for node in nodes}
    for node, total in cycle.normalized.totals if cycle.normalized else ():
        words[node] = Word("plain", str(total), say("verdicts.total-note", total=total))
    _preemption(cycle, words)
    if cycle.selected is not None:
        key = "verdicts.selected" if cycle.selected.total is None else "verdicts.selected-with-total"
        text = say(key, total=cycle.selected.total)
        words[cycle.selected.node] = Word("best", text, say("verdicts.selected-note"))
    return words


def _preemption(cycle: Cycle, words: dict[str, Word]) -> None:
    for tried in cycle.tried:
        if tried.rejected:
            refused, outcome = words.get(tried.node, NOTHING), say(_outcome(tried))
            text = say("verdicts.also", refusal=refused.text, outcome=outcome) if refused.text else outcome
            words[tried.node] = replace(refused, kind="hard", text=text, why=tried.rejected)
        else:
            words[tried.node] = Word("plain", plural(len(tried.victims), "victim"), say("verdicts.candidate-note"))
    if cycle.post_filter is not None and cycle.post_filter.nominated_node:
        nominated = Word("best", say("verdicts.nominated"), say("verdicts.nominated-note"))
        words[cycle.post_filter.nominated_node] = nominated
