"""The plugin's hooks for pytest: options, scenario files, and the final report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.config.reading import read_configuration
from scheduler_engine.own_plugins import OwnPlugins, load
from scheduler_engine.pytest_plugin.collecting import (
    CONFIGURATIONS,
    EXPECTS_NOTHING,
    PLUGINS,
    UPDATED,
    VERSION,
    ScenarioFile,
)
from scheduler_engine.scenario import Rejected
from scheduler_engine.scenario.version import Version
from scheduler_engine.versions import VERSIONS, chosen_rules, read_gates, release_of, rules_for, version_named

INI, PLUGINS_INI = "scenario_files", "scheduler_plugins"
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
        help=f"Run every scenario under this version of Kubernetes instead of its own: {', '.join(VERSIONS)}.",
    )
    group.addoption(
        "--feature-gates",
        metavar="GATES",
        help="Feature gates that differ from the defaults of the version, such as OpportunisticBatching=false.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the version and the configurations once. Raises UsageError."""
    files = config.getoption("--scheduler-config")
    others = [name for name in ("--scheduler-config", "--kubernetes", "--feature-gates") if config.getoption(name)]
    if others and config.getoption("--update-scenarios"):
        raise pytest.UsageError(
            f"--update-scenarios uses each scenario's own configuration and version: leave out {others[0]}"
        )
    try:
        own = config.stash[PLUGINS] = load([*config.getini(PLUGINS_INI), *config.getoption("--scheduler-plugin")])
        version = config.stash[VERSION] = _version(config)
        read = {path.stem: _configuration(path, version, own) for path in files}
    except OSError as problem:
        raise pytest.UsageError(f"{problem.filename}: {problem.strerror}") from problem
    except Rejected as refusal:
        raise pytest.UsageError(str(refusal)) from refusal
    if len(read) < len(files):
        raise pytest.UsageError("--scheduler-config: two files of the same name")
    config.stash[CONFIGURATIONS] = read


def _version(config: pytest.Config) -> Version:
    """Return the version in the options. Raises Rejected."""
    kubernetes, gates = config.getoption("--kubernetes"), config.getoption("--feature-gates")
    version = Version(
        None if kubernetes is None else version_named(kubernetes), None if gates is None else read_gates(gates)
    )
    if version.name is not None:
        chosen_rules(version.name, version.feature_gates)
    return version


def _configuration(path: Path, version: Version, own: OwnPlugins) -> dict[str, Any]:
    """Read a configuration that the version accepts; without one, any version. Raises Rejected and OSError."""
    text, refusals = path.read_bytes(), []
    for kubernetes in VERSIONS if version.name is None else (version.name,):
        gates = version.feature_gates if version.name is not None else None
        try:
            return read_configuration(text, str(path), rules_for(kubernetes, gates), own.known)
        except Rejected as refusal:
            refusals.append(refusal)
    raise refusals[0]


def pytest_report_header(config: pytest.Config) -> list[str]:
    kubernetes, plugins = config.stash[VERSION].name, config.stash[PLUGINS].known
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
