"""Rewrite the expectations of a scenario file. Only the lines of an expectation change: comments elsewhere stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from scheduler_engine.scenario import ASSERTIONS, Failure, Scenario
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations.vocabulary import WHICH
from scheduler_engine.scenario.facts import expectation_of
from scheduler_engine.scenario.yaml_text import one_line

FACTS: Mapping[str, tuple[str, ...]] = {
    "pod": ("placement", "phase"),
    "gone": ("placement",),
    "waits": ("lane",),
    "nomination": ("nomination",),
    "failed": ("failure",),
    "victims": ("victims",),
    "verdict": ("verdict",),
    "score": ("score", "total"),
    "winner": ("winner",),
    "evictions": ("evictions",),
    "leader": ("leader",),
    "clock": ("clock",),
}
"""Name of an expectation → its possible facts. A person must mend others, such as an order."""
ABOUT = ("node", "plugin", *WHICH)
"""Keys beside a name that select the fact."""
MAY_GO = {
    *("pod", "gone", "node", "nodes", "pending", "phase", "terminating"),
    *("passes", "plugin", "reasons", "visited", "seconds", "among", "margin"),
}
"""Keys that a fact has in one case and not in another: the pod is on a node, or it is pending."""
BOM = "\N{BYTE ORDER MARK}"
SHARED = (yaml.AnchorToken, yaml.AliasToken)


def rewrite(path: Path, scenario: Scenario, failure: Failure, run: RunView) -> bool:
    """Replace an expectation with the facts found. Return False if no fact is known for it, or if anchors share parts
    of the file: a change of one would change others.
    """
    current = _facts_now(failure.expectation, run)
    if current is None or scenario.origin is None:
        return False
    # As bytes, so that line ends stay as they are; the parser does not count a byte order mark.
    text = path.read_bytes().decode()
    mark, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    if any(isinstance(token, SHARED) for token in yaml.scan(text, yaml.CSafeLoader)):
        return False
    start, end = _span(yaml.compose(text, yaml.CSafeLoader), scenario.origin.path(failure.path))
    path.write_bytes((mark + text[:start] + one_line(current) + text[end:]).encode())
    return True


def _facts_now(expectation: Mapping[str, Any], run: RunView) -> dict[str, Any] | None:
    """Return the same facts as they are now; all of the first one, if nothing expected is true."""
    name = next(name for name in expectation if name in ASSERTIONS)
    facts = [data for fact in FACTS.get(name, ()) if (data := _fact(fact, name, expectation, run)) is not None]
    current = {key: value for data in reversed(facts) for key, value in data.items()}
    if not facts or set(expectation) - set(current) - MAY_GO:
        return None
    kept = {key: current[key] for key in current if key in expectation}
    return kept if set(expectation) <= set(kept) else {**facts[0], **kept}


def _fact(fact: str, name: str, expectation: Mapping[str, Any], run: RunView) -> dict[str, Any] | None:
    about = {key: expectation[key] for key in ABOUT if key in expectation}
    if name not in ("leader", "clock"):
        about["pod"] = expectation[name]
    return expectation_of(run, fact, **about)


def _span(node: Any, path: str) -> tuple[int, int]:
    """Return where the value at a path such as ``then[2].expect[0]`` begins and ends in the text."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(node, yaml.SequenceNode):
            node = node.value[int(part)]
        else:
            node = next(value for key, value in node.value if key.value == part)
    return node.start_mark.index, _end(node)


def _end(node: Any) -> int:
    """Return the end: the parser ends a block where the next begins; comments between belong to the next."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)
