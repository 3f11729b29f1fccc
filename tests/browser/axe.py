"""Run axe-core on a page, and check field errors, which it does not."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
CONTRAST = "color-contrast"
RULES = {"label-content-name-mismatch": {"enabled": True}}
"""Rules that axe-core omits by default. It includes heading-order and empty-table-header."""
UNTIED = """() => [...document.querySelectorAll('[aria-invalid=true]')].filter(field => {
    const descriptions = (field.getAttribute('aria-describedby') ?? '').split(' ');
    return !descriptions.some(id => /\\S/.test(document.getElementById(id)?.textContent ?? ''));
}).map(field => field.name)"""
"""Names of the fields marked as invalid that do not refer to their error."""


def violations(page: Page, within: str = "", contrast: bool = True, only_contrast: bool = False) -> list[str]:
    """List the violations, each with its first elements. ``within`` checks one element only, which is much faster."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": RULES | {CONTRAST: {"enabled": contrast}}}
    if only_contrast:
        options = {"resultTypes": ["violations"], "runOnly": [CONTRAST]}
    problems = Axe().run(page, context=within or None, options=options).response["violations"]
    return [f"{item['id']}: {[' '.join(map(str, node['target'])) for node in item['nodes'][:3]]}" for item in problems]


def barriers(page: Page, within: str) -> list[str]:
    """List what keeps people from using the page, on a wide screen and on a phone.

    Contrast is axe-core's slowest rule: check it in both colour schemes, but only ``within`` an element.
    """
    problems = [f"wide: {line}" for line in violations(page, contrast=False)]
    problems += [f"no error leads to the field {name}" for name in page.evaluate(UNTIED)]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        problems += [f"{scheme}: {line}" for line in violations(page, within, only_contrast=True)]
    page.set_viewport_size({**PHONE})  # type: ignore[typeddict-item]
    problems += [f"phone: {line}" for line in violations(page, contrast=False)]
    if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
        problems.append(f"phone: {width} pixels wide")
    return problems
