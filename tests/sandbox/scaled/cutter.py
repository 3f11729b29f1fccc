"""A line to PostgreSQL that is cut after a statement was carried out, before its answer arrives."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread


class Cutter:
    """Passes on all connections to a port of this machine. ``after``: the next statement with this text loses its
    answer, and its connection. ``cuts``: number of connections cut so far.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.after = b""
        self.cuts = 0
        self.ends: list[socket.socket] = []
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.door.getsockname()[1]
        self.porter = Thread(target=self._accept, daemon=True)
        self.porter.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.door.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                self.ends += near, far
                asked = Event()
                Thread(target=self._ask, args=(near, far, asked), daemon=True).start()
                Thread(target=self._answer, args=(near, far, asked), daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket, asked: Event) -> None:
        with suppress(OSError):
            while data := near.recv(65536):
                if self.after and self.after in data:
                    self.after = b""
                    asked.set()
                far.sendall(data)
        _end(far)

    def _answer(self, near: socket.socket, far: socket.socket, asked: Event) -> None:
        with suppress(OSError):
            while data := far.recv(65536):
                if asked.is_set():
                    self.cuts += 1
                    break
                near.sendall(data)
        _end(near)
        _end(far)

    def close(self) -> None:
        _end(self.door)
        self.porter.join()
        for end in self.ends:
            _end(end)
            end.close()
        self.door.close()


def _end(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutter(port: int) -> Iterator[Cutter]:
    """Run a ``Cutter`` in the block."""
    line = Cutter(port)
    try:
        yield line
    finally:
        line.close()
