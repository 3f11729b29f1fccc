"""``explain --fix``: show what would let a pending pod run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click
import yaml

from scheduler_engine import wording
from scheduler_engine.answers.changes import Change
from scheduler_engine.answers.fixes import MOST_CHANGES, Fix, fixes
from scheduler_engine.answers.patches import Patch, patches
from scheduler_engine.framework.facts import Keys
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

SHOWN = 3
WIDTH = 80


def fixed(simulation: Simulation, key: str) -> Iterator[str]:
    """Yield the smallest fixes for a pod as lines: a sentence for each, and how to do it."""
    pod = simulation.api.pod(key)
    if pod is None or pod.node_name or pod.finished or pod.terminating:
        yield say("fixes.not-pending", pod=key)
        return
    tries = [*fixes(simulation, pod)]
    found = [item.fix for item in tries if item.fix is not None]
    if not tries:
        yield say("fixes.fits", pod=key)
    elif not found:
        yield from _wrapped(say("fixes.nothing", pod=key, most=MOST_CHANGES, count=tries[-1].number), "")
    else:
        yield click.style(say("fixes.heading", pod=key), bold=True)
    for number, fix in enumerate(found[:SHOWN], 1):
        yield from _wrapped(sentence(fix), f"{number}. ")
        for patch in patches(simulation, fix):
            yield from _steps(patch)
    if len(found) > SHOWN:
        yield say("fixes.more", count=len(found) - SHOWN)


def sentence(fix: Fix) -> str:
    """Return what to change and what follows."""
    changes = "; ".join(_in_words(item) for item in fix.changes)
    victims = wording.written({"pods": Keys(fix.victims)})["pods"]
    if not fix.victims:
        return say("fixes.places", changes=changes, node=fix.node)
    if not fix.changes:
        return say("fixes.preempts-anyway", victims=victims, node=fix.node)
    return say("fixes.preempts", changes=changes, victims=victims, node=fix.node)


def _in_words(item: Change) -> str:
    return say(f"fixes.{item.kind}", **wording.written(dict(item.values)))


def _steps(patch: Patch) -> Iterator[str]:
    text = say(f"fix-steps.{patch.how}", **patch.places)
    if patch.manifest is None:
        # A command is one line, to copy.
        yield f"   {text}"
        return
    yield from _wrapped(text, "   ")
    yield from textwrap.indent(yaml.safe_dump(dict(patch.manifest), sort_keys=False).rstrip(), "     ").split("\n")


def _wrapped(text: str, lead: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False)
