"""The camera: goes on a journey, and photographs and measures each state in every look."""

from __future__ import annotations

import base64
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM_ARGS, wait_until
from tests.conftest import chromium
from tests.screens.looks import Look, look, look_as_before, measured
from tests.screens.sheets import sheets
from tests.screens.states import JOURNEYS
from tests.screens.visit import WIDE, Visit

TALLEST = 3
"""Most windows of a scrolling page in its picture."""


@contextmanager
def browsing(url: str) -> Iterator[Any]:
    """Return a function that opens pages which share nothing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)

        def open_page() -> Page:
            return browser.new_context(base_url=url, viewport=WIDE, reduced_motion="reduce").new_page()  # type: ignore[arg-type]

        yield open_page
        browser.close()


def photograph(page: Page, file: Path) -> None:
    """Photograph the window and, if the page scrolls, what is below it."""
    size = page.viewport_size or WIDE
    height = min(page.evaluate("document.scrollingElement.scrollHeight"), TALLEST * size["height"])
    clip = {"x": 0, "y": 0, "width": size["width"], "height": max(height, size["height"]), "scale": 1}
    line = page.context.new_cdp_session(page)
    options = {
        "format": "png",
        "optimizeForSpeed": True,
        "clip": clip,
        "captureBeyondViewport": height > size["height"],
    }
    file.write_bytes(base64.b64decode(line.send("Page.captureScreenshot", options)["data"]))
    line.detach()


def travel(group: str, url: str, out: Path, looks: Sequence[Look]) -> tuple[list[str], set[int], float]:
    """Go on one journey. Return the problems, the exceptions used, and the seconds it took."""
    began = time.monotonic()
    wrong: dict[str, list[str]] = {}
    used: set[int] = set()
    folder = out / group.replace(" ", "-")
    folder.mkdir(parents=True)
    names: list[str] = []
    with browsing(url) as open_page:
        try:
            for shot in JOURNEYS[group](Visit(open_page, wait_until)):
                names.append(shot.name)
                for which in looks:
                    look(shot, which)
                    photograph(shot.page, folder / f"{len(names):02}-{which.name}.png")
                    for line in measured(shot.page, used):
                        wrong.setdefault(f"{group} / {shot.name}: {line}", []).append(which.name)
                look_as_before(shot.page)
        except (PlaywrightError, AssertionError):
            last = names[-1] if names else "nothing"
            wrong[f"{group}: the journey ended after “{last}”:\n{traceback.format_exc()}"] = []
        sheets(open_page(), folder, names)
    lines = [f"{line} ({', '.join(places)})" for line, places in wrong.items()]
    return lines, used, time.monotonic() - began
