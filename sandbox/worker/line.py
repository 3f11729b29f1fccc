"""Messages between the site and an engine, each with as few calls of the system as can be.

In the site's process each call gives the turn to another thread, and getting it back takes longer than the message.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections import deque
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import Any

AT_ONCE = 256 * 1024
LENGTH_BYTES = 4


class Line:
    """A connection that has been accepted. Several messages may come with one look."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.socket = socket.socket(fileno=os.dup(connection.fileno()))
        self.read = bytearray()
        self.unsent: deque[memoryview] = deque()
        """What there was no room for when it was posted."""
        self.sending = False
        """Whether a thread sends what is unsent: one at most, which alone takes anything out of it."""
        self.lock = Lock()

    def send(self, message: Any) -> None:
        """Returns when the other end has room for it. Raises ``OSError`` when that is closed."""
        self.socket.sendall(_packed(message))

    def post(self, message: Any) -> None:
        """Never waits: what there is no room for now goes in a thread of its own, in the order in which it was posted.

        Raises ``OSError`` when the other end is closed, as far as that is known by now.
        """
        rest = memoryview(_packed(message))
        with self.lock:
            if self.sending:
                self.unsent.append(rest)
                return
            try:
                while rest:
                    rest = rest[self.socket.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                self.unsent.append(rest)
                self.sending = True
                Thread(target=self._send_rest, name="engine-line", daemon=True).start()

    def _send_rest(self) -> None:
        while True:
            with self.lock:
                if not self.unsent:
                    self.sending = False
                    return
                rest = self.unsent.popleft()
            try:
                self.socket.sendall(rest)
            except OSError:
                # Who reads this line sees that it has ended, and so does who posts next.
                with self.lock:
                    self.unsent.clear()
                    self.sending = False
                return

    def recv(self) -> Any:
        """The next message. Raises ``EOFError`` when the other end is closed, ``OSError`` when this one is."""
        self._read_up_to(LENGTH_BYTES)
        end = LENGTH_BYTES + int.from_bytes(self.read[:LENGTH_BYTES], "big")
        self._read_up_to(end)
        message = pickle.loads(memoryview(self.read)[LENGTH_BYTES:end])
        del self.read[:end]
        return message

    def _read_up_to(self, size: int) -> None:
        while len(self.read) < size:
            part = os.read(self.connection.fileno(), max(AT_ONCE, size - len(self.read)))
            if not part:
                raise EOFError
            self.read += part

    def poll(self, seconds: float) -> bool:
        """Whether there is something to read, or the other end is closed."""
        return bool(self.read) or self.connection.poll(seconds)

    def close(self) -> None:
        self.socket.close()
        self.connection.close()


def _packed(message: Any) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body
