"""A fresh process opens a sandbox as it was, whatever was done in it; ``make hostile`` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import reopen
from tests.hostile.reopen import NAMED, History


@pytest.mark.slow
def test_sandboxes_open_again_as_they_were_served(tmp_path: Path, environment: dict[str, str]) -> None:
    named = [History(name, moves) for name, moves in NAMED]
    outcome = reopen.run([*named, *reopen.random_histories(6, 24, 1)], tmp_path, environment)
    assert outcome.wrong == []
    assert sum(history.answers[204] for history in outcome.histories) > 30
