"""Another version of Kubernetes for a scenario than its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scheduler_engine.scenario.model import Scenario
from scheduler_engine.versions import DEFAULT, Rules, chosen_rules


@dataclass(frozen=True, slots=True)
class Version:
    """What somebody asked for; None: as the scenario says. Another version begins with its own feature gates."""

    name: str | None = None
    feature_gates: Mapping[str, bool] | None = None

    def of(self, scenario: Scenario) -> Scenario:
        """Return the scenario under this version."""
        if self.name is not None:
            scenario = replace(scenario, kubernetes=self.name, feature_gates=None)
        if self.feature_gates is not None:
            scenario = replace(scenario, feature_gates=dict(self.feature_gates))
        return scenario

    def rules(self) -> Rules:
        """Return the rules where no scenario says a version. Raises Rejected as ``chosen_rules``."""
        return chosen_rules(self.name or DEFAULT, self.feature_gates)
