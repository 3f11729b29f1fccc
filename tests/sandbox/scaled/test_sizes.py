"""The workers of all web processes of a machine fit its cores and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.served import ROOT, environment

SIZES = "from sandbox import settings as s; print(s.ENGINE_PROCESSES, s.ENGINE_LONG, s.ENGINE_MEMORY)"


@pytest.mark.parametrize("web_processes", [1, 2, 3, 4])
def test_the_workers_of_all_web_processes_fit_the_machine(tmp_path: Path, web_processes: int) -> None:
    settings = environment(tmp_path, WEB_PROCESSES=str(web_processes))
    for name in ("ENGINE_PROCESSES", "ENGINE_LONG", "ENGINE_MEMORY_MB"):
        settings.pop(name, None)
    run = subprocess.run([sys.executable, "-c", SIZES], cwd=ROOT, env=settings, check=True, capture_output=True)
    quick, long, memory = map(int, run.stdout.split())
    cores = len(os.sched_getaffinity(0))
    assert 1 <= quick * web_processes <= max(cores, web_processes)
    assert 1 <= long * web_processes <= max(3, web_processes)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory * (quick + long + 1) * web_processes <= machine
