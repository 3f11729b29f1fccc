"""Why an expectation about a pod does not hold: the same sentences as on the page, for tests and a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.expectations import ASSERTIONS
from scheduler_engine.scenario.expectations.vocabulary import WHICH
from scheduler_engine.scenario.why import preemption_in_words, refusal
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say


def attempt_about(view: RunView, expectation: Data) -> Attempt | None:
    """Return the attempt that an expectation is about, if any: for victims, the last one that tried preemption."""
    about = expectation[next(name for name in expectation if name in ASSERTIONS)]
    if not isinstance(about, str):
        return None
    if "victims" in expectation and not WHICH.keys() & expectation.keys():
        return view.preempting(about)
    return view.attempt(about, expectation.get("attempt"), expectation.get("cycle"))


def reasons(view: RunView, expectation: Data) -> list[str]:
    """Return why the attempt did not choose the expected nodes, and what preemption found; [] if nothing is known."""
    attempt = attempt_about(view, expectation)
    if attempt is None:
        return []
    nodes = [expectation.get("node"), *expectation.get("nodes", ())]
    named = [node for node in nodes if isinstance(node, str)]
    texts = [text for node in named for text in why_not(view.simulation, attempt, node)]
    if "victims" in expectation:
        texts += preemption_in_words(view.simulation, attempt, named[0] if named else "")
    return texts


def why_not(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Return why an attempt did not choose a node: what refused it, or which node had more; [] if it was chosen."""
    if attempt.selected is None or node not in attempt.totals:
        return refusal(simulation, attempt, node)
    return [*_outscored(simulation, attempt, node)]


def _outscored(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    assert attempt.selected is not None
    winner, total = attempt.selected.node, attempt.totals[node]
    if node == winner:
        return
    best = attempt.totals[winner]
    if total == best:
        how = "draw" if attempt.selected.how == "draw" else "first"
        yield say(f"decision.equal-{how}", node=node, winner=winner, total=total, seed=simulation.seed)
        return
    mine, theirs = attempt.scores(node), attempt.scores(winner)
    weighted = {plugin: (theirs[plugin]["weighted"], mine[plugin]["weighted"]) for plugin in mine}
    plugin = max(weighted, key=lambda name: weighted[name][0] - weighted[name][1])
    more, less = weighted[plugin]
    yield say("decision.less", node=node, winner=winner, total=total, best=best, plugin=plugin, more=more, less=less)
