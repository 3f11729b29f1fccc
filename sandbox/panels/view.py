"""What one browser has selected. The server keeps no more of a visitor than this."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.panels.model.moment import Moment

LONGEST = 400
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class View:
    """``pod`` is ``namespace/name``; ``cycle`` 0 follows the present.

    ``group``: rows of the filter table by ``reason`` or ``node``; ``layout``: nodes as ``cards`` or ``tiles``.
    Empty means: by their number. ``reasons``: ``all`` = what the other filters would have said, too.
    ``at``: which moment is looked at, None = the present. ``replica``: whose queue and cache are shown, "" = those of
    the scheduler that acted last.
    """

    pod: str = ""
    node: str = ""
    plugin: str = ""
    page: int = 1
    cycle: int = 0
    group: str = ""
    layout: str = ""
    reasons: str = ""
    replica: str = ""
    at: Moment | None = None

    def as_json(self) -> dict[str, Any]:
        """What ``from_mapping`` reads."""
        return {**asdict(self), "at": "" if self.at is None else str(self.at)}

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> View:
        """Tolerant: unknown names are ignored, and a bad value is the default."""
        return cls(
            pod=_text(given.get("pod")),
            node=_text(given.get("node")),
            plugin=_text(given.get("plugin")),
            page=max(1, _number(given.get("page"), 1)),
            cycle=max(0, _number(given.get("cycle"), 0)),
            group=_one_of(("reason", "node"), given.get("group")),
            layout=_one_of(("cards", "tiles"), given.get("layout")),
            reasons=_one_of(("all",), given.get("reasons")),
            replica=_text(given.get("replica")),
            at=Moment.read(_text(given.get("at"))),
        )


def _text(value: object) -> str:
    """Half a surrogate pair, which JSON can name, is no text that could be sent anywhere."""
    usable = isinstance(value, str) and len(value) <= LONGEST and not SURROGATE.search(value)
    return str(value) if usable else ""


def _one_of(known: Container[str], value: object) -> str:
    return value if isinstance(value, str) and value in known else ""


def _number(value: object, default: int) -> int:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
