"""The world of a recorded leader election: electors with their clocks, one server, faults and races."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from scheduler_engine.api.objects import merge, time_us
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.leaderelection.client import MODIFIED, Manifest, version_of
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.leaderelection.elector import (
    SECOND_NS,
    LeaderElectionConfig,
    LeaderElector,
    new_leader_elector,
)
from scheduler_engine.leaderelection.locks import ResourceLock
from scheduler_engine.leaderelection.record import SPEC_NAMES, LeaderElectionRecord, from_lease_spec, micro_time
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import Recorder

Op = dict[str, Any]

NAMESPACE, NAME = "kube-system", "kube-scheduler"
START_US = time_us("2025-01-01T00:00:00Z") or 0
"""The recordings' second 0 on the engine's clocks."""

ERRORS = {
    "conflict": (409, "Conflict", MODIFIED),
    "timeout": (500, "ServerTimeout", "the request timed out"),
    "internal": (500, "InternalError", "Internal error occurred"),
    "forbidden": (403, "Forbidden", "the lease is forbidden"),
    "notFound": (404, "NotFound", "the lease is not found"),
    "alreadyExists": (409, "AlreadyExists", "the lease already exists"),
    "network": (0, "", "connection refused"),
}
"""(code, reason, message) of the failures in a recording."""


def nothing() -> None:
    """Do nothing, as a callback."""


def exact(seconds: float, unit: int) -> int:
    """Convert seconds to whole units, exactly as written in decimal."""
    return round(Fraction(str(seconds)) * unit)


def micros(seconds: float) -> int:
    return exact(seconds, SECOND_US)


# --- the server ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Server:
    """One lock object with a resourceVersion that counts up with every write."""

    stored: Manifest | None = None
    version: int = 0

    def get(self, kind: str, key: str) -> Manifest:
        if self.stored is None:
            raise ApiError(*ERRORS["notFound"])
        return self.stored

    def create(self, manifest: Manifest) -> Manifest:
        if self.stored is not None:
            raise ApiError(*ERRORS["alreadyExists"])
        return self.put(manifest)

    def update(self, manifest: Manifest) -> Manifest:
        if self.stored is None:
            raise ApiError(*ERRORS["notFound"])
        if version_of(self.stored) != version_of(manifest):
            raise ApiError(*ERRORS["conflict"])
        return self.put(manifest)

    def put(self, manifest: Manifest) -> Manifest:
        self.version += 1
        self.stored = merge(manifest, {"metadata": {"resourceVersion": str(self.version)}})
        return self.stored


@dataclass(frozen=True, slots=True)
class Connection:
    """An elector's route to the server: through the scenario, which may disturb it."""

    scenario: Scenario
    elector: str

    def get(self, kind: str, key: str) -> Manifest:
        return self.scenario.call(self.elector, "get", self.scenario.server.get, kind, key)

    def create(self, manifest: Manifest) -> Manifest:
        return self.scenario.call(self.elector, "create", self.scenario.server.create, manifest)

    def update(self, manifest: Manifest) -> Manifest:
        return self.scenario.call(self.elector, "update", self.scenario.server.update, manifest)


# --- the scenario ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Frame:
    """A running operation: its elector, its calls so far, and events in between."""

    elector: str | None
    calls: list[dict[str, Any]] = field(default_factory=list)
    nested: list[dict[str, Any]] = field(default_factory=list)


