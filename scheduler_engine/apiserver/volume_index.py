"""An index of volumes and claims by what they name: their controller asks at each change who is concerned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.sharing import Groups, Table

VOLUME, CLAIM = "PersistentVolume", "PersistentVolumeClaim"


@dataclass(slots=True)
class VolumeIndex:
    """``reserved``: key of a claim → the volumes whose ``claimRef`` names it; ``free``: volumes without one, by name.
    ``naming``: name of a volume → the claims that name it; ``unbound``: claims that name none, by key.
    ``ranks``: (kind, key) → the place in the order of creation.
    """

    reserved: Groups[str, str, KubeObject] = field(default_factory=Groups)
    free: Table[str, KubeObject] = field(default_factory=Table)
    naming: Groups[str, str, KubeObject] = field(default_factory=Groups)
    unbound: Table[str, KubeObject] = field(default_factory=Table)
    ranks: Table[tuple[str, str], int] = field(default_factory=Table)
    count: int = 0

    def update(self, kind: str, old: KubeObject | None, new: KubeObject | None) -> None:
        """Add (``old`` is None), change or remove (``new`` is None) an object."""
        if kind not in (VOLUME, CLAIM):
            return
        groups, rest = (self.reserved, self.free) if kind == VOLUME else (self.naming, self.unbound)
        if old is not None:
            name = _named(kind, old)
            if name:
                groups.take(name, old.key)
            else:
                del rest[old.key]
        if new is None:
            if old is not None:
                del self.ranks[kind, old.key]
            return
        if old is None:
            self.ranks[kind, new.key] = self.count
            self.count += 1
        name = _named(kind, new)
        if name:
            groups.change(name)[new.key] = new
        else:
            rest[new.key] = new

    def reserved_for(self, claim: KubeObject) -> list[KubeObject]:
        """Return the volumes whose ``claimRef`` has the claim's name, in order of creation."""
        return self._in_order(self.reserved.get(claim.key, {}).values())

    def claims_of(self, name: str, volume: KubeObject | None) -> list[KubeObject]:
        """Return the claims that name a volume or that could get it (None: it is gone), in order of creation."""
        concerned = [*self.naming.get(name, {}).values()]
        reserved_for = "" if volume is None else _named(VOLUME, volume)
        if reserved_for:
            concerned += [claim for claim in (self.unbound.get(reserved_for),) if claim is not None]
        elif volume is not None:
            concerned += self.unbound.values()
        return self._in_order(concerned)

    def _in_order(self, items: Iterable[KubeObject]) -> list[KubeObject]:
        return sorted(items, key=self._rank)

    def _rank(self, item: KubeObject) -> int:
        return self.ranks[item.kind, item.key]


def _named(kind: str, item: KubeObject) -> str:
    """Return the key of the claim that a volume names, or the name of the volume that a claim names, or ""."""
    if kind == CLAIM:
        return item.spec.get("volumeName") or ""
    reference = item.spec.get("claimRef")
    return f"{reference.get('namespace')}/{reference.get('name')}" if reference else ""
