"""The skew board: each constraint with its domains as stacks of pods, the line of maxSkew, and what does not count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing.ordering import by_name
from sandbox.panels.drawing.paging import finder, on_page, pager
from sandbox.panels.drawing.shapes import Drawing, Rect, rect, tick
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.topology.subject import Subject
from sandbox.panels.topology.tokens import left_out_line, tokens
from sandbox.panels.view import View
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.boards import SpreadBoard, SpreadDomain

HARD = "DoNotSchedule"
PAGE, FEW = 50, 12
"""Domains on one page, and at first."""
MOST_BLOCKS = 40
"""Most pods drawn one by one; longer stacks are one bar."""
HEIGHT = 14
FEWEST, LIMIT, SKEW = "fewest", "limit", "skew"
"""Steps of the count after the pods, in their order: `counting.js` shows them one after the other."""
POLICIES = {True: "Honor", False: "Ignore"}


def boards(world: World, view: View, subject: Subject, spread: Iterable[SpreadBoard]) -> list[dict[str, Any]]:
    """Return what the template draws for each constraint, in the order of the pod's list."""
    in_order = sorted(spread, key=lambda board: (board.number, board.when != HARD))
    return [_board(world, view, subject, board, place) for place, board in enumerate(in_order, 1)]


def _board(world: World, view: View, subject: Subject, board: SpreadBoard, place: int) -> dict[str, Any]:
    domains: Sequence[SpreadDomain] = sorted(board.domains, key=_by_name)
    name = f"topology.spread{place}"
    domains, find = finder(domains, view, name, _name)
    pages = pager(len(domains), view, name, PAGE, few=FEW)
    scale, landed = _Scale.of(board), _landed(subject.cycle)
    found = _found(subject.cycle)
    return {
        "place": place,
        "title": wording.written({"name": board.domain})["name"],
        "key": board.domain.key,
        "settings": _settings(board),
        "hard": board.when == HARD,
        "says": _says(subject, board),
        "domains": [
            _row(world, board, item, scale, f"t{place}", landed=landed in item.nodes, fits=_fits(found, item))
            for item in on_page(domains, pages)
        ],
        "judged": bool(found),
        "pages": pages,
        "find": find,
        "left_out": [left_out_line(item) for item in board.left_out],
    }


def _by_name(item: SpreadDomain) -> str:
    """Return a sort key: domains that count first, then by name."""
    return f"{not item.counted:d}{by_name(item.name or '')}"


def _name(item: SpreadDomain) -> str:
    return say("topology.no-label") if item.name is None else item.name or say("topology.empty-value")


def _settings(board: SpreadBoard) -> list[tuple[str, str]]:
    """Return (field, value) as in the manifest; minDomains and policies do not matter to Score in each case."""
    hard = (("minDomains", str(board.least)),) if board.when == HARD else ()
    return [
        ("whenUnsatisfiable", board.when),
        ("maxSkew", str(board.most)),
        *hard,
        ("labelSelector", board.selector or say("topology.selects-nobody")),
        ("nodeAffinityPolicy", POLICIES[board.honors_affinity]),
        ("nodeTaintsPolicy", POLICIES[board.honors_taints]),
    ]


def _says(subject: Subject, board: SpreadBoard) -> list[tuple[str, str]]:
    """Return (step of the count, sentence) for the sentences above the domains; "" = said from the start."""
    known = [item for item in board.domains if item.counted]
    texts = [("", say("topology.default"))] if board.default else []
    if board.when != HARD:
        texts.append(("", say("topology.fewer-is-better")))
        return texts + ([("", say("topology.as-if-all-fit"))] if board.assumed else [])
    if not known:
        texts.append((FEWEST, say("topology.no-domain-counts")))
    elif len(known) < board.least:
        texts.append((FEWEST, say("topology.few-domains", count=len(known), least=board.least)))
    else:
        texts.append((FEWEST, say("topology.fewest", fewest=board.minimum)))
    if board.minimum is not None and known:
        allowed = sum(1 for item in known if item.ok)
        limit = board.minimum + board.most
        texts.append((LIMIT, say("topology.limit", fewest=board.minimum, most=board.most, limit=limit)))
        texts.append((SKEW, say("topology.allowed-in", allowed=allowed, count=len(known), pod=subject.name)))
    if not board.itself:
        texts.append(("", say("topology.not-itself", pod=subject.name)))
    return texts


