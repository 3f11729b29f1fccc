"""What a request that changes objects comes to, and the checks that such requests have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.kube.bodies import NO_METADATA
from sandbox.kube.reading import Target
from sandbox.kube.statuses import Refused, conflict, not_found
from sandbox.kube.versions import Versions
from scheduler_engine.simulation import Simulation

Manifest = Mapping[str, Any]
Command = dict[str, Any]

STALE = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class Planned:
    """What a request comes to. ``answer`` is called once the commands are executed: it returns status and document.

    ``options``: those in the body, if it has some. ``warnings``: for the sender, about unknown fields.
    """

    commands: tuple[Command, ...]
    answer: Callable[[Simulation], tuple[int, dict[str, Any]]]
    options: Manifest = field(default_factory=dict)
    dry_run: bool = False
    warnings: tuple[str, ...] = ()


def held_manifest(simulation: Simulation, wanted: Target) -> dict[str, Any]:
    """Return the present manifest. Raises ``Refused``."""
    held = simulation.api.get(wanted.resource.kind, wanted.key)
    if held is None:
        raise not_found(wanted.resource.plural, wanted.resource.group, wanted.name)
    return dict(held.manifest)


def check_version(versions: Versions, old: Manifest, new: Manifest, wanted: Target) -> None:
    """Raise ``Refused`` if the sender has seen an older version of the object, or another one of that name."""
    before, metadata = old["metadata"], new.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise Refused(400, NO_METADATA)
    uid, number = metadata.get("uid"), str(metadata.get("resourceVersion") or "")
    is_stale = number and not (
        number.isascii() and number.isdigit() and versions.names(int(number), int(before["resourceVersion"]))
    )
    if is_stale or (uid and uid != before["uid"]):
        raise conflict(wanted.resource.plural, wanted.resource.group, wanted.name, STALE)


def present(wanted: Target, last: Manifest, code: int = 200) -> Callable[[Simulation], tuple[int, dict[str, Any]]]:
    """Return what answers with the object. ``last``: what is known of it if it went at once."""

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        held = after.api.get(wanted.resource.kind, wanted.key)
        return code, dict(last if held is None else held.manifest)

    return answer
