"""Objects as the scheduler assumes them before the API server has the change.

Source: upstream ``util/assumecache``, from v1.35 on ``volumebinding/passive_assume_cache.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.interface import ObjectReader, PluginError


class AssumeCache:
    """Objects of one kind. An assumed version counts until the API server has a newer one.

    ``by_resource``: the rule ``names_missing_volumes_by_resource``.
    """

    def __init__(self, kind: str, objects: ObjectReader, by_resource: bool) -> None:
        self.kind, self.by_resource = kind, by_resource
        self.objects = objects
        self.assumed: dict[str, KubeObject] = {}

    def get(self, key: str) -> KubeObject | None:
        """Return the assumed object, else the stored one; None if it does not exist."""
        stored = self.objects.get(self.kind, key)
        return stored if stored is None else self._latest(stored)

    def list(self) -> Iterator[KubeObject]:
        """Yield all objects of the kind, by name."""
        return (self._latest(stored) for stored in sorted(self.objects.list(self.kind), key=_key))

    def assumed_now(self) -> dict[str, KubeObject]:
        """Return key → assumed object, for those of which the API server has no newer version."""
        latest = {key: self.get(key) for key in [*self.assumed]}
        return {key: item for key, item in latest.items() if item is not None and self.assumed.get(key) is item}

    def _latest(self, stored: KubeObject) -> KubeObject:
        assumed = self.assumed.get(stored.key)
        if assumed is None:
            return stored
        if _version(assumed) < _version(stored):
            del self.assumed[stored.key]
            return stored
        return assumed

    def assume(self, changed: KubeObject) -> None:
        """Assume ``changed``. Raises PluginError when it was made from an older version than the one known."""
        known = self.get(changed.key)
        if known is None:
            raise PluginError(self.missing(changed.key))
        stored, assume = _version(known), _version(changed)
        if assume < stored:
            what = "" if self.by_resource else f"v1.{self.kind} "
            raise PluginError(f'{what}"{changed.key}" is out of sync (stored: {stored}, assume: {assume})')
        self.assumed[changed.key] = changed

    def missing(self, key: str) -> str:
        """Return the error about an object that does not exist."""
        if self.by_resource:
            return f'{self.kind.lower()}s "{key}" not found'
        return f'could not find v1.{self.kind} "{key}"'

    def restore(self, key: str) -> None:
        """Return to the API server's version."""
        self.assumed.pop(key, None)


def _key(item: KubeObject) -> str:
    return item.key


def _version(item: KubeObject) -> int:
    return int(item.resource_version or 0)
