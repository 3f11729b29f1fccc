"""A node's card as HTML: f-strings, because every card is drawn anew at most steps, and a template takes five times as
long.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.markup import LOCK, NO, YES, esc
from sandbox.panels.facts.verdicts import Word

SIGNS = {"no": NO, "hard": NO, "ok": YES}


def card_html(card: dict[str, Any]) -> str:
    """``card`` as the cluster panel describes it."""
    name = esc(card["name"])
    on = (
        (" is-ghost", card["ghost"]),
        (" is-cordoned", card["cordoned"]),
        (" is-best", card["word"].kind == "best"),
        (" no-next", card["last"]),
    )
    classes = "".join(name for name, holds in on if holds)
    bars = "".join(map(_bar, card["bars"]))
    return (
        f'\n      <article class="node{classes}" data-node="{name}">\n        <header class="node-h">{_place(card)}'
        f'<button type="button" class="node-n" id="n:{name}" data-node="{name}" title="{name}">{name}</button>'
        f'{_flags(card)}{_word(card["word"])}</header>\n        <dl class="bars">{bars}</dl>\n'
        f'        <div class="pods">{card["pods"]}</div>\n      </article>'
    )


def _place(card: dict[str, Any]) -> str:
    where = "left the nodeTree" if card["ghost"] else f"place {card['place']} in the nodeTree order"
    start = " is-start" if card["start"] else ""
    return f'<span class="ord{start}" title="{where}">{card["place"] or "–"}</span>'


def _flags(card: dict[str, Any]) -> str:
    parts = []
    if card["start"]:
        parts.append('<span class="flag" title="the search starts here">start</span>')
    if card["ghost"]:
        parts.append('<span class="taint" title="the node is gone, its pods are still there">ghost</span>')
    if card["cordoned"]:
        parts.append(f'<span class="taint is-lock">{LOCK}cordoned</span>')
    for taint in card["taints"]:
        soft = " is-soft" if taint["soft"] else ""
        parts.append(f'<span class="taint{soft}" title="taint {esc(taint["title"])}">{esc(taint["text"])}</span>')
    parts.extend(f'<span class="flag">{esc(text)}</span>' for text in card["extended"])
    return "".join(parts)


def _word(word: Word) -> str:
    if not word.kind:
        return ""
    sign = SIGNS.get(word.kind, "")
    classes = {"no": " verd-no", "hard": " verd-no", "ok": " verd-yes", "best": " is-best"}.get(word.kind, "")
    return f'<span class="verd{classes}" title="{esc(word.why)}">{sign}{esc(word.text)}</span>'


def _bar(bar: dict[str, Any]) -> str:
    short = ' class="short"' if bar["short"] else ""
    return f"<div><dt>{esc(bar['title'])} <b{short}>{esc(bar['text'])}</b></dt><dd>{bar['svg']}</dd></div>"
