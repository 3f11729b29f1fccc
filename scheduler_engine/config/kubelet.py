"""The eviction settings of a KubeletConfiguration: thresholds, grace periods, minimum reclaim, transition period.

Source: seed 002 §10 (Eviction thresholds, Node condition oscillation, Minimum eviction reclaim); upstream
``pkg/kubelet/eviction/helpers.go`` (ParseThresholdConfig) and ``pkg/kubelet/apis/config``. Other fields of a
KubeletConfiguration are refused, because nothing here would follow them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.durations import parse_duration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.timeline import SECOND_US

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"

SIGNALS: dict[str, tuple[str, str]] = {
    "memory.available": ("MemoryPressure", "memory"),
    "nodefs.available": ("DiskPressure", "ephemeral-storage"),
    "nodefs.inodesFree": ("DiskPressure", "inodes"),
    "imagefs.available": ("DiskPressure", "ephemeral-storage"),
    "imagefs.inodesFree": ("DiskPressure", "inodes"),
    "pid.available": ("PIDPressure", "pids"),
}
"""Eviction signal → (node condition, resource to reclaim)."""

DEFAULT_HARD = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "imagefs.available": "15%",
    "nodefs.inodesFree": "5%",
    "imagefs.inodesFree": "5%",
}
OFF = ("0%", "100%")
"""Amounts that switch a threshold off."""

HARD_GRACE_SECONDS = 1
"""A pod's grace at a hard threshold, in v1.34.1; seed 002 §10 says 0 s.

Source: upstream ``pkg/kubelet/eviction/eviction_manager.go`` (immediateEvictionGracePeriodSeconds).
"""
DEFAULT_TRANSITION_US = 300 * SECOND_US
HOUSEKEEPING_US = 10 * SECOND_US
"""How often a kubelet checks its thresholds; no configuration changes that."""
MAPS = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim")
FIELDS: dict[str, type] = {
    **dict.fromkeys(MAPS, dict),
    "apiVersion": str,
    "kind": str,
    "evictionMaxPodGracePeriod": int,
    "evictionPressureTransitionPeriod": str,
    "mergeDefaultEvictionSettings": bool,
}
NS_PER_US = 1000
LONGEST_SHARE = 300
"""The most characters of a percentage."""
LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity in whole units, or a share of the capacity (1 = all of it)."""

    units: int = 0
    share: Fraction | None = None

    def of(self, capacity: int) -> int:
        return self.units if self.share is None else int(capacity * self.share)


@dataclass(frozen=True, slots=True)
class Threshold:
    """``signal`` below ``amount``. ``grace_us``: how long a soft one must hold; ``min_reclaim``: on top, once met."""

    signal: str
    written: str
    amount: Amount
    hard: bool
    grace_us: int = 0
    min_reclaim: Amount = Amount()

    @property
    def condition(self) -> str:
        return SIGNALS[self.signal][0]

    @property
    def resource(self) -> str:
        return SIGNALS[self.signal][1]

    def __str__(self) -> str:
        return f"{self.signal}<{self.written}"


@dataclass(frozen=True, slots=True)
class EvictionConfiguration:
    thresholds: tuple[Threshold, ...]
    max_pod_grace_seconds: int = 0
    transition_us: int = DEFAULT_TRANSITION_US
    hard_grace_seconds: int = HARD_GRACE_SECONDS


def load_kubelet_configuration(data: Mapping[str, Any] | None) -> EvictionConfiguration:
    """Read a KubeletConfiguration (None = the default one). Raises Rejected with all errors."""
    fields = dict(data or {})
    errors = list(_known_fields(fields))
    if errors:
        raise Rejected(errors)
    errors = list(_values(fields))
    if errors:
        raise Rejected(errors)
    period = fields.get("evictionPressureTransitionPeriod") or "0s"
    return EvictionConfiguration(
        tuple(_thresholds(fields)),
        fields.get("evictionMaxPodGracePeriod", 0),
        parse_duration(period) // NS_PER_US or DEFAULT_TRANSITION_US,
    )


@lru_cache(maxsize=1)
def default_configuration() -> EvictionConfiguration:
    return load_kubelet_configuration(None)


