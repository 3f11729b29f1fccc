"""The repository that ``new-plugin`` writes works for somebody who has only the engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.cli.new_plugin import PLUGIN

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "mine" / "plugin"
    assert main(["new-plugin", str(path)]) == 0
    return path


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a folder, with the engine on the path alone."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}
    arguments = [sys.executable, "-m", *command]
    return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)


def test_its_tests_and_its_scenario_pass(folder: Path) -> None:
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "scheduler_engine.pytest_plugin"}
    done = run(folder, "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", **plugins)
    assert "6 passed" in done.stdout, done.stdout
    option = ["--plugin", PLUGIN]
    done = run(
        folder, "scheduler_engine", "explain", "maintenance.scenario.yaml", "--pod", "web", "--node", "node-a", *option
    )
    assert "node-a: Maintenance refused it: node(s) had maintenance soon" in done.stdout
    assert "  node-a has maintenance soon." in done.stdout
    assert run(folder, "scheduler_engine", "check", ".", *option).returncode == 0


def test_once_it_is_installed_no_option_is_needed(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    [(group, points)] = project["entry-points"].items()
    installed = folder / "maintenance_plugin-0.1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    (installed / "entry_points.txt").write_text(
        f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items())
    )
    check = ("scheduler_engine", "check", str(folder / "maintenance.scenario.yaml"))
    assert run(folder.parent, *check).returncode == 2
    assert run(folder.parent, *check, PYTHONPATH=f"{ROOT}:{folder}").returncode == 0


@pytest.mark.slow
def test_its_types_are_strict(folder: Path) -> None:
    # It derives from every base class.
    shutil.copy(ROOT / "tests/engine/own_plugin.py", folder)
    done = run(folder, "mypy", "--cache-dir", str(folder / "cache"), MYPYPATH=str(ROOT))
    assert done.stdout == "Success: no issues found in 3 source files\n"


def test_ruff_has_no_objection(folder: Path) -> None:
    options = ["--isolated", "--no-cache", "--line-length", "120"]
    assert run(folder, "ruff", "check", *options, "--select", "B,E,F,I,RUF,UP,W", ".").stdout == "All checks passed!\n"
    assert run(folder, "ruff", "format", "--check", *options, ".").returncode == 0


def test_it_says_what_comes_next_and_overwrites_nothing(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "plugin"
    assert main(["new-plugin", str(folder)]) == 0
    written = capsys.readouterr().out.splitlines()
    assert {Path(line).name for line in written[:-1]} == {path.name for path in folder.iterdir()}
    assert written[-1].startswith(f"Next: cd {folder}")
    assert main(["new-plugin", str(folder)]) == 2
    assert capsys.readouterr().err == f"{folder}: the folder is not empty\n"
    assert main(["new-plugin", str(folder / "README.md")]) == 2
    assert capsys.readouterr().err == f"{folder / 'README.md'}: File exists\n"
