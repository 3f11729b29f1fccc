"""The engine against recordings of the schedulers of later versions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from scheduler_engine.conformance.runner import kind_of, read_cases, recordings, report, run_case, run_paths

FIXTURES = Path(__file__).parents[3] / "fixtures"
RELEASES = ("v1.35.6", "v1.36.2")
KINDS = ("config", "cycle", "e2e", "queue")
EVERY = hypothesis.settings.get_current_profile_name() == "thorough"
"""True if each case also runs with tables, and each case that was not recorded again runs."""

ONLY_V1_34 = ("dra",)
"""Families that were recorded for v1.34.1 alone."""

FILES = [
    file for release in RELEASES for kind in KINDS for file in recordings([FIXTURES / f"conformance-{release}" / kind])
]


def name_of(file: Path) -> str:
    return f"{file.parts[-3].removeprefix('conformance-')} {file.parts[-2]} {file.name.split('.')[0]}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_scenario_comes_out_as_recorded(file: Path) -> None:
    [result] = run_paths([file])
    assert result.passed == result.total > 0, "\n".join(report([result], 3))


@pytest.mark.parametrize("file", [file for file in FILES if file.parts[-2] in ("cycle", "e2e")], ids=name_of)
def test_tables_in_the_trace_change_nothing(file: Path, tmp_path: Path) -> None:
    some = [*read_cases(file)][:: 1 if EVERY else 10]
    path = tmp_path / "some.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(case) for case in some).encode()))
    [result] = run_paths([path], full=True)
    assert result.passed == result.total == len(some) > 0, "\n".join(report([result], 3))


def unchanged(release: str, kind: str) -> list[dict[str, Any]]:
    """Return the scenarios of v1.34.1 that were not recorded again, because nothing differed."""
    stored = {
        case["id"] for file in recordings([FIXTURES / f"conformance-{release}" / kind]) for case in read_cases(file)
    }
    all_cases = (case for file in recordings([FIXTURES / "conformance" / kind]) for case in read_cases(file))
    alike = (case for case in all_cases if case["id"] not in stored and case["family"] not in ONLY_V1_34)
    return [{**case, "kubernetes": release} for case in alike]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("release", RELEASES)
def test_a_scenario_that_was_not_recorded_again_behaves_as_in_v1_34(release: str, kind: str) -> None:
    cases = unchanged(release, kind)[:: 1 if EVERY else 5]
    assert cases
    for case in cases:
        found = kind_of(case)
        assert found is not None
        assert run_case(found.run, case) == [], case["id"]


def test_a_scenario_fails_under_the_rules_of_another_version() -> None:
    wrong = 0
    for file in recordings([FIXTURES / "conformance-v1.36.2" / "cycle"])[:3]:
        for case in [*read_cases(file)][:10]:
            found = kind_of(case)
            assert found is not None
            wrong += bool(run_case(found.run, {**case, "kubernetes": "v1.35.6"}))
    assert wrong > 20
