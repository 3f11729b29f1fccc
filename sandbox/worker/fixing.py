"""What would let a pending pod run, in words, with commands to copy and to execute."""

from __future__ import annotations

from functools import partial
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.say import say
from sandbox.words.yaml_text import written
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers import fix_phrases
from scheduler_engine.answers.fixed import fixed
from scheduler_engine.answers.fixes import MOST_TRIES, Fix, fixes
from scheduler_engine.simulation import Simulation

MOST = 6
"""Fixes that one page shows. They come smallest first."""


def answer(live: Live, key: str, at: Moment | None) -> dict[str, Any]:
    """Return the smallest fixes for a pod at a moment, None = the present, in words.

    ``problem``: why there is nothing to mend, or nothing helps. ``unknown``: "pod" if there is no such pod. ``tried``:
    combinations of changes.
    """
    simulation = simulation_at(live, at)
    pod = simulation.api.pod(key)
    data: dict[str, Any] = {"pod": key, "problem": "", "unknown": "", "fixes": [], "tried": 0}
    if not key:
        return {**data, "problem": say("errors.no-pod-named")}
    if pod is None:
        return {**data, "problem": say("errors.no-such-object", kind="Pod", key=key), "unknown": "pod"}
    needless = fix_phrases.needless(simulation, pod)
    if needless:
        return {**data, "problem": needless}
    live.so_far = partial(_so_far, data)
    for item in fixes(simulation, pod):
        data["tried"] = item.number
        if item.fix is not None:
            data["fixes"].append(_fix(simulation, item.fix))
        if len(data["fixes"]) == MOST:
            break
    if not data["fixes"]:
        data["problem"] = fix_phrases.none_found(simulation, pod, data["tried"])
    return data


def _so_far(data: dict[str, Any]) -> SoFar:
    found = {**data, "fixes": [*data["fixes"]]}
    tried = min(data["tried"], MOST_TRIES)
    return SoFar(say("progress.fixes", tried=tried, most=MOST_TRIES, count=len(found["fixes"])), found)


def _fix(simulation: Simulation, fix: Fix) -> dict[str, Any]:
    data = fixed(simulation, fix)
    return {**data, "steps": [{**step, "manifest": _text(step["manifest"])} for step in data["steps"]]}


def _text(manifest: dict[str, Any] | None) -> str:
    return "" if manifest is None else written(manifest)