def _thresholds(fields: Mapping[str, Any]) -> Iterator[Threshold]:
    """Yield hard ones first. Defaults apply only if no hard threshold is set, or if merging them is requested."""
    hard = fields.get("evictionHard")
    if hard is None or fields.get("mergeDefaultEvictionSettings"):
        hard = {**DEFAULT_HARD, **(hard or {})}
    soft, periods = fields.get("evictionSoft") or {}, fields.get("evictionSoftGracePeriod") or {}
    reclaims = {signal: _amount(text) for signal, text in (fields.get("evictionMinimumReclaim") or {}).items()}
    for written, is_hard in ((hard, True), (soft, False)):
        for signal in SIGNALS:
            if signal in written and written[signal] not in OFF:
                grace_us = 0 if is_hard else parse_duration(periods[signal]) // NS_PER_US
                reclaim = reclaims.get(signal, Amount())
                yield Threshold(signal, written[signal], _amount(written[signal]), is_hard, grace_us, reclaim)


def _amount(text: str) -> Amount:
    """Read an amount. Raises ValueError."""
    if text.endswith("%"):
        number = text[:-1]
        if not number.replace(".", "", 1).isdigit() or not number.isascii():
            raise ValueError(f'strconv.ParseFloat: parsing "{number[:LONGEST_SHARE]}": invalid syntax')
        if len(number) > LONGEST_SHARE:
            raise ValueError(f'strconv.ParseFloat: parsing "{number[:LONGEST_SHARE]}…": value out of range')
        return Amount(share=Fraction(number) / 100)
    return Amount(parse_quantity(text).value())


# --- errors -----------------------------------------------------------------------------------------------------------


def _error(path: str, text: str) -> FieldError:
    return FieldError(path, "FieldValueInvalid", text, object_name=KIND)


def _known_fields(fields: dict[str, Any]) -> Iterator[FieldError]:
    for name, value in fields.items():
        if name not in FIELDS:
            yield _error(str(name), f'unknown field "{name}": the sandbox only reads {", ".join(MAPS)} and their like')
        elif value is not None and type(value) is not FIELDS[name]:
            yield _error(name, f"must be {FIELDS[name].__name__}")
        elif type(value) is int and abs(value) > LARGEST_NUMBER:
            yield _error(name, f"must be between {-LARGEST_NUMBER} and {LARGEST_NUMBER}")
        elif isinstance(value, dict):
            wrong = (signal for signal, text in value.items() if not isinstance(text, str))
            yield from (_error(f"{name}[{signal}]", "must be a string") for signal in wrong)
    expected = {"apiVersion": API_VERSION, "kind": KIND}
    for name, text in expected.items():
        if fields.get(name, text) != text:
            yield _error(name, f'must be "{text}"')


def _values(fields: Mapping[str, Any]) -> Iterator[FieldError]:
    for name in MAPS:
        for signal, text in (fields.get(name) or {}).items():
            problem = _signal_problem(name, str(signal), text)
            if problem:
                yield _error(f"{name}[{signal}]", problem)
    for signal in fields.get("evictionSoft") or {}:
        if signal not in (fields.get("evictionSoftGracePeriod") or {}):
            yield _error("evictionSoft", f"grace period must be specified for the soft eviction threshold {signal}")
    if (fields.get("evictionMaxPodGracePeriod") or 0) < 0:
        yield _error("evictionMaxPodGracePeriod", "must be greater than or equal to 0")
    try:
        if parse_duration(fields.get("evictionPressureTransitionPeriod") or "0s") < 0:
            yield _error("evictionPressureTransitionPeriod", "must be greater than or equal to 0")
    except ValueError as problem:
        yield _error("evictionPressureTransitionPeriod", str(problem))


def _signal_problem(name: str, signal: str, text: str) -> str:
    """Return what is wrong with one entry of one of the maps."""
    if signal not in SIGNALS:
        return f"unsupported eviction signal {signal}"
    try:
        if name == "evictionSoftGracePeriod":
            wrong = parse_duration(text) < 0
            return f"invalid eviction grace period specified: {text}, must be a positive value" if wrong else ""
        amount = _amount(text)
    except ValueError as problem:
        return str(problem)
    if name == "evictionMinimumReclaim":
        return f"negative eviction minimum reclaim specified for {signal}" if amount.units < 0 else ""
    if amount.share is not None:
        return f"eviction percentage threshold {signal} must be <= 100%: {text}" if amount.share > 1 else ""
    return f"eviction threshold {signal} must be positive: {text}" if amount.units <= 0 else ""
