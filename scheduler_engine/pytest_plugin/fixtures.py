"""Fixtures for tests in Python."""

from __future__ import annotations

import pytest

from scheduler_engine.pytest_plugin.collecting import VERSION
from scheduler_engine.testing import Cluster
from scheduler_engine.versions import DEFAULT


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Return an empty cluster, whose scheduler pauses until told to continue. It follows the option --kubernetes."""
    version = request.config.stash[VERSION]
    return Cluster(kubernetes=version.name or DEFAULT, feature_gates=version.feature_gates)
