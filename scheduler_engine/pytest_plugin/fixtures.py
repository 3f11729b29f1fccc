"""Fixtures for tests in Python."""

from __future__ import annotations

import pytest

from scheduler_engine.testing import Cluster


@pytest.fixture
def cluster() -> Cluster:
    """Return an empty cluster, whose scheduler pauses until told to continue."""
    return Cluster()
