"""The answer of a plugin. Source: upstream ``framework/interface.go`` (Code, Status)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Code(Enum):
    """Kubernetes' status codes under their own names; the value appears in traces and messages."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"


REJECTIONS = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)


@dataclass(frozen=True, slots=True)
class Status:
    """``reasons`` are Kubernetes' texts; the runtime fills in ``plugin``. ``None`` means success."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_rejected(self) -> bool:
        """Return True for any form of Unschedulable (upstream ``IsRejected``)."""
        return self.code in REJECTIONS

    @property
    def message(self) -> str:
        """Return the reasons, joined like upstream ``Status.Message``."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the same status, attributed to ``plugin``."""
        return Status(self.code, self.reasons, plugin)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return UnschedulableAndUnresolvable: evicting pods would not help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    return Status(Code.ERROR, (reason,))
