"""The results of an attempt: verdicts, scores, the winner, a failure's message, the victims."""

from __future__ import annotations

from scheduler_engine.preemption.criteria import CRITERIA
from scheduler_engine.scenario.attempts import FAILED, Attempt, RunView
from scheduler_engine.scenario.expectations.vocabulary import (
    NODE,
    POD,
    WHICH,
    WHOLE,
    Assertion,
    attempt_at,
    differs,
    shown,
)
from scheduler_engine.shapes import Data, Flag, ListOf, Text
from scheduler_engine.trace.events import HostSelected

CODES = ("Unschedulable", "UnschedulableAndUnresolvable", "Error")
HOW = {
    "highest": "it has the highest total",
    "draw": "the seeded draw picked it among equals",
    "only": "no other node is left",
}
"""Why a node is chosen, in words."""
ONLY = {
    "": "no other fits",
    "nominated": "it is nominated and fits, so no other node was checked",
    "enough": "it is the first that fits, and one is enough",
}
"""Why no other node is left: ``FilterRan.cut_short`` → words."""
COLUMNS = ("raw", "normalized", "weighted")


def _verdict(run: RunView, expectation: Data) -> list[str]:
    key, node = expectation["verdict"], expectation["node"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    verdict = attempt.verdict(node)
    said = f"{key} on {node}:"
    if not expectation.get("visited", True):
        return [] if verdict is None else [f"{said} {in_words(verdict)}, expected not to be checked"]
    if verdict is None:
        return [f"{said} attempt {attempt.number} did not check it, expected {_wanted(expectation)}"]
    plugin, code, reasons = verdict
    failures: list[str] = []
    if ("passes" in expectation and expectation["passes"] != (not plugin)) or (
        "plugin" in expectation and plugin != expectation["plugin"]
    ):
        failures.append(f"{said} {in_words(verdict)}, expected {_wanted(expectation)}")
    if "code" in expectation:
        failures += differs(f"{said} code", code, expectation["code"])
    if "reason" in expectation and expectation["reason"] not in reasons:
        failures.append(f"{said} {in_words(verdict)}, expected the reason {expectation['reason']!r}")
    if "reasons" in expectation:
        failures += differs(f"{said} reasons", list(reasons), expectation["reasons"])
    return failures


def in_words(verdict: tuple[str, str, tuple[str, ...]]) -> str:
    """Return a verdict as a sentence."""
    plugin, _, reasons = verdict
    return f"refused by {plugin} ({'; '.join(reasons)})" if plugin else "passes"


def _wanted(expectation: Data) -> str:
    if expectation.get("passes"):
        return "that it passes"
    return f"that {expectation.get('plugin', 'a plugin')} refuses it"


def _score(run: RunView, expectation: Data) -> list[str]:
    key, node = expectation["score"], expectation["node"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    said = f"{key} on {node}:"
    if not attempt.scores(node) and node not in attempt.totals:
        return [f"{said} no scores in attempt {attempt.number}, {_why_no_scores(attempt, node)}"]
    failures: list[str] = []
    if "total" in expectation:
        failures += differs(f"{said} total", attempt.totals.get(node), expectation["total"])
    if "plugin" not in expectation:
        asked = [column for column in COLUMNS if column in expectation]
        return failures + ([f"{said} {asked[0]} is the score of a plugin: name the plugin too"] if asked else [])
    plugin = expectation["plugin"]
    scores = attempt.scores(node)
    if plugin not in scores:
        return [*failures, f"{said} {plugin} gave no score, but {shown([*scores])}"]
    for column in COLUMNS:
        if column in expectation:
            failures += differs(f"{said} {plugin} {column}", scores[plugin].get(column), expectation[column])
    return failures


def _why_no_scores(attempt: Attempt, node: str) -> str:
    if attempt.selected is not None and attempt.selected.how == "only":
        return f"because {attempt.selected.node} was chosen without a score: {how_chosen(attempt.selected, attempt)}"
    verdict = attempt.verdict(node)
    return f"because it was {in_words(verdict)}" if verdict and verdict[0] else "because it has not reached them yet"


def _winner(run: RunView, expectation: Data) -> list[str]:
    key = expectation["winner"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.selected is None:
        return [f"{key}: no node won attempt {attempt.number}, which is {attempt.outcome or 'still running'}"]
    failures: list[str] = []
    if "node" in expectation:
        failures += differs(f"{key}: the winner is", attempt.selected.node, expectation["node"])
    if "margin" in expectation:
        failures += differs(f"{key}: {attempt.selected.node} leads by", attempt.margin, expectation["margin"])
    if "how" in expectation and attempt.selected.how != expectation["how"]:
        reason = f"because {how_chosen(attempt.selected, attempt)}"
        failures += differs(f"{key}: chosen", reason, f"because {HOW[expectation['how']]}")
    if "among" in expectation:
        failures += differs(f"{key}: drawn among", sorted(attempt.selected.ties), sorted(expectation["among"]))
    return failures


def how_chosen(selected: HostSelected, attempt: Attempt) -> str:
    """Return why the attempt chose its node, in words. A lean trace does not say if other nodes were checked."""
    if selected.how == "only" and attempt.filter is not None and not attempt.is_lean:
        return ONLY[attempt.filter.cut_short]
    return HOW[selected.how]


def _failed(run: RunView, expectation: Data) -> list[str]:
    key = expectation["failed"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.finished is None or not attempt.failed:
        where = f" on {attempt.finished.node}" if attempt.finished and attempt.finished.node else ""
        return [f"{key}: attempt {attempt.number} did not fail, it is {attempt.outcome or 'still running'}{where}"]
    failures: list[str] = []
    if "outcome" in expectation:
        failures += differs(f"{key}: outcome", attempt.outcome, expectation["outcome"])
    if "message" in expectation and attempt.finished.message != expectation["message"]:
        failures.append(f"{key}: message {attempt.finished.message!r}, expected {expectation['message']!r}")
    return failures


def _victims(run: RunView, expectation: Data) -> list[str]:
    key = expectation["victims"]
    preempting = None if WHICH.keys() & expectation.keys() else run.preempting(key)
    attempt = preempting or attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.post_filter is None:
        return [f"{key}: attempt {attempt.number} looked for no victims, it is {attempt.outcome or 'still running'}"]
    failures: list[str] = []
    if "are" in expectation:
        failures += differs(f"{key}: victims", sorted(attempt.post_filter.victims), sorted(expectation["are"]))
    if "node" in expectation:
        failures += differs(f"{key}: nominated to", attempt.post_filter.nominated_node, expectation["node"])
    if "rung" in expectation:
        failures += differs(f"{key}: decided by", attempt.rung, expectation["rung"])
    return failures


ASSERTIONS = {
    "verdict": Assertion(
        _verdict,
        "The result of the filters for a node.",
        POD,
        {
            "node": NODE,
            "passes": Flag(),
            "plugin": Text("The first plugin that refuses the node."),
            "reason": Text("One of the reasons of that plugin."),
            "reasons": ListOf(Text(), "All reasons of that plugin, in order."),
            "code": Text(values=CODES),
            "visited": Flag("If false, the search did not check the node."),
            **WHICH,
        },
        ("node",),
    ),
    "score": Assertion(
        _score,
        "The score of a node, from one plugin or in total.",
        POD,
        {
            "node": NODE,
            "plugin": Text(),
            "raw": WHOLE,
            "normalized": WHOLE,
            "weighted": WHOLE,
            "total": WHOLE,
            **WHICH,
        },
        ("node",),
    ),
    "winner": Assertion(
        _winner,
        "The node that the scheduler chose for a pod.",
        POD,
        {
            "node": NODE,
            "margin": WHOLE,
            "how": Text(
                "How the node was chosen: by the highest total, by a draw among equals, or as the only one left.",
                values=tuple(HOW),
            ),
            "among": ListOf(NODE, "The nodes with the same total."),
            **WHICH,
        },
    ),
    "failed": Assertion(
        _failed,
        "An attempt failed.",
        POD,
        {
            "message": Text("The message of the attempt, word for word."),
            "outcome": Text("How the attempt ended. nominated: unschedulable, but victims are leaving.", values=FAILED),
            **WHICH,
        },
    ),
    "victims": Assertion(
        _victims,
        "The result of preemption for a pod, in the last attempt that tried it.",
        POD,
        {
            "are": ListOf(POD, "The victims, in any order."),
            "node": Text('The node to which the pod is nominated. "" means none.'),
            "rung": Text(
                'The criterion that left one candidate; "" when there was no choice.',
                values=(*(criterion.name for criterion in CRITERIA), ""),
            ),
            **WHICH,
        },
    ),
}
