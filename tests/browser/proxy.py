"""A proxy to a server that can drop all traffic without closing: a black hole, in both directions."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Forward every connection to a port of this machine. Data sent during ``hole()`` arrives after ``mend()``.

    During ``close_lines()``, requests are answered but live lines do not open.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.carries = threading.Event()
        self.carries.set()
        self.opens = threading.Event()
        self.opens.set()
        self.ends: list[socket.socket] = []
        self.door = socket.create_server(("127.0.0.1", 0))
        self.porter = threading.Thread(target=self._accept, daemon=True)
        self.porter.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.door.getsockname()[1]}"

    def hole(self) -> None:
        self.carries.clear()

    def close_lines(self) -> None:
        self.opens.clear()

    def mend(self) -> None:
        self.carries.set()
        self.opens.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.door.accept()
                self.ends.append(near)
                far = socket.create_connection(("127.0.0.1", self.target))
                self.ends.append(far)
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if b"Upgrade: websocket" in data:
                    self.opens.wait()
                self.carries.wait()
                sink.sendall(data)
            self.carries.wait()
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.mend()
        self._shut(self.door)
        # A page may be connecting right now: both ends are in the list only after the thread has ended.
        self.porter.join()
        for end in self.ends:
            self._shut(end)

    def _shut(self, end: socket.socket) -> None:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def line_to(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
