"""Limits of the server: connections, requests, bytes and seconds. The environment can change each of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from sandbox.words.say import say

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Counts, bytes and seconds. ``SERVER_CONNECTIONS=500`` in the environment sets ``connections``, and so on."""

    connections: int = 4000
    connections_per_address: int = 1500
    """A class of 200 behind one address: browsers open seven connections each while a page loads."""
    sockets_per_address: int = 1000
    sockets_per_sandbox: int = 500
    requests: int = 512
    """Requests that run or wait."""
    requests_per_address: int = 300
    at_work_per_address: int = 64
    """Requests of an address that run at a time. Its others wait, without delaying other addresses."""
    body_bytes: int = 2 * MIB
    """Body of one request, as DATA_UPLOAD_MAX_MEMORY_SIZE."""
    import_bytes: int = 50 * MIB
    """An imported file. It is written to disk while it arrives."""
    bodies_bytes: int = 192 * MIB
    """Bodies of all requests that are being received or answered."""
    bodies_bytes_per_address: int = 64 * MIB
    message_bytes: int = 32 * KIB
    """One message of a browser on its live line: 8,192 characters, as the site reads them."""
    unread_bytes: int = 256 * MIB
    """Output that clients have not read, in all connections with more than 64 KiB of it."""
    idle_seconds: float = 60
    header_seconds: float = 20
    body_seconds: float = 20
    write_seconds: float = 30
    slowest_bytes_per_second: int = 16 * KIB
    """Minimum speed of a client in either direction, beyond ``body_seconds`` and ``write_seconds``."""
    linger_seconds: float = 2
    """How long a refused client may still send, so that it can read the refusal."""
    ping_seconds: float = 20
    pong_seconds: float = 30
    drain_seconds: float = 0
    """How long the server still serves after SIGTERM, so that proxies can notice that it is no longer ready."""
    stop_seconds: float = 5
    """How long requests may continue when the server stops."""

    def within(self, files: int) -> Limits:
        """Return the limits for a process that may open ``files`` files."""
        in_all = max(16, min(self.connections, files - 256))
        of_one = min(self.connections_per_address, in_all * 3 // 4)
        return replace(self, connections=in_all, connections_per_address=of_one)


def from_environment(environment: Mapping[str, str] = os.environ) -> Limits:
    """Return the limits that the environment sets. Raises ``ValueError`` with a sentence if one is invalid."""
    limits: dict[str, int | float] = {}
    for field in fields(Limits):
        name = f"SERVER_{field.name.upper()}"
        if name in environment:
            number = int if field.type == "int" else float
            try:
                limits[field.name] = number(environment[name])
            except ValueError:
                limits[field.name] = -1
            if not 0 < limits[field.name] < float("inf") and limits[field.name] != field.default:
                raise ValueError(say("limits.setting", name=name, value=environment[name]))
    return Limits(**limits)  # type: ignore[arg-type]


class Places:
    """Counts places: at most ``in_all`` taken in total, and ``of_one`` by one holder."""

    def __init__(self, in_all: float, of_one: int) -> None:
        self.in_all, self.of_one = in_all, of_one
        self.taken = 0
        self.by_holder: Counter[str] = Counter()

    def take(self, holder: str, places: int = 1) -> bool:
        """Take places if there is room. Return True if there was."""
        if self.taken + places > self.in_all or self.by_holder[holder] + places > self.of_one:
            return False
        self.taken += places
        self.by_holder[holder] += places
        return True

    def give_back(self, holder: str, places: int = 1) -> None:
        self.taken -= places
        self.by_holder[holder] -= places
        if not self.by_holder[holder]:
            del self.by_holder[holder]
