"""The host ports in use on each node, as the scheduler's cache counts them.

The cache keeps a set. If two pods, bound by name, have the same port, the first that leaves removes it for both, until
the other one is updated. Source: upstream ``pkg/scheduler/framework/types.go`` (HostPortInfo).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod

HostPort = tuple[str, str, int]


@dataclass
class UsedPorts:
    """``on``: node → its ports; ``of``: uid of a pod with host ports → (its node, its ports)."""

    on: dict[str, dict[HostPort, None]] = field(default_factory=dict)
    of: dict[str, tuple[str, tuple[HostPort, ...]]] = field(default_factory=dict)

    def place(self, uid: str, node: str, pod: Pod | None) -> None:
        """Count a pod's ports on a node, and no longer where they were counted before."""
        before = self.leave(uid)
        ports = pod.host_ports if pod is not None else before
        if ports:
            self.of[uid] = node, ports
            self.on.setdefault(node, {}).update(dict.fromkeys(ports))

    def leave(self, uid: str) -> tuple[HostPort, ...]:
        """Stop counting a pod's ports, and return them."""
        node, ports = self.of.pop(uid, ("", ()))
        for port in ports:
            self.on[node].pop(port, None)
        return ports
