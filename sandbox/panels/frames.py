"""What a sandbox inside of somebody else's page may show, and how its address says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from sandbox.panels import EMBEDS
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View

USUAL = ("sentence", "map", "matrix")
THEMES = ("auto", "light", "dark")
SIZES = ("normal", "compact")
START, END = "start", "end"
"""Words for the first and the last moment."""
ORIGIN = re.compile(r"https?://(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(:\d{1,5})?", re.ASCII)
FLAG = ("0", "1")
LOOKED = ("pod", "node", "plugin", "group", "layout", "colour", "reasons", "orders", "pages", "replica")
"""What of a view an address names."""
ADDRESS = (*LOOKED, "panels", "at", "tab", "theme", "size", "steps", "live", "origin", "lang")
"""All that an address names."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What an embed shows and may do.

    ``names``: of ``EMBEDS``; ``at``: a moment, ``START``, ``END`` or "" for the present; ``tab``: which of the panels
    of one place is open first, "" = the one of the stage. ``live``: it follows what happens, and steps where its link
    may.
    ``origin``: of the only page that it talks to, "" = any that may frame it.
    """

    names: tuple[str, ...] = USUAL
    at: str = ""
    tab: str = ""
    theme: str = "auto"
    size: str = "normal"
    steps: bool = False
    live: bool = False
    origin: str = ""

    @classmethod
    def from_mapping(cls, given: Mapping[str, str]) -> Frame:
        """Tolerant: unknown names are left out, and a bad value is the default."""
        wanted = re.split(r"[\s,]+", given.get("panels", ""))
        names = tuple(dict.fromkeys(name for name in wanted if name in EMBEDS))
        frame = cls(
            names=names or USUAL,
            at=given.get("at", "")[:20],
            theme=_one_of(THEMES, given.get("theme")),
            size=_one_of(SIZES, given.get("size")),
            steps=given.get("steps") == "1",
            live=given.get("live") == "1",
            origin=origin if ORIGIN.fullmatch(origin := given.get("origin", "")) else "",
        )
        tab = given.get("tab", "")
        return replace(frame, tab=tab) if tab in frame.panels else frame

    @property
    def panels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(panel for name in self.names for panel in EMBEDS[name]))

    def query(self, view: View, at: str, **more: str) -> str:
        """As an address says it, with what is chosen."""
        chosen = {name: value for name, value in view.as_json().items() if name in LOOKED and value}
        given: dict[str, Any] = {"panels": ",".join(self.names), "at": at, "tab": self.tab, **chosen}
        given |= {"theme": self.theme, "steps": "1" if self.steps else "", "origin": self.origin}
        given |= {"size": self.size if self.size != SIZES[0] else "", **more}
        return urlencode({name: value for name, value in given.items() if value})


def left_out(given: Mapping[str, str]) -> list[str]:
    """A sentence for each part of an address that means nothing, and that ``Frame`` leaves out."""
    words = [word for word in re.split(r"[\s,]+", given.get("panels", "")) if word]
    known = {"theme": THEMES, "size": SIZES, "steps": FLAG, "live": FLAG, "lang": ("en",)}
    found = [f"There is no panel “{word[:40]}”." for word in words if word not in EMBEDS]
    for name, values in known.items():
        if given.get(name, "") not in ("", *values):
            found.append(f"{name} must be {' or '.join(values)}.")
    at, origin = given.get("at", ""), given.get("origin", "")
    if at and at not in (START, END) and Moment.read(at) is None:
        found.append("at must be start, end or a moment such as 12.40.")
    if origin and not ORIGIN.fullmatch(origin):
        found.append("origin must be an origin such as https://docs.example.")
    found += [f"“{name[:40]}” is not a parameter of an embed." for name in given if name not in ADDRESS]
    return found


def _one_of(known: tuple[str, ...], value: str | None) -> str:
    return value if value in known else known[0]


def origins(ancestors: str, own: str) -> list[str]:
    """The origins that ``FRAME_ANCESTORS`` lists, ``own`` for ``'self'``; none, when it also allows others."""
    words = ancestors.split()
    found = [own if word == "'self'" else word.rstrip("/") for word in words if word != "'none'"]
    return found if all(map(ORIGIN.fullmatch, found)) else []


def places(names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Name → panels, in order."""
    return [(name, EMBEDS[name]) for name in names]
