"""A look at the simulation that this process holds of a sandbox, and its panels."""

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
    """The world as it is now."""
    here = live(sandbox)
    here.move_to(Position.of(Sandbox.objects.get(pk=sandbox.pk)))
    return here.world


def fragments(
    sandbox: Sandbox, view: View, panels: list[str], can_edit: bool = True, at: Place | None = None
) -> dict[str, Fragment]:
    """What a browser is sent."""
    return engines.fragments(sandbox, at, view, panels, can_edit, False, {})[1]
