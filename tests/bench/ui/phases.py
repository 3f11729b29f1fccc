"""Split the time of a step into phases: the server's clocks and Chromium's trace share the machine's clock."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCRIPT = (
    *("EventDispatch", "FunctionCall", "EvaluateScript", "FireAnimationFrame", "TimerFire", "RunMicrotasks"),
    *("XHRReadyStateChange", "XHRLoad", "WebSocketReceive", "WebSocketSend", "MinorGC", "MajorGC"),
)
IN_THE_BROWSER = {
    "ParseHTML": "parse",
    **dict.fromkeys(SCRIPT, "patch"),
    **dict.fromkeys(("UpdateLayoutTree", "Layout", "HitTest"), "style and layout"),
    **dict.fromkeys(("PrePaint", "Paint", "Layerize", "UpdateLayer", "Commit", "CompositeLayers"), "paint"),
}
"""Chromium's name for work of a page's main thread → its phase."""
ORDER = (
    *("request", "execute", "fold", "keyframe", "commit", "between", "render", "send"),
    *("parse", "patch", "style and layout", "paint"),
)
CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "v8"]


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time, in milliseconds on the monotonic clock."""

    begin: float
    end: float
    phase: str

    @property
    def length(self) -> float:
        return self.end - self.begin


@dataclass(slots=True)
class Step:
    """One click: its time, when its last panel was painted (both in milliseconds), and the length of each phase."""

    clicked: float
    painted: float = 0.0
    phases: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    panels: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Drawing time of each panel on the server."""


def of_server(folder: Path) -> list[Span]:
    """Read the spans all server processes wrote, ordered by start."""
    results = []
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            begin, end, phase = line.split(" ", 2)
            results.append(Span(int(begin) / 1e6, int(end) / 1e6, phase))
    return sorted(results, key=lambda span: span.begin)


def of_browser(trace: bytes) -> tuple[list[float], list[Span], list[float]]:
    """Return the clicks, the main thread's work (each span without its nested spans), and the messages received."""
    events = json.loads(trace)["traceEvents"]
    clicks = [event for event in events if event["name"] == "EventDispatch" and _kind(event) == "click"]
    threads = {(event["pid"], event["tid"]) for event in clicks}
    mine = [event for event in events if event.get("ph") == "X" and (event["pid"], event["tid"]) in threads]
    received = [event["ts"] / 1e3 for event in events if event["name"] == "WebSocketReceive"]
    return [event["ts"] / 1e3 for event in clicks], list(_alone(mine)), received


def _kind(event: dict[str, Any]) -> str:
    return str(event.get("args", {}).get("data", {}).get("type", ""))


def _alone(events: list[dict[str, Any]]) -> Iterator[Span]:
    """Yield each event's time without its nested events. An event without a phase counts for the one around it."""
    around: list[tuple[float, str]] = []
    edge = 0.0
    for event in sorted(events, key=lambda event: (event["ts"], -event.get("dur", 0))):
        begin, end = event["ts"] / 1e3, (event["ts"] + event.get("dur", 0)) / 1e3
        while around and around[-1][0] <= begin:
            last, phase = around.pop()
            if phase and last > edge:
                yield Span(edge, last, phase)
            edge = max(edge, last)
        if around and around[-1][1] and begin > edge:
            yield Span(edge, begin, around[-1][1])
        edge = max(edge, begin)
        around.append((end, IN_THE_BROWSER.get(event["name"], around[-1][1] if around else "")))
    while around:
        last, phase = around.pop()
        if phase and last > edge:
            yield Span(edge, last, phase)
        edge = max(edge, last)


def split(painted: list[float], folder: Path, trace: bytes) -> list[Step]:
    """Return the phases of each click. ``painted``: milliseconds after it."""
    server = of_server(folder)
    clicks, browser, received = of_browser(trace)
    steps = []
    for clicked, after in zip(clicks, painted, strict=True):
        step = Step(clicked, after)
        end = clicked + after
        _add_server(step, [span for span in server if clicked <= span.begin <= end], received)
        for span in browser:
            if clicked <= span.begin < end:
                step.phases[span.phase] += min(span.end, end) - span.begin
        steps.append(step)
    return steps


def _add_server(step: Step, spans: list[Span], received: list[float]) -> None:
    by_phase: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_phase[span.phase.split(" ")[0]].append(span)
    for phase in ("execute", "fold", "keyframe", "commit"):
        step.phases[phase] = sum(span.length for span in by_phase[phase])
    for span in by_phase["panel"]:
        step.panels[span.phase.partition(" ")[2]] += span.length
    if not by_phase["answer"] or not by_phase["panels"]:
        return
    step.phases["request"] = by_phase["answer"][0].begin - step.clicked
    step.phases["render"] = sum(span.length for span in by_phase["panels"])
    begun, drawn = by_phase["answer"][0].begin, by_phase["panels"][0].begin
    known = sum(step.phases[phase] for phase in ("execute", "fold", "keyframe", "commit"))
    step.phases["between"] = max(0.0, drawn - begun - known)
    last = by_phase["panels"][-1].end
    place = bisect_left(received, last)
    if place < len(received):
        step.phases["send"] = received[place] - last
