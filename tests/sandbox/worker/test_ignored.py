"""A job that is ended within a callback of a weak reference leaves no traceback: the next tick ends it."""

import sys
import weakref

import pytest

from sandbox.worker import process


class Thing:
    pass


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        pytest.param(process.Interrupted(), False, id="an interruption is not told"),
        pytest.param(ValueError("lost"), True, id="an error is told"),
    ],
)
def test_only_errors_in_callbacks_are_told(
    problem: BaseException, told: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", process._report_ignored)

    def fail(_: object) -> None:
        raise problem

    thing = Thing()
    watched = weakref.ref(thing, fail)
    del thing
    assert watched() is None
    assert (type(problem).__name__ in capsys.readouterr().err) == told
