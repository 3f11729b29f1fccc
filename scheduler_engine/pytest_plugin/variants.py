"""Under which configurations, versions and plugins the tests of a folder run: by its settings, and by options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest

from scheduler_engine.config.reading import read_configuration
from scheduler_engine.own_plugins import OwnPlugins, load
from scheduler_engine.scenario import ASSERTIONS, Rejected, Scenario
from scheduler_engine.scenario.facts import QUEUES, STRICTNESS, VERDICTS
from scheduler_engine.scenario.version import Version
from scheduler_engine.shapes import Data, did_you_mean
from scheduler_engine.testing import SchedulerSettings
from scheduler_engine.versions import VERSIONS, chosen_rules, read_gates, rules_for, version_named

PLUGINS_INI = "scheduler_plugins"
NAMES: Mapping[str, Sequence[str]] = {
    QUEUES: ("waits", "nomination", "failed", "victims", "evictions", "leader"),
    VERDICTS: ("verdict", "score", "winner", "trace", "metric"),
}
"""Level → the expectations that it adds to those of the level before; the others are placements."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a test. ``id``: its name in square brackets, "" = none. ``configuration``: None = its own."""

    id: str
    configuration: Data | None
    version: Version

    def of(self, scenario: Scenario) -> Scenario:
        """Return the scenario as it runs in this way."""
        if self.configuration is not None:
            scenario = replace(scenario, configuration=self.configuration)
        return self.version.of(scenario)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of a folder, beside the options. ``names``: the expectations that count."""

    plugins: OwnPlugins
    variants: tuple[Variant, ...]
    names: frozenset[str]


def chosen_for(node: pytest.Collector | pytest.Item) -> Chosen:
    """Return what holds for a node. Raises CollectError for wrong settings in a ``conftest.py``."""
    settings = node.ihook.pytest_scheduler_settings()
    if settings is None:
        return node.config.stash[BY_OPTIONS]
    if not isinstance(settings, SchedulerSettings):
        raise pytest.Collector.CollectError("pytest_scheduler_settings must return SchedulerSettings")
    try:
        chosen = choose(node.config, settings)
    except (Rejected, OSError) as problem:
        text = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
        raise pytest.Collector.CollectError(f"pytest_scheduler_settings: {text}") from None
    if node.config.getoption("--update-scenarios") and len(chosen.variants) > 1:
        raise pytest.Collector.CollectError(
            "--update-scenarios needs one configuration and version, but pytest_scheduler_settings names several"
        )
    return chosen


def choose(config: pytest.Config, settings: SchedulerSettings) -> Chosen:
    """Return the settings beside the options, which come first. Raises Rejected and OSError."""
    if settings.level not in STRICTNESS:
        known = ", ".join(STRICTNESS)
        raise Rejected(f"unknown level {settings.level!r}{did_you_mean(settings.level, STRICTNESS)}; known are {known}")
    places = [*config.getini(PLUGINS_INI), *config.getoption("--scheduler-plugin"), *settings.plugins]
    own = load([*dict.fromkeys(places)])
    versions = _versions(config, settings)
    files = config.getoption("--scheduler-config") or [config.rootpath / path for path in settings.configurations]
    variants = tuple(_variants(files, versions, own))
    repeated = [name for name, count in Counter(variant.id for variant in variants).items() if count > 1]
    if repeated:
        raise Rejected(f"two configurations or versions have the same name: {repeated[0]}")
    return Chosen(own, variants, _names(settings.level))


BY_OPTIONS = pytest.StashKey[Chosen]()
"""What holds where no ``conftest.py`` says anything."""


def version_of(config: pytest.Config) -> Version:
    """Return the version in the options. Raises Rejected."""
    kubernetes, gates = config.getoption("--kubernetes"), config.getoption("--feature-gates")
    return Version(
        None if kubernetes is None else version_named(kubernetes), None if gates is None else read_gates(gates)
    )


def _versions(config: pytest.Config, settings: SchedulerSettings) -> list[Version]:
    """Return the versions, each with its gates, which it must have. Raises Rejected."""
    by_options = version_of(config)
    names: Sequence[str | None] = [by_options.name] if by_options.name else [*map(version_named, settings.kubernetes)]
    names = names or [None]
    gates = by_options.feature_gates
    if gates is None and settings.feature_gates:
        gates = read_gates(settings.feature_gates)
    for name in names:
        if name is not None:
            chosen_rules(name, gates)
    return [Version(name, gates) for name in names]


def _variants(files: Sequence[Path], versions: Sequence[Version], own: OwnPlugins) -> Iterator[Variant]:
    paths: Sequence[Path | None] = files or [None]
    for path, version in product(paths, versions):
        names = ([] if path is None else [path.stem]) + ([version.name] if version.name and len(versions) > 1 else [])
        configuration = None if path is None else _configuration(path, version, own)
        yield Variant("-".join(names), configuration, version)


def _configuration(path: Path, version: Version, own: OwnPlugins) -> Data:
    """Read a configuration that the version accepts; without one, any version. Raises Rejected and OSError."""
    text, refusals = path.read_bytes(), []
    for kubernetes in VERSIONS if version.name is None else (version.name,):
        gates = version.feature_gates if version.name is not None else None
        try:
            return read_configuration(text, str(path), rules_for(kubernetes, gates), own.known)
        except Rejected as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _names(level: str) -> frozenset[str]:
    """Return the expectations that count at a level."""
    above = STRICTNESS[STRICTNESS.index(level) + 1 :]
    return frozenset(ASSERTIONS) - {name for other in above for name in NAMES[other]}
