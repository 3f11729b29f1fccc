"""The engine as a distribution: it builds, installs alone, and contains its scenarios, command and plugin."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from scheduler_engine.cli.beginning import BLANK
from scheduler_engine.scenario import FOLDER

ROOT = Path(__file__).parents[2]
NEEDED = (
    "click",
    "re2",
    "numpy",
    "numpy.libs",
    "yaml",
    "_yaml",
    "pytest",
    "_pytest",
    "pluggy",
    "pluggy-*.dist-info",
    "iniconfig",
    "packaging",
    "pygments",
    "py.py",
)
"""Dependencies of the engine and of pytest. The tested installation has nothing else of ours."""

DOCUMENT = ROOT / "docs" / "testing.md"
ON_PLUGINS = ROOT / "docs" / "plugins.md"
INSTALL = re.compile(r"python -m pip install pytest \./scheduler_sandbox-[\d.]+-py3-none-any\.whl")
PACKED = (
    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {score: "
    "{disabled: [{name: NodeResourcesBalancedAllocation}]}}, pluginConfig: [{name: NodeResourcesFit, args: "
    "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu}]}}}]}]}"
)
"""A configuration that fills nodes instead of leaving room on them."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert len([*folder.glob("*.tar.gz")]) == 1
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the engine into an environment, without a network. Return the folder of its programs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    libraries = next(folder.glob("lib/python*/site-packages"))
    known = Path(sysconfig.get_path("purelib"))
    for path in (path for name in NEEDED for path in known.glob(name)):
        (libraries / path.name).symlink_to(path)
    install = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    return folder / "bin"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in an environment that knows nothing of this checkout."""
    return subprocess.run(command, cwd=cwd, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)


def test_the_wheel_holds_the_engine_and_nothing_of_the_site(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    release = "-".join(wheel.name.split("-")[:2])
    assert {name.partition("/")[0] for name in names} == {
        "scheduler_engine",
        f"{release}.dist-info",
        f"{release}.data",
    }
    assert not any("/cli/share/" in name for name in names)
    for name in ("py.typed", "scenario/schema.json", f"scenario/scenarios/{next(FOLDER.glob('*.yaml')).name}"):
        assert f"scheduler_engine/{name}" in names


def test_it_has_its_command_and_its_scenarios(installed: Path, tmp_path: Path) -> None:
    listed = run(installed / "scheduler-sandbox", "new", "--list", cwd=tmp_path)
    assert listed.stderr == ""
    assert len(listed.stdout.splitlines()) == len([*FOLDER.glob("*.yaml")])
    (tmp_path / "mine.scenario.yaml").write_text(BLANK)
    challenge = next(iter(sorted((FOLDER.parent / "challenges").glob("*.yaml"))))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "challenge.yaml").write_bytes(challenge.read_bytes())
    for program in ([installed / "scheduler-sandbox"], [installed / "python", "-m", "scheduler_engine"]):
        done = run(*program, "check", "more", tmp_path / "mine.scenario.yaml", cwd=tmp_path)
        assert (done.returncode, [line[:2] for line in done.stdout.splitlines()]) == (0, ["ok", "ok"])
        done = run(*program, "run", "mine.scenario.yaml", "--quiet", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "A web server goes where there is room: as expected\n")


def test_its_manual_and_completions_are_where_man_and_shells_look(installed: Path) -> None:
    share = installed.parent / "share"
    found = {str(path.relative_to(share)): path.read_text() for path in share.rglob("*") if path.is_file()}
    assert {*found} == {
        "man/man1/scheduler-sandbox.1",
        "bash-completion/completions/scheduler-sandbox",
        "zsh/site-functions/_scheduler-sandbox",
        "fish/vendor_completions.d/scheduler-sandbox.fish",
    }
    version = run(installed / "scheduler-sandbox", "--version", cwd=share)
    assert found["man/man1/scheduler-sandbox.1"].startswith('.TH "SCHEDULER-SANDBOX" 1 ')
    assert f'"scheduler-sandbox {version.stdout.split()[-1]}"' in found["man/man1/scheduler-sandbox.1"]
    complete = "source ../share/bash-completion/completions/scheduler-sandbox; COMP_WORDS=(scheduler-sandbox exp) "
    complete += "COMP_CWORD=1; _scheduler_sandbox_completion scheduler-sandbox; echo ${COMPREPLY[@]}"
    done = run("/bin/bash", "-c", f"PATH={installed}:$PATH; {complete}", cwd=installed)
    assert (done.stdout, done.stderr) == ("explain export\n", "")


def test_its_plugin_collects_scenarios_by_itself(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.scenario.yaml").write_text(BLANK)
    done = run(installed / "python", "-m", "pytest", "-q", cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("1 passed")
    (tmp_path / "mine.scenario.yaml").write_text(BLANK.replace("setup:", f"configuration: {PACKED}\nsetup:", 1))
    done = run(installed / "python", "-m", "pytest", "-q", cwd=tmp_path)
    assert done.returncode == 1
    assert "found     default/web: expected node-b, is on node-a" in done.stdout


# --- docs/testing.md ---


def blocks(language: str, document: Path = DOCUMENT) -> list[str]:
    """Return the document's code blocks in this language, in order."""
    tokens = MarkdownIt("commonmark").parse(document.read_text())
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


