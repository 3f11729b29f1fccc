"""Measure how long a person waits: ``make bench-ui`` prints the figures and writes the tables of docs/performance.md.

Runs the real server in a separate process, Chromium for single clicks, and plain sockets for a crowd. It asserts
nothing about the figures, which mean something only on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import re
import tempfile
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.crowd import create_sandbox, gather, step_once_a_second
from tests.bench.ui.clusters import manifests
from tests.bench.ui.phases import CATEGORIES, split
from tests.bench.ui.tables import Crowded, Row, of_crowds, of_pages, of_panels, of_phases, of_steps, written
from tests.browser.conftest import CHROMIUM_ARGS, wait_until
from tests.conftest import chromium
from tests.hostile.site import Site, prepare
from tests.servers import missing, shared

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "performance.md"
SIZES = (20, 100, 1000, 5000)
VERBS = ("stage", "pod")
WARM_UP, CLICKS = 6, 30
QUIET_MS = {20: 300, 100: 300, 1000: 700, 5000: 2000}
"""Milliseconds of rest after a click."""
PEOPLE, SECONDS = 200, 10

CLOCK = """() => {
  const painted = [];
  let clicked = 0, after = 0;
  const paint = () => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { after = performance.now() - clicked; };
    channel.port2.postMessage(0);
  });
  document.addEventListener('click', (event) => { clicked = event.timeStamp; after = 0; }, true);
  new MutationObserver((changes) => {
    const panels = changes.filter((change) => !change.target.closest?.('#notice, #live'));
    if (clicked && panels.length) paint();
  }).observe(document.getElementById('app'), { childList: true, subtree: true, attributes: true, characterData: true });
  window.painted = () => after;
}"""
"""``painted()`` is the milliseconds from the last click to the end of the frame with the last change of a panel."""


@contextmanager
def serving(timed: bool) -> Iterator[tuple[Site, Path]]:
    """Start a server. If ``timed``, it writes its phases into the folder yielded with it."""
    with tempfile.TemporaryDirectory() as name:
        timings = Path(name) / "timings"
        timings.mkdir()
        more = {"TIMINGS": str(timings)}
        if timed:
            more["DJANGO_SETTINGS_MODULE"] = "tests.bench.ui.settings"
        with started(Path(name), **more) as site:
            yield site, timings


@contextmanager
def started(directory: Path, **settings: str) -> Iterator[Site]:
    site = Site(directory, prepare(directory, CREATE_RATE="100000", **settings), cap=16 << 30)
    site.start()
    try:
        yield site
    finally:
        site.end()


def off_this_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run the coroutine in another thread: Playwright has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(coroutine)).result()


def clicks(browser: Browser, nodes: int, verb: str) -> Row:
    """Click repeatedly in a sandbox with ``nodes`` nodes, and measure."""
    with serving(timed=True) as (site, timings):
        wait_until(lambda: site.calms_down(30))
        before = site.memory()
        pods = CLICKS + WARM_UP if verb == "pod" else 10
        path = off_this_thread(create_sandbox(site.port, manifests(nodes, pods)))
        context = browser.new_context(base_url=f"http://127.0.0.1:{site.port}", viewport={"width": 1440, "height": 900})
        page = context.new_page()
        frames: list[int] = []
        page.on("websocket", lambda line: line.on("framereceived", lambda data: frames.append(len(data))))
        began = time.monotonic()
        page.goto(path)
        page.locator("#lost").wait_for(state="hidden")
        opened = time.monotonic() - began
        page.wait_for_timeout(1000)
        page.evaluate(CLOCK)
        for _ in range(WARM_UP):
            click(page, verb, QUIET_MS[nodes])
        frames.clear()
        used = site.cpu_seconds()
        for file in timings.iterdir():
            file.write_text("")
        browser.start_tracing(page=page, categories=CATEGORIES)
        painted = [click(page, verb, QUIET_MS[nodes]) for _ in range(CLICKS)]
        trace = browser.stop_tracing()
        used = site.cpu_seconds() - used
        steps = split(painted, timings, trace)
        memory = site.memory() - before
        context.close()
    return Row(nodes, verb, steps, sum(frames) / CLICKS, used / CLICKS * 1000, memory, opened)


def click(page: Page, verb: str, quiet: int) -> float:
    """Return the milliseconds until the last panel this click changes is painted.

    Nothing queries the page meanwhile: answering would keep it from painting.
    """
    box = page.locator(f"#do-{verb}").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(quiet)
    return float(wait_until(lambda: page.evaluate("painted()")))


def crowds() -> Iterator[Crowded]:
    """Measure ``PEOPLE`` in small sandboxes: on one worker, and on two if the machine has PostgreSQL and Redis."""
    with serving(timed=False) as (site, _):
        yield off_this_thread(_crowd("one web process, SQLite", [site]))
    if lacks := missing():
        print(f"Two web processes were not measured: this machine has no {' and no '.join(lacks)}.")
        return
    with tempfile.TemporaryDirectory() as name, shared() as settings, ExitStack() as stack:
        folders = [Path(name) / f"worker-{number}" for number in range(2)]
        for folder in folders:
            folder.mkdir()
        sites = [stack.enter_context(started(folder, WEB_PROCESSES="2", **settings)) for folder in folders]
        yield off_this_thread(_crowd("two web processes, PostgreSQL and Redis", sites))


async def _crowd(name: str, sites: list[Site]) -> Crowded:
    people = await gather(PEOPLE, [site.port for site in sites], manifests(6, 12))
    await step_once_a_second(people, 2, "stage")
    before = sum(site.cpu_seconds() for site in sites)
    crowd = await step_once_a_second(people, SECONDS, "stage")
    used = sum(site.cpu_seconds() for site in sites) - before
    await asyncio.gather(*(person.leave() for person in people))
    steps = len(crowd.shown)
    return Crowded(name, crowd.shown, crowd.refused, used / steps * 1000, crowd.received / steps)


def pages() -> list[tuple[str, int]]:
    """Return the bytes of the start page and of a workbench, each with its scripts and styles."""
    with serving(timed=False) as (site, _):
        workbench = off_this_thread(create_sandbox(site.port, manifests(20, 20)))
        base = f"http://127.0.0.1:{site.port}"
        return [
            ("start page with its scripts and styles", compressed(f"{base}/")),
            ("workbench of 20 nodes with its scripts and styles, without Plotly", compressed(base + workbench)),
        ]


def compressed(url: str) -> int:
    """Return the gzipped bytes of a page, its scripts and styles, and what they import."""
    sizes: dict[str, int] = {}
    left = [url]
    while left:
        address = left.pop()
        body = urlopen(address).read()
        sizes[address] = len(gzip.compress(body))
        named = r"""<(?:script|link)\b[^>]* (?:src|href)="([^"]+\.(?:js|css))"|^import [^;]* from '([^']+)';"""
        for name in re.findall(named, body.decode(), re.MULTILINE):
            path = urljoin(address, name[0] or name[1])
            if path not in sizes and path not in left:
                left.append(path)
    return sum(sizes.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="*", default=SIZES, choices=SIZES)
    parser.add_argument(
        "--write", action="store_true", help="write docs/performance.md, too, when all sizes are measured"
    )
    arguments = parser.parse_args()
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        for nodes in arguments.nodes:
            for verb in VERBS:
                rows.append(clicks(browser, nodes, verb))
                print(of_steps(rows[-1:]), of_phases(rows[-1:]), of_panels(rows[-1:]), "", sep="\n\n", flush=True)
        browser.close()
    tables = {
        "steps": of_steps(rows),
        "phases": of_phases(rows),
        "panels": of_panels(rows),
        "crowd": of_crowds(list(crowds())),
        "pages": of_pages(pages()),
    }
    print(tables["crowd"], tables["pages"], sep="\n\n")
    if arguments.write and tuple(arguments.nodes) == SIZES:
        DOCUMENT.write_text(written(DOCUMENT.read_text(), tables))


if __name__ == "__main__":
    main()
