"""What only a site on somebody's own machine has: their plugins, and the lesson they write. Empty on every other site.

``sandbox.worker.local_plugins`` adds the plugins, at the start of a web process and of its workers;
``sandbox.server.local`` the lesson.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Local:
    """``places``: ``module:Class`` of each plugin that was named. ``own``: all loaded plugins, None = none.

    ``configuration``: the one that enables the named plugins, for sandboxes that come without a configuration.
    ``lesson``: the file to follow on the page for writing lessons.
    """

    places: tuple[str, ...] = ()
    own: Any = None
    configuration: dict[str, Any] | None = None
    lesson: Path | None = None

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
