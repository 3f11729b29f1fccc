"""The PersistentVolumes of each StorageClass, kept from cycle to cycle: only those that have changed are read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.derived import START
from scheduler_engine.framework.interface import ObjectReader
from scheduler_engine.plugins.volume_binding.matching import Candidate, candidate
from scheduler_engine.plugins.volume_references import storage_class_of

KIND = "PersistentVolume"


class ClassVolumes:
    """``by_class``: class → name → volume; ``sorted``: class → its volumes by name, if somebody has asked."""

    __slots__ = ("by_class", "class_of", "position", "sorted")

    def __init__(self) -> None:
        self.by_class: dict[str, dict[str, Candidate]] = {}
        self.class_of: dict[str, str] = {}
        self.sorted: dict[str, tuple[Candidate, ...]] = {}
        self.position = START

    def update(self, objects: ObjectReader) -> None:
        self.position, changed = objects.changed_since(KIND, self.position)
        if changed is None:
            self.by_class, self.class_of, self.sorted = {}, {}, {}
            for volume in objects.list(KIND):
                self._put(volume)
            return
        for name in dict.fromkeys(changed):
            before = self.class_of.pop(name, None)
            if before is not None:
                del self.by_class[before][name]
                self.sorted.pop(before, None)
            now = objects.get(KIND, name)
            if now is not None:
                self._put(now)

    def _put(self, volume: KubeObject) -> None:
        name, storage_class = volume.name, storage_class_of(volume)
        self.class_of[name] = storage_class
        self.by_class.setdefault(storage_class, {})[name] = candidate(volume)
        self.sorted.pop(storage_class, None)

    def of_class(self, storage_class: str, assumed: Mapping[str, KubeObject]) -> tuple[Candidate, ...]:
        """Return the volumes of a class by name; ``assumed``: name → the version that counts instead."""
        volumes = self.sorted.get(storage_class)
        if volumes is None:
            held = self.by_class.get(storage_class, {})
            volumes = self.sorted[storage_class] = tuple(held[name] for name in sorted(held))
        changed = {name: volume for name, volume in assumed.items() if name in self.class_of}
        if not changed:
            return volumes
        others = [item for item in volumes if item.volume.name not in changed]
        return of_class((*others, *(candidate(volume) for volume in changed.values())), storage_class)


def of_class(volumes: Iterable[Candidate], storage_class: str) -> tuple[Candidate, ...]:
    """Return those of a class, by name."""
    return tuple(sorted((item for item in volumes if storage_class_of(item.volume) == storage_class), key=_name))


def _name(item: Candidate) -> str:
    return item.volume.name
