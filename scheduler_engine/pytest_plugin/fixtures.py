"""Fixtures for tests in Python."""

from __future__ import annotations

import pytest

from scheduler_engine.own_plugins import OwnPlugins, enabling
from scheduler_engine.pytest_plugin.variants import Variant, chosen_for
from scheduler_engine.testing import Cluster
from scheduler_engine.versions import DEFAULT

VARIANT = "_scheduler_variant"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the fixture once for each configuration and version."""
    if VARIANT not in metafunc.fixturenames:
        return
    variants = chosen_for(metafunc.definition).variants
    if any(variant.id for variant in variants):
        metafunc.parametrize(VARIANT, variants, ids=[variant.id for variant in variants], indirect=True)


@pytest.fixture
def _scheduler_variant(request: pytest.FixtureRequest) -> tuple[OwnPlugins, Variant]:
    chosen = chosen_for(request.node)
    given = getattr(request, "param", None)
    if given is None and len(chosen.variants) > 1:
        raise pytest.UsageError("several configurations or versions: request the fixture cluster as an argument")
    return chosen.plugins, given or chosen.variants[0]


@pytest.fixture
def cluster(_scheduler_variant: tuple[OwnPlugins, Variant]) -> Cluster:
    """Return an empty cluster, whose scheduler pauses until told to continue.

    It has the configuration, version and plugins that options, settings and the nearest ``conftest.py`` name. Named
    plugins are enabled if there is no configuration.
    """
    own, variant = _scheduler_variant
    configuration = variant.configuration
    if configuration is None and own.known:
        configuration = enabling(own.named)
    return Cluster(
        configuration,
        kubernetes=variant.version.name or DEFAULT,
        feature_gates=variant.version.feature_gates,
        plugins=own.known,
    )
