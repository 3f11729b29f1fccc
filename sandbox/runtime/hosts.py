"""The addresses at which this machine is reached."""

from __future__ import annotations

import socket
from contextlib import suppress

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""What stands for all addresses of a machine, and the one by which it reaches itself."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
NOWHERE = ("192.0.2.1", 9)
"""An address for documentation, to which nothing is sent: asking for the way there tells this machine's own address."""


def own_hosts(bind: str) -> list[str]:
    """Under what this machine is reached, when the server listens on ``bind``: addresses, and its name."""
    if bind not in EVERYWHERE:
        return [f"[{bind}]" if ":" in bind else bind]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(NOWHERE)
        name = socket.gethostname()
        return list(dict.fromkeys([probe.getsockname()[0], name, f"{name}.local"]))
    return []


def reached(bind: str) -> tuple[str, str]:
    """Where a server that listens on ``bind`` is found: from this machine, and from others, "" = not told."""
    if bind in EVERYWHERE:
        return EVERYWHERE[bind], next(iter(own_hosts(bind)), "")
    return own_hosts(bind)[0], ""
