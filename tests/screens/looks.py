"""The sizes and colours of a page, and the measurements in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Frame, Page

from tests.screens.exceptions import EXCEPTIONS
from tests.screens.visit import WIDE, Shot

MEASURE = (Path(__file__).parent / "measure.js").read_text()
MOST_OF_A_RULE = 4
"""Findings of one rule in one state that are listed singly."""

SET_SIZE = """size => {
    if (!document.querySelector('[data-do=size], iframe')) return;
    document.documentElement.dataset.size = size;
    document.dispatchEvent(new CustomEvent('look-changed'));
}"""
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


@dataclass(frozen=True)
class Look:
    name: str
    width: int
    height: int
    scheme: str
    large: bool = False
    """Large type for a projector, if the page offers it."""


LOOKS = tuple(
    Look(f"{width}-{scheme}", width, height, scheme, large=width == 1920)
    for width, height in ((1440, 900), (390, 844), (1920, 1080))
    for scheme in ("light", "dark")
)
PHONE = 760
"""The widest window that shows one panel at a time."""


def look(shot: Shot, which: Look) -> None:
    """Show the page in this look. Its data from the server has arrived."""
    page = shot.page
    page.set_viewport_size({"width": which.width, "height": which.height})
    page.emulate_media(color_scheme=which.scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    for frame in page.frames:
        frame.evaluate(SET_SIZE, "projector" if which.large else "normal")
    if shot.pane and which.width <= PHONE:
        page.evaluate("pane => document.querySelector(`.dock [data-panel=${pane}]`)?.click()", shot.pane)
    for frame in page.frames:
        frame.evaluate(PAINTED)


def look_as_before(page: Page) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    for frame in page.frames:
        frame.evaluate(SET_SIZE, "normal")


def measured(page: Page, used: set[int]) -> list[str]:
    """Return the problems as lines. The numbers of the exceptions used go into ``used``."""
    rows = [{"rule": one.rule, "where": one.where} for one in EXCEPTIONS]
    lines: list[str] = []
    for frame in _visible(page):
        answer = frame.evaluate(MEASURE, rows)
        used.update(answer["used"])
        lines += _lines(answer["problems"])
    return lines


def _visible(page: Page) -> Iterator[Frame]:
    """Yield the visible frames: a room's page drops the frame of a sandbox that it no longer shows."""
    for frame in page.frames:
        if frame is page.main_frame or (not frame.is_detached() and frame.frame_element().is_visible()):
            yield frame


def _lines(findings: list[dict[str, str]]) -> Iterator[str]:
    counts = Counter(one["rule"] for one in findings)
    shown_counts: Counter[str] = Counter()
    for one in findings:
        shown_counts[one["rule"]] += 1
        if shown_counts[one["rule"]] <= MOST_OF_A_RULE:
            yield f"{one['rule']}: {one['path']}: {one['says']}"
    yield from (
        f"{rule}: and {count - MOST_OF_A_RULE} more" for rule, count in counts.items() if count > MOST_OF_A_RULE
    )
