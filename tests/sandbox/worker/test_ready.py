"""What engines would create on first use exists before the first of them is forked."""

from __future__ import annotations

import subprocess
import sys

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.worker.ready import make_ready


def test_files_of_scenarios_and_lessons_are_read_before_engines_are_forked() -> None:
    for read in (scenarios, lessons):
        read.cache_clear()
    make_ready()
    assert [read.cache_info().currsize for read in (scenarios, lessons)] == [1, 1]


def test_engines_do_without_the_urls_of_the_site() -> None:
    """They would take a quarter of the time until the first engine runs."""
    code = "import django, sys; django.setup(set_prefix=False); import sandbox.worker.process\n"
    code += "from sandbox.worker.ready import make_ready; make_ready()\n"
    code += "print('sandbox.panels' in sys.modules, 'sandbox.urls' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True False\n"
