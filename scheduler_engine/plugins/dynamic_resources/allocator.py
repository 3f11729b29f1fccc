"""The search for devices: one claim after the other, one request after the other, one device after the other.

It goes back whenever it cannot continue, and takes the first solution. Before v1.36, upstream tries the same devices
in every order before it gives up: 9 of 8 devices take more than 100,000 turns. Here, a part that failed is not done
again with the same devices in use, but its effort counts again. Two bugs of upstream before v1.36 decide what happens
to alternatives that want all devices, so they are here, too: see ``_read`` and ``_take_every``. Source: upstream
``dynamic-resource-allocation/structured/internal/``, the allocator that the default gates of a version choose:
``experimental/allocator_experimental.go`` in v1.34.1, ``incubating/allocator_incubating.go`` in v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.cel.devices import compile_selector
from scheduler_engine.api.cel.values import CelError
from scheduler_engine.api.device_pools import Pool, Slices, gather_pools, gather_whole_pools
from scheduler_engine.api.devices import Device, DeviceId, ResourceClaim
from scheduler_engine.api.objects import KubeObject, Node
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.noted_objects import ObjectGetter
from scheduler_engine.plugins.dynamic_resources.allocation import allocation
from scheduler_engine.plugins.dynamic_resources.wanted import Chosen, MatchAttribute, Results, Wanted
from scheduler_engine.records import record
from scheduler_engine.sharing import Table
from scheduler_engine.versions import DEFAULT_RULES, Rules

ADMIN_ACCESS = "ExactDeviceRequest.adminAccess"
MOST_RESULTS = 32
"""The most devices that a claim can get."""
EFFORT_PER_SECOND, MOST_SECONDS = 10_000_000, 10
"""So much effort for one node takes about a second of Kubernetes' real time. No search takes longer than the most,
which is also Kubernetes' default.
"""
MOST_WORK, WORK_OF_COST = 3_000_000, 3
"""The most effort for one node without what only repeats, which takes about a second here. An expression takes three
times as long as other effort.
"""
LOOK, TRY, TURN = 1, 10, 40
"""The effort of looking at a device, of trying it, and of going on. That of an expression is its cost."""
MOST_STEPS = 60
"""Steps of a search that are noted one by one, however often they repeat."""

Verdicts = Table[tuple[DeviceId, str], tuple[bool | str, int]]
"""(device, expression) → result, or the text of an error; and the effort. The same for all nodes of a cycle."""
Place = tuple[int, int, int]
"""Numbers of claim, request and alternative."""


class TimedOut(Exception):
    """The search took too many turns."""


class InvalidPools(Exception):
    """There are not enough devices, and some pool is invalid."""


class _TooManyResults(Exception):
    """A claim would get more devices than it can hold."""


@record(frozen=True, slots=True)
class Tried:
    """A device that the search looked at for a request. ``outcome``: ``taken``, ``given-back``, ``held`` (by the
    search itself), ``in-use`` (by another claim), ``selector`` (``expression`` is false), ``constraint`` (over
    ``attribute``).
    """

    claim: str
    request: str
    device: DeviceId
    outcome: str
    expression: str = ""
    class_name: str = ""
    attribute: str = ""
    values: tuple[tuple[str, Any], ...] = ()


@dataclass(slots=True)
class Film:
    """What a search did. ``steps``: at first all of them, later those of parts that do not only repeat; ``more``: how
    many others there were; ``once``: how many of ``steps`` no part repeats.
    """

    steps: list[Tried] = field(default_factory=list)
    more: int = 0
    once: int = 0

    @property
    def repeatable(self) -> int:
        return len(self.steps) + self.more - self.once


@dataclass(frozen=True, slots=True)
class Done:
    """What a search, or a part of it, has done."""

    effort: int
    steps: int


@dataclass(slots=True)
class Allocator:
    """What all nodes have in common. ``allocated``: devices that claims have, or are about to get; ``most_effort``: for
    one node.
    """

    objects: ObjectGetter = field(repr=False)
    slices: Slices = field(repr=False)
    allocated: Table[DeviceId, None]
    rules: Rules = field(default=DEFAULT_RULES, repr=False)
    most_effort: int = field(default=EFFORT_PER_SECOND * MOST_SECONDS, repr=False)
    verdicts: Verdicts = field(default_factory=Table, repr=False)

    @property
    def careful(self) -> bool:
        """Return whether devices of pools that are incomplete or invalid are left alone."""
        return not self.rules.uses_incomplete_pools

    def allocate(
        self, node: Node, claims: Sequence[ResourceClaim], film: Film | None = None
    ) -> list[dict[str, Any]] | None:
        """Return an allocation for each claim, None if there are not enough devices. ``film``: filled, if given.

        Raises PluginError for a claim that cannot be judged, TimedOut, and InvalidPools.
        """
        return _Search(self, node, claims, film).run()

    def pools(self, node: Node) -> Sequence[Pool]:
        """Return the pools that a node can use, in the order in which a search tries them."""
        return gather_whole_pools(self.slices, node) if self.careful else gather_pools(self.slices.of(node))


class _Search:
    """One search for one node. Nothing of it outlives the call."""

    def __init__(self, allocator: Allocator, node: Node, claims: Sequence[ResourceClaim], film: Film | None) -> None:
        self.allocator, self.node, self.claims, self.film = allocator, node, claims, film
        self.pools = allocator.pools(node)
        # Of an incomplete pool nothing is taken, so newer versions do not look whether it is valid.
        self.duplicates = ["" if allocator.careful and pool.incomplete else pool.duplicate for pool in self.pools]
        self.wanted: dict[Place, Wanted] = {}
        self.selectable: dict[tuple[DeviceId, Place], bool] = {}
        self.results: list[Results] = []
        self.in_use: dict[DeviceId, list[int]] = {}
        self.failed: dict[tuple[Any, ...], Done] = {}
        """Parts that failed, and what each did, without what it would not do again."""
        self.bits: dict[tuple[DeviceId, int], int] = {}
        self.held = 0
        """The bits of devices and the claims that use them."""
        self.effort = self.work = self.once = 0
        """Effort of the search as upstream does it, of what is done here, and of what no part repeats."""

    def run(self) -> list[dict[str, Any]] | None:
        for number, claim in enumerate(self.claims):
            fewest = sum(self._read(number, index, request) for index, request in enumerate(claim.requests))
            if fewest > MOST_RESULTS:
                text = f"number of requested devices {fewest} exceeds the claim limit of {MOST_RESULTS}"
                raise PluginError(f"claim {claim.key}: {text}")
            self.results.append(Results(_constraints(claim)))
        self.selectable = {}
        try:
            done = self._requests(0, 0)
        except _TooManyResults:
            raise PluginError("allocation max size exceeded") from None
        if not done and self.allocator.careful and any(self.duplicates):
            raise InvalidPools
        if not done:
            return None
        return [
            allocation(self.node.name, claim, self._taken(number), self.results[number].devices, self.allocator.rules)
            for number, claim in enumerate(self.claims)
        ]

    # --- reading the claims ---

    def _read(self, claim: int, index: int, request: dict[str, Any]) -> int:
        """Note what a request wants, and return the least number of devices that satisfies it.

        Before v1.36, upstream notes the matches of an alternative under the number of the one before it. So the second
        one gets those of the first, if both want all devices.
        """
        off = 1 if self.allocator.rules.confuses_alternatives else 0
        alternatives = request.get("firstAvailable") or ()
        if not alternatives:
            return self._note(request["name"], "", request["exactly"], (claim, index, 0), 0)
        return min(
            self._note(item["name"], request["name"], item, (claim, index, number), max(number - off, 0))
            for number, item in enumerate(alternatives)
        )

    def _note(self, name: str, parent: str, spec: dict[str, Any], place: Place, looked_up: int) -> int:
        claim = self.claims[place[0]]
        if not parent and "adminAccess" in spec and ADMIN_ACCESS not in self.allocator.rules.kept_fields:
            text = "admin access is requested, but the feature is disabled"
            raise PluginError(f"claim {claim.key}, request {name}: {text}")
        wanted = Wanted(name, parent, spec, self._class(claim, name, spec["deviceClassName"]))
        if spec.get("allocationMode") == "All":
            wanted.every = self._every(claim, wanted, (*place[:2], looked_up))
            wanted.count = len(wanted.every)
        else:
            wanted.count = spec.get("count") or 1
        self.wanted[place] = wanted
        return wanted.count

    def _class(self, claim: ResourceClaim, request: str, name: str) -> KubeObject:
        found = self.allocator.objects.get("DeviceClass", name)
        if found is None:
            text = f'could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
            raise PluginError(f"claim {claim.key}, request {request}: {text}")
        return found

    def _every(self, claim: ResourceClaim, wanted: Wanted, place: Place) -> list[Device]:
        """Return all devices that match; every pool must be complete, so that none is forgotten."""
        found: list[Device] = []
        for pool, duplicate in zip(self.pools, self.duplicates, strict=True):
            state = "being updated" if pool.incomplete else "invalid" if duplicate else ""
            if state:
                text = f"asks for all devices, but resource pool {pool} is currently {state}"
                raise PluginError(f"claim {claim.key}, request {wanted.name}: {text}")
            found += [device for device in pool.devices() if self._matches(place, wanted, device)]
        return found

    # --- the search ---

    def _requests(self, claim: int, index: int) -> bool:
        """Satisfy all requests from this one on."""
        self._spend(TURN)
        if claim >= len(self.claims):
            return True
        if index >= len(self.claims[claim].requests):
            try:
                return self._requests(claim + 1, 0)
            except _TooManyResults:
                return False
        first = self.wanted[claim, index, 0]
        if not first.parent:
            return self._devices((claim, index, 0), 0)
        return self._alternatives(claim, index, first)

    def _alternatives(self, claim: int, index: int, first: Wanted) -> bool:
        """Take the first alternative with which everything after it succeeds."""
        too_many, number = True, 0
        while (claim, index, number) in self.wanted:
            try:
                if self._devices((claim, index, number), 0):
                    first.chosen = number
                    return True
                too_many = False
            except _TooManyResults:
                pass
            number += 1
        if too_many:
            raise _TooManyResults
        return False

    def _spend(self, effort: int, work: int | None = None) -> None:
        """Count effort of upstream, and the ``work`` for it here, None = as much."""
        self.effort += effort
        self.work += effort if work is None else work
        if self.effort > self.allocator.most_effort or self.work > MOST_WORK:
            raise TimedOut

    def _state(self) -> tuple[Any, ...]:
        """Return what decides how the search goes on, besides its place: devices in use, and values that must match."""
        every = (item for results in self.results for item in results.constraints)
        return self.held, *(item.value if item.count else None for item in every)

    def _devices(self, place: Place, position: int, start: int = 0) -> bool:
        """Find the devices of a request from this position on, and all that comes after it. ``start``: number of the
        first device to try.
        """
        self._spend(TURN)
        wanted, results = self.wanted[place], self.results[place[0]]
        if wanted.every is not None and not wanted.every:
            return False
        if position >= wanted.count:
            return self._requests(place[0], place[1] + 1)
        if len(results.devices) + wanted.count - position > MOST_RESULTS:
            raise _TooManyResults
        state, before = (place, position, start, *self._state()), self._repeatable()
        if state in self.failed and (self.film is None or len(self.film.steps) >= MOST_STEPS):
            return self._fail_again(self.failed[state])
        done = self._next(place, wanted, position, start)
        if not done:
            after = self._repeatable()
            self.failed[state] = Done(after.effort - before.effort, after.steps - before.steps)
        return done

    def _repeatable(self) -> Done:
        """Return what was done so far, without what no part repeats."""
        return Done(self.effort - self.once, self.film.repeatable if self.film else 0)

    def _fail_again(self, part: Done) -> bool:
        self._spend(part.effort, work=0)
        if self.film:
            self.film.more += part.steps
        return False

    def _next(self, place: Place, wanted: Wanted, position: int, start: int) -> bool:
        """Take a device for this position, with which all that comes after it succeeds."""
        if wanted.every is not None:
            return self._take_every(place, wanted, position)
        number = 0
        for pool, duplicate in zip(self.pools, self.duplicates, strict=True):
            if self.allocator.careful and (duplicate or pool.incomplete):
                continue
            if duplicate:
                raise PluginError(f"pool {pool.name} is invalid: duplicate device name {duplicate}")
            for device in pool.devices():
                if number >= start and self._try(place, wanted, device, position, number):
                    return True
                number += 1
        return False

    def _try(self, place: Place, wanted: Wanted, device: Device, position: int, number: int) -> bool:
        self._spend(LOOK)
        if used := self._used(place[0], wanted, device):
            self._note_tried(place, wanted, device, used)
            return False
        if not self._matches(place, wanted, device) or not self._take(place, wanted, device, must=False):
            return False
        done = False
        try:
            done = self._devices(place, position + 1, number if self.allocator.rules.tries_combinations else 0)
        finally:
            if not done:
                self._give_back(place, wanted, device)
        return done

    def _take_every(self, place: Place, wanted: Wanted, position: int) -> bool:
        """Take the next of all devices.

        Before v1.36, upstream continues with the first alternative, whichever this one is.
        """
        assert wanted.every is not None
        onwards = (*place[:2], 0) if self.allocator.rules.confuses_alternatives else place
        device = wanted.every[position]
        if not self._take(place, wanted, device, must=True):
            return False
        done = False
        try:
            done = self._devices(onwards, position + 1)
        finally:
            if not done:
                self._give_back(place, wanted, device)
        return done

    def _used(self, claim: int, wanted: Wanted, device: Device) -> str:
        """Return ``in-use`` or ``held``, as in ``Tried``, "" = free. With admin access the device only must not be in
        the same claim twice.
        """
        users = self.in_use.get(device.id, ())
        if not wanted.admin_access and device.id in self.allocator.allocated:
            return "in-use"
        return "held" if users and (claim in users or not wanted.admin_access) else ""

    def _take(self, place: Place, wanted: Wanted, device: Device, must: bool) -> bool:
        self._spend(TRY)
        claim, results = place[0], self.results[place[0]]
        if used := self._used(claim, wanted, device):
            self._note_tried(place, wanted, device, used)
            return False
        for number, constraint in enumerate(results.constraints):
            if constraint.add(wanted, device):
                continue
            if must:
                text = f"cannot add device {device.id} because a claim constraint would not be satisfied"
                raise PluginError(f"claim {self.claims[claim].key}, request {wanted.name}: {text}")
            for earlier in results.constraints[:number]:
                earlier.remove(wanted)
            self._note_constraint(place, wanted, device, constraint)
            return False
        self.in_use.setdefault(device.id, []).append(claim)
        self.held ^= self._bit(claim, device)
        results.devices.append(Chosen(wanted, device))
        self._note_tried(place, wanted, device, "taken")
        return True

    def _bit(self, claim: int, device: Device) -> int:
        return 1 << self.bits.setdefault((device.id, claim), len(self.bits))

    def _give_back(self, place: Place, wanted: Wanted, device: Device) -> None:
        results = self.results[place[0]]
        for constraint in results.constraints:
            constraint.remove(wanted)
        self.in_use[device.id].remove(place[0])
        self.held ^= self._bit(place[0], device)
        results.devices.pop()
        self._note_tried(place, wanted, device, "given-back")

    # --- selectors ---

    def _matches(self, place: Place, wanted: Wanted, device: Device) -> bool:
        """Return whether a device satisfies the expressions of the class and of the request."""
        known = self.selectable.get((device.id, place))
        if known is None:
            before = self.effort
            self._spend(TURN)
            failed = self._first_false(place, wanted, device)
            self.once += self.effort - before
            known = self.selectable[device.id, place] = failed is None
            if failed is not None:
                expression, class_name = failed
                self._note_tried(place, wanted, device, "selector", expression=expression, class_name=class_name)
        return known

    def _first_false(self, place: Place, wanted: Wanted, device: Device) -> tuple[str, str] | None:
        """Return the first expression that is false, and the class that it belongs to ("" for the request's own)."""
        name = wanted.device_class.name
        claim = self.claims[place[0]].key
        for expressions, owner, class_name in (
            (wanted.class_selectors(), f"class {name}", name),
            (wanted.selectors(), f"claim {claim}", ""),
        ):
            for number, expression in enumerate(expressions):
                result = self._verdict(device, expression)
                if isinstance(result, str):
                    raise PluginError(f"{owner}: selector #{number}: {result}")
                if not result:
                    return expression, class_name
        return None

    def _verdict(self, device: Device, expression: str) -> bool | str:
        verdicts, key = self.allocator.verdicts, (device.id, expression)
        if key not in verdicts:
            verdicts[key] = _evaluated(device, expression)
        result, effort = verdicts[key]
        # It counts for each node, so that the verdict does not depend on the order of nodes.
        self._spend(effort, WORK_OF_COST * effort)
        return result

    # --- notes for explanations ---

    def _note_tried(self, place: Place, wanted: Wanted, device: Device, outcome: str, **more: Any) -> None:
        if self.film is not None:
            self.film.steps.append(Tried(self.claims[place[0]].key, wanted.full_name, device.id, outcome, **more))
            self.film.once += outcome == "selector"

    def _note_constraint(self, place: Place, wanted: Wanted, device: Device, constraint: MatchAttribute) -> None:
        if self.film is not None:
            values = (device.attribute(constraint.attribute), constraint.value if constraint.count else None)
            held = tuple(value for value in values if value is not None)
            self._note_tried(place, wanted, device, "constraint", attribute=constraint.attribute, values=held)

    def _taken(self, claim: int) -> list[Wanted]:
        """Return what was taken for each request of a claim: the request itself, or one of its alternatives."""
        firsts = [self.wanted[claim, index, 0] for index in range(len(self.claims[claim].requests))]
        return [self.wanted[claim, index, first.chosen] for index, first in enumerate(firsts)]


def _constraints(claim: ResourceClaim) -> list[MatchAttribute]:
    found = []
    for number, item in enumerate((claim.spec.get("devices") or {}).get("constraints") or ()):
        if item.get("matchAttribute") is None:
            text = f"constraint #{number}: empty constraint (unsupported constraint type?)"
            raise PluginError(f"claim {claim.key}, {text}")
        found.append(MatchAttribute(item["matchAttribute"], tuple(item.get("requests") or ())))
    return found


def _evaluated(device: Device, expression: str) -> tuple[bool | str, int]:
    """Return the result of an expression, or the text of an error; and the effort."""
    selector = compile_selector(expression)
    if selector.error:
        return f"CEL compile error: {selector.error}", 0
    try:
        value = device.value
    except CelError as problem:
        return f"CEL runtime error: {problem}", 0
    result, cost = selector.judge(value)
    return (f"CEL runtime error: {result}" if isinstance(result, str) else result), cost
