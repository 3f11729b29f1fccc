"""The real server in a separate process, and clients that write what no browser would."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote_plus

from tests.waiting import PATIENCE, free_port

ROOT = Path(__file__).resolve().parents[2]
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nOrigin: http://localhost\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
TEXT, PING, PONG, CLOSE = 0x1, 0x9, 0xA, 0x8


@cache
def static_files() -> Path:
    """Return the folder of static files that all servers of this process share. The first server fills it."""
    folder = Path(tempfile.mkdtemp(prefix="static-"))
    atexit.register(shutil.rmtree, folder)
    return folder


def environment(directory: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server that writes its data into ``directory``."""
    ours = {
        "VAR_DIR": str(directory),
        "STATIC_ROOT": str(static_files()),
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        "CREATE_RATE": "100",
    }
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
        """Return the memory in MiB."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) // 1024  # type: ignore[index]

    def connect(self, source: str = "127.0.0.1", buffer: int = 0) -> socket.socket:
        connection = socket.socket()
        connection.settimeout(PATIENCE)
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", self.port))
        return connection

    def ask(self, method: str, path: str, body: str = "") -> tuple[int, str, str]:
        """Return status, text and Location of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers.get("Location", "")

    def sandbox(self, nodes: int = 0) -> str:
        """Create a sandbox with ``nodes`` nodes. Return its path."""
        base = self.ask("POST", "/new/")[2]
        capacity = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
        manifests = [
            json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{n}"}, "status": capacity})
            for n in range(nodes)
        ]
        if manifests:
            status, text, _ = self.ask("POST", f"{base}apply/", f"manifests={quote_plus(chr(10).join(manifests))}")
            assert status == 204, text
        return base

    def trace(self, base: str) -> str:
        """Return all entries of a sandbox's trace."""
        _, _, sandbox, token, _ = base.split("/")
        status, text, _ = self.ask("GET", f"/api/v1/sandboxes/{sandbox}/{token}/trace")
        assert status == 200, text
        return text

    def live_line(
        self, base: str, source: str = "127.0.0.1", buffer: int = 0, headers: str = ""
    ) -> tuple[socket.socket, bytes]:
        """Ask for a live line. Return the connection and the head of the answer."""
        connection = self.connect(source, buffer)
        connection.sendall(f"GET /ws{base} HTTP/1.1\r\nHost: localhost\r\n{UPGRADE}{headers}\r\n".encode())
        return connection, head(connection)


@contextmanager
def served(directory: Path, **settings: str) -> Iterator[Served]:
    """Start a server. Yield it once it has printed its address."""
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
    """Read up to the end of the headers, or of the connection, and no further."""
    received = b""
    while not received.endswith(b"\r\n\r\n") and (byte := connection.recv(1)):
        received += byte
    return received


def to_the_end(connection: socket.socket) -> bytes:
    """Read until the server ends the connection, in order or not."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionError:
        pass
    return received


def frame(payload: bytes, kind: int = TEXT, final: bool = True) -> bytes:
    """Return a frame as browsers send it. The mask is zero."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes([kind | (0x80 if final else 0)]) + length + bytes(4) + payload


def send_what_goes(connection: socket.socket, data: bytes) -> bool:
    """Send as much as is accepted now. Return False if the connection has ended."""
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
