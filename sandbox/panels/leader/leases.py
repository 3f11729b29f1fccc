"""The timeline of leases: one lane per replica over the last two minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.shapes import Rect, Shapes, Text, percent, tick
from sandbox.panels.model.election import ElectionLog, Lease, Replica, Span
from sandbox.words.amounts import SECOND, clock, seconds, short_clock
from sandbox.words.say import say

PAST_US, LEAST_US, AHEAD = 120 * SECOND, 40 * SECOND, 4
"""How far back it goes, the shortest stretch that is drawn, and the divisor for the part that the future may take."""
SLOTS = 200
"""Places for ticks; ticks in the same place become one."""
STEPS = (1, 2, 5, 10, 15, 30, 60)
MOST_MARKS = 8
LEAST_WIDTH = 0.3
LABEL_WIDTH = 8
"""Percent of the width that the label of a gap needs."""
HEIGHT = 30
WORST = ("failed", "released", "created", "acquired", "renewed", "held")
"""Outcomes of tries, the worst first. Of several tries in one place the worst is drawn."""


@dataclass(frozen=True, slots=True)
class Scale:
    start_us: int
    end_us: int

    def x(self, us: int) -> float:
        """Return a time's place in percent of the width."""
        inside = min(max(us, self.start_us), self.end_us)
        return 100 * (inside - self.start_us) / (self.end_us - self.start_us)

    def holds(self, us: int) -> bool:
        return self.start_us <= us <= self.end_us


def draw(log: ElectionLog, clock_us: int) -> dict[str, Any]:
    """Return the lanes and the scale below them; ``says`` is the same in words."""
    scale = _scale(log, clock_us)
    overlapping = overlaps(log, clock_us)
    lanes = [
        {
            "name": name,
            "shapes": _lane(log, name, replica, scale, clock_us, overlapping),
            "says": _says(replica, scale, clock_us),
        }
        for name, replica in log.replicas.items()
    ]
    empty = [(start, end) for start, end in gaps(log, clock_us) if end > scale.start_us]
    return {
        "lanes": lanes,
        "axis": _axis(scale, clock_us),
        "doubled": bool(overlapping),
        "gaps": [shape for start, end in empty for shape in _gap(start, end, scale)],
        "gaps_say": "; ".join(say("leader.gap", start=clock(start), end=clock(end)) for start, end in empty),
    }


