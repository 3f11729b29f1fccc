"""Paste manifests: errors at their lines, fixed one by one, then applied; separate warnings; refusals in view."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, closed, new_sandbox, open_editor, press_apply, write

WRONG = """\
apiVersion: v1
kind: Node
metadata:
  name: Node_1
  labels:
    tier: front
    disk: solid state
spec:
  taints:
  - key: dedicated
    effect: Never
status:
  capacity:
    cpu: four
---
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  tolerationz: []
  priority: high
  containers:
  - name: main
    image: nginx
    image: httpd
    ports:
    - containerPort: 70000
"""
MENDING = [
    (4, 3, "  name: node-1"),
    (7, 5, "    disk: ssd"),
    (11, 5, "    effect: NoSchedule"),
    (14, 5, '    cpu: "4"'),
    (21, 3, "  tolerations: []"),
    (22, 3, "  priority: 0"),
    (26, 5, "    command: [httpd]"),
    (28, 7, "    - containerPort: 8080"),
]
"""Line and column of each error, and the corrected line."""

WARNED = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector:
    beta.kubernetes.io/os: linux
  containers:
  - {name: main, image: nginx}
"""
PROBLEMS = """() => [...document.querySelectorAll('#apply-errors [data-line]')].map(
    ({dataset: {line, column, kind}}) => ({line: Number(line), column: Number(column), kind}))"""
ANNOTATIONS = (
    """() => ace.edit('editor').session.getAnnotations().map(({row, column, type}) => ({row, column, type}))"""
)


def open_new(page: Page) -> None:
    """Open the manifest editor of a new sandbox."""
    page.goto(new_sandbox(page))
    open_editor(page)


def mend(page: Page, line: int, text: str) -> None:
    """Replace a line as typing does."""
    page.evaluate(
        """([line, text]) => {
            const {session} = ace.edit('editor');
            session.replace({start: {row: line - 1, column: 0}, end: {row: line - 1, column: Infinity}}, text);
        }""",
        [line, text],
    )


def places(page: Page) -> list[tuple[int, int]]:
    return [(row["line"], row["column"]) for row in page.evaluate(PROBLEMS)]


def nodes(page: Page) -> list[str]:
    return [
        str(name)
        for name in page.evaluate(
            "() => [...document.querySelectorAll('#panel-cluster [data-node]')].map(el => el.dataset.node)"
        )
    ]


@pytest.fixture
def refused(page: Page, eventually: Eventually, allowed_console_errors: list[str]) -> Page:
    """Return a page that has refused a text with eight errors."""
    allowed_console_errors.append("422")
    open_new(page)
    write(page, WRONG)
    press_apply(page)
    eventually(lambda: len(places(page)) == len(MENDING))
    return page


def test_eight_errors_show_at_eight_places_and_go_one_by_one_until_all_is_applied(
    refused: Page, eventually: Eventually
) -> None:
    expected = [(line, column) for line, column, _ in MENDING]
    assert places(refused) == expected
    marks = [{"row": line - 1, "column": column - 1, "type": "error"} for line, column in expected]
    assert refused.evaluate(ANNOTATIONS) == marks
    text = refused.locator("#apply-errors").inner_text()
    assert "8 things to fix, nothing applied yet" in text
    assert '(did you mean "tolerations"?)' in text
    for number, (line, _, mended) in enumerate(MENDING, 1):
        mend(refused, line, mended)
        eventually(lambda left=expected[number:]: places(refused) == left)
        assert len(refused.evaluate(ANNOTATIONS)) == len(MENDING) - number
    eventually(lambda: "Nothing to fix" in refused.locator("#apply-errors").inner_text())
    assert nodes(refused) == []
    press_apply(refused)
    eventually(lambda: "node-1" in nodes(refused))
    closed(refused, eventually)
    assert refused.locator("#notice .toast").count() == 0


def test_a_row_of_the_list_jumps_to_its_place(refused: Page) -> None:
    refused.locator("#apply-errors [data-line='22']").click()
    assert refused.evaluate("() => ace.edit('editor').getCursorPosition()") == {"row": 21, "column": 2}
    assert refused.evaluate("() => document.activeElement.closest('#editor') !== null")


def test_another_text_takes_the_old_errors_away(refused: Page, eventually: Eventually) -> None:
    refused.locator("#add-node").click()
    refused.locator("[data-manifest='three-zones']").click()
    eventually(lambda: places(refused) == [])
    assert refused.evaluate(ANNOTATIONS) == []


def test_warnings_are_separate_and_do_not_stop(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_new(page)
    write(page, WARNED + "  dnsPolicy: Mine\n")
    press_apply(page)
    eventually(lambda: [row["kind"] for row in page.evaluate(PROBLEMS)] == ["error"])
    mend(page, 9, "")
    eventually(lambda: [(row["kind"], row["line"]) for row in page.evaluate(PROBLEMS)] == [("warning", 6)])
    assert [mark["type"] for mark in page.evaluate(ANNOTATIONS)] == ["warning"]
    press_apply(page)
    eventually(lambda: page.locator("#notice .toast.is-warning").count() == 1)
    message = page.locator("#notice").inner_text()
    assert "Applied, with warnings" in message
    assert 'deprecated since v1.14; use "kubernetes.io/os" instead' in message
    assert not page.locator("#drawer").is_visible()
    page.locator("#notice [data-do='dismiss']").click()
    eventually(lambda: page.locator("#notice .toast").count() == 0)


def test_a_text_that_is_too_large_is_refused_in_the_drawer(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["413", "422"]
    open_new(page)
    write(page, "kind: Node\n# " + "x" * 1_100_000)
    press_apply(page)
    eventually(lambda: "1,048,576 bytes" in page.locator("#form-paste").inner_text())
    assert page.locator("#notice .toast").count() == 0
    write(page, "kind: Node\n")
    eventually(lambda: "1,048,576 bytes" not in page.locator("#form-paste").inner_text())


def test_an_error_stays_at_its_field_until_the_field_is_touched(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_new(page)
    page.locator("#add-node").click()
    page.locator("#n-cpu").fill("lots")
    page.locator("#n-memory").fill("much")
    page.locator("#form-node .btn-ink").click()
    eventually(lambda: page.locator("#form-node [aria-invalid='true']").count() == 2)
    assert "2 things to fix" in page.locator("#form-node [data-summary]").inner_text()
    page.locator("#n-cpu").fill("4")
    assert page.locator("#form-node .fld .err").count() == 1
    page.locator("#n-memory").fill("8Gi")
    assert page.locator("#form-node .err").count() == 0
    page.locator("#form-node .btn-ink").click()
    closed(page, eventually)
