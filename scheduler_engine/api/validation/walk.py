"""Iterators over a manifest that several rules share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Data = Mapping[str, Any]


def containers_with_paths(spec: Data, path: str) -> Iterator[tuple[Data, str]]:
    """Yield the containers of a pod's spec in Kubernetes' order."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{index}]"
