"""What one browser has selected. The server keeps nothing else about a visitor."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote_plus

from sandbox.panels.model.moment import Moment

LONGEST = 400
COLOURS = ("verdict", "score", "fill", "cpu", "memory")
SURROGATE = re.compile("[\ud800-\udfff]")
MOST_LISTS = 16
"""Most lists whose page a view holds, whose order it holds, and that it narrows."""
LONGEST_LISTS = 4000
PAGE = re.compile(r"([\w./-]{1,400}):([1-9][0-9]{0,8})", re.ASCII)
STAY = re.compile(r"([\w-]{1,40}):([\w./-]{1,400})", re.ASCII)
ORDER = re.compile(r"([\w./-]{1,400}):(-?[\w./]{1,100})", re.ASCII)
WORDS = re.compile(r"([\w./-]{1,400}):([\w.%*+-]{1,600})", re.ASCII)


@dataclass(frozen=True, slots=True)
class View:
    """A browser's selection. ``pod`` is ``namespace/name``; ``cycle`` 0 follows the present.

    ``group``: rows of the filter table by ``reason`` or ``node``. ``layout``: nodes as ``cards``, ``tiles`` or a heat
    ``map``, "" = by their number. ``colour``: what the heat map colours, "" = the subject of the stage. ``reasons``:
    ``all`` also shows what the other filters would have said. ``replica``: the scheduler whose queue and cache are
    shown, "" = the one that acted last. ``pages`` and ``orders``: of lists that are not shown from their start, or not
    in the scheduler's own order. A list has the name of its panel, or one below it (``queues.activeQ``); an order is a
    column, with "-" downwards. ``finds``: list → words, as in an address; it shows only the rows whose names have them
    all. ``stays``: panel → the object at which it stays although nobody chose it, as somebody
    works with it there. ``at``: the moment in view, None = the present. ``lands``: ``pod@node``, a pod that waits and a
    node that lets it pass since a change; the map shows it there. ``predict``: ``on`` = questions come before stages
    that decide.
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
    finds: tuple[tuple[str, str], ...] = ()
    stays: tuple[tuple[str, str], ...] = ()
    at: Moment | None = None
    lands: str = ""
    predict: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a mapping that ``from_mapping`` reads."""
        lists = {name: " ".join(map(":".join, getattr(self, name))) for name in ("pages", "orders", "finds", "stays")}
        return {**asdict(self), **lists, "at": "" if self.at is None else str(self.at)}

    def page_of(self, name: str) -> int:
        """Return the chosen page of a list, 0 if nobody chose one."""
        return int(dict(self.pages).get(name, 0))

    def order_of(self, name: str) -> str:
        return dict(self.orders).get(name, "")

    def find_of(self, name: str) -> str:
        """Return the words that somebody looks for in a list, "" = none."""
        return unquote_plus(dict(self.finds).get(name, ""))

    def stay_of(self, panel: str) -> str:
        """Return the object at which a panel stays, "" = the panel chooses."""
        return dict(self.stays).get(panel, "")

    def lists_of(self, panel: str) -> tuple[tuple[str, str], ...]:
        """Return the pages, orders and words of the lists of one panel, and the object at which it stays."""
        items = (*self.pages, *self.orders, *self.finds, *self.stays)
        return tuple(item for item in items if item[0].partition(".")[0] == panel)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> View:
        """Return the view of a mapping. Unknown names are ignored, and invalid values become defaults."""
        return cls(
            pod=_text(fields.get("pod")),
            node=_text(fields.get("node")),
            plugin=_text(fields.get("plugin")),
            cycle=_number(fields.get("cycle")),
            group=_one_of(("reason", "node"), fields.get("group")),
            layout=_one_of(("cards", "tiles", "map"), fields.get("layout")),
            colour=_one_of(COLOURS, fields.get("colour")),
            reasons=_one_of(("all",), fields.get("reasons")),
            replica=_text(fields.get("replica")),
            pages=_lists(PAGE, fields.get("pages")),
            orders=_lists(ORDER, fields.get("orders")),
            finds=_lists(WORDS, fields.get("finds")),
            stays=_lists(STAY, fields.get("stays")),
            at=Moment.read(_text(fields.get("at"))),
            lands=_text(fields.get("lands")),
            predict=_one_of(("on",), fields.get("predict")),
        )


def _lists(pattern: re.Pattern[str], value: object) -> tuple[tuple[str, str], ...]:
    """Return the items of a text such as ``queues.activeQ:2 filter:3``; invalid items are left out."""
    usable = isinstance(value, str) and len(value) <= LONGEST_LISTS
    items = [match.groups() for item in str(value).split()[-MOST_LISTS:] if (match := pattern.fullmatch(item))]
    return tuple((name, text) for name, text in items) if usable else ()


def _text(value: object) -> str:
    """Return the value if it is a short text that can be encoded, else "". JSON can express half a surrogate pair."""
    usable = isinstance(value, str) and len(value) <= LONGEST and not SURROGATE.search(value)
    return str(value) if usable else ""


def _one_of(allowed: Container[str], value: object) -> str:
    return value if isinstance(value, str) and value in allowed else ""


def _number(value: object) -> int:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