def _scale(log: ElectionLog, clock_us: int) -> Scale:
    start = max(0, clock_us - PAST_US)
    if log.replicas:
        first = min(replica.spans[0].start_us for replica in log.replicas.values() if replica.spans)
        start = max(start, min(first, clock_us))
    width = max(clock_us - start, LEAST_US)
    ends = [replica.leases[-1].end_us for replica in log.replicas.values() if replica.leases]
    ahead = min(max([clock_us, *ends]) - clock_us, width // AHEAD)
    return Scale(start, max(clock_us + ahead, start + LEAST_US))


def overlaps(log: ElectionLog, clock_us: int) -> list[tuple[int, int]]:
    """Return the stretches of time in which more than one replica believed that it led; none without an election."""
    if not log.elects:
        return []
    edges: list[tuple[int, int]] = []
    for replica in log.replicas.values():
        for span in replica.spans:
            if span.schedules:
                edges += [(span.start_us, 1), (span.until(clock_us), -1)]
    stretches: list[tuple[int, int]] = []
    count = since = 0
    for at_us, change in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
        if count < 2 <= count + change:
            since = at_us
        elif count >= 2 > count + change and at_us > since:
            stretches.append((since, at_us))
        count += change
    return stretches


def gaps(log: ElectionLog, clock_us: int) -> list[tuple[int, int]]:
    """Return the stretches of time in which no replica led; none without an election."""
    if not log.elects:
        return []
    spans = [span for replica in log.replicas.values() for span in replica.spans]
    stretches: list[tuple[int, int]] = []
    until = min((span.start_us for span in spans), default=clock_us)
    for span in sorted((span for span in spans if span.schedules), key=lambda span: span.start_us):
        if span.start_us > until:
            stretches.append((until, span.start_us))
        until = max(until, span.until(clock_us))
    return [*stretches, (until, clock_us)] if clock_us > until else stretches


def _gap(start_us: int, end_us: int, scale: Scale) -> Shapes:
    """Draw a gap with its length, which is beside the gap if that is too narrow."""
    x, end = scale.x(start_us), scale.x(end_us)
    at, anchor = ((x + end) / 2, "middle") if end - x > LABEL_WIDTH else (end + 1, "start")
    if at > 100 - LABEL_WIDTH:
        at, anchor = x - 1, "end"
    text = Text("ls-n", percent(at), "15", seconds(end_us - start_us), anchor=anchor)
    return (*_band("gap", start_us, end_us, scale, 4, 16), text)


# --- a lane ----------------------------------------------------------------------------------------------------------


def _lane(
    log: ElectionLog, name: str, replica: Replica, scale: Scale, clock_us: int, overlapping: list[tuple[int, int]]
) -> Shapes:
    parts = [_span(span, scale, clock_us) for span in replica.spans]
    parts += [_lease(lease, scale, clock_us) for lease in replica.leases]
    parts.append(_ticks(replica, scale))
    parts += [_band("both", start, end, scale, 1, HEIGHT - 2) for start, end in overlapping if _leads(replica, start)]
    parts += [_flag(at_us, count, scale) for at_us, holder, count in log.takeovers if holder == name]
    parts.append((tick("ls-now", scale.x(clock_us), 1.5, 0, HEIGHT),))
    return tuple(shape for part in parts for shape in part)


def _leads(replica: Replica, at_us: int) -> bool:
    return any(
        span.schedules and span.start_us <= at_us and (span.end_us is None or at_us < span.end_us)
        for span in replica.spans
    )


def _band(classes: str, start_us: int, end_us: int, scale: Scale, y: int, height: int, fill: str = "") -> Shapes:
    """Draw a stretch of time, at least as wide as can be seen."""
    if end_us < max(start_us, scale.start_us) or start_us > scale.end_us:
        return ()
    x = scale.x(start_us)
    return (shapes.rect(f"ls-{classes}", x, max(scale.x(end_us) - x, LEAST_WIDTH), y, height, fill),)


def _span(span: Span, scale: Scale, clock_us: int) -> Shapes:
    if span.state == "stopped":
        return ()
    end_us = span.until(clock_us)
    shapes = _band("lead" if span.schedules else "wait", span.start_us, end_us, scale, 8, 12)
    if span.paused:
        shapes += _band("still", span.start_us, end_us, scale, 8, 12, "p-hatch")
    if not span.reachable:
        shapes += _band("cut", span.start_us, end_us, scale, 8, 12)
    return shapes


def _lease(lease: Lease, scale: Scale, clock_us: int) -> Shapes:
    """Draw the past and the future part of a lease."""
    past = _band("lease", lease.start_us, min(lease.end_us, clock_us), scale, 22, 3)
    return past + (_band("ahead", clock_us, lease.end_us, scale, 22, 3) if lease.end_us > clock_us else ())


def _ticks(replica: Replica, scale: Scale) -> Shapes:
    placed: dict[int, tuple[int, str, int]] = {}
    for at_us, outcome in replica.tries:
        if not scale.holds(at_us):
            continue
        slot = int(scale.x(at_us) * SLOTS / 100)
        _, other, count = placed.get(slot, (at_us, outcome, 0))
        worse = outcome if _rank(outcome) < _rank(other) else other
        placed[slot] = (at_us, worse, count + 1)
    return tuple(_tick(at_us, outcome, count, scale) for at_us, outcome, count in placed.values())


def _rank(outcome: str) -> int:
    return WORST.index(outcome) if outcome in WORST else 0


def _tick(at_us: int, outcome: str, count: int, scale: Scale) -> Rect:
    key = "leader.tick-of-several" if count > 1 else "leader.tick"
    title = say(key, at=clock(at_us), outcome=outcome, count=count - 1)
    y, height = (2, 6) if outcome == "held" else (2, 18) if outcome == "failed" else (8, 12)
    return Rect(f"ls-t is-{outcome}", percent(scale.x(at_us)), "2", str(y), str(height), title=title)


def _flag(at_us: int, count: int, scale: Scale) -> Shapes:
    """Draw a takeover."""
    if not scale.holds(at_us):
        return ()
    x = scale.x(at_us)
    text = "+1" if count else say("leader.first-takeover")
    title = say("leader.took-the-lock", at=clock(at_us), count=count)
    return tick("ls-over", x, 2, 0, HEIGHT), Text("ls-f", percent(min(x, 92)), "7", text, dx="5", title=title)


# --- the scale and the words -----------------------------------------------------------------------------------------


def _axis(scale: Scale, clock_us: int) -> Shapes:
    least = (scale.end_us - scale.start_us) / MOST_MARKS
    step = next((step * SECOND for step in STEPS if step * SECOND >= least), STEPS[-1] * SECOND)
    first = -(-scale.start_us // step) * step
    marks: list[Rect | Text] = []
    for us in range(first, scale.end_us + 1, step):
        x = scale.x(us)
        anchor = "start" if x < 4 else "end" if x > 96 else "middle"
        marks += [tick("ls-m", x, 1, 0, 4), Text("ls-n", percent(x), "15", short_clock(us), anchor=anchor)]
    return (*marks, tick("ls-now", scale.x(clock_us), 1.5, 0, 6))


def _says(replica: Replica, scale: Scale, clock_us: int) -> str:
    """Return the lane in words."""
    spans = [span for span in replica.spans if span.until(clock_us) >= scale.start_us]
    return "; ".join(_says_span(span) for span in spans[-12:])


def _says_span(span: Span) -> str:
    until = say("leader.until-now") if span.end_us is None else clock(span.end_us)
    doing = "stopped" if span.state == "stopped" else "leads" if span.schedules else "waits"
    texts = [say(DOING[doing], start=clock(span.start_us), end=until)]
    texts += [say("leader.standing-still")] * span.paused
    texts += [say("leader.partitioned")] * (not span.reachable)
    return ", ".join(texts)


DOING = {"stopped": "leader.span-stopped", "leads": "leader.span-leads", "waits": "leader.span-waits"}
