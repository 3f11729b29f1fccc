"""The words for a comparison of two runs, in lines of up to 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from scheduler_engine.answers.comparing import COUNT, SECONDS, Comparison, Evicted, FigurePair, Number, Side, Waiting
from scheduler_engine.answers.parting import Contest, Decision, Parting, ScoreChange, Verdicts
from scheduler_engine.answers.profiles import PluginChange, SettingChange
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import Verdict
from scheduler_engine.words import say

WIDTH = 80
LABEL, COLUMN = 46, 15
"""Columns of the table of figures."""
SHOWN, SHOWN_NODES = 20, 3
"""The most pods and nodes listed; after them comes their number."""
FIRST, SECOND = say("comparison.first"), say("comparison.second")
ABOUT = {"zone": ("resource", "zone"), "skew": ("namespace", "key", "selector", "when", "most")}
"""Figure → what the parts of its ``about`` are, if it is not a resource alone."""
INDENTED = ("fullest", "emptiest", "deviation", "zone", "largest-piece")
"""Figures below the utilisation of their resource."""


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
    kinds = [say(f"comparison.kind-{kind}", pod=parting.instead) for kind in parting.kinds]
    yield from wrapped(say("comparison.differs", kinds=", ".join(kinds)), "  ")
    for side, decision in ((FIRST, parting.first), (SECOND, parting.second)):
        yield from wrapped(_decision(decision), f"  {side:8}")
    if parting.contest is not None:
        yield from _contest(parting.contest)
    elif parting.scores:
        yield f"  {say('comparison.score-changes')}"
        for scored in parting.scores:
            yield from wrapped(_score_change(scored), "    ")
    if parting.verdicts:
        yield from _verdicts(parting.verdicts)
    if parting.changes or parting.settings:
        yield f"  {say('comparison.changes')}"
        texts = [text for change in parting.changes for text in _change(change)]
        for text in (*texts, *map(_setting, parting.settings)):
            yield from wrapped(text, "    ")


def _decision(decision: Decision | None) -> str:
    if decision is None:
        return say("comparison.no-attempt")
    if decision.abandoned:
        text = say("decision.abandoned", why=decision.abandoned)
    elif decision.node:
        places = {"node": decision.node, "feasible": decision.feasible, "ties": len(decision.ties)}
        text = say(f"comparison.node-{decision.how}", **places)
    elif decision.victims:
        text = say("comparison.nominated", victims=", ".join(decision.victims), node=decision.nominated)
    else:
        text = say(f"comparison.ended-{decision.outcome or 'running'}")
    if decision.message:
        text = say("comparison.quoted", text=text, message=decision.message)
    return say("comparison.at", seconds=decision.at_us / SECOND_US, text=text)


def _contest(contest: Contest) -> Iterator[str]:
    """Yield a table of the scores that decided, if both nodes have totals in both runs."""
    if contest.only_drawn:
        yield from wrapped(say("comparison.drawn"), "  ")
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
            yield from wrapped(_verdict(verdict), f"      {side:8}")
    if len(verdicts) > SHOWN_NODES:
        yield f"    {say('comparison.more-nodes', count=len(verdicts) - SHOWN_NODES)}"


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return say("comparison.unchecked")
    plugin, _, reasons = verdict
    return say("comparison.refuses", plugin=plugin, reasons="; ".join(reasons)) if plugin else say("comparison.passes")


def _score_change(scored: ScoreChange) -> str:
    text = say("comparison.score-change", plugin=scored.plugin, count=scored.nodes)
    most = say("comparison.score-most", node=scored.node, first=scored.first, second=scored.second)
    return f"{text} {most}"


def _change(change: PluginChange) -> Iterator[str]:
    """Yield how a plugin differs. Extension points say less than being off, and are left out then."""
    plugin = change.plugin
    if not change.second:
        yield say("comparison.change-off", plugin=plugin)
    elif not change.first:
        yield say("comparison.change-on", plugin=plugin)
    elif change.first != change.second:
        first, second = ", ".join(change.first), ", ".join(change.second)
        yield say("comparison.change-points", plugin=plugin, first=first, second=second)
    elif change.weights[0] != change.weights[1]:
        first, second = map(str, change.weights)
        yield say("comparison.change-weight", plugin=plugin, first=first, second=second)
    for item in change.arguments:
        yield say("comparison.change-argument", plugin=plugin, setting=_setting(item))


def _setting(item: SettingChange) -> str:
    none = say("comparison.none")
    return say("comparison.setting", path=item.path, first=item.first or none, second=item.second or none)


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
    places = dict(zip(ABOUT.get(name, ("resource",)), about, strict=False))
    key = "no-zone" if name == "zone" and not places["zone"] else name
    lines = wrapped(say(f"comparison.{key}", pod=pod, **places), "  " if name in INDENTED else "", LABEL)
    if name == "skew":
        lines += wrapped(say("comparison.skew-of", **places), "  ", LABEL)
    return lines


def shown(figure: FigurePair, value: Number) -> str:
    """Format a value by the unit of its figure."""
    return formatted(figure.unit, value)


def formatted(unit: str, value: Number, sign: str = "") -> str:
    """Format a value: ``sign`` + shows the sign of a positive number, too."""
    if value is None:
        return say("comparison.none")
    if unit == COUNT:
        return f"{value:{sign},g}" if value != int(value) else f"{int(value):{sign},}"
    if unit == SECONDS:
        return f"{value:{sign},.3f} s"
    return f"{100 * value:{sign}.1f}%"


# --- pods -------------------------------------------------------------------------------------------------------------


def _placements(comparison: Comparison) -> Iterator[str]:
    placements = comparison.placements
    if not placements:
        return
    yield ""
    yield say("comparison.placed", count=len(placements))
    rows = [(item.pod, _place(item.first), _place(item.second)) for item in placements[:SHOWN]]
    yield from aligned([(say("comparison.pod"), FIRST, SECOND), *rows])
    if len(placements) > SHOWN:
        yield f"  {say('comparison.more', count=len(placements) - SHOWN)}"


def _place(node: str | None) -> str:
    return say("comparison.gone") if node is None else node or say("comparison.without-node")


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
        yield from wrapped(say("comparison.evicted", side=side, victim=item.victim, how=_how(item)), "  ")
    if len(listed) > SHOWN:
        yield f"  {say('comparison.more', count=len(listed) - SHOWN)}"


def _how(item: Evicted) -> str:
    return say(f"comparison.evicted-{item.how}", by=item.by)


def _waiting(first: Side, second: Side) -> Iterator[str]:
    mine, theirs = ({item.pod: item for item in side.pending} for side in (first, second))
    pods = [*{**mine, **theirs}]
    if not pods:
        return
    yield ""
    yield say("comparison.waiting-title")
    for pod in pods[:SHOWN]:
        yield f"  {pod}"
        texts = [_reason(waiting.get(pod)) for waiting in (mine, theirs)]
        sides = {FIRST: texts[0], SECOND: texts[1]}
        for side, text in ({say("comparison.both"): texts[0]} if texts[0] == texts[1] else sides).items():
            yield from wrapped(text, f"    {side:8}")
    if len(pods) > SHOWN:
        yield f"  {say('comparison.more', count=len(pods) - SHOWN)}"


def _reason(waiting: Waiting | None) -> str:
    if waiting is None:
        return say("comparison.not-waiting")
    return waiting.message or say("comparison.not-tried")


def wrapped(text: str, start: str, width: int = WIDTH) -> list[str]:
    """Return the text in lines that fit; ``start`` begins the first one, and the others align with it."""
    lines = wrap(text, width - len(start), break_long_words=False, break_on_hyphens=False)
    return [f"{start if number == 0 else ' ' * len(start)}{line}" for number, line in enumerate(lines)]
