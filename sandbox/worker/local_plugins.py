"""Load the plugins of the person who runs the site on their own machine. No other module of the site loads any.

``sandbox.server.local`` allows it to a server that serves its own machine alone. Only then do workers get the places.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.runtime.local import local
from scheduler_engine import own_plugins


def use(places: Sequence[str]) -> None:
    """Load the plugins at ``module:Class`` of each place, and installed ones. Raises ``Rejected``."""
    own = own_plugins.load(places)
    local.places, local.own, local.configuration = tuple(places), own, own.default_configuration()
