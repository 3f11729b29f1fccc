"""The plugin's hooks for pytest: options, scenario files, and the final report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.config.reading import read_configuration
from scheduler_engine.pytest_plugin.collecting import CONFIGURATIONS, UPDATED, ScenarioFile
from scheduler_engine.scenario import Rejected

INI = "scenario_files"
DEFAULT = "*.scenario.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(INI, "Globs of the scenario files.", "args", default=[DEFAULT])
    group = parser.getgroup("scheduler-sandbox", "Scenarios of the Kubernetes scheduler")
    group.addoption(
        "--update-scenarios",
        action="store_true",
        help="Rewrite the expectations in scenario files to the results. Review the difference before you commit it.",
    )
    group.addoption(
        "--scenario-trace",
        metavar="DIR",
        type=Path,
        help="Save the trace of each scenario in this folder, as JSON lines.",
    )
    group.addoption(
        "--scheduler-config",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="Run every scenario with this KubeSchedulerConfiguration instead of its own. You can repeat it.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the configurations once. Raises UsageError."""
    files = config.getoption("--scheduler-config")
    if files and config.getoption("--update-scenarios"):
        raise pytest.UsageError(
            "--update-scenarios uses each scenario's own configuration: leave out --scheduler-config"
        )
    try:
        read = {path.stem: read_configuration(path.read_bytes(), str(path)) for path in files}
    except OSError as problem:
        raise pytest.UsageError(f"{problem.filename}: {problem.strerror}") from problem
    except Rejected as refusal:
        raise pytest.UsageError(str(refusal)) from refusal
    if len(read) < len(files):
        raise pytest.UsageError("--scheduler-config: two files of the same name")
    config.stash[CONFIGURATIONS] = read


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not any(file_path.match(pattern) for pattern in parent.config.getini(INI)):
        return None
    collector: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return collector


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for group in terminalreporter.stats.values() for report in group]
    updates = [text for report in reports for name, text in getattr(report, "user_properties", ()) if name == UPDATED]
    if updates:
        terminalreporter.section("scenarios that were rewritten")
        for text in updates:
            terminalreporter.line(text)
