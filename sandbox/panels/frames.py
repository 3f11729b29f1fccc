"""What a sandbox inside somebody else's page may show, and how its address says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from sandbox.panels import EMBEDS
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.words.say import say

USUAL = ("sentence", "map", "matrix")
THEMES = ("auto", "light", "dark")
SIZES = ("normal", "compact")
START, END = "start", "end"
"""Words for the first and the last moment."""
ORIGIN = re.compile(r"https?://(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(:\d{1,5})?", re.ASCII)
FLAG = ("0", "1")
LOOKED = ("pod", "node", "plugin", "group", "layout", "colour", "reasons", "orders", "pages", "finds", "replica")
"""Fields of a view that an address names."""
ADDRESS = (*LOOKED, "panels", "at", "tab", "theme", "size", "steps", "live", "origin", "lang")
"""All parameters of an address."""
COMPARED = ("branch", "configuration", "with", "seed", "seeds", "cycle", "node")
"""Parameters that name what a sandbox is compared with."""
ADDRESS_OF_ANSWER = (*COMPARED, "at", "theme", "size", "origin", "lang")
"""All parameters of the address of a comparison."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What an embed shows and may do.

    ``names``: of ``EMBEDS``. ``at``: a moment, ``START``, ``END`` or "" for the present. ``tab``: which panel of a
    place is open first, "" = that of the stage. ``steps``: its link may step. ``live``: it follows what happens.
    ``origin``: of the only page to which it sends messages, "" = any that may frame it.
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
    def from_mapping(cls, fields: Mapping[str, str]) -> Frame:
        """Return the frame of an address. Unknown names are left out, and invalid values become defaults."""
        words = re.split(r"[\s,]+", fields.get("panels", ""))
        names = tuple(dict.fromkeys(name for name in words if name in EMBEDS))
        frame = cls(
            names=names or USUAL,
            at=fields.get("at", "")[:20],
            theme=_one_of(THEMES, fields.get("theme")),
            size=_one_of(SIZES, fields.get("size")),
            steps=fields.get("steps") == "1",
            live=fields.get("live") == "1",
            origin=origin if ORIGIN.fullmatch(origin := fields.get("origin", "")) else "",
        )
        tab = fields.get("tab", "")
        return replace(frame, tab=tab) if tab in frame.panels else frame

    @property
    def panels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(panel for name in self.names for panel in EMBEDS[name]))

    def query(self, view: View, at: str, **more: str) -> str:
        """Return the query string of an address, with the selection of ``view``."""
        chosen = {name: value for name, value in view.as_json().items() if name in LOOKED and value}
        params: dict[str, Any] = {"panels": ",".join(self.names), "at": at, "tab": self.tab, **chosen}
        params |= {"theme": self.theme, "steps": "1" if self.steps else "", "origin": self.origin}
        params |= {"size": self.size if self.size != SIZES[0] else "", **more}
        return urlencode({name: value for name, value in params.items() if value})


def address_errors(fields: Mapping[str, str], names: Iterable[str] = ADDRESS) -> list[str]:
    """Return a sentence for each part of an address that is invalid, and that ``Frame`` leaves out.

    ``names``: all parameters that it may have.
    """
    known = (*names,)
    words = [word for word in re.split(r"[\s,]+", fields.get("panels", "")) if word]
    allowed = {"theme": THEMES, "size": SIZES, "steps": FLAG, "live": FLAG, "lang": ("en",)}
    sentences = [say("embed.no-panel", panel=word[:40]) for word in words if word not in EMBEDS]
    for name, values in allowed.items():
        if fields.get(name, "") not in ("", *values):
            sentences.append(say("embed.not-one-of", name=name, values=" or ".join(values)))
    at, origin = fields.get("at", ""), fields.get("origin", "")
    if at and at not in (START, END) and Moment.read(at) is None:
        sentences.append(say("embed.bad-moment"))
    if origin and not ORIGIN.fullmatch(origin):
        sentences.append(say("embed.bad-origin"))
    sentences += [say("embed.no-parameter", name=name[:40]) for name in fields if name not in known]
    return sentences


def _one_of(allowed: tuple[str, ...], value: str | None) -> str:
    return value if value in allowed else allowed[0]


def origins(ancestors: str, own: str) -> list[str]:
    """Return the origins in ``FRAME_ANCESTORS``, ``own`` for ``'self'``; none if it also allows others."""
    words = ancestors.split()
    listed = [own if word == "'self'" else word.rstrip("/") for word in words if word != "'none'"]
    return listed if all(map(ORIGIN.fullmatch, listed)) else []


def places(names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return (name, its panels) in order."""
    return [(name, EMBEDS[name]) for name in names]
