"""The JSON form of commands, and the bounds of their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, asdict, replace
from fractions import Fraction
from typing import Any

from scheduler_engine.api.validation.problems import invalid
from scheduler_engine.apiserver.admission import SWITCHED
from scheduler_engine.apiserver.lifecycle import POLICIES
from scheduler_engine.commands.kinds import (
    AMOUNTS,
    COMMANDS,
    DRAIN_FLAGS,
    REPLICA_ACTIONS,
    SUBRESOURCES,
    Advance,
    Apply,
    Command,
    PodCycle,
    Replica,
    Run,
    Scale,
    Settle,
)
from scheduler_engine.errors import FieldError, Rejected

MAX_ADVANCE_SECONDS = 86_400
MAX_CYCLES = 10_000
MAX_REPLICAS = 1_000
MAX_SCHEDULERS = 5
MAX_RATE = 10
"""How many times as fast, or as slow, a replica's clock may run."""

FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "manifests": (list, tuple),
    "manifest": (dict,),
    "object_kind": (str,),
    "key": (str,),
    "propagation_policy": (str,),
    "changes": (dict,),
    "subresource": (str,),
    "node": (str,),
    "on": (bool,),
    **dict.fromkeys(DRAIN_FLAGS, (bool,)),
    "enabled": (bool,),
    "replicas": (int,),
    "seconds": (int, float),
    "play": (bool,),
    "cycles": (int,),
    "until": (int,),
    "configuration": (dict, type(None)),
    "hard_eviction_grace": (int, type(None)),
    "plugin": (str,),
    "point": (str,),
    "answer": (str,),
    "profile": (str,),
    "pod": (str,),
    "type": (str,),
    "status": (str,),
    "effect": (str,),
    "value": (str,),
    **dict.fromkeys(AMOUNTS, (str, type(None))),
    "count": (int,),
    "leader_elect": (bool,),
    "lock": (str,),
    **dict.fromkeys(("lease_duration", "renew_deadline", "retry_period"), (str, type(None))),
    "release_on_cancel": (bool,),
    "replica": (str,),
    "action": (str,),
    "rate": (int, float, str),
}

TYPES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    type(None): "null",
}
"""How JSON calls what Python has a type for. A tuple is a list."""

SPELLED = {
    "count": "replicas",
    "object_kind": "kind",
    "propagation_policy": "propagationPolicy",
    "leader_elect": "leaderElect",
    "lease_duration": "leaseDuration",
    "renew_deadline": "renewDeadline",
    "retry_period": "retryPeriod",
    "release_on_cancel": "releaseOnCancel",
    "hard_eviction_grace": "grace of hard evictions",
    "ephemeral_storage": "ephemeral-storage",
    "writable_layer": "writable layer",
    **{name: flag.removeprefix("--") for name, flag in DRAIN_FLAGS.items()},
}
"""Field of a command → how Kubernetes or the page calls it. Every other field is called by its own name."""


def wrong_field(name: str, problem: str) -> FieldError:
    """What is wrong with a field of a command, under the name that people know."""
    return FieldError(SPELLED.get(name, name), "FieldValueInvalid", problem)


def field_of(kind: str, error: FieldError) -> str:
    """Name the field that an error of ``wrong_field`` is about; "" when it is about the whole command."""
    named = {SPELLED.get(name, name): name for name in COMMANDS[kind].__dataclass_fields__}
    return named.get(error.path, "")


def to_json(command: Command) -> dict[str, Any]:
    """Plain JSON; the opposite of ``from_json``."""
    fields = asdict(command)
    if isinstance(command, Apply):
        fields["manifests"] = list(command.manifests)
    if not fields.get("until", 1):
        del fields["until"]
    return {"kind": command.kind, **fields}


