"""Paths of pages to which panels link. Workers draw panels without loading the URLs of the whole site."""

from __future__ import annotations

PAGES = {
    "course": "course/",
    "misconceptions": "misconceptions/",
    "challenges": "challenges/",
    "practice": "practice/",
    "write": "write/",
    "before": "before/",
    "versions": "versions/",
    "create": "new/",
}
"""Name of a page's URL → its path."""


def page_path(name: str) -> str:
    return f"/{PAGES[name]}"
