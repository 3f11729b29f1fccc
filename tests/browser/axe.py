"""What axe-core finds on a page, and what it does not look for."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
CONTRAST = "color-contrast"
RULES = {"label-content-name-mismatch": {"enabled": True}}
"""Rules that axe-core leaves out by default; heading-order and empty-table-header are among those that it takes."""
UNTIED = """() => [...document.querySelectorAll('[aria-invalid=true]')].filter(field => {
    const told = (field.getAttribute('aria-describedby') ?? '').split(' ');
    return !told.some(id => /\\S/.test(document.getElementById(id)?.textContent ?? ''));
}).map(field => field.name)"""
"""Names of the fields that are marked as wrong, and are not described by what is wrong with them."""


def violations(page: Page, within: str = "", contrast: bool = True, only_contrast: bool = False) -> list[str]:
    """Each with the first elements that it is about; ``within`` an element alone, in a fraction of the time."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": RULES | {CONTRAST: {"enabled": contrast}}}
    if only_contrast:
        options = {"resultTypes": ["violations"], "runOnly": [CONTRAST]}
    found = Axe().run(page, context=within or None, options=options).response["violations"]
    return [f"{item['id']}: {[' '.join(map(str, node['target'])) for node in item['nodes'][:3]]}" for item in found]


def barriers(page: Page, within: str) -> list[str]:
    """Return what keeps somebody from using the page, wide and on a phone.

    Contrast takes axe-core longest: it is judged in both colour schemes, but only ``within`` an element.
    """
    found = [f"wide: {line}" for line in violations(page, contrast=False)]
    found += [f"no error leads to the field {name}" for name in page.evaluate(UNTIED)]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += [f"{scheme}: {line}" for line in violations(page, within, only_contrast=True)]
    page.set_viewport_size({**PHONE})  # type: ignore[typeddict-item]
    found += [f"phone: {line}" for line in violations(page, contrast=False)]
    if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
        found.append(f"phone: {width} pixels wide")
    return found
