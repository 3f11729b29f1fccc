"""Print the figures people compare: pods per second and microseconds per cycle, one line per row."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    session = getattr(terminalreporter.config, "_benchmarksession", None)
    done = getattr(session, "benchmarks", ())
    rows = [row for row in done if "pods/s" in row.extra_info]
    if not rows:
        return
    terminalreporter.section("pods per second")
    for row in rows:
        name = row.name.partition("[")[2].rstrip("]")
        info = row.extra_info
        terminalreporter.write_line(f"{info['pods/s']:>8} pods/s {info['us per cycle']:>9} us/cycle   {name}")
