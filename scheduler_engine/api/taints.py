"""Taints and tolerations. Source: upstream ``component-helpers/scheduling/corev1`` and seed 002 §5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
"""Set by a cloud's kubelet and taken away by its controller: here only by hand."""


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"

    def __str__(self) -> str:
        return f"{{{self.key}: {self.value}}}"

    @property
    def text(self) -> str:
        """As kubectl writes it: ``dedicated=gpu:NoSchedule``."""
        return f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    """``effect`` "" tolerates every effect, ``key`` "" with Exists every taint; ``seconds`` only matters for
    NoExecute.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == "Exists"


def taint_from(manifest: Mapping[str, Any]) -> Taint:
    return Taint(manifest.get("key", ""), manifest.get("value") or "", manifest.get("effect", ""))


def toleration_from(manifest: Mapping[str, Any]) -> Toleration:
    return Toleration(
        manifest.get("key") or "",
        manifest.get("operator") or "",
        manifest.get("value") or "",
        manifest.get("effect") or "",
        manifest.get("tolerationSeconds"),
    )


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(toleration.tolerates(taint) for toleration in tolerations)


def first_untolerated(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: tuple[str, ...]
) -> Taint | None:
    """The first taint with one of ``effects`` that no toleration matches (upstream
    ``FindMatchingUntoleratedTaint``).
    """
    held = tuple(tolerations)
    return next((taint for taint in taints if taint.effect in effects and not tolerated(taint, held)), None)