class Scenario:
    """``faults`` and ``races`` wait for the electors' next calls; ``frames`` are the running operations."""

    def __init__(self, electors: list[dict[str, Any]]) -> None:
        self.timeline = Timeline(Recorder())
        self.server = Server()
        self.electors = {case["id"]: self._elector(case) for case in electors}
        self.faults: list[Op] = []
        self.races: list[Op] = []
        self.frames: list[Frame] = []

    def _elector(self, case: dict[str, Any]) -> LeaderElector:
        config = LeaderElectionConfig(
            ResourceLock("leases", NAMESPACE, NAME, case["id"], Connection(self, case["id"])),
            nothing,
            nothing,
            lease_duration_ns=exact(case["leaseDuration"], SECOND_NS),
            renew_deadline_ns=exact(case["renewDeadline"], SECOND_NS),
            retry_period_ns=exact(case["retryPeriod"], SECOND_NS),
            name=NAME,
        )
        clock = ElectorClock(self.timeline, START_US + micros(case["clock"]), Fraction(str(case["rate"])))
        return new_leader_elector(config, clock)

    # --- calls ---

    def call(self, elector: str, verb: str, method: Callable[..., Manifest], *args: Any) -> Manifest:
        """Note the call, run the first racing event, then fail or answer it."""
        call: dict[str, Any] = {"verb": verb, "error": None}
        self.frames[-1].calls.append(call)
        self._race(elector, verb)
        try:
            self._fail(elector, verb)
            return method(*args)
        except ApiError as problem:
            call["error"] = problem.reason or problem.message
            raise

    def _race(self, elector: str, verb: str) -> None:
        for race in self.races:
            do = race["do"]
            if race["elector"] == elector and race["verb"] in (verb, "any") and not self._busy(do["elector"]):
                self.races.remove(race)
                frame = self.frames[-1]
                frame.nested.append({"before": verb, "do": do["op"], "result": self.step(do)})
                return

    def _busy(self, elector: str) -> bool:
        """Return True in the middle of a try or a release."""
        return any(frame.elector == elector for frame in self.frames)

    def _fail(self, elector: str, verb: str) -> None:
        for fault in self.faults:
            if fault["elector"] == elector and fault["verb"] in (verb, "any"):
                self.faults.remove(fault)
                raise ApiError(*ERRORS[fault["error"]])

    # --- operations ---

    def step(self, op: Op) -> dict[str, Any]:
        """Do one operation; return the result in the form of the recordings."""
        calls = op["op"] in ("try", "release")
        frame = Frame(op["elector"] if calls else None)
        self.frames.append(frame)
        result = OPERATIONS[op["op"]](self, op)
        self.frames.pop()
        if calls:
            result["calls"] = frame.calls
        if frame.nested:
            result["nested"] = frame.nested
        if op["op"] in ABOUT_AN_ELECTOR:
            result |= believed(self.electors[op["elector"]])
        return result | self._stored()

    def _stored(self) -> dict[str, Any]:
        stored = self.server.stored
        return {
            "lock": None if stored is None else record_state(from_lease_spec(stored["spec"])),
            "resourceVersion": None if stored is None else version_of(stored),
            "leaders": [name for name, elector in self.electors.items() if elector.is_leader()],
        }

    def advance(self, op: Op) -> dict[str, Any]:
        self.timeline.move_to(self.timeline.now_us + micros(op["dt"]))
        return {}

    def jump(self, op: Op) -> dict[str, Any]:
        self.electors[op["elector"]].clock.jump(micros(op["by"]))
        return {}

    def try_(self, op: Op) -> dict[str, Any]:
        return {"returned": self.electors[op["elector"]].try_acquire_or_renew()}

    def release(self, op: Op) -> dict[str, Any]:
        return {"returned": self.electors[op["elector"]].release()}

    def delete(self, op: Op) -> dict[str, Any]:
        existed = self.server.stored is not None
        self.server.stored = None
        return {"existed": existed}

    def edit(self, op: Op) -> dict[str, Any]:
        """Overwrite fields of the lease, by their names in the record."""
        changes = {SPEC_NAMES.get(name, name): value for name, value in op["set"].items()}
        for name in ("acquireTime", "renewTime"):
            if changes.get(name) is not None:
                changes[name] = micro_time(START_US + micros(changes[name]))
        bare = {"kind": "Lease", "metadata": {"namespace": NAMESPACE, "name": NAME}, "spec": {}}
        self.server.put(merge(self.server.stored or bare, {"spec": changes}))
        return {}

    def fail(self, op: Op) -> dict[str, Any]:
        self.faults.append(op)
        return {}

    def race(self, op: Op) -> dict[str, Any]:
        self.races.append(op)
        return {}

    def restart(self, op: Op) -> dict[str, Any]:
        """Start a new process with a new connection: faults and races planned for its calls are gone."""
        name = op["elector"]
        self.faults = [fault for fault in self.faults if fault["elector"] != name]
        self.races = [race for race in self.races if race["elector"] != name]
        old = self.electors[name]
        lock = replace(old.lock, identity=op.get("identity", old.lock.identity), held=None)
        self.electors[name] = new_leader_elector(replace(old.config, lock=lock), old.clock)
        return {}

    def check(self, op: Op) -> dict[str, Any]:
        return {"error": self.electors[op["elector"]].check(micros(op["tolerance"])) or None}


OPERATIONS: dict[str, Callable[[Scenario, Op], dict[str, Any]]] = {
    "advance": Scenario.advance,
    "jump": Scenario.jump,
    "try": Scenario.try_,
    "release": Scenario.release,
    "delete": Scenario.delete,
    "edit": Scenario.edit,
    "fail": Scenario.fail,
    "race": Scenario.race,
    "restart": Scenario.restart,
    "check": Scenario.check,
}
ABOUT_AN_ELECTOR = ("jump", "try", "release", "restart", "check")
"""Operations after which the recordings show the elector's beliefs."""


# --- visible state ---------------------------------------------------------------------------------------------------


def believed(elector: LeaderElector) -> dict[str, Any]:
    return {
        "isLeader": elector.is_leader(),
        "leaderSeen": elector.get_leader(),
        "observed": record_state(elector.observed_record),
        "observedTime": seconds(elector.observed_time_us),
        "observedRaw": elector.observed_raw,
        "now": seconds(elector.clock.now_us()),
    }


def record_state(record: LeaderElectionRecord) -> dict[str, Any]:
    return {
        "holderIdentity": record.holder_identity,
        "leaseDurationSeconds": record.lease_duration_seconds,
        "acquireTime": seconds(record.acquire_time_us),
        "renewTime": seconds(record.renew_time_us),
        "leaderTransitions": record.leader_transitions,
    }


def seconds(at_us: int | None) -> float | None:
    """Return seconds after the recordings' second 0; None is the zero time."""
    return None if at_us is None else (at_us - START_US) / SECOND_US
