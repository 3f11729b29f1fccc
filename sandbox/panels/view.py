"""What one browser has selected. The server keeps no more of a visitor than this."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.panels.model.moment import Moment

LONGEST = 400
COLOURS = ("verdict", "score", "fill", "cpu", "memory")
SURROGATE = re.compile("[\ud800-\udfff]")
MOST_LISTS = 16
"""Lists of which a view holds the page, and as many of which it holds the order."""
LONGEST_LISTS = 4000
PAGE = re.compile(r"([\w./-]{1,400}):([1-9][0-9]{0,8})", re.ASCII)
STAY = re.compile(r"([\w-]{1,40}):([\w./-]{1,400})", re.ASCII)
ORDER = re.compile(r"([\w./-]{1,400}):(-?[\w./]{1,100})", re.ASCII)


@dataclass(frozen=True, slots=True)
class View:
    """``pod`` is ``namespace/name``; ``cycle`` 0 follows the present.

    ``group``: rows of the filter table by ``reason`` or ``node``; ``layout``: nodes as ``cards``, ``tiles`` or a
    heat ``map``, empty = by their number; ``colour``: what the heat map colours, empty = what the stage is about.
    ``reasons``: ``all`` = what the other filters would have said, too.
    ``pages`` and ``orders``: of lists that are not shown from their start, or not in the scheduler's own order. The
    name of a list is that of its panel, or one below it (``queues.activeQ``); an order is a column, "-" is downwards.
    ``at``: which moment is looked at, None = the present. ``replica``: whose queue and cache are shown, "" = those of
    the scheduler that acted last. ``stays``: for panels that show what nobody chose, the object that somebody works
    with and at which the panel stays. ``predict``: ``on`` = questions come before the stages that decide.
    """

    pod: str = ""
    node: str = ""
    plugin: str = ""
    cycle: int = 0
    group: str = ""
    layout: str = ""
    colour: str = ""
    reasons: str = ""
    replica: str = ""
    pages: tuple[tuple[str, str], ...] = ()
    orders: tuple[tuple[str, str], ...] = ()
    stays: tuple[tuple[str, str], ...] = ()
    at: Moment | None = None
    predict: str = ""

    def as_json(self) -> dict[str, Any]:
        """What ``from_mapping`` reads."""
        lists = {name: _told(getattr(self, name)) for name in ("pages", "orders", "stays")}
        return {**asdict(self), **lists, "at": "" if self.at is None else str(self.at)}

    def page_of(self, name: str) -> int:
        """0: nobody has turned the pages of this list."""
        return int(dict(self.pages).get(name, 0))

    def order_of(self, name: str) -> str:
        return dict(self.orders).get(name, "")

    def stay_of(self, panel: str) -> str:
        """The object at which a panel stays, "" = the one that it shows by itself."""
        return dict(self.stays).get(panel, "")

    def lists_of(self, panel: str) -> tuple[tuple[str, str], ...]:
        """What it says of the lists of one panel, and of where it stays."""
        return tuple(item for item in (*self.pages, *self.orders, *self.stays) if item[0].partition(".")[0] == panel)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> View:
        """Tolerant: unknown names are ignored, and a bad value is the default."""
        return cls(
            pod=_text(given.get("pod")),
            node=_text(given.get("node")),
            plugin=_text(given.get("plugin")),
            cycle=max(0, _number(given.get("cycle"), 0)),
            group=_one_of(("reason", "node"), given.get("group")),
            layout=_one_of(("cards", "tiles", "map"), given.get("layout")),
            colour=_one_of(COLOURS, given.get("colour")),
            reasons=_one_of(("all",), given.get("reasons")),
            replica=_text(given.get("replica")),
            pages=_lists(PAGE, given.get("pages")),
            orders=_lists(ORDER, given.get("orders")),
            stays=_lists(STAY, given.get("stays")),
            at=Moment.read(_text(given.get("at"))),
            predict=_one_of(("on",), given.get("predict")),
        )


def _lists(pattern: re.Pattern[str], value: object) -> tuple[tuple[str, str], ...]:
    """``queues.activeQ:2 filter:3``; what is no such item is left out."""
    usable = isinstance(value, str) and len(value) <= LONGEST_LISTS
    found = [match.groups() for item in str(value).split()[-MOST_LISTS:] if (match := pattern.fullmatch(item))]
    return tuple((name, said) for name, said in found) if usable else ()


def _told(lists: tuple[tuple[str, str], ...]) -> str:
    return " ".join(":".join(item) for item in lists)


def _text(value: object) -> str:
    """Half a surrogate pair, which JSON can name, is no text that could be sent anywhere."""
    usable = isinstance(value, str) and len(value) <= LONGEST and not SURROGATE.search(value)
    return str(value) if usable else ""


def _one_of(known: Container[str], value: object) -> str:
    return value if isinstance(value, str) and value in known else ""


def _number(value: object, default: int) -> int:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
