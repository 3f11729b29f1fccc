"""What the server takes on at once, and for how long. Each limit is a setting of the environment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers, bytes and seconds. ``SERVER_CONNECTIONS=500`` in the environment sets ``connections``, and so on."""

    connections: int = 4000
    connections_per_address: int = 1500
    """A class of 200 behind one address: browsers open seven connections each while a page loads."""
    sockets_per_address: int = 1000
    sockets_per_sandbox: int = 500
    requests: int = 512
    """That are with the site, at work or waiting."""
    requests_per_address: int = 300
    at_work_per_address: int = 64
    """Of these, that are at work; the others of an address wait, and all others go on."""
    body_bytes: int = 2 * MIB
    """Of one request; the site's own DATA_UPLOAD_MAX_MEMORY_SIZE."""
    import_bytes: int = 50 * MIB
    """Of a file that is imported: it goes to the disk while it arrives."""
    bodies_bytes: int = 192 * MIB
    """Of all requests that are being received or answered."""
    bodies_bytes_per_address: int = 64 * MIB
    message_bytes: int = 32 * KIB
    """Of one message from a browser's live line: 8,192 characters, as the site reads them."""
    unread_bytes: int = 256 * MIB
    """That wait for clients which do not read, of all connections with more than 64 KiB."""
    idle_seconds: float = 60
    header_seconds: float = 20
    body_seconds: float = 20
    write_seconds: float = 30
    slowest_bytes_per_second: int = 16 * KIB
    """What a client must manage in either direction, on top of ``body_seconds`` and ``write_seconds``."""
    linger_seconds: float = 2
    """For which a refused client may still send, so that it gets to read why."""
    ping_seconds: float = 20
    pong_seconds: float = 30
    stop_seconds: float = 5
    """That requests get to finish when the server is told to stop."""

    def within(self, files: int) -> Limits:
        """The same for a process that may open so many files."""
        most = max(16, min(self.connections, files - 256))
        of_one = min(self.connections_per_address, most * 3 // 4)
        return replace(self, connections=most, connections_per_address=of_one)


def from_environment(environment: Mapping[str, str] = os.environ) -> Limits:
    """Raises ``ValueError`` with a sentence for what is no positive number."""
    found: dict[str, int | float] = {}
    for field in fields(Limits):
        name = f"SERVER_{field.name.upper()}"
        if name in environment:
            number = int if field.type == "int" else float
            try:
                found[field.name] = number(environment[name])
            except ValueError:
                found[field.name] = 0
            if not 0 < found[field.name] < float("inf"):
                raise ValueError(f"{name} must be a positive number, not {environment[name]!r}.")
    return Limits(**found)  # type: ignore[arg-type]


class Places:
    """So many may be taken in all, and so many by one holder. Nothing is kept of those who hold none."""

    def __init__(self, in_all: float, of_one: int) -> None:
        self.in_all, self.of_one = in_all, of_one
        self.taken = 0
        self.held: Counter[str] = Counter()

    def take(self, holder: str, places: int = 1) -> bool:
        """Whether there was room; only then the places are taken."""
        if self.taken + places > self.in_all or self.held[holder] + places > self.of_one:
            return False
        self.taken += places
        self.held[holder] += places
        return True

    def give_back(self, holder: str, places: int = 1) -> None:
        self.taken -= places
        self.held[holder] -= places
        if not self.held[holder]:
            del self.held[holder]
