"""Contact sheets: a row of small pictures for each state, with one for each look."""

from __future__ import annotations

from html import escape
from pathlib import Path

from playwright.sync_api import Page

from tests.screens.looks import LOOKS

HEIGHT = 225
"""Height of a tile, in pixels."""
STATES = 6
"""States per sheet: it fits on a screen without scrolling."""
STYLE = f"""
body {{ margin: 12px; background: #777; font: 13px sans-serif; width: max-content; }}
h2 {{ font: bold 13px sans-serif; margin: 10px 0 4px; color: #fff; }}
div {{ display: flex; gap: 6px; }}
img {{ height: {HEIGHT}px; object-fit: cover; object-position: top; }}
"""


def sheets(page: Page, folder: Path, names: list[str]) -> None:
    """Photograph the pictures of a folder, some states at a time, into files beside it named after it."""
    for first in range(0, len(names), STATES):
        listed = folder / "sheet.html"
        rows = [_row(folder, number + 1, names[number]) for number in range(first, min(first + STATES, len(names)))]
        listed.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{''.join(rows)}")
        page.goto(listed.as_uri())
        page.screenshot(path=folder.with_name(f"{folder.name}-{first // STATES + 1}.png"), full_page=True)
        listed.unlink()


def _row(folder: Path, number: int, name: str) -> str:
    tiles = [
        f'<img src="{number:02}-{one.name}.png" width="{one.width * HEIGHT // one.height}">'
        for one in LOOKS
        if (folder / f"{number:02}-{one.name}.png").exists()
    ]
    return f"<h2>{number}. {escape(name)}</h2><div>{''.join(tiles)}</div>"