@dataclass(frozen=True, slots=True)
class _Scale:
    """``unit``: percent of the width for one pod. ``limit``: the most pods in a domain, None: no limit is drawn."""

    unit: float
    minimum: int | None
    limit: int | None
    blocks: bool
    itself: int

    @classmethod
    def of(cls, board: SpreadBoard) -> _Scale:
        limit = board.minimum + board.most if board.minimum is not None else None
        longest = max((item.there for item in board.domains), default=0) + board.itself
        longest = max(longest, min(limit or 0, 2 * longest + 2), 3)
        return cls(100 / (longest + 0.5), board.minimum, limit, longest <= MOST_BLOCKS, board.itself)


def _row(
    world: World,
    board: SpreadBoard,
    item: SpreadDomain,
    scale: _Scale,
    mark: str,
    *,
    landed: bool,
    fits: tuple[int, int] | None,
) -> dict[str, Any]:
    said = "out" if not item.counted else "score" if item.ok is None else "yes" if item.ok else "no"
    return {
        "id": f"{mark}-{item.name or '-'}",
        "name": _name(item),
        "there": item.there,
        "fewest": item.counted and item.there == board.minimum and _is_uneven(board),
        "counted": say("topology.counted", domain=_name(item), count=item.there) if item.counted else "",
        "drawing": _stack(world, item, scale, said),
        "said": said,
        "skew": "" if said in ("out", "score") else say("topology.skew", skew=item.skew, most=board.most),
        "added": "" if item.added is None else say("topology.adds", added=f"{item.added:.2f}"),
        "pods": tokens(item.pods),
        "nodes": tokens(item.nodes),
        "fits": "" if fits is None else say("topology.fits", fits=fits[0], count=fits[1]),
        "landed": landed,
    }


def _is_uneven(board: SpreadBoard) -> bool:
    """Return True if some domains that count have more pods than others: then the fewest are worth a mark."""
    return len({item.there for item in board.domains if item.counted}) > 1


def _stack(world: World, item: SpreadDomain, scale: _Scale, said: str) -> Drawing:
    """Draw the pods that count, the pod itself if it went there, the fewest, and the limit."""
    shapes = [Rect("sk-bg", "0", "100%", "2", str(HEIGHT - 2))]
    shapes += _pods(world, item, scale)
    if said in ("yes", "no") and scale.itself:
        classes = "sk-would" if said == "yes" else "sk-over"
        shapes.append(rect(classes, item.there * scale.unit + 0.25, scale.unit - 0.5, 2, HEIGHT - 2))
    if said != "out" and scale.minimum:
        shapes.append(tick("sk-min", scale.minimum * scale.unit, 1, 0, HEIGHT + 2))
    if said != "out" and scale.limit is not None and scale.limit * scale.unit <= 100:
        shapes.append(tick("sk-limit", scale.limit * scale.unit, 2, 0, HEIGHT + 2))
    return Drawing("sk-svg", tuple(shapes))


def _pods(world: World, item: SpreadDomain, scale: _Scale) -> list[Rect]:
    if not scale.blocks:
        return [rect("sk-pod", 0, item.there * scale.unit, 2, HEIGHT - 2)] if item.there else []
    apps = [world.pods[key].app if key in world.pods else 0 for key in item.pods]
    return [
        rect(f"sk-pod app-{app}" if app else "sk-pod", place * scale.unit + 0.25, scale.unit - 0.5, 2, HEIGHT - 2)
        for place, app in enumerate(apps)
    ]


def _landed(cycle: Cycle | None) -> str:
    """Return the node that the attempt chose, "" before that."""
    return cycle.selected.node if cycle is not None and cycle.selected is not None else ""


def _found(cycle: Cycle | None) -> dict[str, bool]:
    """Return node → it passed all filters, for the nodes that Filter looked at."""
    table = cycle.filter if cycle is not None else None
    return {row[0]: not row[1] for row in table.looked_at} if table is not None else {}


def _fits(found: dict[str, bool], item: SpreadDomain) -> tuple[int, int] | None:
    judged = [found[node] for node in item.nodes if node in found]
    return (sum(judged), len(judged)) if judged else None
