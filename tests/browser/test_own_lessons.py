"""A trainer's own lesson in a room: opened as a file, refused by line, sent, and shown on the board."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import FilePayload, Page

from tests.browser.test_workshop import join, open_room, row, workbench
from tests.browser.workbench import Eventually
from tests.sandbox.web.views.test_lessons import LESSON


def file(text: str) -> FilePayload:
    return {"name": "my.lesson.yaml", "mimeType": "application/yaml", "buffer": text.encode()}


def test_a_trainer_uploads_a_lesson_and_sees_everybodys_progress(
    new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["422", "htmx:responseError"]
    trainer, ada = new_page(), new_page()
    code = open_room(trainer, "node-selector")
    ada.goto("/join/")
    join(ada, code, "Ada")
    trainer.get_by_text("Add your own lesson").click()
    chooser, add = trainer.locator("#lessons [name=file]"), trainer.get_by_role("button", name="Check and add")
    chooser.set_input_files(file(LESSON.replace("say: web is on", "sya: web is on")))
    with trainer.expect_response("**/lessons/") as refused:
        add.click()
    assert "line 28" in refused.value.text()
    chooser.set_input_files(file(LESSON))
    add.click()
    trainer.get_by_role("button", name="Send A pod and two nodes to all").click()
    workbench(ada).locator("#panel-lesson").get_by_text("Part 1 of 4").wait_for()
    eventually(lambda: "part 1 of 4, 0 of 1 task" in row(trainer, "Ada"))
    workbench(ada).locator("#les-on").click()
    eventually(lambda: "part 2 of 4" in row(trainer, "Ada"))
    late = new_page()
    late.goto("/join/")
    join(late, code, "Late")
    workbench(late).locator("#panel-lesson").get_by_text("Part 1 of 4").wait_for()
