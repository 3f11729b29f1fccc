"""The version of Kubernetes that a dump shows: that of the newest kubelet.

A kubelet is never newer than its API server. Whoever upgrades begins with the control plane, and ends with the nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.versions import DEFAULT, VERSIONS

VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?![0-9])")
"""The beginning of a version; distributions add their own end, such as ``-eks-1a2b3c`` or ``+k3s1``."""


def version_of_kubelet(node: Mapping[str, Any]) -> str:
    """Return the version that a node's status names: ``v1.35`` for ``v1.35.3+k3s1``; "" if there is none."""
    status = node.get("status")
    info = status.get("nodeInfo") if isinstance(status, Mapping) else None
    text = info.get("kubeletVersion") if isinstance(info, Mapping) else None
    match = VERSION.match(text) if isinstance(text, str) else None
    return f"v{match[1]}.{match[2]}" if match else ""


def newest(*versions: str) -> str:
    """Return the newest version; "" is older than all."""
    return max(versions, key=_numbers)


def proposed(version: str) -> str:
    """Return the version to follow for a cluster of ``version``: the same, else the nearest; the default for ""."""
    if not version:
        return DEFAULT
    known = [item for item in VERSIONS if _numbers(item) <= _numbers(version)]
    return known[-1] if known else VERSIONS[0]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall("[0-9]+", version)))
