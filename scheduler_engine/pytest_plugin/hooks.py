"""The plugin's hooks for pytest: options, scenario files, and the final report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.pytest_plugin import hookspecs
from scheduler_engine.pytest_plugin.collecting import EXPECTS_NOTHING, UPDATED, ScenarioFile
from scheduler_engine.pytest_plugin.variants import BY_OPTIONS, PLUGINS_INI, choose, version_of
from scheduler_engine.scenario import Rejected
from scheduler_engine.testing import SchedulerSettings
from scheduler_engine.versions import VERSIONS, release_of

INI = "scenario_files"
DEFAULT = "*.scenario.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(INI, "Globs of the scenario files.", "args", default=[DEFAULT])
    parser.addini(PLUGINS_INI, "Plugins of the scheduler to use, each as module:Class.", "args", default=[])
    group = parser.getgroup("scheduler-sandbox", "Scenarios of the Kubernetes scheduler")
    group.addoption(
        "--update-scenarios",
        "--scenario-update",
        action="store_true",
        help="Rewrite the expectations in scenario files to the results. Review the difference before you commit it.",
    )
    group.addoption(
        "--scenario-trace",
        metavar="DIR",
        type=Path,
        help="Save the trace of each scenario in this folder, as JSON lines. It must be new or empty.",
    )
    group.addoption(
        "--scheduler-config",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="Run every scenario, and the fixture cluster, with this KubeSchedulerConfiguration instead of its own. "
        "You can repeat it.",
    )
    group.addoption(
        "--scheduler-plugin",
        metavar="MODULE:CLASS",
        action="append",
        default=[],
        help="Use this plugin of the scheduler, beside those of the setting scheduler_plugins. You can repeat it.",
    )
    group.addoption(
        "--kubernetes",
        metavar="VERSION",
        help="Run every scenario, and the fixture cluster, under this version of Kubernetes instead of its own: "
        f"{', '.join(VERSIONS)}.",
    )
    group.addoption(
        "--feature-gates",
        metavar="GATES",
        help="Feature gates that differ from the defaults of the version, such as OpportunisticBatching=false.",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Read what the options say once, and declare the marker. Raises UsageError."""
    config.addinivalue_line("markers", "scenario: a scenario file of the Kubernetes scheduler")
    others = [name for name in ("--scheduler-config", "--kubernetes", "--feature-gates") if config.getoption(name)]
    if others and config.getoption("--update-scenarios"):
        raise pytest.UsageError(
            f"--update-scenarios uses each scenario's own configuration and version: leave out {others[0]}"
        )
    try:
        config.stash[BY_OPTIONS] = choose(config, SchedulerSettings())
    except OSError as problem:
        raise pytest.UsageError(f"{problem.filename}: {problem.strerror}") from problem
    except Rejected as refusal:
        raise pytest.UsageError(str(refusal)) from refusal
    folder: Path | None = config.getoption("--scenario-trace")
    # A worker of pytest-xdist may start when others have already written.
    if folder is not None and not hasattr(config, "workerinput") and _is_in_use(folder):
        raise pytest.UsageError(f"--scenario-trace: {folder} is not an empty folder; name a new one, or delete it")


def _is_in_use(folder: Path) -> bool:
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def pytest_report_header(config: pytest.Config) -> list[str]:
    kubernetes, plugins = version_of(config).name, config.stash[BY_OPTIONS].plugins.known
    version = [] if kubernetes is None else [f"scenarios under Kubernetes {release_of(kubernetes)}"]
    return version + ([f"scheduler plugins: {', '.join(plugin.name for plugin in plugins)}"] if plugins else [])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not any(file_path.match(pattern) for pattern in parent.config.getini(INI)):
        return None
    collector: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return collector


SECTIONS = {UPDATED: "scenarios that were rewritten", EXPECTS_NOTHING: "scenarios that expect nothing"}
"""User property → the section of the final report that lists it."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for group in terminalreporter.stats.values() for report in group]
    properties = [item for report in reports for item in getattr(report, "user_properties", ())]
    for wanted, title in SECTIONS.items():
        if lines := [*dict.fromkeys(text for name, text in properties if name == wanted)]:
            terminalreporter.section(title)
            for text in lines:
                terminalreporter.line(text)
