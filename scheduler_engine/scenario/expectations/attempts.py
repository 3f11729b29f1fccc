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
from scheduler_engine.words import say

CODES = ("Unschedulable", "UnschedulableAndUnresolvable", "Error")
HOW = ("highest", "draw", "first", "only")
"""Why a node is chosen."""
COLUMNS = ("raw", "normalized", "weighted")


def _verdict(run: RunView, expectation: Data) -> list[str]:
    key, node = expectation["verdict"], expectation["node"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    verdict = attempt.verdict(node)
    said = say("failures.on-node", pod=key, node=node)
    if not expectation.get("visited", True):
        return [] if verdict is None else [say("failures.checked", what=said, verdict=in_words(verdict))]
    if verdict is None:
        return [say("failures.not-checked", what=said, number=attempt.number, wanted=_wanted(expectation))]
    plugin, code, reasons = verdict
    failures: list[str] = []
    if ("passes" in expectation and expectation["passes"] != (not plugin)) or (
        "plugin" in expectation and plugin != expectation["plugin"]
    ):
        failures += differs(said, in_words(verdict), _wanted(expectation))
    if "code" in expectation:
        failures += differs(f"{said} code", code, expectation["code"])
    if "reason" in expectation and expectation["reason"] not in reasons:
        reason = expectation["reason"]
        failures.append(say("failures.other-reason", what=said, verdict=in_words(verdict), wanted=reason))
    if "reasons" in expectation:
        failures += differs(f"{said} reasons", list(reasons), expectation["reasons"])
    return failures


def in_words(verdict: tuple[str, str, tuple[str, ...]]) -> str:
    """Return a verdict as a sentence."""
    plugin, _, reasons = verdict
    return say("failures.refused" if plugin else "failures.passes", plugin=plugin, reasons="; ".join(reasons))


def _wanted(expectation: Data) -> str:
    if expectation.get("passes"):
        return say("failures.that-it-passes")
    return say("failures.that-plugin-refuses", plugin=expectation.get("plugin", say("notes.a-plugin")))


def _score(run: RunView, expectation: Data) -> list[str]:
    key, node = expectation["score"], expectation["node"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    said = say("failures.on-node", pod=key, node=node)
    if not attempt.scores(node) and node not in attempt.totals:
        return [say("failures.no-scores", what=said, number=attempt.number, why=_why_no_scores(attempt, node))]
    failures: list[str] = []
    if "total" in expectation:
        failures += differs(f"{said} total", attempt.totals.get(node), expectation["total"])
    if "plugin" not in expectation:
        asked = [column for column in COLUMNS if column in expectation]
        return failures + ([say("failures.plugin-is-missing", what=said, column=asked[0])] if asked else [])
    plugin = expectation["plugin"]
    scores = attempt.scores(node)
    if plugin not in scores:
        return [*failures, say("failures.no-score", what=said, plugin=plugin, others=shown([*scores]))]
    for column in COLUMNS:
        if column in expectation:
            failures += differs(f"{said} {plugin} {column}", scores[plugin].get(column), expectation[column])
    return failures


def _why_no_scores(attempt: Attempt, node: str) -> str:
    if attempt.selected is not None and attempt.selected.how == "only":
        why = how_chosen(attempt.selected, attempt)
        return say("failures.without-score", node=attempt.selected.node, why=why)
    verdict = attempt.verdict(node)
    if verdict and verdict[0]:
        return say("failures.because-refused", verdict=in_words(verdict))
    return say("failures.no-scores-yet")


def _winner(run: RunView, expectation: Data) -> list[str]:
    key = expectation["winner"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.selected is None:
        return [say("failures.no-winner", pod=key, number=attempt.number, outcome=_outcome(attempt))]
    failures: list[str] = []
    if "node" in expectation:
        failures += differs(say("failures.winner", pod=key), attempt.selected.node, expectation["node"])
    if "margin" in expectation:
        failures += differs(
            say("failures.margin", pod=key, node=attempt.selected.node), attempt.margin, expectation["margin"]
        )
    if "how" in expectation and attempt.selected.how != expectation["how"]:
        actual, wanted = how_chosen(attempt.selected, attempt), say(f"failures.how-{expectation['how']}")
        failures.append(say("failures.other-how", pod=key, actual=actual, wanted=wanted))
    if "among" in expectation:
        failures += differs(
            say("failures.drawn-among", pod=key), sorted(attempt.selected.ties), sorted(expectation["among"])
        )
    return failures


def how_chosen(selected: HostSelected, attempt: Attempt) -> str:
    """Return why the attempt chose its node, in words. A lean trace does not say if other nodes were checked."""
    if selected.how == "only" and attempt.filter is not None and not attempt.is_lean:
        return say(f"failures.only-{attempt.filter.cut_short or 'fits'}")
    return say(f"failures.how-{selected.how}")


def _outcome(attempt: Attempt) -> str:
    return attempt.outcome or say("decision.still-running")


def _failed(run: RunView, expectation: Data) -> list[str]:
    key = expectation["failed"]
    attempt = attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.finished is None or not attempt.failed:
        node = attempt.finished.node if attempt.finished else ""
        row = "failures.did-not-fail-on" if node else "failures.did-not-fail"
        return [say(row, pod=key, number=attempt.number, outcome=_outcome(attempt), node=node)]
    failures: list[str] = []
    if "outcome" in expectation:
        failures += differs(f"{key}: outcome", attempt.outcome, expectation["outcome"])
    if "message" in expectation and attempt.finished.message != expectation["message"]:
        actual, wanted = attempt.finished.message, expectation["message"]
        failures.append(say("failures.other-message", pod=key, actual=actual, wanted=wanted))
    return failures


def _victims(run: RunView, expectation: Data) -> list[str]:
    key = expectation["victims"]
    preempting = None if WHICH.keys() & expectation.keys() else run.preempting(key)
    attempt = preempting or attempt_at(run, key, expectation)
    if isinstance(attempt, str):
        return [attempt]
    if attempt.post_filter is None:
        return [say("failures.no-preemption", pod=key, number=attempt.number, outcome=_outcome(attempt))]
    failures: list[str] = []
    if "are" in expectation:
        failures += differs(f"{key}: victims", sorted(attempt.post_filter.victims), sorted(expectation["are"]))
    if "node" in expectation:
        failures += differs(
            say("failures.nominated-to", pod=key), attempt.post_filter.nominated_node, expectation["node"]
        )
    if "rung" in expectation:
        failures += differs(say("failures.decided-by", pod=key), attempt.rung, expectation["rung"])
    return failures


ASSERTIONS = {
    "verdict": Assertion(
        _verdict,
        say("expectation-keys.verdict"),
        POD,
        {
            "node": NODE,
            "passes": Flag(),
            "plugin": Text(say("expectation-keys.verdict-plugin")),
            "reason": Text(say("expectation-keys.verdict-reason")),
            "reasons": ListOf(Text(), say("expectation-keys.verdict-reasons")),
            "code": Text(values=CODES),
            "visited": Flag(say("expectation-keys.verdict-visited")),
            **WHICH,
        },
        ("node",),
    ),
    "score": Assertion(
        _score,
        say("expectation-keys.score"),
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
        say("expectation-keys.winner"),
        POD,
        {
            "node": NODE,
            "margin": WHOLE,
            "how": Text(
                say("expectation-keys.winner-how"),
                values=HOW,
            ),
            "among": ListOf(NODE, say("expectation-keys.winner-among")),
            **WHICH,
        },
    ),
    "failed": Assertion(
        _failed,
        say("expectation-keys.failed"),
        POD,
        {
            "message": Text(say("expectation-keys.failed-message")),
            "outcome": Text(say("expectation-keys.failed-outcome"), values=FAILED),
            **WHICH,
        },
    ),
    "victims": Assertion(
        _victims,
        say("expectation-keys.victims"),
        POD,
        {
            "are": ListOf(POD, say("expectation-keys.victims-are")),
            "node": Text(say("expectation-keys.victims-node")),
            "rung": Text(
                say("expectation-keys.victims-rung"),
                values=(*(criterion.name for criterion in CRITERIA), ""),
            ),
            **WHICH,
        },
    ),
}
