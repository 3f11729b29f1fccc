"""What of a manifest its author would recognise: the fields that somebody wrote, and those that a fix changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.scenario.manifests import as_stored
from scheduler_engine.simulation import Simulation

Spec = Mapping[str, Any]


def spec_of_author(simulation: Simulation, live: KubeObject) -> tuple[Spec, Spec]:
    """Return a spec as somebody applied it, and as the API server fills it in. If nobody did: twice as it is."""
    applied = simulation.api.applied.get(live.uid)
    if applied is None:
        return live.spec, live.spec
    return applied.manifest.get("spec") or {}, as_stored(applied.manifest, simulation.api).get("spec") or {}


def of_author(after: Any, filled: Any, written: Any) -> Any:
    """Return ``after`` without what defaults and admission have added to it.

    ``written``: the same field as its author wrote it; ``filled``: with what the API server adds to that; None:
    nothing. What somebody has changed since differs from both, and stays.
    """
    if isinstance(after, Mapping):
        held, own = (part if isinstance(part, Mapping) else {} for part in (filled, written))
        return {
            name: of_author(value, held.get(name), own.get(name))
            for name, value in after.items()
            if name in own or value != held.get(name)
        }
    if isinstance(after, list):
        held_items, own_items = (part if isinstance(part, list) else [] for part in (filled, written))
        return [*_items(after, held_items, own_items)]
    return after


def _items(after: Sequence[Any], filled: Sequence[Any], written: Sequence[Any]) -> list[Any]:
    kept = []
    for item in after:
        if item not in filled:
            own, held = _namesake(item, written), _namesake(item, filled)
            kept.append(item if own is None or held is None else of_author(item, held, own))
            continue
        own = next((other for other in written if _covers(item, other)), None)
        if own is not None:
            kept.append(of_author(item, item, own))
    return kept


def _namesake(item: Any, among: Sequence[Any]) -> Any:
    """Return the item with the same name, such as a container; None if there is none."""
    name = item.get("name") if isinstance(item, Mapping) else None
    return next((other for other in among if name is not None and other.get("name") == name), None)


def _covers(held: Any, written: Any) -> bool:
    """Return True if a stored value can come from one that somebody wrote: it has everything in it, and maybe more."""
    if isinstance(held, Mapping) and isinstance(written, Mapping):
        return all(name in held and _covers(held[name], value) for name, value in written.items())
    if isinstance(held, list) and isinstance(written, list):
        return len(held) == len(written) and all(map(_covers, held, written))
    return bool(held == written)
