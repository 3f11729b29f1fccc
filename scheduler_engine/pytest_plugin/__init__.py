"""Make pytest collect scenario files as tests, in any repository that has the engine installed.

See docs/testing.md. This module has only what pytest looks for.
"""

from scheduler_engine.pytest_plugin.fixtures import cluster
from scheduler_engine.pytest_plugin.hooks import (
    pytest_addoption,
    pytest_collect_file,
    pytest_configure,
    pytest_report_header,
    pytest_terminal_summary,
)

__all__ = [
    "cluster",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_report_header",
    "pytest_terminal_summary",
]
