"""Messages between the web process and a worker, with as few system calls as possible.

In the web process each system call lets another thread run. Getting the turn back takes longer than the message.
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
    """A connection that was accepted. One read may return several messages."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.socket = socket.socket(fileno=os.dup(connection.fileno()))
        self.read = bytearray()
        self.unsent: deque[memoryview] = deque()
        """Posted bytes that the socket had no room for."""
        self.sending = False
        """True while a thread sends ``unsent``. There is one at most, and only it removes from ``unsent``."""
        self.lock = Lock()

    def send(self, message: Any) -> None:
        """Send a message, and wait until the other end has room for it. Raises ``OSError`` if that is closed."""
        self.socket.sendall(_packed(message))

    def post(self, message: Any) -> None:
        """Send a message without waiting. If there is no room, a thread sends the rest, in the order of posting.

        Raises ``OSError`` if the other end is already known to be closed.
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
                # The next read or post on this line reports that it is closed.
                with self.lock:
                    self.unsent.clear()
                    self.sending = False
                return

    def recv(self) -> Any:
        """Wait for the next message. Raises ``EOFError`` if the other end is closed, ``OSError`` if this one is."""
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
        """Return True if there is something to read or the other end is closed. Waits at most ``seconds``."""
        return bool(self.read) or self.connection.poll(seconds)

    def close(self) -> None:
        self.socket.close()
        self.connection.close()


def _packed(message: Any) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body
