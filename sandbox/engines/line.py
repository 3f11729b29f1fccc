"""Messages between the site and an engine, each with as few calls of the system as can be.

In the site's process each call gives the turn to another thread, and getting it back takes longer than the message.
"""

from __future__ import annotations

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

AT_ONCE = 256 * 1024
LENGTH_BYTES = 4


class Line:
    """A connection that has been accepted. Several messages may come with one look."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.read = bytearray()

    def send(self, message: Any) -> None:
        """Raises ``OSError`` when the other end is closed."""
        body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        rest = memoryview(len(body).to_bytes(LENGTH_BYTES, "big") + body)
        while rest:
            rest = rest[os.write(self.connection.fileno(), rest) :]

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
        self.connection.close()
