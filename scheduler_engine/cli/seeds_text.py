"""The words for a comparison with many seeds, in lines of up to 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.answers.comparing import SHARE
from scheduler_engine.answers.many_seeds import LUCK, SAME, Distribution, ManySeeds, SeedFigure
from scheduler_engine.answers.phrases import INDENTED, formatted
from scheduler_engine.cli.comparison import FIRST, SECOND, SHOWN, labels, text_of
from scheduler_engine.words import say

LABEL, COLUMN = 46, 11


def seeds_text(result: ManySeeds) -> Iterator[str]:
    """Yield the summary line by line, then that of the first seed with which pods are placed differently."""
    count = len(result.seeds)
    yield say("comparison.seeds", count=count)
    if result.differing:
        yield say("comparison.seeds-differ", count=len(result.differing), first=result.differing[0])
    else:
        yield say("comparison.seeds-same")
    for pod, number in result.pods[:SHOWN]:
        yield f"  {pod}: {say('comparison.seeds-pod', count=number, seeds=count)}"
    if len(result.pods) > SHOWN:
        yield f"  {say('comparison.more', count=len(result.pods) - SHOWN)}"
    yield from _figures(result)
    if result.comparison is not None:
        yield ""
        yield say("comparison.pair-of-seed", seed=result.differing[0])
        yield from text_of(result.comparison)


def _figures(result: ManySeeds) -> Iterator[str]:
    differing = [figure for figure in result.figures if figure.verdict != SAME]
    if differing:
        heads = (say("comparison.least"), say("comparison.median"), say("comparison.most"))
        yield ""
        yield f"{say('comparison.table'):{LABEL}}" + "".join(f"{head:>{COLUMN}}" for head in heads)
    for figure in differing:
        first, *more = labels(figure.name, figure.about, result.shape)
        yield f"{figure.about[0]}: {first.strip()}" if figure.name in INDENTED else first
        yield from more
        for side, numbers in ((FIRST, figure.first), (SECOND, figure.second)):
            yield f"{f'    {side}':{LABEL}}" + "".join(f"{text:>{COLUMN}}" for text in _row(figure, numbers))
        yield f"    {_verdict(figure)}"
    same = len(result.figures) - len(differing)
    if same:
        yield ""
        yield say("comparison.same-figures", count=same)


def _row(figure: SeedFigure, numbers: Distribution) -> list[str]:
    return [formatted(figure.unit, value) for value in (numbers.least, numbers.median, numbers.most)]


def _verdict(figure: SeedFigure) -> str:
    least, most = figure.difference.least, figure.difference.most
    if figure.verdict == LUCK:
        ends = [_difference(figure.unit, value, "+") for value in (least, most)]
        return say("comparison.luck", least=ends[0], most=ends[1])
    least, most = sorted((abs(least), abs(most)))
    ends = [_difference(figure.unit, value) for value in (least, most)]
    if not figure.always:
        return say("comparison.never-lower" if figure.verdict == "higher" else "comparison.never-higher", most=ends[1])
    by = ends[1] if ends[0] == ends[1] else say("comparison.range", least=ends[0], most=ends[1])
    return say(f"comparison.always-{figure.verdict}", by=by)


def _difference(unit: str, value: float, sign: str = "") -> str:
    """Format a difference; that of two shares in percentage points."""
    if unit == SHARE:
        return say("comparison.points", number=f"{100 * value:{sign}.1f}")
    return formatted(unit, value, sign)
