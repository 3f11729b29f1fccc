"""The forms of the Add drawer: nested rows, by mouse and keyboard, on small screens too."""

from __future__ import annotations

import yaml
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, closed, new_sandbox, text

EXPRESSION = "[data-rows='pod_expression'] > .row"


def open_form(page: Page, kind: str) -> None:
    """Open one of the forms in a new sandbox."""
    page.goto(new_sandbox(page))
    page.locator("#add:visible, [data-press='add']:visible").first.click()
    page.locator(f"#add-{kind}").click()


def unfold(page: Page, title: str) -> None:
    page.locator("#form-pod summary", has_text=title).click()


def previewed(page: Page, kind: str = "pod") -> dict[str, object]:
    """Return the spec in the YAML beside the form."""
    spec = yaml.safe_load(page.locator(f"#yaml-{kind}").input_value()) or {}
    return dict(spec.get("spec", {}))


def test_terms_with_expressions_are_built_row_by_row(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    unfold(page, "Node affinity")
    form = page.locator("#form-pod")
    for key in ("disk", "arch"):
        form.locator("[data-add-row='node_term']").click()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        form.locator("[name='node_expression_key']").last.fill(key)
        form.locator("[name='node_expression_values']").last.fill("a, b")
    form.locator("[data-add-row='node_expression']").first.click()
    page.keyboard.type("gone")
    form.locator("[name='node_expression_operator']").nth(1).select_option("DoesNotExist")
    form.locator("[name='node_term_rule']").last.select_option("preferred")
    form.locator("[name='node_term_weight']").last.fill("7")
    first = [{"key": "disk", "operator": "In", "values": ["a", "b"]}, {"key": "gone", "operator": "DoesNotExist"}]
    second = [{"key": "arch", "operator": "In", "values": ["a", "b"]}]
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": first}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": {"matchExpressions": second}}],
    }
    eventually(lambda: previewed(page).get("affinity") == {"nodeAffinity": affinity})


def test_a_row_goes_by_keyboard_and_leaves_the_focus_beside_it(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    unfold(page, "Tolerations")
    add = page.locator("#form-pod [data-add-row='toleration']")
    for key in ("a", "b"):
        add.focus()
        page.keyboard.press("Enter")
        page.keyboard.type(key)
    eventually(lambda: [row["key"] for row in previewed(page).get("tolerations", [])] == ["a", "b"])
    for left in (["b"], []):
        page.locator("#form-pod [data-remove-row]").first.focus()
        page.keyboard.press("Enter")
        eventually(lambda left=left: [row["key"] for row in previewed(page).get("tolerations", [])] == left)
        assert page.evaluate("document.activeElement.name ?? document.activeElement.dataset.addRow") == (
            "toleration_key" if left else ""
        )
    assert page.evaluate("document.activeElement.dataset.addRow") == "toleration"


def test_a_preset_fills_rows_inside_of_rows(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    page.locator("#form-pod [data-values]", has_text="One per node").click()
    assert page.locator(f"#form-pod {EXPRESSION}").count() == 1
    expression = {"key": "app", "operator": "In", "values": ["cache"]}
    term = {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": "kubernetes.io/hostname"}
    wanted = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    eventually(lambda: "3 objects, from cache-1 to cache-3." in text(page, "#check-pod"))
    assert previewed(page)["affinity"] == wanted


def test_an_error_shows_in_its_row_until_the_field_is_touched(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_form(page, "pod")
    page.locator("#form-pod [data-values]", has_text="One per node").click()
    page.locator("#form-pod [name='pod_expression_key']").fill("a b")
    page.locator("#form-pod .btn-ink").click()
    eventually(lambda: page.locator(f"#form-pod {EXPRESSION} .err").count() > 0)
    key = page.locator("#form-pod [name='pod_expression_key']")
    assert key.evaluate("field => document.activeElement === field")
    described = key.get_attribute("aria-describedby")
    assert "name part must consist of" in text(page, f"#{described}")
    key.fill("app")
    assert page.locator("#form-pod .err").count() == 0
    page.locator("#form-pod .btn-ink").click()
    closed(page, eventually)


def test_a_number_that_is_too_large_can_be_cleared(page: Page, eventually: Eventually) -> None:
    open_form(page, "pod")
    page.locator("#form-pod [name='name']").fill("web")
    unfold(page, "host port")
    field = page.locator("#form-pod [name='host_port']")
    field.fill("99999999999")
    eventually(lambda: "99999999999" in page.locator("#yaml-pod").input_value())
    eventually(lambda: "whole number of 32 bits" in text(page, "#check-pod"))
    field.fill("")
    eventually(lambda: "99999999999" not in page.locator("#yaml-pod").input_value())
    eventually(lambda: "whole number of 32 bits" not in text(page, "#check-pod"))
    assert "ports" not in yaml.safe_load(page.locator("#yaml-pod").input_value())["spec"]["containers"][0]


def test_the_form_is_reset_after_apply(page: Page, eventually: Eventually) -> None:
    open_form(page, "node")
    page.locator("#form-node [data-values]", has_text="Tainted GPU node").click()
    page.locator("#form-node .btn-ink").click()
    closed(page, eventually)
    page.locator("#add").click()
    assert page.locator("#n-name").input_value() == "node"
    assert page.locator("#form-node .row").count() == 0
    page.locator("#form-node [data-manifest='three-zones']").click()
    page.locator("#editor .ace_content").wait_for()
    page.locator("#form-paste .btn-ink").click()
    closed(page, eventually)
    page.locator("#add").click()
    assert page.locator("#manifests").input_value() == ""
    assert page.evaluate("ace.edit('editor').getValue()") == ""


def test_an_empty_cluster_leads_to_the_form_for_nodes(page: Page) -> None:
    page.goto(new_sandbox(page))
    page.locator("#blank-add").click()
    assert page.locator("#form-node").is_visible()
    assert not page.locator("#form-paste").is_visible()


def test_a_workload_shows_only_the_numbers_of_its_kind(page: Page, eventually: Eventually) -> None:
    open_form(page, "workload")
    shown = {
        "Deployment": {"replicas"},
        "StatefulSet": {"replicas"},
        "DaemonSet": set(),
        "Job": {"completions", "parallelism"},
    }
    for kind, names in shown.items():
        page.locator("#wl-workload").select_option(kind)
        numbers = {
            name for name in ("replicas", "completions", "parallelism") if page.locator(f"#wl-{name}").is_visible()
        }
        assert numbers == names
    page.locator("#form-workload .btn-ink").click()
    closed(page, eventually)


def test_more_opens_the_form_that_was_open_last(page: Page) -> None:
    open_form(page, "more")
    assert page.locator("#form-priority-class").is_visible()
    page.locator("[data-kind-tab='budget']").click()
    page.locator("#add-node").click()
    page.locator("#add-more").click()
    assert page.locator("#form-budget").is_visible()
    assert page.locator("#add-more").get_attribute("aria-pressed") == "true"


def test_rows_fit_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_form(page, "pod")
    for title, one in (("Tolerations", "toleration"), ("Topology", "spread"), ("Pod affinity", "pod_term")):
        unfold(page, title)
        page.locator(f"#form-pod [data-add-row='{one}']").click()
    for field in page.locator("#form-pod .row .inp:visible").all():
        box = field.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.locator("#form-pod .form-s").evaluate("el => el.scrollWidth <= el.clientWidth")
