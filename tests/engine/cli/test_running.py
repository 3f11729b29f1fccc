"""The engine's command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler_engine.cli import COMMANDS, main
from tests.engine.test_simulation import STORY

SCENARIOS = Path(__file__).parents[3] / "fixtures" / "scenarios"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_a_scenario_is_run_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(next(SCENARIOS.glob("*-nothing-fits.yaml")))]) == 0
    shown = capsys.readouterr().out
    assert "0/" in shown
    assert shown.rstrip().endswith("as expected")


def test_an_expectation_that_does_not_hold_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = next(SCENARIOS.glob("*-nothing-fits.yaml")).read_text()
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(source[: source.index("\nexpect:")] + "\nexpect:\n- nodeOrder: [nowhere]\n")
    assert main(["run", "--quiet", str(wrong)]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_a_log_replays_to_the_same_digest_every_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"seed": 42, "commands": STORY}))
    shown = []
    for _ in range(2):
        assert main(["replay", "--quiet", str(log)]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert main(["replay", "--json", str(log)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["n"] == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("no json", id="not JSON"),
        pytest.param("{}", id="a log without commands"),
        pytest.param('{"commands": [{"kind": "explode"}]}', id="an unknown command"),
    ],
)
def test_an_invalid_log_is_refused_with_a_reason(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.json"
    log.write_text(text)
    assert main(["replay", str(log)]) == 2
    assert capsys.readouterr().err


IDLE = """\
title: Two Jobs that create no pod, and one that does
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: runs}
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: none}
    spec: {parallelism: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: waits}
    spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
"""


def test_a_job_that_creates_no_pod_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text(IDLE)
    assert main(["run", str(path)]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "creates no pod" in line]
    waits = "Job default/waits creates no pod: its spec has suspend: true"
    assert said == ["Job default/none creates no pod: its spec has parallelism: 0", waits]
    assert main(["explain", str(path), "--pod", "waits"]) == 2
    assert capsys.readouterr().err == f'pods "waits" not found\n{waits}\n'
    assert main(["check", str(path)]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[1:]] == said
    assert main(["check", str(path), "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["notes"] == said
