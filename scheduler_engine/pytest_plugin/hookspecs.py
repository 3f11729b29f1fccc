"""The hook that a ``conftest.py`` may implement."""

from __future__ import annotations

import pytest

from scheduler_engine.testing import SchedulerSettings


@pytest.hookspec(firstresult=True)
def pytest_scheduler_settings() -> SchedulerSettings | None:
    """Return the settings for this folder and those below. The nearest ``conftest.py`` decides."""
