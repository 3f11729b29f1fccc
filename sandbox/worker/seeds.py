"""What luck decides in a sandbox: its run under many seeds, alone or beside another run, in words and for charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.say import say
from sandbox.worker.bounded import within
from sandbox.worker.live import Live
from sandbox.worker.other_run import Course, Other, configures, course, own_course
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import COUNT, Number
from scheduler_engine.answers.over_seeds import (
    HIGHER,
    LOWER,
    OverSeeds,
    Place,
    Run,
    SeededFigure,
    SeededPod,
    over_seeds,
)
from scheduler_engine.errors import Rejected

CHOICES = (10, 20, 50, 100)
MOST_SECONDS = 10.0
"""How long runs are started. The sandbox waits meanwhile."""
CHARTED = (
    *("with-node", "pending", "evictions", "wait-median", "wait-longest"),
    *("utilisation", "deviation", "largest-piece", "room", "skew"),
)
"""Figures that have a chart, if they vary. The table has all of them."""
MOST_CHARTS = 12
MOST_BARS = 8
MOST_PODS, MOST_NODES = 40, 120
"""Rows and columns of the chart of pods."""
LISTED_PODS, LISTED_PLACES = 200, 6
"""Pods in the table, and places of each that are in view at once."""
STEPS = 4
"""Steps of the scale of that chart, from 0 seeds to the most."""
LIGHTEST, DARKEST = 4, 85
"""Percent of ink at both ends of that scale."""

SAME = ("seeds.same", "seeds.same-because")
FEW = ("seeds.few", "seeds.few-because")
LUCK = ("seeds.luck", "seeds.luck-because")
NO_PODS = ("seeds.no-luck", "seeds.no-pods-because")
NO_LUCK = ("seeds.no-luck", "seeds.no-luck-because")
SOME_LUCK = ("seeds.some-luck", "seeds.some-luck-because")
ALL_LUCK = ("seeds.some-luck", "seeds.all-luck-because")
"""Keys of what the seeds show, and why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many seeds, from 1 on. ``other``: the run to compare with, None = none."""

    seeds: int
    other: Other | None = None


def answer(live: Live, wanted: Wanted, at: Moment | None) -> dict[str, Any]:
    """Return how the run up to a moment, None = the present, varies with the seed, and if another differs by more.

    ``problem``: why a run cannot be played to its end, "" if there is an answer. ``seeds``: those that were run.
    """
    try:
        courses = [own_course(live, at), *([course(live, wanted.other, at)] if wanted.other is not None else [])]
        played: list[int] = []
        live.so_far = partial(_so_far, played, wanted.seeds)
        found = over_seeds(_noted(played, within(MOST_SECONDS, _runs(courses, wanted.seeds))))
    except Rejected as problem:
        return {"problem": str(problem), "configured": False}
    figures = [*_used(found.figures)]
    luck, moving = [pod for pod in found.pods if pod.is_luck], _moving(found.pods)
    apart = [pod for pod in found.pods if pod.is_apart]
    charted = [figure for figure in figures if figure.name in CHARTED and not figure.is_constant]
    return {
        "problem": "",
        "configured": any(map(configures, live.texts(0, live.n))),
        "wanted": wanted.seeds,
        "seeds": len(found.seeds),
        "two": wanted.other is not None,
        "verdict": _verdict(found, figures, luck, apart) if wanted.other is not None else _alone(found, luck),
        "differing": len(found.differing),
        "charts": [_chart(found, figure) for figure in charted[:MOST_CHARTS]],
        "more_charts": max(0, len(charted) - MOST_CHARTS),
        "figures": [_figure(found, figure) for figure in sorted(figures, key=lambda figure: figure.is_constant)],
        "heat": _heat(luck, wanted.other is not None),
        "luck": len(luck),
        "pods": [_pod(pod) for pod in moving[:LISTED_PODS]],
        "more_pods": max(0, len(moving) - LISTED_PODS),
        "fixed": len(found.pods) - len(moving),
    }


def _runs(courses: Sequence[Course], seeds: int) -> Iterator[Run]:
    """Yield the runs with each seed. Raises ``OverBudget``."""
    for seed in range(1, seeds + 1):
        first, *second = (item.play(seed, full=False).simulation for item in courses)
        yield seed, first, second[0] if second else None


def _noted(played: list[int], runs: Iterator[Run]) -> Iterator[Run]:
    """Yield the runs, and note their seeds."""
    for run in runs:
        played.append(run[0])
        yield run


def _so_far(played: list[int], seeds: int) -> SoFar:
    return SoFar(say("progress.seeds", played=len(played), count=seeds))


def _used(figures: Sequence[SeededFigure]) -> Iterator[SeededFigure]:
    """Yield the figures without those of resources that no pod requests with any seed."""
    used = {item.about[0] for item in figures if item.name == "utilisation" and any((*item.first, *item.second))}
    known = {item.about[0] for item in figures if item.name == "utilisation"}
    return (item for item in figures if not item.about or item.about[0] not in known - used)


# --- in one sentence --------------------------------------------------------------------------------------------------


def _verdict(
    found: OverSeeds, figures: Sequence[SeededFigure], luck: Sequence[SeededPod], apart: Sequence[SeededPod]
) -> dict[str, str]:
    """Return whether the difference between both runs is larger than luck, and a sentence on what shows it."""
    if not found.differing and all(one == other for figure in figures for one, other in figure.pairs):
        return _said(SAME)
    if not found.is_enough:
        return _said(FEW, count=len(found.seeds))
    beyond = [figure for figure in figures if figure.direction]
    if not beyond and not apart:
        return _said(LUCK)
    shown = [say("seeds.beyond-figures", count=len(beyond), first=_label(found, beyond[0]))] if beyond else []
    shown += [say("seeds.beyond-pods", count=len(apart), first=apart[0].pod)] if apart else []
    return {"head": say("seeds.larger"), "more": " ".join(shown)}


def _alone(found: OverSeeds, luck: Sequence[SeededPod]) -> dict[str, str]:
    if not found.pods:
        return _said(NO_PODS)
    if not found.is_enough:
        return _said(FEW, count=len(found.seeds))
    if not luck:
        return _said(NO_LUCK, count=len(found.pods))
    return _said(SOME_LUCK if len(luck) < len(found.pods) else ALL_LUCK, count=len(luck), pods=len(found.pods))


def _said(keys: tuple[str, str], **places: Any) -> dict[str, str]:
    head, more = (say(key, **places) for key in keys)
    return {"head": head, "more": more}


# --- figures ----------------------------------------------------------------------------------------------------------


def _label(found: OverSeeds, figure: SeededFigure) -> str:
    """Return the whole label of a figure; parts of a resource name it, because they do not stand below it."""
    first, *more = phrases.labels(figure.name, figure.about, found.shape)
    label = f"{figure.about[0]}: {first}" if figure.name in phrases.INDENTED else first
    return ", ".join([label, *more])


def _figure(found: OverSeeds, figure: SeededFigure) -> dict[str, Any]:
    return {
        "label": _label(found, figure),
        "sides": [_spread(figure.unit, values) for values in (figure.first, figure.second)],
        "verdict": _direction(figure),
        "beyond": bool(figure.direction),
        "constant": figure.is_constant,
    }


def _spread(unit: str, values: Sequence[int | float]) -> dict[str, str]:
    """Return the median, and the range if the values differ."""
    if not values:
        return {"median": phrases.formatted(unit, None), "range": ""}
    least, most = (phrases.formatted(unit, value) for value in (min(values), max(values)))
    middle = phrases.formatted(unit, median(values))
    return {"median": middle, "range": "" if least == most else say("seeds.range", least=least, most=most)}


def _direction(figure: SeededFigure) -> str:
    """Return with how many seeds the other run is higher or lower, in words; "" without another run."""
    seeds = len(figure.in_both)
    if not seeds:
        return ""
    counts = {HIGHER: figure.higher, LOWER: figure.lower}
    if not any(counts.values()):
        return say("seeds.never-differs")
    parts = [say(f"seeds.{name}", count=count, seeds=seeds) for name, count in counts.items() if count]
    return "; ".join(parts)


def _chart(found: OverSeeds, figure: SeededFigure) -> dict[str, Any]:
    """Return the bars of a figure: how many seeds of each run gave each value, or each range of values."""
    values = sorted({*figure.first, *figure.second})
    edges = _edges(values, figure.unit)
    labels = [_bar(figure.unit, low, high) for low, high in edges]
    counts = [_counted(edges, side) for side in (figure.first, figure.second) if side]
    return {"label": _label(found, figure), "bars": labels, "counts": counts, "beyond": bool(figure.direction)}


def _edges(values: Sequence[int | float], unit: str) -> list[tuple[float, float]]:
    """Return the least and the largest value of each bar. Few values have their own ones, many share them."""
    low, high = values[0], values[-1]
    if unit == COUNT and high - low < MOST_BARS:
        return [(value, value) for value in range(int(low), int(high) + 1)]
    if len(values) <= MOST_BARS:
        return [(value, value) for value in values]
    width = (high - low) / MOST_BARS
    steps = [low + width * number for number in range(MOST_BARS)]
    return [*zip(steps, [*steps[1:], high], strict=True)]


def _bar(unit: str, low: Number, high: Number) -> str:
    least, most = phrases.formatted(unit, low), phrases.formatted(unit, high)
    return least if least == most else say("seeds.range", least=least, most=most)


def _counted(edges: Sequence[tuple[float, float]], values: Sequence[int | float]) -> list[int]:
    """Return how many values belong to each bar: the first one that does not end below the value."""
    places = Counter(next(number for number, (_, high) in enumerate(edges) if value <= high) for value in values)
    return [places[number] for number in range(len(edges))]


# --- pods -------------------------------------------------------------------------------------------------------------


def _moving(pods: Sequence[SeededPod]) -> list[SeededPod]:
    """Return the pods that luck or the other run moves, those first that both runs place differently most often."""
    return sorted((pod for pod in pods if pod.is_luck or pod.moved), key=lambda pod: -pod.moved)


def _pod(pod: SeededPod) -> dict[str, Any]:
    return {"pod": pod.pod, "sides": [_places(pod.first), _places(pod.second)], "apart": pod.is_apart}


def _places(counts: Counter[Place]) -> dict[str, Any]:
    """Return the places of a pod, the most frequent first, and how many ``more`` the ``rest`` are."""
    often = sorted(counts.items(), key=lambda item: -item[1])
    texts = [say("seeds.place", place=phrases.place(place), count=count) for place, count in often]
    listed, rest = texts[:LISTED_PLACES], texts[LISTED_PLACES:]
    return {"places": ", ".join(listed), "rest": ", ".join(rest), "more": len(rest)}


def _heat(pods: Sequence[SeededPod], two: bool) -> dict[str, Any] | None:
    """Return the chart of the pods that luck decides: how often each is at each place, in the first run and the second.

    None if there is no such pod, or too many places for a chart. ``scale``: (number of seeds, its share of ink in
    percent as text). ``ink``: these shares at both ends.
    """
    shown = pods[:MOST_PODS]
    places = [*dict.fromkeys(place for pod in shown for counts in (pod.first, pod.second) for place in counts)]
    places.sort(key=lambda place: (not place, place or ""))
    if not shown or len(places) > MOST_NODES:
        return None
    most = max(count for pod in shown for counts in (pod.first, pod.second) for count in counts.values())
    rows = [[[counts[place] for place in places] for counts in (pod.first, pod.second)[: 1 + two]] for pod in shown]
    return {
        "pods": [pod.pod for pod in shown],
        "places": [phrases.place(place) for place in places],
        "sides": [list(side) for side in zip(*rows, strict=True)],
        "most": most,
        "ink": [LIGHTEST, DARKEST],
        "scale": [(count, f"{LIGHTEST + (DARKEST - LIGHTEST) * count / most:.1f}%") for count in _ticks(most)],
    }


def _ticks(most: int) -> list[int]:
    """Return 0, the most, and whole numbers between them, evenly spaced."""
    return sorted({round(most * step / STEPS) for step in range(STEPS + 1)})
