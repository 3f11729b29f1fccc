"""Answered commands survive ``kill -9`` under load, in short; ``make hostile`` kills a thousand times."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import kills
from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN, Log, gaps, misplaced
from tests.hostile.site import end_family, family, wait_until

KILLS, BETWEEN = 5, (5, 15)
STAGE = '{"kind":"stage"}'
LOG = Log("a", 42, "null", "v1.34", "v1.34", "{}", 2, 2, ((1, STAGE, "p-1"), (2, STAGE, "p-2")))
KNOWN = {"p-1": ANSWERED, "p-2": ANSWERED}


@pytest.mark.slow
def test_nothing_answered_is_lost_or_doubled_when_the_server_is_killed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    tally = kills.run(KILLS, tmp_path, environment, between=BETWEEN)
    assert tally.wrong == []
    assert tally.kills.total() == KILLS
    assert tally.answered >= KILLS * BETWEEN[0]
    assert len(tally.shown) >= kills.SANDBOXES
    assert {"open", "join", "take", "ask", "answer", "hand"} <= set(tally.acts)


PARENT = "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"


def test_processes_of_a_killed_server_are_detected_and_ended() -> None:
    server = subprocess.Popen([sys.executable, "-c", PARENT], start_new_session=True)
    assert wait_until(lambda: len(family(server.pid)) == 2, 30)
    server.kill()
    server.wait()
    assert len(family(server.pid)) == 1
    end_family(server.pid)
    assert wait_until(lambda: not family(server.pid), 30)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"commands": LOG.commands[1:]}, id="the first record is missing"),
        pytest.param({"commands": LOG.commands[:1]}, id="the last record is missing"),
        pytest.param({"commands": (LOG.commands[0], *LOG.commands)}, id="a number is used twice"),
        pytest.param({"head": 3}, id="the head is beyond the log"),
    ],
)
def test_a_log_with_a_gap_is_detected(changes: dict[str, object]) -> None:
    assert gaps([LOG]) == []
    assert len(gaps([dataclasses.replace(LOG, **changes)])) == 1


@pytest.mark.parametrize(
    ("outcomes", "wrong"),
    [
        pytest.param(KNOWN, 0, id="all were answered"),
        pytest.param(KNOWN | {"p-2": UNKNOWN, "p-3": UNKNOWN}, 0, id="two are unknown"),
        pytest.param(KNOWN | {"p-3": ANSWERED}, 1, id="an answered one is lost"),
        pytest.param(KNOWN | {"p-2": REFUSED}, 1, id="a refused one is in the log"),
        pytest.param({"p-1": ANSWERED}, 1, id="one is in the log that nobody sent"),
    ],
)
def test_a_log_is_compared_with_what_clients_know(outcomes: dict[str, str], wrong: int) -> None:
    assert len(misplaced(outcomes, [LOG])) == wrong


def test_a_doubled_command_is_detected() -> None:
    assert len(misplaced(KNOWN, [LOG, dataclasses.replace(LOG, sandbox="b")])) == 2


def test_a_log_that_does_not_replay_says_so() -> None:
    refused = dataclasses.replace(LOG, commands=((1, '{"kind":"cordon","node":"gone"}', ""),))
    assert refused.digest().startswith("does not replay: ")
