"""Measure the engine: ``make bench`` compares with the kept figures, ``make bench-figures`` replaces these.

Each row runs in a process of its own. Its time is CPU time, the least of its rounds; its memory is the peak of that
process, with the interpreter and the prepared cluster. Nothing here asserts a figure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sandbox.runtime import memory
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.simulation import Simulation
from tests.bench.calibration import calibrate_ms
from tests.bench.rows import ROWS, Row
from tests.bench.ui.tables import lines, written

FIGURES = Path(__file__).with_name("figures.json")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "performance.md"

Figures = dict[str, Any]
"""``us``: CPU microseconds per unit; ``mb``: peak memory; ``seconds``: CPU seconds of the whole row."""


def measured(row: Row) -> Figures:
    """Measure a row in this process."""
    memory.freeze_loaded()
    simulation: Simulation | None = None
    least_us = float("inf")
    for _ in range(row.rounds):
        if simulation is None or not row.unchanged:
            simulation = row.prepare()
        began = time.process_time()
        units = row.work(simulation)
        least_us = min(least_us, (time.process_time() - began) / units * 1_000_000)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"us": round(least_us, 1), "mb": round(peak_mb), "seconds": round(time.process_time(), 1)}


def in_a_process(name: str) -> Figures:
    """Measure a row in a new process. Raises CalledProcessError if the row fails."""
    command = [sys.executable, "-m", "tests.bench", "--row", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def machine() -> dict[str, Any]:
    """Describe this machine, and how long it takes for work that never changes."""
    listed = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(": ")[2] for line in listed if line.startswith("model name")]
    return {
        "cpu": (models or [platform.processor() or platform.machine()])[0],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "calibration_ms": round(calibrate_ms(), 1),
    }


def report(here: dict[str, Any], kept: Figures, names: list[str]) -> dict[str, Figures]:
    """Measure rows and print each beside its kept figures. A ratio above 1 is a loss."""
    there = kept.get("machine", {})
    factor = here["calibration_ms"] / there.get("calibration_ms", here["calibration_ms"])
    print(f"now:  {here}\nkept: {there or 'nothing yet'} (version {kept.get('version', '-')})")
    print(f"Calibration takes {factor:.2f} times the kept time: 'per machine' is the ratio divided by that.\n")
    print(f"{'now us':>10} {'kept us':>10} {'ratio':>6} {'per machine':>11} {'MB':>6} {'ratio':>6}  per unit: row")
    rows: dict[str, Figures] = {}
    for name in names:
        now = rows[name] = in_a_process(name)
        old = kept.get("rows", {}).get(name)
        if old is None:
            compared = f"{'new':>10} {'':>6} {'':>11} {now['mb']:>6} {'':>6}"
        else:
            ratio = now["us"] / old["us"]
            compared = f"{old['us']:>10,.0f} {ratio:>6.2f} {ratio / factor:>11.2f} {now['mb']:>6}"
            compared += f" {now['mb'] / old['mb']:>6.2f}"
        print(f"{now['us']:>10,.0f} {compared}  {ROWS[name].unit}: {name}", flush=True)
    slowest = sorted(rows, key=lambda name: -rows[name]["seconds"])[:5]
    print("\nMost of the time went to: " + "; ".join(f"{name} ({rows[name]['seconds']:.0f} s)" for name in slowest))
    return rows


def table(figures: Figures) -> str:
    """Return the table of docs/performance.md."""
    here = figures["machine"]
    head = f"{here['cpu']}, {here['cores']} cores, Python {here['python']}, calibration {here['calibration_ms']:.0f} ms"
    body = [
        [f"{name}", ROWS[name].unit, f"{row['us']:,.0f}", f"{1_000_000 / row['us']:,.1f}", f"{row['mb']:,}"]
        for name, row in figures["rows"].items()
    ]
    return f"{head}.\n\n{lines(['row', 'unit', 'CPU µs per unit', 'units per CPU second', 'peak MB'], body)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default="", help="measure the rows whose names contain this")
    parser.add_argument("--write", action="store_true", help="keep the figures, and write them into the document")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.row:
        print(json.dumps(measured(ROWS[chosen.row])))
        return
    if chosen.write and chosen.only:
        parser.error("--write needs all rows: leave out --only")
    names = [name for name in ROWS if chosen.only in name]
    if not names:
        parser.error(f"no row has {chosen.only!r} in its name")
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    here = machine()
    rows = report(here, kept, names)
    if chosen.write:
        figures = {"version": ENGINE_VERSION, "machine": here, "rows": rows}
        FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
        DOCUMENT.write_text(written(DOCUMENT.read_text(), {"engine": table(figures)}))


if __name__ == "__main__":
    main()
