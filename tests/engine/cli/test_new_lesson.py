"""The lesson that ``new-lesson`` writes has no mistake, and each kind of part that people write first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scheduler_engine.cli import main
from scheduler_engine.lesson import load_lesson


def test_what_it_writes_passes_the_check(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "rooms.lesson.yaml"
    assert main(["new-lesson", str(file)]) == 0
    written, following = capsys.readouterr().out.splitlines()
    assert written == str(file)
    assert following.startswith(f"Next: scheduler-sandbox check {file}")
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == f"ok     {file}  Where there is room\n"
    parts = load_lesson(file).parts
    assert [bool(part.predicts) for part in parts] == [True, False, False]
    assert [bool(part.figure) for part in parts] == [False, True, False]
    assert [bool(part.task) for part in parts] == [False, False, True]


def test_it_overwrites_nothing(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    assert main(["new-lesson", str(file)]) == 2
    assert capsys.readouterr().err == f"{file}: File exists\n"
    assert file.read_text() == "mine"
    assert main(["new-lesson", str(tmp_path / "none" / "mine.yaml")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
