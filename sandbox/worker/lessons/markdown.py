"""The Markdown of lessons as HTML: no HTML of its own, and links only to other pages and to what stands on this one."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from scheduler_engine.lesson.pointers import KINDS, WEB

AT_HAND = 2000
DATA = {"pod": "data-pod", "node": "data-node"}
"""Kinds whose marks light up everywhere on the page; the others are told of in ``data-point``."""


class Renderer(RendererHTML):
    """Pointers are buttons."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        target = str(tokens[idx].attrGet("href") or "")
        kind, _, name = target.partition(":")
        env.setdefault("open", []).append("a" if kind in WEB else "button")
        if kind in WEB:
            return f'<a class="lnk" href="{escape(target)}" target="_blank" rel="noopener noreferrer">'
        more = f' {DATA[kind]}="{escape(name)}"' if kind in DATA else ""
        return f'<button type="button" class="ptr" data-point="{escape(kind)}:{escape(name)}"{more}>'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"</{env['open'].pop()}>"


class Reader(MarkdownIt):
    """Takes links to pages and to what stands on this one, and no other."""

    def validateLink(self, url: str) -> bool:
        return url.partition(":")[0] in (*WEB, *KINDS)

    def normalizeLink(self, url: str) -> str:
        """As it is written: the usual normalizing would encode what is in a name."""
        return url


READER = Reader("commonmark", {"html": False, "linkify": False}, renderer_cls=Renderer)
READER.disable(["image", "html_block", "html_inline"])


@lru_cache(AT_HAND)
def html_of(text: str) -> str:
    """Safe HTML of a lesson's text."""
    return str(READER.render(text)) if text else ""
