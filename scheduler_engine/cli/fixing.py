"""``explain --fix``: show what would let a pending pod run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click
import yaml

from scheduler_engine.answers import fix_phrases
from scheduler_engine.answers.fixes import fixes
from scheduler_engine.answers.patches import Patch, patches
from scheduler_engine.cli.lines import wrapped
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

SHOWN = 3


def fixed(simulation: Simulation, key: str) -> Iterator[str]:
    """Yield the smallest fixes for a pod as lines: a sentence for each, and how to do it."""
    pod = simulation.api.pod(key)
    needless = say("fixes.not-pending", pod=key) if pod is None else fix_phrases.needless(simulation, pod)
    if pod is None or needless:
        yield from wrapped(needless, "")
        return
    tries = [*fixes(simulation, pod)]
    found = [item.fix for item in tries if item.fix is not None]
    if not tries:
        yield fix_phrases.fits(key, any(simulation.api.list("Node")))
    elif not found:
        yield from wrapped(fix_phrases.nothing(key, tries[-1].number), "")
    else:
        yield click.style(say("fixes.heading", pod=key), bold=True)
    for number, fix in enumerate(found[:SHOWN], 1):
        yield from wrapped(fix_phrases.sentence(fix), f"{number}. ")
        for patch in patches(simulation, fix):
            yield from _steps(patch)
    if len(found) > SHOWN:
        yield say("fixes.more", count=len(found) - SHOWN)


def _steps(patch: Patch) -> Iterator[str]:
    text = fix_phrases.step(patch)
    if patch.manifest is None:
        # A command is one line, to copy.
        yield f"   {text}"
        return
    yield from wrapped(text, "   ")
    yield from textwrap.indent(yaml.safe_dump(dict(patch.manifest), sort_keys=False).rstrip(), "     ").split("\n")
