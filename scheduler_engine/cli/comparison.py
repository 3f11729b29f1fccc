"""The words for a comparison of two runs, in lines of up to 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import Comparison, FigurePair, Number
from scheduler_engine.answers.parting import Contest, Parting, Verdicts
from scheduler_engine.answers.phrases import INDENTED
from scheduler_engine.cli.lines import width, wrap, wrapped
from scheduler_engine.words import say

LABEL, COLUMN = 46, 15
"""Columns of the table of figures."""
SHOWN, SHOWN_NODES = 20, 3
"""The most pods and nodes listed; after them comes their number."""
FIRST, SECOND = say("comparison.first"), say("comparison.second")


def text_of(comparison: Comparison) -> Iterator[str]:
    """Yield the summary line by line. An empty line separates its parts."""
    if alike := phrases.upgrade(comparison):
        yield from wrap(alike)
        yield ""
    titles = ((comparison.parting, "comparison.parted"), (comparison.later_decision, "comparison.decided"))
    for parting, title in titles:
        if parting is not None:
            yield from _parting(parting, say(title, pod=parting.pod, number=parting.number))
            yield ""
    yield from figures_table(comparison)
    yield from _placements(comparison)
    yield from _evictions(comparison)
    yield from _waiting(comparison)
    yield from rules_text(comparison)


def unchanged(comparison: Comparison, in_details: bool) -> Iterator[str]:
    """Yield what there is to say if the summary has no difference. ``in_details``: the details have some."""
    alike = phrases.upgrade(comparison)
    yield from wrap(alike)
    if in_details or not alike:
        yield say("comparison.only-details") if in_details else say("comparison.same")
    yield from rules_text(comparison)


def rules_text(comparison: Comparison) -> Iterator[str]:
    """Yield the rules that differ between the versions, by whether the runs came across them."""
    for heading, rules in phrases.rules(comparison):
        yield ""
        yield from wrap(heading)
        for _, sentence in rules:
            yield from wrapped(sentence, "  - ")


# --- the first difference ---------------------------------------------------------------------------------------------


def _parting(parting: Parting, title: str) -> Iterator[str]:
    yield from wrap(title)
    yield from wrapped(say("comparison.differs", kinds=phrases.kinds_of(parting)), "  ")
    for side, decision in ((FIRST, parting.first), (SECOND, parting.second)):
        yield from wrapped(phrases.decision(decision), f"  {side:8}")
    if parting.contest is not None:
        yield from wrapped(phrases.draw(parting), "  ")
        yield from _contest(parting.contest)
    elif parting.scores:
        yield f"  {say('comparison.score-changes')}"
        for scored in parting.scores:
            yield from wrapped(phrases.score_change(scored), "    ")
    if parting.verdicts:
        yield from _verdicts(parting.verdicts)
    if parting.changes or parting.settings:
        yield f"  {say('comparison.changes')}"
        for text in phrases.settings_of(parting):
            yield from wrapped(text, "    ")


def _contest(contest: Contest) -> Iterator[str]:
    """Yield a table of the scores that decided, if both nodes have totals in both runs."""
    if contest.moved is None:
        return
    first, second = contest.nodes
    yield from wrapped(say("comparison.scores", first=first, second=second), "  ")
    total = say("comparison.total"), contest.first, contest.second, contest.moved
    rows = [total, *((item.plugin, item.first, item.second, item.moved) for item in contest.plugins)]
    names = max(len(row[0]) for row in rows)
    yield f"    {'':{names}}{FIRST:>14}{SECOND:>14}"
    yield f"    {'':{names}}{'A':>7}{'B':>7}{'A':>7}{'B':>7}{say('comparison.moved'):>12}"
    for name, one, other, change in rows:
        scores = "".join(f"{_or_none(score):>7}" for score in (*(one or (None, None)), *(other or (None, None))))
        yield f"    {name:{names}}{scores}{change:>+12}"


def _or_none(number: int | None) -> str:
    return say("comparison.none") if number is None else str(number)


def _verdicts(verdicts: Sequence[Verdicts]) -> Iterator[str]:
    yield f"  {say('comparison.verdicts')}"
    for item in verdicts[:SHOWN_NODES]:
        yield f"    {item.node}"
        for side, verdict in ((FIRST, item.first), (SECOND, item.second)):
            yield from wrapped(phrases.verdict(verdict), f"      {side:8}")
    if len(verdicts) > SHOWN_NODES:
        yield f"    {say('comparison.more-nodes', count=len(verdicts) - SHOWN_NODES)}"


# --- figures ----------------------------------------------------------------------------------------------------------


def figures_table(comparison: Comparison) -> Iterator[str]:
    """Yield the figures in two columns, without resources that no pod requests. Equal headings come once."""
    yield f"{say('comparison.table'):{LABEL}}{FIRST:>{COLUMN}}{SECOND:>{COLUMN}}"
    heading: list[str] = []
    for pair in comparison.used_figures:
        *above, label = labels(pair.name, pair.about, comparison.counted_pod)
        if above != heading:
            yield from above
        heading = above
        yield f"{label:{LABEL}}{shown(pair, pair.first):>{COLUMN}}{shown(pair, pair.second):>{COLUMN}}"


def labels(name: str, about: tuple[str, ...], pod: str) -> list[str]:
    """Return the label of a figure in lines of up to ``LABEL`` columns."""
    label, *more = phrases.labels(name, about, pod)
    lines = wrapped(label, "  " if name in INDENTED else "", LABEL)
    return [*lines, *(line for text in more for line in wrapped(text, "  ", LABEL))]


def shown(figure: FigurePair, value: Number) -> str:
    """Format a value by the unit of its figure."""
    return phrases.formatted(figure.unit, value)


# --- pods -------------------------------------------------------------------------------------------------------------


def _placements(comparison: Comparison) -> Iterator[str]:
    placements = comparison.placements
    if not placements:
        return
    yield ""
    yield say("comparison.placed", count=len(placements))
    rows = [(item.pod, phrases.place(item.first), phrases.place(item.second)) for item in placements[:SHOWN]]
    yield from aligned([(say("comparison.pod"), FIRST, SECOND), *rows])
    if len(placements) > SHOWN:
        yield f"  {say('comparison.more', count=len(placements) - SHOWN)}"


def aligned(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield rows as columns, or if they are too wide, each row in lines below each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    if sum(widths) + 6 <= width():
        for row in rows:
            yield f"  {row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}"
        return
    for name, first, second in rows[1:]:
        yield f"  {name}"
        yield f"    {FIRST:8}{first}"
        yield f"    {SECOND:8}{second}"


def _evictions(comparison: Comparison) -> Iterator[str]:
    sides = zip((FIRST, SECOND), comparison.only_evictions, strict=True)
    listed = [(side, item) for side, evictions in sides for item in evictions]
    if not listed:
        return
    yield ""
    yield say("comparison.evicted-title")
    for side, item in listed[:SHOWN]:
        yield from wrapped(say("comparison.evicted", side=side, victim=item.victim, how=phrases.eviction(item)), "  ")
    if len(listed) > SHOWN:
        yield f"  {say('comparison.more', count=len(listed) - SHOWN)}"


def _waiting(comparison: Comparison) -> Iterator[str]:
    if not comparison.waiting:
        return
    yield ""
    yield say("comparison.waiting-title")
    for pod, *waiting in comparison.waiting[:SHOWN]:
        yield f"  {pod}"
        first, second = map(phrases.reason, waiting)
        sides = {say("comparison.both"): first} if first == second else {FIRST: first, SECOND: second}
        for side, text in sides.items():
            yield from wrapped(text, f"    {side:8}")
    if len(comparison.waiting) > SHOWN:
        yield f"  {say('comparison.more', count=len(comparison.waiting) - SHOWN)}"
