"""A lock's requests to the API server, and a replica's connection to the simulated one.

Source: upstream ``apimachinery/pkg/api/errors`` (wording) and ``apiserver`` registry (updates by resourceVersion).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler_engine.apiserver.errors import ApiError, conflict, not_found
from scheduler_engine.apiserver.store import ApiServer, identity, resource_of

Manifest = Mapping[str, Any]

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class LockClient(Protocol):
    """Neither side changes the manifests passed. Every method raises ApiError."""

    def get(self, kind: str, key: str) -> Manifest:
        """Return the stored object. NotFound if there is none."""

    def create(self, manifest: Manifest) -> Manifest:
        """Return the object as stored. AlreadyExists if there is one."""

    def update(self, manifest: Manifest) -> Manifest:
        """Return the object as stored. NotFound if there is none, Conflict if its resourceVersion differs."""


def no_answer(message: str) -> ApiError:
    """Return a failure without an answer of the API server: it has neither code nor reason."""
    return ApiError(0, "", message)


@dataclass(slots=True)
class ApiServerClient:
    """One replica's connection; while it is not ``reachable`` every call fails."""

    server: ApiServer
    reachable: bool = True

    def get(self, kind: str, key: str) -> Manifest:
        self._connect()
        item = self.server.get(kind, key)
        if item is None:
            raise not_found(resource_of(kind), key.rpartition("/")[2])
        return item.manifest

    def create(self, manifest: Manifest) -> Manifest:
        self._connect()
        return self.server.create(manifest).manifest

    def update(self, manifest: Manifest) -> Manifest:
        kind, key = identity(manifest)
        stored = self.get(kind, key)
        if version_of(stored) != version_of(manifest):
            raise conflict(resource_of(kind), key.rpartition("/")[2], MODIFIED)
        self.server.update(manifest)
        return self.get(kind, key)

    def _connect(self) -> None:
        if not self.reachable:
            raise no_answer("connection refused")


def version_of(manifest: Manifest) -> str:
    """Return ``metadata.resourceVersion``; "" if it has none."""
    return str((manifest.get("metadata") or {}).get("resourceVersion", ""))