@pytest.fixture
def repository(installed: Path, tmp_path: Path) -> Path:
    """Return a user's repository, with the files that the document says to write."""
    files = {
        "web.scenario.yaml": blocks("yaml")[0],
        "test_web.py": blocks("python")[1],
        "pyproject.toml": blocks("toml")[0],
        "packed.yaml": json.dumps(yaml.safe_load(PACKED)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin").symlink_to(installed)
    return tmp_path


def shell(repository: Path, line: str) -> subprocess.CompletedProcess[str]:
    programs = (repository / "bin").resolve()
    return run("/bin/bash", "-c", f"PATH={programs}:$PATH; {line}", cwd=repository)


def test_the_commands_of_the_document_work(repository: Path) -> None:
    lines = [line.removeprefix("$ ") for text in blocks("console") for line in text.splitlines()]
    assert INSTALL.fullmatch(lines[0])
    for line in lines[1:]:
        # Under another configuration the pod goes elsewhere, which the option is for.
        done = shell(repository, line)
        assert done.returncode == (1 if "--scheduler-config" in line else 0), (line, done.stdout, done.stderr)
    assert [*(repository / "traces").iterdir()]


def test_the_settings_of_a_folder_work_as_the_document_shows(repository: Path) -> None:
    folder = repository / "upgrade"
    folder.mkdir()
    (folder / "conftest.py").write_text(blocks("python")[0])
    for name in ("web.scenario.yaml", "packed.yaml"):
        (folder / name).write_text((repository / name).read_text())
    done = shell(repository, "python -m pytest --collect-only -q upgrade")
    scenarios = [f"upgrade/web.scenario.yaml::web[packed-{version}]" for version in ("v1.34", "v1.36")]
    assert done.stdout.splitlines()[:2] == scenarios


def test_a_failure_reads_as_the_document_shows(repository: Path) -> None:
    path = repository / "web.scenario.yaml"
    path.write_text(path.read_text().replace("node: large}", "node: small}"))
    done = shell(repository, "python -m pytest -q web.scenario.yaml")
    assert blocks("text")[0] in done.stdout


def test_the_document_runs_the_same_commands_in_ci(repository: Path) -> None:
    github, gitlab = (yaml.safe_load(text) for text in blocks("yaml")[1:])
    steps = [step["run"] for step in github["jobs"]["scenarios"]["steps"] if "run" in step]
    assert steps == gitlab["scenarios"]["script"]
    assert INSTALL.fullmatch(steps[0])
    assert shell(repository, steps[1]).returncode == 0


# --- docs/plugins.md ---


def test_the_commands_of_the_document_on_plugins_work(repository: Path) -> None:
    lines = [line.removeprefix("$ ") for text in blocks("console", ON_PLUGINS) for line in text.splitlines()]
    # The environment has no mypy: tests/engine/cli/test_new_plugin.py checks the types.
    lines.remove("python -m mypy")
    done = shell(repository, " && ".join(lines))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    assert "Maintenance refused it" in done.stdout
