"""Who attracts or repels the pod: each rule with the domains that it concerns, as a table and as a graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.panels.drawing.ordering import by_name
from sandbox.panels.drawing.paging import finder, on_page, pager
from sandbox.panels.model.world import World, app_name
from sandbox.panels.topology.subject import Subject
from sandbox.panels.topology.tokens import MOST_NAMES, left_out_line, tokens
from sandbox.panels.view import View
from sandbox.words.amounts import short_name, with_sign
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.boards import AffinityBoard, AffinityDomain, AffinityRule
from scheduler_engine.framework.facts import Keys, Place

PAGE, FEW = 50, 6
"""Domains of a rule on one page, and at first."""
MOST_DOMAINS, MOST_GROUPS = 8, 3
"""Most domains in the graph, and most groups of pods for each."""
KINDS = {
    "near": "topology.must-be-near",
    "far": "topology.must-not-be-near",
    "keeps-off": "topology.they-keep-off",
    "likes": "topology.likes",
    "dislikes": "topology.dislikes",
    "they-need": "topology.they-need",
    "they-like": "topology.they-like",
    "they-dislike": "topology.they-dislike",
}
"""Kind of a rule → key of its sentence."""
REQUIRED = ("near", "far", "keeps-off")
REPELS = ("far", "keeps-off", "dislikes", "they-dislike")
THEIRS = ("keeps-off", "they-need", "they-like", "they-dislike")


def affinity(world: World, view: View, subject: Subject, board: AffinityBoard) -> dict[str, Any]:
    """Return the rules, the domains with what all rules say together, and the graph as JSON, "" if it has no edge."""
    totals = _totals(board.rules)
    return {
        "rules": [_rule(view, subject, rule, place) for place, rule in enumerate(board.rules, 1)],
        "left_out": [left_out_line(item) for item in board.left_out],
        "graph": _graph(world, subject, totals),
    }


def _rule(view: View, subject: Subject, rule: AffinityRule, place: int) -> dict[str, Any]:
    name = f"topology.affinity{place}"
    domains, find = finder(sorted(rule.domains, key=_by_weight), view, name, _name)
    pages = pager(len(domains), view, name, PAGE, few=FEW)
    key = wording.written({"key": Place(rule.key, None)})["key"]
    return {
        "id": f"ta{place}",
        "kind": rule.kind,
        "says": say(KINDS[rule.kind], pod=subject.name),
        "term": wording.written({"term": rule.term})["term"],
        "key": rule.key,
        "weight": with_sign(rule.weight) if rule.weight else say("topology.required"),
        "first": say("topology.first-of-group", pod=subject.name) if rule.first else "",
        "nobody": "" if rule.domains else say("topology.finds-nobody", key=key),
        "domains": [
            {
                "id": f"ta{place}-{item.name or '-'}",
                "name": _name(item),
                "said": _said(item.ok, item.share),
                "verdict": _verdict(item.ok, item.share),
                "pods": tokens([*dict.fromkeys(item.pods)]),
            }
            for item in on_page(domains, pages)
        ],
        "pages": pages,
        "find": find,
        "unlabelled": tokens(rule.unlabelled, 2 * MOST_NAMES),
    }


def _by_weight(item: AffinityDomain) -> str:
    """Return a sort key: domains with pods first, then by name."""
    return f"{not item.pods:d}{by_name(item.name)}"


def _name(item: AffinityDomain) -> str:
    return item.name or say("topology.empty-value")


def _said(ok: bool | None, share: int) -> str:
    return "no" if ok is False or (ok is None and share < 0) else "yes"


def _verdict(ok: bool | None, share: int) -> str:
    return with_sign(share) if ok is None else say("topology.is-allowed" if ok else "topology.is-ruled-out")


@dataclass(slots=True)
class _Total:
    """What all rules say about one domain. ``own`` and ``theirs``: kind → the pods that these rules find there.

    ``shares``: kind → what these rules add to the score.
    """

    key: str
    name: str
    ok: bool | None = None
    shares: dict[str, int] = field(default_factory=dict)
    own: dict[str, list[str]] = field(default_factory=dict)
    theirs: dict[str, list[str]] = field(default_factory=dict)

    @property
    def share(self) -> int:
        return sum(self.shares.values())

    @property
    def rank(self) -> tuple[Any, ...]:
        """Return a sort key: domains that are ruled out first, then the largest shares."""
        return self.ok is not False, -abs(self.share), self.key, by_name(self.name)


def _totals(rules: Iterable[AffinityRule]) -> list[_Total]:
    """Return the domains in which a rule finds a pod, the most important first."""
    found: dict[tuple[str, str], _Total] = {}
    for rule in rules:
        for item in rule.domains:
            total = found.setdefault((rule.key, item.name), _Total(rule.key, item.name))
            total.shares[rule.kind] = total.shares.get(rule.kind, 0) + item.share
            if item.ok is not None:
                total.ok = item.ok and total.ok is not False
            if item.pods:
                (total.theirs if rule.kind in THEIRS else total.own).setdefault(rule.kind, []).extend(item.pods)
    return sorted((total for total in found.values() if total.own or total.theirs), key=lambda total: total.rank)


def _graph(world: World, subject: Subject, totals: Sequence[_Total]) -> str:
    """Return the nodes and edges of the graph: the pod, domains, and groups of existing pods.

    An edge leads from whoever has the rule: pod → domain → group for its own, group → domain → pod for theirs.
    """
    if not totals:
        return ""
    nodes: list[dict[str, Any]] = [{"id": "pod", "kind": "pod", "label": subject.name, "pod": subject.pod.key}]
    edges: list[dict[str, Any]] = []
    for place, total in enumerate(totals[:MOST_DOMAINS]):
        ident = f"d{place}"
        key = wording.written({"where": Place(total.key, total.name)})["where"]
        said = _said(total.ok, total.share)
        verdict = _total_verdict(total)
        nodes.append({"id": ident, "kind": "domain", "label": key, "more": verdict, "said": said})
        edges += [_edge("pod", ident, kind, total.shares[kind]) for kind in (*total.own, *total.theirs)]
        groups = _groups(world, total)
        for number, (name, app, keys, kinds) in enumerate(groups[:MOST_GROUPS]):
            group = f"{ident}g{number}"
            more = say("topology.pods", count=len(keys)) if len(keys) > 1 else ""
            nodes.append({"id": group, "kind": "group", "label": name, "more": more, "app": app, "pod": keys[0]})
            edges += [_edge(ident, group, kind) for kind in kinds]
        if len(groups) > MOST_GROUPS:
            rest = say("topology.more", count=len(groups) - MOST_GROUPS)
            nodes.append({"id": f"{ident}more", "kind": "more", "label": rest})
            edges.append({"from": ident, "to": f"{ident}more", "said": "", "label": "", "back": False})
    if len(totals) > MOST_DOMAINS:
        nodes.append({"id": "more", "kind": "more", "label": say("topology.more", count=len(totals) - MOST_DOMAINS)})
        edges.append({"from": "pod", "to": "more", "said": "", "label": "", "back": False})
    return json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=False)


def _edge(source: str, target: str, kind: str, share: int | None = None) -> dict[str, Any]:
    """Return an edge. ``share``: what the rule adds to the score there, None if another edge says so."""
    repels = kind in REPELS
    sign = say("topology.repels" if repels else "topology.attracts")
    label = "" if share is None else with_sign(share) if share else sign
    said = "no" if repels else "yes"
    strong, back = kind in REQUIRED, kind in THEIRS
    return {"from": source, "to": target, "said": said, "label": label, "strong": strong, "back": back}


def _total_verdict(total: _Total) -> str:
    if total.ok is False:
        return say("topology.is-ruled-out")
    return with_sign(total.share) if total.share else say("topology.is-allowed")


def _groups(world: World, total: _Total) -> list[tuple[str, int, Keys, tuple[str, ...]]]:
    """Return the existing pods of a domain by app: (name, its colour, pods, kinds of the rules that concern them)."""
    kinds: dict[str, dict[str, None]] = {}
    for kind, keys in (*total.own.items(), *total.theirs.items()):
        for key in keys:
            kinds.setdefault(key, {})[kind] = None
    groups: dict[tuple[Any, ...], list[str]] = {}
    for key, held in kinds.items():
        state = world.pods.get(key)
        name, app = (app_name(state.pod), state.app) if state is not None else (short_name(key), 0)
        groups.setdefault((name, app, tuple(held)), []).append(key)
    return [
        (short_name(keys[0]) if len(keys) == 1 else name, app, Keys(keys), held)
        for (name, app, held), keys in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
