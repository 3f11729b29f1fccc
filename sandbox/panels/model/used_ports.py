"""The host ports in use on each node, as the scheduler's cache counts them.

It keeps a set. Where two pods have the same port, bound by name, the first that leaves takes it off for both, until the
other one is updated. Source: upstream ``pkg/scheduler/framework/types.go`` (HostPortInfo).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod

HostPort = tuple[str, str, int]


@dataclass
class UsedPorts:
    """``on``: node → its ports; ``of``: uid of a pod with host ports → its node and these."""

    on: dict[str, dict[HostPort, None]] = field(default_factory=dict)
    of: dict[str, tuple[str, tuple[HostPort, ...]]] = field(default_factory=dict)

    def place(self, uid: str, node: str, pod: Pod | None) -> None:
        """A pod is counted on a node, anew where it was counted there before."""
        before = self.leave(uid)
        ports = pod.host_ports if pod is not None else before
        if ports:
            self.of[uid] = node, ports
            self.on.setdefault(node, {}).update(dict.fromkeys(ports))

    def leave(self, uid: str) -> tuple[HostPort, ...]:
        """A pod is not counted any more; the ports that it had."""
        node, ports = self.of.pop(uid, ("", ()))
        for port in ports:
            self.on[node].pop(port, None)
        return ports
