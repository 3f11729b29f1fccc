"""Light and dark: what decides between them, and the colours that scripts read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

SCRIPTS = Path(__file__).resolve().parents[2] / "static" / "js"
READ = sorted(
    {name for file in SCRIPTS.glob("*.js") for name in re.findall(r"(?:token|inked)\('([\w-]+)'\)", file.read_text())}
)
VALUES = "names => names.map(name => getComputedStyle(document.documentElement).getPropertyValue(name))"
PAPER = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(242, 241, 236)", "rgb(14, 16, 18)"


def test_scripts_read_the_colours_of_the_theme_in_use(page: Page) -> None:
    page.goto("/")
    light = page.evaluate(VALUES, READ)
    page.click("[data-do=theme]")
    dark = page.evaluate(VALUES, READ)
    assert "--ink" in READ
    assert all(re.fullmatch(r"rgb\(\d+, \d+, \d+\)", colour) for colour in (*light, *dark))
    assert not set(light) & set(dark)


@pytest.mark.parametrize(
    ("scheme", "theme", "media", "paper"),
    [
        pytest.param("light", "", "screen", LIGHT, id="a light system"),
        pytest.param("dark", "", "screen", DARK, id="a dark system"),
        pytest.param("dark", "light", "screen", LIGHT, id="light on a dark system"),
        pytest.param("light", "dark", "screen", DARK, id="dark on a light system"),
        pytest.param("dark", "dark", "print", LIGHT, id="paper is light"),
        pytest.param("dark", "", "print", LIGHT, id="paper is light on a dark system"),
    ],
)
def test_the_theme_is_the_chosen_one_or_that_of_the_system(
    new_page: Callable[..., Page], scheme: str, theme: str, media: str, paper: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(f"/course/?theme={theme}")
    page.emulate_media(media=media)  # type: ignore[arg-type]
    assert page.evaluate(PAPER) == paper
