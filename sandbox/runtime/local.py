"""What only a site on somebody's own machine has: the plugins they wrote. Empty on every other site.

``sandbox.worker.local_plugins`` fills it, at the start of a web process and of its workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Local:
    """``places``: ``module:Class`` of each plugin that was named. ``own``: all loaded plugins, None = none.

    ``configuration``: the one that enables the named plugins, for sandboxes that come without a configuration.
    """

    places: tuple[str, ...] = ()
    own: Any = None
    configuration: dict[str, Any] | None = None

    @property
    def plugins(self) -> tuple[type[Any], ...]:
        return () if self.own is None else self.own.known

    @property
    def readers(self) -> tuple[Any, ...]:
        """Return the last argument for ``read_scenario`` if there are plugins."""
        return () if self.own is None else (self.own,)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(plugin.name for plugin in self.plugins)


local = Local()
