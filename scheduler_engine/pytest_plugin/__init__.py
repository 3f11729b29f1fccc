"""Make pytest collect scenario files as tests, in any repository that has the engine installed.

See docs/testing.md. This module has only what pytest looks for.
"""

from scheduler_engine.pytest_plugin.fixtures import _scheduler_variant, cluster, pytest_generate_tests
from scheduler_engine.pytest_plugin.hooks import (
    pytest_addhooks,
    pytest_addoption,
    pytest_collect_file,
    pytest_configure,
    pytest_report_header,
    pytest_terminal_summary,
)

__all__ = [
    "_scheduler_variant",
    "cluster",
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_report_header",
    "pytest_terminal_summary",
]
