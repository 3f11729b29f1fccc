"""A form and its YAML stay in step, and existing objects are edited in place."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml
from playwright.sync_api import Page, Route

from tests.browser.test_forms import open_form
from tests.browser.workbench import Eventually, closed, text


def typed(page: Page, name: str, old: str, new: str) -> None:
    """Replace a part of the YAML beside a form, as typing does."""
    page.wait_for_function(f"window.ace && document.querySelector('#editor-{name} .ace_content')")
    page.evaluate(
        "([name, old, text]) => { const editor = ace.edit(`editor-${name}`);"
        " editor.setValue(editor.getValue().replace(old, text), -1); }",
        [name, old, new],
    )


def manifest(page: Page, name: str) -> dict[str, object]:
    return dict(yaml.safe_load(page.locator(f"#yaml-{name}").input_value()) or {})


def test_the_form_and_its_yaml_follow_each_other(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    eventually(lambda: "name: web" in page.locator("#yaml-pod").input_value())
    typed(page, "pod", "cpu: 500m", "cpu: '3'")
    eventually(lambda: page.locator("#p-cpu").input_value() == "3")
    typed(page, "pod", "spec:", "spec:\n  hostNetwork: true\n  tolerations:\n  - {key: gpu, operator: Exists}")
    eventually(lambda: page.locator("#form-pod [name='toleration_key']").count() == 1)
    assert "Not shown in the form: spec.hostNetwork" in text(page, "#check-pod")
    page.locator("#p-labels").fill("app=shop")
    eventually(
        lambda: manifest(page, "pod")["metadata"] == {"name": "web", "namespace": "default", "labels": {"app": "shop"}}
    )
    spec = manifest(page, "pod")["spec"]
    assert isinstance(spec, dict)
    assert spec["hostNetwork"] is True
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    page.locator("#form-pod .btn-ink").click()
    closed(page, eventually)


def test_a_form_that_is_touched_before_its_yaml_is_read_loses_neither(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    eventually(lambda: "name: web" in page.locator("#yaml-pod").input_value())
    held: list[Route] = []
    goes: Callable[[Route], None] = held.append
    page.route("**/preview/pod/", lambda route: goes(route))
    typed(page, "pod", "spec:", "spec:\n  tolerations:\n  - {key: gpu, operator: Exists}\n  hostNetwork: true")
    typed(page, "pod", "cpu: 500m", "cpu: '3'")
    page.locator("#p-labels").fill("app=shop")
    page.locator("#form-pod .btn-ink").click()
    eventually(lambda: page.evaluate("true") and held)
    goes = Route.continue_
    for route in held:
        goes(route)
    closed(page, eventually)
    text = page.request.get(f"{page.url.partition('?')[0]}export/manifests/").text()
    (pod,) = (one for one in yaml.safe_load_all(text) if one["kind"] == "Pod")
    assert pod["metadata"]["labels"] == {"app": "shop"}
    assert pod["spec"]["hostNetwork"] is True
    assert {"key": "gpu", "operator": "Exists"} in pod["spec"]["tolerations"]
    assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"


def test_an_error_shows_at_the_line_and_at_the_field(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    eventually(lambda: "name: web" in page.locator("#yaml-pod").input_value())
    typed(page, "pod", "cpu: 500m", "cpu: lots")
    eventually(lambda: page.locator("#form-pod [data-field='cpu'] .err").count() == 1)
    assert page.locator("#check-pod .err-go").count() == 1
    assert page.evaluate("ace.edit('editor-pod').session.getAnnotations().map((one) => one.type)") == ["error"]
    page.locator("#p-cpu").fill("1")
    eventually(lambda: page.locator("#check-pod .err-go").count() == 0)
    eventually(lambda: page.evaluate("ace.edit('editor-pod').session.getAnnotations().length") == 0)
    typed(page, "pod", "kind: Pod", "kind: [")
    eventually(lambda: "invalid YAML" in text(page, "#check-pod"))
    assert page.locator("#p-cpu").input_value() == "1", "the form stays as it was"


def test_an_object_is_edited_where_it_stands(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_form(page, "node")
    page.locator("#form-node .btn-ink").click()
    closed(page, eventually)
    page.locator("[id='n:node']").click()
    page.locator("#insp-edit").click()
    eventually(lambda: text(page, "#drawer-h") == "Edit Node node")
    assert page.locator("#en-name").get_attribute("readonly") is not None
    page.locator("#en-cpu").fill("lots")
    page.locator("#form-edit .btn-ink").click()
    eventually(lambda: page.locator("#form-edit [data-field='cpu'] .err").count() == 1)
    page.locator("#en-cpu").fill("8")
    page.locator("#en-labels").fill("disk=ssd")
    page.locator("#form-edit .btn-ink").click()
    closed(page, eventually)
    eventually(lambda: "0/8" in text(page, "#panel-inspector"))
    page.locator("#insp-labels").click()
    eventually(lambda: "disk=ssd" in text(page, "#panel-inspector"))
    page.locator("#do-back").click()
    eventually(lambda: "Undone: edit Node node" in text(page, "#notice"))
    eventually(lambda: "0/4" in text(page, "#panel-inspector"))
    page.locator("#add").click()
    assert text(page, "#drawer-h") == "Add"
    assert page.locator("#form-node").is_visible(), "the part that was open before"


def test_editing_again_shows_the_same_text_and_a_deleted_object_opens_nothing(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["404", "htmx:sendAbort", "htmx:afterRequest"]  # Add ends a running preview.
    open_form(page, "node")
    page.locator("#form-node .btn-ink").click()
    closed(page, eventually)
    page.locator("[id='n:node']").click()
    page.locator("#insp-edit").click()
    eventually(lambda: text(page, "#drawer-h") == "Edit Node node")
    page.locator("#drawer [data-close]").first.click()
    closed(page, eventually)
    page.locator("#insp-edit").click()
    eventually(lambda: page.locator("#editor-edit .ace_line").count() > 0)
    page.wait_for_timeout(100)
    assert page.locator("#editor-edit.ace_editor").count() == 1, "its editor looks like the first one"
    page.locator("#drawer [data-close]").first.click()
    closed(page, eventually)
    page.evaluate("document.querySelector('#insp-edit').dataset.key = 'gone'")
    page.locator("#insp-edit").click()
    eventually(lambda: "Node gone no longer exists." in text(page, "#notice"))
    assert not page.locator("#drawer").is_visible(), "the last edited one remains"


def test_labels_are_added_and_removed_in_the_inspector(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_form(page, "node")
    page.locator("#form-node .btn-ink").click()
    closed(page, eventually)
    page.locator("[id='n:node']").click()
    page.locator("#insp-labels").click()
    page.locator("#label-key").fill("a b")
    page.locator("#label-go").click()
    eventually(lambda: "name part must consist of" in text(page, "#label-errors"))
    page.locator("#label-key").fill("disk")
    page.locator("#label-value").fill("ssd")
    page.locator("#label-go").click()
    chip = page.locator("#panel-inspector .taint", has_text=re.compile("disk=ssd"))
    eventually(lambda: chip.count() == 1)
    chip.locator("button").click()
    eventually(lambda: chip.count() == 0)
