"""Run the examples of docs/api.md against the real server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.conftest import PATIENCE
from tests.sandbox.served import Served, served

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "api.md"
FENCES = [token for token in MarkdownIt().parse(DOCUMENT.read_text()) if token.type == "fence"]
BASH, IMPORTS_A_DUMP, TAKES_A_LESSON, RUNS_A_ROOM = (token.content for token in FENCES if token.info == "bash")
RUNS_A_SCENARIO, FIXES_A_POD = (token.content for token in FENCES if token.info == "py")

MISSING = [name for name in ("curl", "jq") if shutil.which(name) is None]


@pytest.fixture(name="server", scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("api")) as server:
        yield server


def run(command: list[str], server: Served, directory: Path) -> str:
    site = {"SITE": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run(
        command, cwd=directory, env=os.environ | site, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(MISSING != [] and "CI" not in os.environ, reason=f"needs {' and '.join(MISSING)}")
def test_the_example_with_curl_answers_as_it_says(server: Served, tmp_path: Path) -> None:
    result = run(["bash", "-euo", "pipefail", "-c", BASH], server, tmp_path)
    assert result.splitlines() == [
        "2",
        '{"unschedulablePods":["default/big"]}',
        "big no node",
        "web node-1",
        "0/1 nodes are available:",
        "3",
    ]
    played = [sys.executable, "-m", "scheduler_engine", "run", str(tmp_path / "pods.scenario.yaml"), "--quiet"]
    assert "as expected" in run(played, server, DOCUMENT.parents[1])
    replayed = run(
        [sys.executable, "-m", "scheduler_engine", "replay", str(tmp_path / "log.json"), "--quiet"],
        server,
        DOCUMENT.parents[1],
    )
    assert "sha256" in replayed


@pytest.mark.skipif(MISSING != [] and "CI" not in os.environ, reason=f"needs {' and '.join(MISSING)}")
def test_the_example_imports_a_dump(server: Served, tmp_path: Path) -> None:
    queue, message, sentence = run(["bash", "-euo", "pipefail", "-c", IMPORTS_A_DUMP], server, tmp_path).splitlines()
    reasons, _, preemption = message.partition(" no new claims")
    assert preemption, "the document leaves it out"
    assert f"`{queue}`, `{reasons} …` and `{sentence}`" in DOCUMENT.read_text().replace("\n", " ")


@pytest.mark.skipif(MISSING != [] and "CI" not in os.environ, reason=f"needs {' and '.join(MISSING)}")
@pytest.mark.parametrize("example", [TAKES_A_LESSON, RUNS_A_ROOM], ids=["takes a lesson", "runs a room"])
def test_an_example_with_curl_answers_as_the_document_says(example: str, server: Served, tmp_path: Path) -> None:
    result = run(["bash", "-euo", "pipefail", "-c", example], server, tmp_path)
    assert result.splitlines() == answers_after(example)


def answers_after(example: str) -> list[str]:
    """Return the answers that the sentence after an example names."""
    sentence = DOCUMENT.read_text().partition(example)[2].partition("The answers are ")[2].partition("\n\n")[0]
    return re.findall("`([^`]*)`", sentence)


def test_the_example_in_python_runs_a_scenario(server: Served, tmp_path: Path) -> None:
    result = run([sys.executable, "-c", RUNS_A_SCENARIO], server, tmp_path)
    assert " pods are bound; look at http://127.0.0.1:" in result


def test_the_example_that_knows_only_the_document_fixes_a_pod(server: Served, tmp_path: Path) -> None:
    assert len(FIXES_A_POD.splitlines()) < 40
    message, sentence, end = run([sys.executable, "-c", FIXES_A_POD], server, tmp_path).splitlines()
    assert message.startswith("0/5 nodes are available: ")
    assert sentence == "Uncordon node-cordoned. Then node-cordoned passes."
    assert end == "default/big-1 has a node"
