"""Fixtures for tests in Python."""

from __future__ import annotations

import pytest

from scheduler_engine.testing import Cluster


@pytest.fixture
def cluster() -> Cluster:
    """An empty cluster with its scheduler, which stands still until it is told to go on."""
    return Cluster()
