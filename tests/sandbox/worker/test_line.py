"""The lines between the site and its engines."""

from __future__ import annotations

from multiprocessing import Pipe
from threading import Lock, Thread, current_thread

import pytest

from sandbox.worker.line import Line

LARGE = "x" * 3_000_000
"""More than a line's buffer can hold."""


def test_posting_never_waits_and_messages_stay_in_order() -> None:
    near, far = (Line(end) for end in Pipe())
    for number in range(3):
        near.post((number, LARGE))
        near.post((number, "small"))
    # All this is sent before anybody has read a word.
    assert [far.recv() for _ in range(6)] == [(n, text) for n in range(3) for text in (LARGE, "small")]
    near.post("once more")
    assert far.recv() == "once more"
    near.close()
    with pytest.raises(EOFError):
        far.recv()
    far.close()


class Racing:
    """A lock after whose release, at the worst moment, another thread posts."""

    def __init__(self, line: Line, message: str) -> None:
        self.line, self.message, self.lock = line, message, Lock()
        self.posted = False

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        at_work = not self.posted and current_thread().name == "engine-line" and not self.line.unsent
        self.lock.release()
        if at_work:
            self.posted = True
            self.line.post(self.message)


def test_a_message_posted_while_the_queue_empties_is_sent_once() -> None:
    near, far = (Line(end) for end in Pipe())
    near.lock = Racing(near, LARGE)  # type: ignore[assignment]
    near.post(LARGE + "first")
    assert far.recv() == LARGE + "first"
    assert far.recv() == LARGE
    near.post("last")
    assert far.recv() == "last"
    assert not far.poll(0.1)
    near.close()
    far.close()


def test_two_that_write_much_to_each_other_at_once_both_come_to_read() -> None:
    near, far = (Line(end) for end in Pipe())
    answering = Thread(target=far.send, args=(LARGE,), daemon=True)
    answering.start()
    near.post(LARGE)
    assert near.recv() == LARGE
    answering.join(60)
    assert far.recv() == LARGE
    near.close()
    far.close()


def test_posting_to_a_closed_line_is_an_error() -> None:
    near, far = (Line(end) for end in Pipe())
    far.close()
    with pytest.raises(OSError, match="Broken pipe"):
        near.post("hello")
    near.close()
