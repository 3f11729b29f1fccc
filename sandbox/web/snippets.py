"""The code that puts a sandbox into another page, as the share dialog writes it (``static/js/embed-snippet.js``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

HEIGHT = 450
FLAGS = ("steps", "live")
"""Parameters that are attributes without a value."""


class Snippet(NamedTuple):
    address: str
    iframe: str
    element: str


def snippet(base: str, script: str, title: str, chosen: Mapping[str, str]) -> Snippet:
    """Return the address of an embed, and its code as an iframe and as an element.

    ``base``: the address of the embed's page. ``script``: that of the element's script. ``chosen``: its parameters.
    """
    address = f"{base}?{urlencode(chosen)}"
    named = f'title="{_escape(title)}"'
    attributes = " ".join(name if name in FLAGS else f'{name}="{_escape(value)}"' for name, value in chosen.items())
    iframe = f'<iframe src="{_escape(address)}" width="100%" height="{HEIGHT}" style="border:0" loading="lazy" {named}>'
    element = f'<scheduler-sandbox src="{_escape(base)}" {attributes} {named}></scheduler-sandbox>'
    return Snippet(address, f"{iframe}</iframe>", f'<script src="{script}" async></script>\n{element}')


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
