"""Import a cluster on the start page, by choosing, dropping or pasting, then press a waiting pod."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.workbench import Eventually, arrive, text
from tests.engine import dumps

DROP = """([name, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], name));
    const how = {dataTransfer: data, bubbles: true, cancelable: true};
    for (const type of ['dragover', 'drop']) document.getElementById('door').dispatchEvent(new DragEvent(type, how));
}"""


def cluster() -> bytes:
    example = dumps.cluster(7, nodes=6, pods=30)
    pending = dumps.pending("0/6 nodes are available: 6 Insufficient cpu.")
    example.add("v1", "Pod", "checkout", "team-1", spec=dumps.pod_spec("shop", "64"), status=pending)
    return dumps.as_yaml(example.objects)


def test_a_pending_pod_of_a_chosen_file_opens_at_its_failed_filter(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(cluster())
    page.goto("/")
    page.set_input_files("#door input[type=file]", file)
    page.wait_for_url("**/import/*/")
    first = page.locator(".imp-pods button").first
    assert first.locator("b").inner_text() == "team-1/checkout"
    assert "6 Insufficient cpu" in first.inner_text()
    first.click()
    arrive(page)
    expect(page.locator("#panel-sentence")).to_contain_text("team-1/checkout at Filter")
    expect(page.locator("#panel-inspector")).to_contain_text("checkout")
    expect(page.locator("#panel-filter")).to_contain_text("Insufficient cpu")


def test_a_dropped_file_is_previewed_and_opened_under_invented_names(page: Page) -> None:
    page.goto("/")
    page.evaluate(DROP, ["cluster.yaml", cluster().decode()])
    page.wait_for_url("**/import/*/")
    page.locator("select[name=names]").select_option("made-up")
    page.get_by_role("button", name="Apply these choices").click()
    page.wait_for_url("**names=made-up**")
    page.get_by_role("button", name="Open as a sandbox").click()
    arrive(page)
    expect(page.locator("#panel-cluster")).to_contain_text("node-1")
    assert "compute.internal" not in page.content()


def test_errors_in_a_pasted_text_show_on_the_first_page(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    page.goto("/")
    page.locator("#door button.btn-ink").click()
    assert text(page, "#door .door-note") == "Choose a file, or paste its text."
    allowed_console_errors.append("422")
    page.fill("#door textarea", "kind: List\nitems: &a\n- *a\n")
    page.locator("#door button.btn-ink").click()
    eventually(lambda: text(page, "#door .door-note").startswith("line 3, column 3: unknown anchor"))
    assert page.locator("#door progress").is_hidden()
