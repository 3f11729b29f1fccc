"""Writing a lesson in a browser: it runs beside its text, errors stand at their lines, and drafts stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, Request

from sandbox.content.drafts import ELEMENTS, start_text
from tests.browser.axe import PHONE
from tests.browser.conftest import Server
from tests.browser.workbench import Eventually, popup, text

TEXT = start_text(ELEMENTS) or ""
SHOWN = ".wr-f iframe:not(.is-behind)"
SETTLED = "document.querySelectorAll('.wr-f iframe').length === 1 && !document.querySelector('[aria-busy]')"


def lesson(page: Page) -> FrameLocator:
    return page.frame_locator(SHOWN)


def part(page: Page) -> str:
    """Return the open part of the lesson in view, "" while there is none."""
    found: str = page.evaluate(
        "shown => document.querySelector(shown)?.contentDocument.getElementById('panel-lesson')?.dataset.part ?? ''",
        SHOWN,
    )
    return found


def outline(page: Page) -> list[str]:
    return [" ".join(button.split()) for button in page.locator("#write-outline button").all_inner_texts()]


def replace(page: Page, old: str, new: str) -> None:
    """Replace a text in the editor, as typing does."""
    page.evaluate(
        """([old, fresh]) => {
            const { session } = ace.edit('write-editor');
            session.doc.setValue(session.getValue().replace(old, fresh));
        }""",
        [old, new],
    )


def write(page: Page, eventually: Eventually, start: str = ELEMENTS) -> None:
    page.goto(f"/write/?from={start}")
    page.locator("#write-editor .ace_content").wait_for()
    eventually(lambda: page.evaluate(SETTLED))
    lesson(page).locator("#panel-lesson").wait_for()


def test_a_change_is_seen_in_the_part_that_is_open(page: Page, eventually: Eventually) -> None:
    deleted: list[Request] = []
    page.on("request", lambda request: deleted.append(request) if request.method == "DELETE" else None)
    write(page, eventually)
    assert outline(page)[:2] == ["1 Text with pointers", "2 A button that does steps"]
    page.locator("#write-outline button").nth(4).click()
    eventually(lambda: part(page) == "4")
    assert page.evaluate("ace.edit('write-editor').getCursorPosition().row") == TEXT[
        : TEXT.index('- title: "Predict: which pods')
    ].count("\n")
    replace(page, "It requests 3 CPUs.", "It wants three CPUs.")
    lesson(page).get_by_text("It wants three CPUs.").wait_for()
    assert part(page) == "4"
    eventually(lambda: page.evaluate(SETTLED))
    assert len(deleted) == 2, "the sandboxes before are deleted"
    # The learner goes on; the next change stays there.
    lesson(page).locator("#les-skip").click()
    eventually(lambda: "where the pod goes" in text(page, "#write-outline [aria-current]"))
    replace(page, "which no node is in", "which is empty")
    lesson(page).get_by_text("which is empty").wait_for()
    assert part(page) == "5"
    page.reload()
    lesson(page).locator("#panel-lesson").wait_for()
    assert "which is empty" in page.locator("#write-text").input_value(), "the draft is kept"
    page.get_by_role("button", name="Start over").click()
    eventually(lambda: page.locator("#write-text").input_value() == TEXT)
    assert not page.get_by_role("button", name="Start over").is_visible()


def test_quick_changes_end_with_the_last_text_in_the_last_part(page: Page, eventually: Eventually) -> None:
    write(page, eventually)
    for number in (3, 7, 4):
        page.locator("#write-outline button").nth(number).click()
        replace(page, "It requests", f"{number} It requests")
    eventually(lambda: page.evaluate(SETTLED) and part(page) == "4")
    lesson(page).get_by_text("3 7 4 It requests 3 CPUs.").wait_for()
    eventually(lambda: page.evaluate(SETTLED))
    assert part(page) == "4"


def test_errors_stand_at_their_lines_and_the_lesson_before_stays(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    write(page, eventually)
    replace(page, "title: A task\n", "titel: A task\n")
    row = TEXT[: TEXT.index("- title: A task")].count("\n")
    page.locator("#write-errors .err-go").wait_for()
    assert f"{row + 1}:3" in text(page, "#write-errors")
    assert "You still see the last lesson without errors." in text(page, "#write-errors")
    assert page.evaluate("ace.edit('write-editor').session.getAnnotations().map(each => each.row)") == [row]
    assert part(page) == "0"
    page.locator("#write-errors .err-go").click()
    assert page.evaluate("ace.edit('write-editor').getCursorPosition().row") == row
    replace(page, "titel: A task\n", "title: The task\n")
    eventually(lambda: outline(page)[-1] == "10 The task")
    assert not page.locator("#write-errors").inner_text()
    assert page.evaluate("ace.edit('write-editor').session.getAnnotations()") == []


HEAD = "kind: Lesson\ntitle: t\nparts:\n- text: a\n  "
POD = "- apply:\n    - kind: Pod\n      spec:\n        "
POSITIONS = {
    # "…": and others
    "the remaining keys of a part": (HEAD + "¦", "title figure look predict question …"),
    "one command for a step": (HEAD + "do:\n  - ¦", "apply delete patch replace cordon …"),
    "what may stand beside the command of a step": (HEAD + "do:\n  - pod: {}\n    ¦", "name say refused expect"),
    "a step in a list of ways": (HEAD + "right:\n    ¦", "apply delete patch …"),
    "one kind of question": (HEAD + "predict: {lane: default/web, ¦", "ask node tempting reveals at"),
    "stages": (HEAD + "predict:\n    at: ¦", "Pop Snapshot PreFilter …"),
    "the expectations": (HEAD + "expect:\n  - ¦", "pod gone nodeOrder count …"),
    "the fields of one expectation": (HEAD + "expect:\n  - verdict: a\n    ¦", "node passes plugin reason …"),
    "kinds of objects": (HEAD + "do:\n  - apply:\n    - kind: ¦", "Pod Node Namespace …"),
    "fields of an object": (
        HEAD + "do:\n  " + POD + "tolerations:\n        - key: a\n          ¦",
        "operator value effect tolerationSeconds",
    ),
    "an object in braces": (HEAD + "do: [{replace: {manifest: {kind: Node, ¦", "apiVersion metadata spec status"),
    "names of the running lesson": (HEAD + "do:\n  " + POD + "nodeName: ¦", "n1"),
    "the kind of a configuration": ("configuration:\n  kind: ¦", "KubeSchedulerConfiguration"),
    "profiles of a configuration": (
        "configuration:\n  profiles:\n  - ¦",
        "schedulerName percentageOfNodesToScore plugins pluginConfig",
    ),
    "nothing in a text": (HEAD + "then: >-\n    do: ¦", ""),
}
OFFERS = """async (texts) => {
    const { placeAt } = await import('/static/js/yaml-place.js');
    const { offersAt } = await import('/static/js/schema.js');
    const schemas = JSON.parse(document.getElementById('write').dataset.schemas);
    const schema = await (await fetch(schemas['v1.34'])).json();
    return texts.map((text) => {
        const before = text.slice(0, text.indexOf('¦')).split('\\n');
        const place = placeAt(text.replace('¦', '').split('\\n'), before.length - 1, before.at(-1).length);
        return offersAt(schema, { nodes: ['n1'] }, place, 'Lesson').map((offer) => offer.caption);
    });
}"""


def test_the_editor_offers_what_may_stand_at_the_cursor(page: Page) -> None:
    page.goto("/write/")
    offered = page.evaluate(OFFERS, [written for written, _ in POSITIONS.values()])
    found = {case: " ".join(captions) for case, captions in zip(POSITIONS, offered, strict=True)}

    def agrees(case: str, expected: str) -> bool:
        return found[case].startswith(expected[:-1]) if expected.endswith(" …") else found[case] == expected

    assert {case: found[case] for case, (_, expected) in POSITIONS.items() if not agrees(case, expected)} == {}


def test_keys_of_lessons_and_objects_are_completed_by_the_keyboard(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    write(page, eventually, "")
    page.evaluate(
        "text => { const e = ace.edit('write-editor'); e.session.setValue(text); e.navigateFileEnd(); e.focus(); }",
        HEAD,
    )
    for letters, row, key in (("d", "do", "Enter"), ("pod", "pod", "Escape")):
        page.keyboard.type(letters)
        eventually(lambda row=row: any(each.startswith(row) for each in popup(page)))
        page.keyboard.press(key)
    eventually(lambda: popup(page) == [])
    assert page.locator("#write-text").input_value() == HEAD + "do:\n  - pod", "Escape changes nothing"
    for _ in "pod":
        page.keyboard.press("Backspace")
    page.evaluate("text => { ace.edit('write-editor').insert(text); }", POD.removeprefix("- "))
    page.keyboard.type("nodeN")
    eventually(lambda: any(each.startswith("nodeName") for each in popup(page)))
    page.keyboard.press("Enter")
    eventually(lambda: any(each.startswith("node-b") for each in popup(page)))
    page.keyboard.press("Escape")
    page.keyboard.press("F1")
    assert text(page, "#write-editor-line + [role=status]").startswith("spec.nodeName string The node of the pod.")


def test_a_file_is_opened_and_saved(page: Page, eventually: Eventually, tmp_path: Path) -> None:
    write(page, eventually, "")
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT.replace("Every element of a lesson", "From a file"))
    page.locator("#write-file").set_input_files(file)
    lesson(page).locator("#panel-lesson h2", has_text="From a file").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    assert saved.value.suggested_filename == "lesson.yaml"
    assert saved.value.path().read_text() == file.read_text()


def test_another_start_has_its_own_draft(page: Page, eventually: Eventually) -> None:
    write(page, eventually, "")
    replace(page, "Where there is room", "My first lesson")
    lesson(page).locator("#panel-lesson h2", has_text="My first lesson").wait_for()
    page.locator("#write-start").select_option("backoff")
    page.wait_for_url("**/write/?from=backoff")
    lesson(page).locator("#panel-lesson").wait_for()
    assert page.locator("#write-text").input_value() == start_text("backoff")
    page.locator("#write-start").select_option("")
    lesson(page).locator("#panel-lesson h2", has_text="My first lesson").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(new_page: Callable[..., Page], eventually: Eventually, scheme: str) -> None:
    page = new_page(viewport=PHONE, color_scheme=scheme)
    write(page, eventually)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#write-outline button").nth(9).click()
    eventually(lambda: part(page) == "9")


def test_a_saved_file_is_seen(
    own_server: Server,
    new_page: Callable[..., Page],
    eventually: Eventually,
    tmp_path: Path,
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors.append("422")
    file = tmp_path / "mine.lesson.yaml"
    file.write_text(TEXT)
    own_server.kill()
    own_server.env["LESSON"] = str(file)
    own_server.start()
    page = new_page(base_url=own_server.url)
    write(page, eventually, "file")
    assert "This page follows mine.lesson.yaml." in text(page, ".wr-h")
    assert page.evaluate("ace.edit('write-editor').getReadOnly()")
    page.locator("#write-outline button").nth(9).click()
    eventually(lambda: part(page) == "9")
    file.write_text(TEXT.replace("whatever the learner did.", "in whatever way."))
    lesson(page).get_by_text("in whatever way.").wait_for()
    assert part(page) == "9"
    file.write_text(TEXT.replace("kind: Lesson", "kind: Lessn"))
    page.locator("#write-errors .err-go").wait_for()
    file.unlink()
    eventually(lambda: "The file mine.lesson.yaml cannot be read: No such file or directory." in text(page, "#notice"))
    file.write_text(TEXT)
    lesson(page).get_by_text("whatever the learner did.").wait_for()
    eventually(lambda: not text(page, "#notice"))
