"""What claims want: requests, their alternatives, and constraints over several devices.

Source: upstream ``dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.devices import Device
from scheduler_engine.api.objects import KubeObject


@dataclass(slots=True)
class Wanted:
    """One request, or one alternative of ``parent``. ``every``: all devices that it wants, if it wants all that match.

    ``chosen``: of a request with alternatives, the number of the one that was taken.
    """

    name: str
    parent: str
    spec: Mapping[str, Any]
    device_class: KubeObject
    count: int = 0
    every: list[Device] | None = None
    chosen: int = 0

    @property
    def request(self) -> str:
        """Return the name of the request itself."""
        return self.parent or self.name

    @property
    def full_name(self) -> str:
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def admin_access(self) -> bool:
        return not self.parent and bool(self.spec.get("adminAccess"))

    def selectors(self) -> Sequence[str]:
        """Return its own expressions."""
        return [item["cel"]["expression"] for item in self.spec.get("selectors") or ()]

    def class_selectors(self) -> Sequence[str]:
        return [item["cel"]["expression"] for item in self.device_class.spec.get("selectors") or ()]


@dataclass(slots=True)
class MatchAttribute:
    """All devices of some requests must have the same value of an attribute. The first one decides which.

    ``requests``: names of requests, or ``request/alternative``; empty: all.
    """

    attribute: str
    requests: tuple[str, ...]
    value: tuple[str, Any] | None = None
    count: int = 0

    def concerns(self, wanted: Wanted) -> bool:
        return not self.requests or wanted.request in self.requests or wanted.full_name in self.requests

    def add(self, wanted: Wanted, device: Device) -> bool:
        """Count a device; return False if it cannot be one of them."""
        if not self.concerns(wanted):
            return True
        value = device.attribute(self.attribute)
        if value is None or (self.count and value != self.value):
            return False
        if not self.count:
            self.value = value
        self.count += 1
        return True

    def remove(self, wanted: Wanted) -> None:
        if self.concerns(wanted):
            self.count -= 1


@dataclass(slots=True)
class Chosen:
    """A device for a request."""

    wanted: Wanted
    device: Device


@dataclass(slots=True)
class Results:
    """What a claim has got so far."""

    constraints: list[MatchAttribute]
    devices: list[Chosen] = field(default_factory=list)
