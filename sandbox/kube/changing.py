"""What every request that changes an object comes to: a patch of the log, and who manages which fields after it."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.kube.bodies import Write
from sandbox.kube.managers import Manager, check_name, entries, timeless, updated
from sandbox.kube.patching import between
from sandbox.kube.plans import (
    SET_BY_SERVER,
    Manifest,
    Planned,
    check_patched_uid,
    check_stored,
    check_version,
    held_manifest,
    present,
    stored,
)
from sandbox.kube.reading import Target
from scheduler_engine.api.objects import timestamp
from scheduler_engine.simulation import Simulation

UNKNOWN = "unknown"
"""Manager of requests whose program does not say its name."""


def change(
    simulation: Simulation,
    request: Write,
    wanted: Target,
    new: Manifest,
    managers: Sequence[Manager] | None = None,
) -> Planned:
    """Return the command that replaces an object by ``new``, none if nothing differs.

    ``managers``: those after the change; None = the sender only updates.
    """
    old = held_manifest(simulation, wanted)
    if request.method == "PUT":
        check_stored(request.versions, old, new, wanted)
    check_version(request.versions, old, new, wanted)
    check_patched_uid(old, new, wanted)
    # The main resource ignores the status, the subresource everything else.
    whole = (
        {**old, "status": new.get("status")} if wanted.subresource == "status" else {**new, "status": old.get("status")}
    )
    changes = between(old, whole)
    system = changes.get("metadata", {})
    for name in SET_BY_SERVER:
        system.pop(name, None)
    if "metadata" in changes and not system:
        del changes["metadata"]
    after = stored(old, changes, simulation.api.rules)
    if after == old:
        changes = {}
    if managers is None:
        managers = updated(old, after, manager_of(request), now_of(simulation), wanted.subresource)
    managed, before = entries(managers), old["metadata"].get("managedFields") or []
    if managed != before and (changes or timeless(managed) != timeless(before)):
        changes["metadata"] = {**changes.get("metadata", {}), "managedFields": managed or None}
    subresource = {"subresource": "resize"} if wanted.subresource == "resize" else {}
    command = {"kind": "patch", "object_kind": wanted.resource.kind, "key": wanted.key, "changes": changes}
    return Planned(({**command, **subresource},) if changes else (), present(wanted, whole))


def manager_of(request: Write, options: str = "UpdateOptions", needed: bool = False) -> str:
    """Return who manages what a request sets. Raises ``Refused``."""
    name = request.query.get("fieldManager", "")
    check_name(name, options, needed)
    return name or request.agent or UNKNOWN


def now_of(simulation: Simulation) -> str:
    return timestamp(simulation.now_us)
