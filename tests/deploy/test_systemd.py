"""systemd accepts the unit, and finds little to reproach."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.limits.server import from_environment
from tests.sandbox.served import ROOT

pytestmark = pytest.mark.systemd

UNIT = (ROOT / "deploy" / "sandbox.service").read_text()
MOST_EXPOSED = 20
"""Tenths. systemd's own scale goes from 0 to 10, and calls everything below 5 fine."""


def settings() -> dict[str, str]:
    pairs = re.findall(r"^Environment=(.+)$", UNIT, re.MULTILINE)
    return dict(pair.split("=", 1) for line in pairs for pair in line.split())


def analyse(folder: Path, text: str, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``systemd-analyze`` on the unit, with its folder in place of /srv/sandbox."""
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / name).write_text(text.replace("/srv/sandbox", str(folder)))
    command = ["systemd-analyze", *arguments, str(folder / name)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_unit_is_valid(tmp_path: Path) -> None:
    done = analyse(tmp_path, UNIT, "sandbox.service", "verify", "--man=no")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_mistake_in_it_would_be_noticed(tmp_path: Path) -> None:
    done = analyse(tmp_path, UNIT.replace("KillMode=", "KilMode="), "sandbox.service", "verify", "--man=no")
    assert re.search("Unknown key.* 'KilMode'", done.stderr)


def test_the_unit_for_several_processes_is_what_its_comment_makes_of_it(tmp_path: Path) -> None:
    said = re.search(r"^#   (sed .+) deploy/sandbox.service >", UNIT, re.MULTILINE)
    assert said
    done = subprocess.run(
        ["/bin/sh", "-c", f"{said[1]} {ROOT}/deploy/sandbox.service"], capture_output=True, text=True, check=True
    )
    assert "--port %i\n" in done.stdout
    analysed = analyse(tmp_path, done.stdout, "sandbox@8002.service", "verify", "--man=no")
    assert (analysed.returncode, analysed.stderr) == (0, "")


def test_the_process_may_do_little(tmp_path: Path) -> None:
    offline = ("security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager")
    done = analyse(tmp_path, UNIT, "sandbox.service", *offline)
    assert done.returncode == 0, done.stdout


def test_it_has_time_to_stop_and_only_the_web_process_is_told() -> None:
    limits = from_environment(settings())
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    assert limits.drain_seconds + limits.stop_seconds < int(seconds)
    assert "\nKillMode=mixed\n" in UNIT
