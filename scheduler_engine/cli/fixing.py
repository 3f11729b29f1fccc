"""``explain --fix``: show what would let a pending pod run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import click
import yaml

from scheduler_engine.answers import fix_phrases
from scheduler_engine.answers.fixed import fixed as in_data
from scheduler_engine.answers.fixes import Fix, fixes
from scheduler_engine.answers.patches import Patch, patches
from scheduler_engine.cli.lines import wrapped
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

SHOWN = 3


def fixed(simulation: Simulation, key: str) -> Iterator[str]:
    """Yield the smallest fixes for a pod as lines: a sentence for each, and how to do it."""
    found, problem = _found(simulation, key)
    if problem:
        yield from wrapped(problem, "")
        return
    yield click.style(say("fixes.heading", pod=key), bold=True)
    for number, fix in enumerate(found[:SHOWN], 1):
        yield from wrapped(fix_phrases.sentence(fix), f"{number}. ")
        for patch in patches(simulation, fix):
            yield from _steps(patch)
    if len(found) > SHOWN:
        yield say("fixes.more", count=len(found) - SHOWN)


def fixes_in_data(simulation: Simulation, key: str) -> dict[str, Any]:
    """Return all fixes for a pod as plain data: ``problem``: why there is none, "" if there are some."""
    found, problem = _found(simulation, key)
    return {"pod": key, "problem": problem, "fixes": [in_data(simulation, fix) for fix in found]}


def _found(simulation: Simulation, key: str) -> tuple[list[Fix], str]:
    """Return the fixes for a pod, the smallest first, and why there is none, "" if there are some."""
    pod = simulation.api.pod(key)
    if pod is None:
        return [], say("fixes.not-pending", pod=key)
    if needless := fix_phrases.needless(simulation, pod):
        return [], needless
    tries = [*fixes(simulation, pod)]
    found = [item.fix for item in tries if item.fix is not None]
    if found:
        return found, ""
    return [], fix_phrases.none_found(simulation, pod, tries[-1].number if tries else 0)


def _steps(patch: Patch) -> Iterator[str]:
    text = fix_phrases.step(patch)
    if patch.manifest is None:
        # A command is one line, to copy.
        yield f"   {text}"
        return
    yield from wrapped(text, "   ")
    yield from textwrap.indent(yaml.safe_dump(dict(patch.manifest), sort_keys=False).rstrip(), "     ").split("\n")
