"""Limits that keep one sandbox from using up the machine. Each refusal names its limit and changes nothing.

The engine bounds the rest: how long one command may run in ``scheduler_engine/commands.py``, how deep and how entangled
YAML may be in ``scheduler_engine/api/parsing.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from sandbox.panels.world import World


@dataclass(frozen=True, slots=True)
class Quotas:
    """Defaults; ``settings.QUOTAS`` overrides single fields."""

    nodes: int = 5000
    pods: int = 10_000
    commands: int = 20_000
    manifest_bytes: int = 1024 * 1024
    copies: int = 1000
    """Nodes or pods that one form adds."""


class OverQuota(Exception):
    """A limit is reached; ``status`` is the HTTP answer (413 too large, 422 too much)."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def quotas() -> Quotas:
    return replace(Quotas(), **settings.QUOTAS)


def check_log(head: int) -> None:
    """Raises ``OverQuota`` when the log is full."""
    most = quotas().commands
    if head >= most:
        raise OverQuota(f"This sandbox has reached its limit of {most} commands. Go back, or start a new one.")


def check_text(text: str) -> None:
    """Raises ``OverQuota`` for manifests of more than the allowed bytes."""
    check_size(len(text.encode(errors="surrogatepass")))


def check_size(size: int) -> None:
    """As above, for so many bytes."""
    most = quotas().manifest_bytes
    if size > most:
        raise OverQuota(f"The manifests are {size:,} bytes long; the limit is {most:,} bytes.", 413)


def check_objects(command: dict[str, Any], world: World) -> None:
    """Raises ``OverQuota`` when an ``apply`` would bring the cluster over its number of nodes or pods."""
    if command["kind"] != "apply":
        return
    limits = quotas()
    for kind, held, most in (("Node", world.nodes, limits.nodes), ("Pod", world.pods, limits.pods)):
        new = {_key(manifest) for manifest in command["manifests"] if manifest.get("kind") == kind} - held.keys()
        if new and len(held) + len(new) > most:
            raise OverQuota(
                f"The limit is {most} {kind.lower()}s in one sandbox: "
                f"there are {len(held)}, and this would add {len(new)}."
            )


def _key(manifest: dict[str, Any]) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = str(metadata.get("name") or "")
    return name if manifest.get("kind") == "Node" else f"{metadata.get('namespace') or 'default'}/{name}"
