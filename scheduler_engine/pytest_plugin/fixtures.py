"""Fixtures for tests in Python."""

from __future__ import annotations

import pytest

from scheduler_engine.own_plugins import enabling
from scheduler_engine.pytest_plugin.collecting import PLUGINS, VERSION
from scheduler_engine.testing import Cluster
from scheduler_engine.versions import DEFAULT


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Return an empty cluster, whose scheduler pauses until told to continue. It follows the option --kubernetes.

    Plugins that the settings name are enabled in it.
    """
    version, own = request.config.stash[VERSION], request.config.stash[PLUGINS]
    return Cluster(
        enabling(own.named) if own.known else None,
        kubernetes=version.name or DEFAULT,
        feature_gates=version.feature_gates,
        plugins=own.known,
    )
