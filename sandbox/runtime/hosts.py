"""The addresses of this machine."""

from __future__ import annotations

import socket
from contextlib import suppress

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""Address that means all addresses of a machine → address by which the machine reaches itself."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
NOWHERE = ("192.0.2.1", 9)
"""An address for documentation. Nothing is sent: connecting a UDP socket to it reveals this machine's own address."""


def own_hosts(bind: str) -> list[str]:
    """Return the addresses and names of this machine for a server that listens on ``bind``."""
    if bind not in EVERYWHERE:
        return [f"[{bind}]" if ":" in bind else bind]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(NOWHERE)
        name = socket.gethostname()
        return list(dict.fromkeys([probe.getsockname()[0], name, f"{name}.local"]))
    return []


def served_hosts(bind: str) -> tuple[str, str]:
    """Return the host of a server on ``bind``: for this machine and for others in the network, "" = none."""
    if bind in EVERYWHERE:
        return EVERYWHERE[bind], next(iter(own_hosts(bind)), "")
    return own_hosts(bind)[0], ""
