"""What engines would create on first use exists before the first of them is forked."""

from __future__ import annotations

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.worker.ready import make_ready


def test_files_of_scenarios_and_lessons_are_read_before_engines_are_forked() -> None:
    for read in (scenarios, lessons):
        read.cache_clear()
    make_ready()
    assert [read.cache_info().currsize for read in (scenarios, lessons)] == [1, 1]
