"""Measure how fast manifests are read and validated: ``make bench``. Prints seconds and asserts none of them."""

from __future__ import annotations

import time
from collections.abc import Callable

import yaml
from pytest_benchmark.fixture import BenchmarkFixture

from sandbox.runtime import memory
from scheduler_engine.api.checking import Checked, check_text
from scheduler_engine.cli.validate import LIMITS
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import make_node, make_pod
from tests.engine.worst_inputs import CONFIGURATIONS, WORST, Text, of_size

NODES, PODS = 300, 3000
LARGEST = 1024 * 1024


def text() -> str:
    """Return 300 nodes and 3,000 pods with the usual fields: labels, requests and limits, a spread, a toleration."""
    nodes = [make_node(f"node-{n}").zone(f"zone-{n % 3}").taint("dedicated", "web").obj() for n in range(NODES)]
    pods = [
        make_pod(f"web-{n}")
        .labels({"app": f"app-{n % 40}", "tier": "web"})
        .request({"cpu": "250m", "memory": "256Mi"})
        .limit({"cpu": "1"}, memory="512Mi")
        .toleration("dedicated", "web")
        .spread("topology.kubernetes.io/zone", {"app": f"app-{n % 40}"})
        .obj()
        for n in range(PODS)
    ]
    return str(yaml.dump_all([*nodes, *pods], Dumper=yaml.CSafeDumper))


def test_a_file_of_300_nodes_and_3000_pods(benchmark: BenchmarkFixture) -> None:
    written = text()
    checked: Checked = benchmark.pedantic(check_text, args=(written, LIMITS), rounds=3)
    assert (len(checked.manifests), checked.errors) == (NODES + PODS, [])
    began = time.process_time()
    check_text(written, LIMITS)
    used = time.process_time() - began
    size = len(written) // 1024
    print(f"\n{NODES} nodes and {PODS} pods ({size} KiB): {used:.2f} s of processor time")


def configuration(text: str) -> None:
    try:
        load_configuration(text)
    except Rejected:
        return


HOSTILE: dict[str, tuple[Text, Callable[[str], object]]] = {
    **{f"manifests with {words}": (text, check_text) for words, text in WORST.items()},
    **{f"a configuration with {words}": (text, configuration) for words, text in CONFIGURATIONS.items()},
}


def test_a_megabyte_of_the_worst() -> None:
    """Print, slowest first, the CPU seconds an engine's process needs for the largest text a sandbox accepts."""
    memory.freeze_loaded()
    used: dict[str, float] = {}
    for words, (text, check) in HOSTILE.items():
        written = of_size(text, LARGEST)
        began = time.process_time()
        check(written)
        used[words] = time.process_time() - began
    for words in sorted(used, key=lambda words: -used[words]):
        print(f"\n{used[words]:6.2f} s  {words}", end="")
