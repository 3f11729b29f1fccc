"""The kept figures belong to the table of rows, and the document shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bench import __main__ as bench
from tests.bench.rows import LISTED, ROWS

KEPT = json.loads(bench.FIGURES.read_text())
HERE = {"cpu": "a CPU", "cores": 2, "python": "3.11", "calibration_ms": 20.0}


def test_there_is_a_figure_for_each_row() -> None:
    assert len(ROWS) == len(LISTED)
    assert [*KEPT["rows"]] == [*ROWS]


def test_the_document_shows_the_kept_figures() -> None:
    document = bench.DOCUMENT.read_text()
    assert bench.written(document, {"engine": bench.table(KEPT)}) == document


@pytest.mark.parametrize(
    ("kept_us", "shown"),
    [
        (100.0, "200 100 2.00 1.00 80 1.00 cycle: basic pods, 100 nodes"),
        (None, "200 new 80 cycle: basic pods, 100 nodes"),
    ],
)
def test_each_row_is_compared_with_what_was_kept(
    kept_us: float | None, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The machine of the kept figures is twice as fast, so a ratio of 2 is no loss."""
    name = "basic pods, 100 nodes"
    monkeypatch.setattr(bench, "in_a_process", lambda _: {"us": 200.0, "mb": 80, "seconds": 1.0})
    kept: dict[str, Any] = {"version": "1", "machine": {**HERE, "calibration_ms": 10.0}, "rows": {}}
    if kept_us is not None:
        kept["rows"][name] = {"us": kept_us, "mb": 80, "seconds": 1.0}
    bench.report(HERE, kept, [name])
    assert shown in [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
