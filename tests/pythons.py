"""Run quick tests of the engine under every installed Python that it supports: ``python -m tests.pythons [TESTS]``.

Each Python gets an environment of its own in ``var/pythons``, with the engine's dependencies, pytest and hypothesis.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "var" / "pythons"
TESTS = ("fixtures/scenarios", "tests/engine/plugins", "tests/engine/pytest_plugin", "tests/engine/test_quantity.py")
NEEDED = ("pytest>=9,<10", "hypothesis>=6")
"""What the tests import beside the engine's dependencies."""
SETTINGS = f"""\
[pytest]
scenario_files = fixtures/scenarios/*.yaml
testpaths = fixtures/scenarios
filterwarnings = error
pythonpath = {ROOT}
"""
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def project() -> dict[str, list[str]]:
    """Return the table ``project`` of ``pyproject.toml``."""
    data: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return data


def is_installed(version: str) -> bool:
    """Return True if ``python3.x`` starts, which a shim of pyenv may not."""
    try:
        return subprocess.run([f"python{version}", "-c", ""], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def run(version: str, tests: Sequence[str]) -> int:
    """Run the tests under one version. Return the exit status."""
    python = FOLDER / version / "bin" / "python"
    if not python.exists():
        subprocess.run([f"python{version}", "-m", "venv", str(python.parents[1])], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *project()["dependencies"], *NEEDED], check=True)
    settings = FOLDER / "pytest.ini"
    settings.write_text(SETTINGS)
    # The conftest.py of the repository needs the site.
    options = [f"--rootdir={ROOT}", "--noconftest", "--import-mode=importlib", "--quiet", "-p", "no:cacheprovider"]
    # Slow machines: no deadline for the examples of hypothesis.
    plugins = ["-p", "scheduler_engine.pytest_plugin", "-p", "pytester", "--hypothesis-profile=ci"]
    command = [str(python), "-B", "-m", "pytest", "-c", str(settings), *options, *plugins, *tests]
    return subprocess.run(command, cwd=ROOT).returncode


def main() -> int:
    """Return 0 if the tests pass under each installed Python; 1 if some fail, or none is installed."""
    results = dict[str, str]()
    for version in VERSIONS:
        if not is_installed(version):
            results[version] = "not installed"
            continue
        print(f"Python {version}", flush=True)
        results[version] = "failed" if run(version, sys.argv[1:] or TESTS) else "passed"
    for version, result in results.items():
        print(f"Python {version}: {result}")
    return int("failed" in results.values() or "passed" not in results.values())


if __name__ == "__main__":
    sys.exit(main())