def from_json(data: Any) -> Command:
    """A command from its JSON form. Raises Rejected when it is none, or a number is out of bounds."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise Rejected(f"unknown command {data if kind is None else kind!r}")
    command = COMMANDS[kind]
    known = command.__dataclass_fields__
    fields = {name: value for name, value in data.items() if name != "kind"}
    for name, value in fields.items():
        if name not in known:
            raise Rejected(f"{command.kind}: unknown field {name!r}")
        types = FIELD_TYPES[name]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = " or ".join(TYPES[kind] for kind in types if kind in TYPES)
            raise Rejected(f'{command.kind}: "{name}" must be {wanted}')
    if "manifests" in fields:
        fields["manifests"] = tuple(fields["manifests"])
    try:
        made = command(**fields)
    except TypeError as problem:
        missing = ", ".join(f'"{name}"' for name, about in known.items() if name not in fields and _required(about))
        raise Rejected(f"{command.kind}: {missing} is missing") from problem
    check_bounds(made)
    return made


def _required(about: Field[Any]) -> bool:
    return about.default is MISSING and about.default_factory is MISSING


def check_bounds(command: Command) -> None:
    """Raises Rejected when a number is out of bounds, or a word is none of those that may stand there."""
    if getattr(command, "until", 0) < 0:
        raise Rejected([wrong_field("until", "must be at least 0")])
    if isinstance(command, Scale) and command.replicas < 0:
        raise Rejected([invalid("spec.replicas", command.replicas, "must be greater than or equal to 0")])
    if isinstance(command, Replica):
        _check_replica(command)
    elif command.kind in BOUNDS:
        holds, name, problem = BOUNDS[command.kind]
        if not holds(command):
            raise Rejected([wrong_field(name, problem)])


BOUNDS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "admission": (lambda command: command.plugin in SWITCHED, "plugin", f"must be {', '.join(SWITCHED)}"),
    "advance": (
        lambda command: 0 < command.seconds <= MAX_ADVANCE_SECONDS and time_us(command) > 0,
        "seconds",
        f"must be at least 0.000001 and at most {MAX_ADVANCE_SECONDS}",
    ),
    "assumed-ttl": (
        lambda command: 0 <= command.seconds <= MAX_ADVANCE_SECONDS,
        "seconds",
        f"must be from 0 to {MAX_ADVANCE_SECONDS}",
    ),
    "fault": (
        lambda command: 0 <= command.seconds <= MAX_ADVANCE_SECONDS,
        "seconds",
        f"must be from 0 to {MAX_ADVANCE_SECONDS}",
    ),
    "kubelet": (
        lambda command: 0 <= (command.hard_eviction_grace or 0) <= MAX_ADVANCE_SECONDS,
        "hard_eviction_grace",
        f"must be from 0 to {MAX_ADVANCE_SECONDS}",
    ),
    "scale": (
        lambda command: 0 <= command.replicas <= MAX_REPLICAS,
        "replicas",
        f"must be from 0 to {MAX_REPLICAS}",
    ),
    "delete": (
        lambda command: command.propagation_policy in POLICIES,
        "propagation_policy",
        f"must be {', '.join(POLICIES)}",
    ),
    "patch": (lambda command: command.subresource in SUBRESOURCES, "subresource", 'must be "resize" or nothing'),
    "replicas": (
        lambda command: 1 <= command.count <= MAX_SCHEDULERS,
        "count",
        f"must be from 1 to {MAX_SCHEDULERS}",
    ),
    "run": (lambda command: 0 < command.cycles <= MAX_CYCLES, "cycles", f"must be from 1 to {MAX_CYCLES}"),
}
"""Kind of a command → (what must hold of it, the field that is wrong when it does not, what is said of that)."""


def ended_early(command: Command, entries: int) -> Command:
    """The command, to end at the first rest at which it has written so many trace entries; one that is a single step
    as it is.
    """
    return replace(command, until=entries) if isinstance(command, (PodCycle, Settle, Advance, Run)) else command


def time_us(command: Advance) -> int:
    """How much time it lets pass, in whole microseconds."""
    return round(command.seconds * 1_000_000)


def _check_replica(command: Replica) -> None:
    if command.action not in REPLICA_ACTIONS:
        raise Rejected([wrong_field("action", f"must be {', '.join(REPLICA_ACTIONS)}")])
    if command.action == "skew" and not 0 < abs(command.seconds) <= MAX_ADVANCE_SECONDS:
        told = f"must be from -{MAX_ADVANCE_SECONDS} to {MAX_ADVANCE_SECONDS}, and not 0"
        raise Rejected([wrong_field("seconds", told)])
    if command.action == "rate":
        rate_of(command)


def rate_of(command: Replica) -> Fraction:
    """The rate of a clock: a number, or a text such as 1.1 or 1/3. Raises Rejected."""
    written = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(?:/([0-9]{1,6}))?", str(command.rate))
    if written is None or (written[2] is not None and int(written[2]) == 0):
        raise Rejected([wrong_field("rate", "must be a number or a fraction such as 1/2")])
    rate = Fraction(written[1]) / int(written[2] or 1)
    if not Fraction(1, MAX_RATE) <= rate <= MAX_RATE:
        raise Rejected([wrong_field("rate", f"must be from 1/{MAX_RATE} to {MAX_RATE}")])
    return rate
