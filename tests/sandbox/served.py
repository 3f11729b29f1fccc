"""The real server in a process of its own, and clients that write what no browser would."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nOrigin: http://localhost\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
TEXT, PING, CLOSE = 0x1, 0x9, 0x8


def until(holds: Callable[[], Any]) -> Any:
    """Ask until it is true, and return that."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, "still not so"
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(directory: Path, **more: str) -> dict[str, str]:
    """Of a server that keeps all it writes in ``directory``."""
    ours = {"VAR_DIR": str(directory), "DJANGO_SETTINGS_MODULE": "sandbox.settings", "CREATE_RATE": "100"}
    kept = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "SECRET_KEY", "REDIS_URL"}
    }
    return kept | ours | more


def command(port: int, *more: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "sandbox.server", "--prepare", "--port", str(port), *more]


@dataclass
class Served:
    """A running server."""

    port: int
    process: subprocess.Popen[str]
    directory: Path

    @property
    def rss(self) -> int:
        """MiB of memory."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) // 1024  # type: ignore[index]

    def connect(self, source: str = "127.0.0.1", buffer: int = 0) -> socket.socket:
        made = socket.socket()
        made.settimeout(PATIENCE)
        if buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        made.bind((source, 0))
        made.connect(("127.0.0.1", self.port))
        return made

    def ask(self, method: str, path: str, body: str = "") -> tuple[int, str, str]:
        """Status, text and Location of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers.get("Location", "")

    def sandbox(self, nodes: int = 0) -> str:
        """The path of a new sandbox with so many nodes."""
        base = self.ask("POST", "/new/")[2]
        capacity = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
        made = [
            json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{n}"}, "status": capacity})
            for n in range(nodes)
        ]
        if made:
            status, text, _ = self.ask("POST", f"{base}apply/", f"manifests={quote_plus(chr(10).join(made))}")
            assert status == 204, text
        return base

    def live_line(
        self, base: str, source: str = "127.0.0.1", buffer: int = 0, headers: str = ""
    ) -> tuple[socket.socket, bytes]:
        """A connection that asked to become a live line, and the head of the answer."""
        made = self.connect(source, buffer)
        made.sendall(f"GET /ws{base} HTTP/1.1\r\nHost: localhost\r\n{UPGRADE}{headers}\r\n".encode())
        return made, head(made)


@contextmanager
def served(directory: Path, **settings: str) -> Iterator[Served]:
    """A server that has said where it serves."""
    port = free_port()
    with (directory / "log").open("a") as log:
        process = subprocess.Popen(
            command(port),
            cwd=ROOT,
            env=environment(directory, **settings),
            text=True,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert str(port) in line, (directory / "log").read_text()
            yield Served(port, process, directory)
        finally:
            process.kill()
            process.wait()
            process.stdout and process.stdout.close()


def head(connection: socket.socket) -> bytes:
    """What came up to the end of the headers, or of the connection; nothing of what follows is read."""
    found = b""
    while not found.endswith(b"\r\n\r\n") and (byte := connection.recv(1)):
        found += byte
    return found


def to_the_end(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection, in order or not."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionError:
        pass
    return found


def frame(payload: bytes, kind: int = TEXT, final: bool = True) -> bytes:
    """A frame as browsers send it; the mask is zero."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes([kind | (0x80 if final else 0)]) + length + bytes(4) + payload


def send_what_goes(connection: socket.socket, data: bytes) -> bool:
    """Send as much as is taken now. False: the connection has ended."""
    connection.setblocking(False)
    try:
        connection.send(data)
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        connection.settimeout(PATIENCE)
    return True
