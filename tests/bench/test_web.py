"""How fast the site is, from the click to what is painted: ``make bench ARGS='-k web'``. No test asserts a duration.

The real server in a process of its own; Chromium for single clicks, plain sockets for the crowd. ``extra_info`` holds
milliseconds, and the CPU time of the server's processes, which says more than the clock on a machine that is busy.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page
from pytest_benchmark.fixture import BenchmarkFixture

from scheduler_engine.testing import make_node, make_pod
from tests.bench.crowd import Crowd, Person, gather, made, step_once_a_second
from tests.browser.conftest import Server, browser, wait_until

__all__ = ["browser"]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
CLICKS = 60
WARM_UP = 6
PEOPLE = 200
SECONDS = 10
QUIET = 0.6
"""Seconds after a click in which nothing else is done."""
TICKS = os.sysconf("SC_CLK_TCK")

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
    const panels = changes.filter((change) => !change.target.closest?.('#chart, #notice, #live'));
    if (clicked && panels.length) paint();
  }).observe(document.getElementById('app'), { childList: true, subtree: true });
  window.painted = () => after;
}"""
"""``painted()`` is the milliseconds from the last click to the end of the frame with the last change of a panel."""


def manifests(nodes: int, pods: int) -> str:
    """A cluster on which every default plugin has something to say."""
    made = []
    for number in range(nodes):
        node = make_node(f"node-{number:04}").zone(f"zone-{number % 3}").capacity(cpu="8", memory="16Gi", pods="32")
        made.append(node.obj())
        if number % 5 == 0:
            made[-1]["spec"] = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
    for number in range(pods):
        pod = make_pod(f"web-{number}").label("app", f"web-{number % 4}").cpu("250m").memory("256Mi").obj()
        labels = {"matchLabels": {"app": f"web-{number % 4}"}}
        spread = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}
        apart = {"weight": 10, "podAffinityTerm": {"labelSelector": labels, "topologyKey": HOSTNAME}}
        pod["spec"]["topologySpreadConstraints"] = [spread]
        pod["spec"]["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart]}}
        made.append(pod)
    return "\n---\n".join(json.dumps(manifest, separators=(",", ":")) for manifest in made)


class Workers:
    """The site in one or more processes on one database."""

    def __init__(self, directory: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.redis: subprocess.Popen[bytes] | None = None
        if count > 1:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            command = ["redis-server", "--port", str(port), "--save", ""]
            self.redis = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{port}/0")
        self.servers = [Server(directory) for _ in range(count)]

    @property
    def ports(self) -> list[int]:
        return [server.port for server in self.servers]

    def cpu_seconds(self) -> float:
        """CPU time of all workers so far, in user and kernel mode."""
        used = 0
        for server in self.servers:
            assert server.process
            fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
        return used / TICKS

    def stop(self) -> None:
        for server in self.servers:
            server.kill()
        if self.redis:
            self.redis.terminate()
            self.redis.wait()


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Workers]]:
    started: list[Workers] = []

    def start(count: int) -> Workers:
        started.append(Workers(tmp_path, count, monkeypatch))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def milliseconds(title: str, values: list[float]) -> dict[str, float]:
    return {f"{title} p50": round(percentile(values, 50) * 1000), f"{title} p95": round(percentile(values, 95) * 1000)}


def off_this_thread(function: Callable[[], Any]) -> Any:
    """Playwright keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.parametrize("count", [1, 2], ids=["one worker", "two workers"])
def test_web_a_crowd_steps_once_a_second(
    benchmark: BenchmarkFixture, workers: Callable[[int], Workers], count: int
) -> None:
    if count > 1 and not shutil.which("redis-server"):
        pytest.skip("two workers talk to each other through redis-server, which this machine lacks")
    site = workers(count)

    async def run() -> tuple[Crowd, float]:
        people: list[Person] = await gather(PEOPLE, site.ports, manifests(6, 12))
        await step_once_a_second(people, 2, "stage")
        before = site.cpu_seconds()
        crowd = await step_once_a_second(people, SECONDS, "stage")
        used = site.cpu_seconds() - before
        await asyncio.gather(*(person.leave() for person in people))
        return crowd, used

    crowd, used = benchmark.pedantic(off_this_thread, args=(lambda: asyncio.run(run()),), rounds=1)
    benchmark.extra_info.update(milliseconds("answered", crowd.answered) | milliseconds("shown", crowd.shown))
    benchmark.extra_info["server CPU ms per step"] = round(used / len(crowd.shown) * 1000, 1)
    benchmark.extra_info["characters per step"] = crowd.received // len(crowd.shown)
    benchmark.extra_info["web"] = f"{PEOPLE} people, {SECONDS} s"


@pytest.mark.parametrize("verb", ["stage", "pod"])
@pytest.mark.parametrize("nodes", [20, 100, 1000])
def test_web_from_click_to_painted(
    benchmark: BenchmarkFixture, workers: Callable[[int], Workers], browser: Browser, nodes: int, verb: str
) -> None:
    site = workers(1)
    pods = (CLICKS + WARM_UP) if verb == "pod" else 10
    path = off_this_thread(lambda: asyncio.run(made(site.ports[0], manifests(nodes, pods))))
    context = browser.new_context(base_url=site.servers[0].url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(path)
    wait_until(lambda: page.evaluate("document.querySelector('#lost').hidden"))
    page.wait_for_timeout(1000)
    page.evaluate(CLOCK)
    for _ in range(WARM_UP):
        click(page, verb)
    before = site.cpu_seconds()
    painted = benchmark.pedantic(lambda: [click(page, verb) for _ in range(CLICKS)], rounds=1)
    benchmark.extra_info.update(milliseconds("painted", painted))
    benchmark.extra_info["server CPU ms per step"] = round((site.cpu_seconds() - before) / CLICKS * 1000, 1)
    benchmark.extra_info["web"] = f"{verb} step, {nodes} nodes"
    context.close()


def click(page: Page, verb: str) -> float:
    """Seconds until the last panel that this click changes is painted.

    Nothing is asked of the page meanwhile: answering would keep it from painting.
    """
    box = page.locator(f"#do-{verb}").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(QUIET * 1000)
    return float(wait_until(lambda: page.evaluate("painted()"))) / 1000


def test_web_size_of_the_first_page(benchmark: BenchmarkFixture, workers: Callable[[int], Workers]) -> None:
    site = workers(1)
    path = off_this_thread(lambda: asyncio.run(made(site.ports[0], manifests(20, 20))))
    sizes = benchmark.pedantic(compressed_sizes, args=(urljoin(site.servers[0].url, path),), rounds=1)
    benchmark.extra_info["kB gzipped"] = round(sum(sizes.values()) / 1000)
    benchmark.extra_info["page alone"] = round(sizes[""] / 1000)
    benchmark.extra_info["web"] = "first page, 20 nodes, without Plotly"


def compressed_sizes(url: str) -> dict[str, int]:
    """Path → bytes gzipped, of the page ("") and of the scripts and styles that it names or that they import."""
    sizes: dict[str, int] = {}
    left = {"": url}
    while left:
        name, address = left.popitem()
        body = urlopen(address).read()
        sizes[name] = len(gzip.compress(body))
        named = r"""<(?:script|link)\b[^>]* (?:src|href)="([^"]+\.(?:js|css))"|^import [^;]* from '([^']+)';"""
        for found in re.findall(named, body.decode(), re.MULTILINE):
            path = urljoin(address, found[0] or found[1])
            if path not in sizes:
                left[path] = path
    return sizes
