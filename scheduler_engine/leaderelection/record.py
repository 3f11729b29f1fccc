"""A lock's record of its holder, and its three written forms.

Source: seed 003; upstream ``client-go/tools/leaderelection/resourcelock/interface.go`` and ``leaselock.go``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scheduler_engine.api.objects import EPOCH, time_us, timestamp


@dataclass(frozen=True, slots=True)
class LeaderElectionRecord:
    """Times are microseconds of the writer's own clock, None is Kubernetes' zero time. No holder is "".

    ``strategy`` and ``preferred_holder`` belong to coordinated election; they are kept but not used.
    """

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time_us: int | None = None
    renew_time_us: int | None = None
    leader_transitions: int = 0
    strategy: str = ""
    preferred_holder: str = ""


TEXT, NUMBER, TIME = "text", "number", "time"

FIELDS = (
    ("holderIdentity", "holder_identity", TEXT),
    ("leaseDurationSeconds", "lease_duration_seconds", NUMBER),
    ("acquireTime", "acquire_time_us", TIME),
    ("renewTime", "renew_time_us", TIME),
    ("leaderTransitions", "leader_transitions", NUMBER),
)
COORDINATED_FIELDS = (("strategy", "strategy", TEXT), ("preferredHolder", "preferred_holder", TEXT))

SPEC_NAMES = {"leaderTransitions": "leaseTransitions"}
"""The one field with another name in a Lease."""


def compared_json(record: LeaderElectionRecord) -> str:
    """Return the text in which an elector sees a change: whole seconds only, so it misses a change within one."""
    return _json(record, FIELDS + COORDINATED_FIELDS)


def annotation_json(record: LeaderElectionRecord) -> str:
    """Return the text for the annotation of Endpoints and ConfigMaps, as those older locks wrote it."""
    return _json(record, FIELDS)


def _json(record: LeaderElectionRecord, fields: tuple[tuple[str, str, str], ...]) -> str:
    written: dict[str, Any] = {}
    for name, attribute, form in fields:
        value = getattr(record, attribute)
        written[name] = timestamp(value) if form == TIME and value is not None else value
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def from_annotation(text: str) -> LeaderElectionRecord:
    """Return the record in an annotation. Raises ValueError when the text is not one."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("the record is not a JSON object")
    return _read(value)


def lease_spec(record: LeaderElectionRecord) -> dict[str, Any]:
    """Return ``spec`` of a Lease; its times keep their microseconds, empty optional fields are omitted."""
    spec: dict[str, Any] = {}
    for name, attribute, form in FIELDS:
        value = getattr(record, attribute)
        if value is not None:
            spec[SPEC_NAMES.get(name, name)] = micro_time(value) if form == TIME else value
    for name, attribute, _ in COORDINATED_FIELDS:
        value = getattr(record, attribute)
        if value:
            spec[name] = value
    return spec


def from_lease_spec(spec: Mapping[str, Any]) -> LeaderElectionRecord:
    """Return the record in a Lease; missing or null fields are empty. Raises ValueError for a value of a wrong type."""
    return _read({name: spec.get(SPEC_NAMES.get(name, name)) for name, _, _ in FIELDS + COORDINATED_FIELDS})


def _read(values: Mapping[str, Any]) -> LeaderElectionRecord:
    read: dict[str, Any] = {}
    for name, attribute, form in FIELDS + COORDINATED_FIELDS:
        value = values.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int if form == NUMBER else str):
            raise ValueError(f"{name} cannot be {json.dumps(value)}")
        read[attribute] = _time_us(str(value)) if form == TIME else value
    return LeaderElectionRecord(**read)


def _time_us(text: str) -> int | None:
    try:
        return time_us(text)
    except TypeError as problem:
        raise ValueError(f"{text} has no time zone") from problem


def micro_time(at_us: int) -> str:
    """Format microseconds since ``EPOCH`` as a Kubernetes MicroTime."""
    return (EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
