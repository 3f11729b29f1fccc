"""A visit to the site: pages of a browser, and the ways to states that several journeys share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, apply, head, new_sandbox

WIDE = {"width": 1440, "height": 900}


@dataclass(frozen=True)
class Shot:
    """A state on a journey."""

    name: str
    page: Page
    pane: str = ""
    """The panel of the workbench that a phone shows; "": the one that opens by itself."""


@dataclass
class Visit:
    open_page: Callable[[], Page]
    eventually: Eventually

    def page(self, path: str = "") -> Page:
        page = self.open_page()
        if path:
            page.goto(path)
        return page

    def workbench(self, query: str = "", **form: str) -> Page:
        """Open a new sandbox: ``scenario`` or ``lesson`` names its content; without both it is empty."""
        page = self.page()
        page.goto(new_sandbox(page, **form) + query)
        page.locator("#bench[data-folded]").wait_for()  # its scripts run: keys work
        return page

    def submit(self, page: Page, action: str, **fields: str) -> None:
        """Post a form as a page of the site does, and go where it leads."""
        with page.expect_navigation():
            page.evaluate(
                """([action, fields]) => {
                    const form = Object.assign(document.createElement('form'), { method: 'post', action });
                    for (const [name, value] of Object.entries(fields)) {
                        form.append(Object.assign(document.createElement('textarea'), { name, value }));
                    }
                    document.body.append(form);
                    form.submit();
                }""",
                [action, fields],
            )

    def commands(self, page: Page, *steps: Mapping[str, Any]) -> None:
        """Send commands as somebody else, and wait until the page shows them all."""
        site, _, base = page.url.partition("/s/")
        path = f"{site}/api/v1/sandboxes/{base.partition('?')[0]}commands"
        before = head(page)
        for step in steps:
            response = page.request.post(path, data=json.dumps(step), headers={"Content-Type": "application/json"})
            assert response.ok, f"{response.status} {response.text()}"
        self.eventually(lambda: head(page) > before)

    def press(self, page: Page, keys: str) -> None:
        """Press keys that are commands. Wait for each result on the page."""
        for key in keys:
            before = head(page)
            page.keyboard.press(key)
            self.eventually(lambda before=before: head(page) != before)

    def tab(self, page: Page, name: str) -> None:
        page.evaluate("name => document.getElementById(`tab-${name}`).click()", name)
        self.eventually(lambda: page.locator(f"#panel-{name}").is_visible() or page.locator(f"#tab-{name}").count())

    def applied(self, page: Page, objects: Sequence[dict[str, Any]]) -> None:
        before = head(page)
        apply(page, *objects)
        self.eventually(lambda: head(page) > before)
