"""A site for others runs the plugins of Kubernetes alone, even if others are installed beside it."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from sandbox.storage.records import Plan
from sandbox.worker.simulations import execute, new_simulation
from scheduler_engine import own_plugins
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.replay import trace_digest
from scheduler_engine.scenario import read_scenario
from scheduler_engine.versions import VERSIONS, rules_for

QUIET = (
    '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", '
    '"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Quiet"}]}}}]}'
)
PLAN = Plan(UUID(int=1), 0, "null", "v1.34", "")


@pytest.fixture
def tempting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if somebody looks for plugins, or loads one."""

    def forbidden(*arguments: object, **named: object) -> None:
        raise AssertionError("the site looks for plugins")

    for name in ("entry_points", "import_module", "load", "plugin_at"):
        monkeypatch.setattr(own_plugins, name, forbidden)


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_sandbox_knows_no_other_plugins(kubernetes: str, tempting: None) -> None:
    simulation = new_simulation(replace(PLAN, kubernetes=kubernetes))
    assert simulation.plugins == ()
    [profile] = simulation.scheduler.configuration.profiles
    assert profile.registry == registry_for(rules_for(kubernetes))
    execute(simulation, '{"kind": "configure", "configuration": null}')
    [profile] = simulation.scheduler.configuration.profiles
    assert profile.registry == registry_for(rules_for(kubernetes))


def test_a_sandbox_refuses_a_configuration_that_names_one(tempting: None) -> None:
    simulation = new_simulation(PLAN)
    before = trace_digest(simulation)
    for attempt in (
        lambda: execute(simulation, f'{{"kind": "configure", "configuration": {QUIET}}}', is_new=True),
        lambda: new_simulation(replace(PLAN, configuration=QUIET)),
        lambda: read_scenario(f"title: t\nconfiguration: {QUIET}\n"),
    ):
        with pytest.raises(Rejected, match='PreFilterPlugin "Quiet" does not exist'):
            attempt()
    assert trace_digest(simulation) == before
