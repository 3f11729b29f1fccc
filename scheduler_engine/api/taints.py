"""Taints and tolerations.

Source: upstream ``component-helpers/scheduling/corev1``, ``api/core/v1/toleration.go`` and seed 002 §5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_engine.api.labels import is_int64, parse_int64
from scheduler_engine.records import record

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
"""Set by a cloud's kubelet and removed by its controller: here only by hand."""
CANONICAL = re.compile(r"0|-?[1-9][0-9]*")
"""Whole numbers as Kubernetes' ``IsDecimalInteger`` wants them."""
LESS, GREATER = "Lt", "Gt"
"""Operators that compare values: the taint's must be below or above the toleration's."""
TOLERATED_BY_ADMISSION = (NOT_READY, UNREACHABLE, MEMORY_PRESSURE)
"""Keys of the tolerations that admission adds to pods."""


@record(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"

    def __str__(self) -> str:
        return f"{{{self.key}: {self.value}}}"

    @property
    def text(self) -> str:
        """Return the taint as kubectl writes it: ``dedicated=gpu:NoSchedule``."""
        return f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}"


@record(frozen=True, slots=True)
class Toleration:
    """``effect`` "" tolerates every effect, ``key`` "" with Exists every taint; ``seconds`` only matters for
    NoExecute.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint, compares: bool) -> bool:
        return not self.differs_in(taint, compares)

    def differs_in(self, taint: Taint, compares: bool) -> str:
        """Return the field that does not match: effect, key, value or operator; "" if it tolerates the taint.

        ``compares``: the rule ``tolerations_compare``. Without it, Lt and Gt match nothing.
        """
        if self.effect and self.effect != taint.effect:
            return "effect"
        if self.key and self.key != taint.key:
            return "key"
        if self.operator in ("", "Equal"):
            return "" if self.value == taint.value else "value"
        if self.operator in (LESS, GREATER) and compares:
            return "" if self._compares_with(taint) else "value"
        return "" if self.operator == "Exists" else "operator"

    def _compares_with(self, taint: Taint) -> bool:
        mine, others = whole_number(self.value), whole_number(taint.value)
        if mine is None or others is None:
            return False
        return others < mine if self.operator == LESS else others > mine


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


def whole_number(text: str) -> int | None:
    """Return the number that Lt and Gt compare, None for a text in another form (``+1``, ``01``) or over 64 bits."""
    return parse_int64(text) if CANONICAL.fullmatch(text) and is_int64(text) else None


def tolerated(taint: Taint, tolerations: Iterable[Toleration], compares: bool) -> bool:
    return any(not toleration.differs_in(taint, compares) for toleration in tolerations)


def first_untolerated(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: tuple[str, ...], compares: bool
) -> Taint | None:
    """Return the first taint with one of ``effects`` that no toleration matches (upstream
    ``FindMatchingUntoleratedTaint``).
    """
    held = tuple(tolerations)
    return next((taint for taint in taints if taint.effect in effects and not tolerated(taint, held, compares)), None)
