"""Renders the Markdown of lessons as safe HTML: no raw HTML, and links only to web pages and to things on the page."""

from __future__ import annotations

import re
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
"""Kinds of pointers that highlight all their marks on the page. ``data-point`` names the others."""
BEFORE_MARK = re.compile(r'(<button type="button" class="ptr"(?:(?!</button>).)*</button>)([,.;:!?)]+)', re.DOTALL)
"""A pointer and the punctuation after it. A browser may break the line after a button, whatever follows."""


class Renderer(RendererHTML):
    """Renders pointers as buttons, and web links as links."""

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
    """Accepts links to web pages and pointers to things on the page, and no others."""

    def validateLink(self, url: str) -> bool:
        return url.partition(":")[0] in (*WEB, *KINDS)

    def normalizeLink(self, url: str) -> str:
        """Return the URL unchanged: normalizing would encode characters of a name."""
        return url


READER = Reader("commonmark", {"html": False, "linkify": False}, renderer_cls=Renderer)
READER.disable(["image", "html_block", "html_inline"])


@lru_cache(AT_HAND)
def html_of(text: str) -> str:
    """Return the safe HTML of a lesson's text."""
    html = str(READER.render(text)) if text else ""
    return BEFORE_MARK.sub(r'<span class="tied">\1\2</span>', html)
