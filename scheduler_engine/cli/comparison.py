"""The words for a comparison of two runs, in lines of up to 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import Comparison, FigurePair, Number, Side
from scheduler_engine.answers.parting import Contest, Parting, Verdicts
from scheduler_engine.answers.phrases import INDENTED
from scheduler_engine.words import say

WIDTH = 80
LABEL, COLUMN = 46, 15
"""Columns of the table of figures."""
SHOWN, SHOWN_NODES = 20, 3
"""The most pods and nodes listed; after them comes their number."""
FIRST, SECOND = say("comparison.first"), say("comparison.second")


def text_of(comparison: Comparison) -> Iterator[str]:
    """Yield the summary line by line. An empty line separates its parts."""
    parting, decisive = comparison.parting, comparison.decisive
    if parting is not None:
        yield from _parting(parting, say("comparison.parted", pod=parting.pod, number=parting.number))
        yield ""
    if decisive is not None and decisive != parting:
        title = say("comparison.decided", pod=decisive.pod, number=decisive.number)
        if parting is not None and (decisive.changes, decisive.settings) == (parting.changes, parting.settings):
            decisive = replace(decisive, changes=(), settings=())
        yield from _parting(decisive, title)
        yield ""
    yield from figures_table(comparison)
    yield from _placements(comparison)
    yield from _evictions(comparison.first, comparison.second)
    yield from _waiting(comparison.first, comparison.second)


# --- the first difference ---------------------------------------------------------------------------------------------


def _parting(parting: Parting, title: str) -> Iterator[str]:
    yield from wrap(title, WIDTH)
    yield from wrapped(say("comparison.differs", kinds=phrases.kinds_of(parting)), "  ")
    for side, decision in ((FIRST, parting.first), (SECOND, parting.second)):
        yield from wrapped(phrases.decision(decision), f"  {side:8}")
    if parting.contest is not None:
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
    if contest.only_drawn:
        yield from wrapped(phrases.draw(contest), "  ")
        return
    if contest.first is None or contest.second is None:
        return
    first, second = contest.nodes
    yield from wrapped(say("comparison.scores", first=first, second=second), "  ")
    moved = contest.second[0] - contest.second[1] - contest.first[0] + contest.first[1]
    total = say("comparison.total"), contest.first, contest.second, moved
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
    unused = [
        pair.about[0]
        for pair in comparison.figures
        if pair.name == "utilisation" and not pair.first and not pair.second
    ]
    room = comparison.first.balance.room or comparison.second.balance.room
    heading: list[str] = []
    for pair in comparison.figures:
        if pair.about[:1] and pair.about[0] in unused:
            continue
        *above, label = labels(pair.name, pair.about, room.pod if room else "")
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
    if sum(widths) + 6 <= WIDTH:
        for row in rows:
            yield f"  {row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}"
        return
    for name, first, second in rows[1:]:
        yield f"  {name}"
        yield f"    {FIRST:8}{first}"
        yield f"    {SECOND:8}{second}"


def _evictions(first: Side, second: Side) -> Iterator[str]:
    mine, theirs = Counter(first.evictions), Counter(second.evictions)
    listed = [(FIRST, item) for item in (mine - theirs).elements()]
    listed += [(SECOND, item) for item in (theirs - mine).elements()]
    if not listed:
        return
    yield ""
    yield say("comparison.evicted-title")
    for side, item in listed[:SHOWN]:
        yield from wrapped(say("comparison.evicted", side=side, victim=item.victim, how=phrases.eviction(item)), "  ")
    if len(listed) > SHOWN:
        yield f"  {say('comparison.more', count=len(listed) - SHOWN)}"


def _waiting(first: Side, second: Side) -> Iterator[str]:
    mine, theirs = ({item.pod: item for item in side.pending} for side in (first, second))
    pods = [*{**mine, **theirs}]
    if not pods:
        return
    yield ""
    yield say("comparison.waiting-title")
    for pod in pods[:SHOWN]:
        yield f"  {pod}"
        texts = [phrases.reason(waiting.get(pod)) for waiting in (mine, theirs)]
        sides = {FIRST: texts[0], SECOND: texts[1]}
        for side, text in ({say("comparison.both"): texts[0]} if texts[0] == texts[1] else sides).items():
            yield from wrapped(text, f"    {side:8}")
    if len(pods) > SHOWN:
        yield f"  {say('comparison.more', count=len(pods) - SHOWN)}"


def wrapped(text: str, start: str, width: int = WIDTH) -> list[str]:
    """Return the text in lines that fit; ``start`` begins the first one, and the others align with it."""
    lines = wrap(text, width - len(start), break_long_words=False, break_on_hyphens=False)
    return [f"{start if number == 0 else ' ' * len(start)}{line}" for number, line in enumerate(lines)]
