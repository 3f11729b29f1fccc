"""A small scenario for each rule that differs between versions of Kubernetes, to be played under two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from scheduler_engine.scenario import FOLDER, Scenario, load_scenarios
from scheduler_engine.versions import ROWS, VERSIONS, Row, rules_for

CASES = FOLDER.parent / "versions"
"""The folder of the scenarios, each named after its rule. It may be missing."""


@dataclass(frozen=True, slots=True)
class Case:
    """A rule with its scenario, None if nothing here shows the rule. ``versions``: those to play it under, the one that
    the scenario names first.
    """

    row: Row
    scenario: Scenario | None = None
    versions: tuple[str, ...] = ()

    def sides(self) -> tuple[Scenario, ...]:
        """Return the scenario under both versions. The second one has its default feature gates."""
        first = self.scenario
        if first is None:
            return ()
        return first, replace(first, kubernetes=self.versions[1], feature_gates=None)

    def value(self, version: str) -> object:
        """Return the value that the rule has by default."""
        return getattr(rules_for(version), self.row.name)


@cache
def cases() -> dict[str, Case]:
    """Return rule → case, in the order of the table. The files are read once."""
    scenarios = {scenario.slug: scenario for scenario in load_scenarios(CASES)} if CASES.is_dir() else {}
    return {row.name: _case(row, scenarios.get(row.name)) for row in ROWS}


def _case(row: Row, scenario: Scenario | None) -> Case:
    if scenario is None:
        return Case(row)
    return Case(row, scenario, (scenario.kubernetes, other_version(row, scenario)))


def other_version(row: Row, scenario: Scenario) -> str:
    """Return the nearest version that has another value than the scenario's own; of two, the newer."""
    own, place = rules_for(scenario.kubernetes, scenario.feature_gates), VERSIONS.index(scenario.kubernetes)
    nearest = sorted(VERSIONS, key=lambda version: (abs(VERSIONS.index(version) - place), -VERSIONS.index(version)))
    return next(
        version
        for version in nearest
        if version != scenario.kubernetes and getattr(rules_for(version), row.name) != getattr(own, row.name)
    )


def changed_in(row: Row) -> str:
    """Return the first version whose default differs from that of the version before it; "" if none does."""
    values = [getattr(rules_for(version), row.name) for version in VERSIONS]
    changes = zip(VERSIONS[1:], values, values[1:], strict=False)
    return next((version for version, before, after in changes if before != after), "")
