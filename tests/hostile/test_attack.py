"""Visitors beside strangers who do their worst, in short; ``make hostile`` runs longer and checks speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.hostile import attack, level
from tests.hostile.acts import ACTS
from tests.hostile.attack import Plan, Report, failures
from tests.hostile.site import Sample
from tests.hostile.visitors import Click

SHORT = Plan(visitors=6, quiet=1, seconds=12, strangers=5, each=2, late=PATIENCE, judge_speed=False)


@pytest.mark.slow
def test_visitors_are_served_while_strangers_do_their_worst(tmp_path: Path, environment: dict[str, str]) -> None:
    report = attack.run(SHORT, tmp_path, environment)
    assert failures(report) == []
    assert all(report.acts[name]["times"] for name in ACTS)


@pytest.mark.slow
def test_all_pages_are_level_after_a_burst(tmp_path: Path, environment: dict[str, str]) -> None:
    levels = level.measured(tmp_path, environment, sandboxes=5, pages=6, rounds=5)
    assert levels.rounds == 25
    assert levels.left_behind == 0


GOOD, BROKEN = Click(0, 204, 0.01, 0.02), Click(0, 0, 30, None)
STRANGERS = {"an act": {"times": 1, "answers": {}, "wrong": []}}


@pytest.mark.parametrize(
    ("message", "report"),
    [
        ("", Report(Plan(), [GOOD], [GOOD], acts=STRANGERS)),
        ("the server ended under attack", Report(Plan(), died=True)),
        ("answered 5xx 1 times", Report(Plan(), [GOOD], [GOOD, Click(0, 500, 0, None, "broken")], acts=STRANGERS)),
        ("503 without words 1 times", Report(Plan(), [GOOD], [Click(0, 503, 0, None, "busy")], acts=STRANGERS)),
        ("had no answer", Report(Plan(), [GOOD], [BROKEN], acts=STRANGERS)),
        ("memory reached 3072 MB", Report(Plan(), samples=[Sample(0, 3 << 30, 1, 9)], acts=STRANGERS)),
        ("more than 2 times", Report(Plan(), [GOOD], [Click(0, 204, 0.03, 0.04)], acts=STRANGERS)),
        ("1 visitors' pages stayed behind", Report(Plan(), behind=1, acts=STRANGERS)),
        ("still at work", Report(Plan(), calm=False, acts=STRANGERS)),
        ("SIGTERM", Report(Plan(), ended=False, acts=STRANGERS)),
        ("an act: 500", Report(Plan(), acts={"an act": {"times": 1, "answers": {}, "wrong": ["500 oh"]}})),
        ("the strangers broke down", Report(Plan())),
    ],
)
def test_a_report_lists_the_failures(message: str, report: Report) -> None:
    problems = failures(report)
    assert len(problems) == bool(message)
    assert message in "".join(problems)
