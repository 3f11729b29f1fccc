"""Access to this process's simulation of a sandbox, and to its panels."""

from __future__ import annotations

from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Place, Plan, Position
from sandbox.worker.live import Live
from sandbox.worker.rendering import Fragment


def live(sandbox: Sandbox) -> Live:
    inside = engines.started()
    assert isinstance(inside, engines.Inside)
    return inside.live(Plan.of(sandbox))


def present(sandbox: Sandbox) -> World:
    """Return the present world."""
    here = live(sandbox)
    here.move_to(Position.of(Sandbox.objects.get(pk=sandbox.pk)))
    return here.world


def fragments(
    sandbox: Sandbox, view: View, panels: list[str], can_edit: bool = True, at: Place | None = None
) -> dict[str, Fragment]:
    """Return the fragments that a browser is sent."""
    return engines.fragments(sandbox, at, view, panels, can_edit, False, {})[1]
