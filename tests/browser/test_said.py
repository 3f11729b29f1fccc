"""Nothing fails silently, and nothing typed is lost: refusals, missing answers, closed drawers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route

from tests.browser.workbench import (
    Eventually,
    apply,
    connected,
    head,
    level,
    open_blank,
    open_editor,
    open_example,
    post,
    press,
    text,
    write,
)
from tests.engine.controllers import deployment

PROXY = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx/1.25</body></html>"
SENTENCE = (
    "The server did not answer (502), so your last click may be lost. The page shows what has happened; try again."
)
NO_ANSWER = "The server did not answer"
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"capacity": ROOM, "allocatable": ROOM},
}
WEB = deployment("web", 1, image="web:1")
Answers = dict[str, Callable[[Route], None]]
FAILS: Answers = {
    "no answer": lambda route: route.abort(),
    "a proxy": lambda route: route.fulfill(status=502, content_type="text/html", body=PROXY),
}
SAYS = {"no answer": NO_ANSWER, "a proxy": SENTENCE}


@pytest.fixture(autouse=True)
def provoked(allowed_console_errors: list[str]) -> None:
    allowed_console_errors += ["Failed to load resource", "Response Status Error Code", "htmx:", "TypeError"]


def opened(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, NODE, WEB)
    eventually(lambda: head(page) == 1)


def notice(page: Page) -> str:
    return text(page, "#notice")


def readable(page: Page, selector: str) -> bool:
    """Return True if a click on its middle hits it."""
    meets = """selector => {
        const element = document.querySelector(selector);
        if (!element) return false;
        const {left, top, width, height} = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    }"""
    return bool(page.evaluate(meets, selector))


# --- the configuration ----------------------------------------------------------------------------------------------

WEIGHT = '[id="cf-weight:NodeAffinity"]'


@pytest.mark.parametrize("how", FAILS)
def test_a_control_without_an_answer_yet_is_part_of_apply(page: Page, eventually: Eventually, how: str) -> None:
    opened(page, eventually)
    page.locator("#tab-configuration").click()
    page.locator("#configure").click()
    page.locator(WEIGHT).wait_for()
    page.route("**/controls/", FAILS[how])
    page.locator(WEIGHT).fill("7")
    page.keyboard.press("Tab")
    eventually(lambda: SAYS[how] in text(page, "#configuration-errors"))
    page.locator("#configuration-apply").click()
    eventually(lambda: page.locator("#configuration-drawer[aria-busy]").count() == 0)
    assert (page.locator("#configuration-drawer").is_visible(), head(page)) == (True, 1), "apply includes it"
    page.unroute("**/controls/")
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.post_data or "") if request.url.endswith("/configure/") else None
    )
    page.locator("#configuration-apply").click()
    eventually(lambda: head(page) == 2)
    assert "weight%3A%207" in sent[0]


# --- drawers and dialogs that close meanwhile -----------------------------------------------------------------------


def node_form(page: Page) -> None:
    page.locator("#add").click()
    page.locator("#add-node").click()
    page.locator("#form-node [name=name]").fill("Bad_Name")


def edit_form(page: Page) -> None:
    page.locator('[id="n:n1"]').click()
    page.locator("#insp-edit").click()
    page.locator("#form-edit [name=cpu]").fill("much")


def break_form(page: Page) -> None:
    page.locator("#break").click()
    page.locator("#fault-answer").select_option("wait")
    page.locator("#fault-seconds").evaluate("field => field.removeAttribute('max')")
    page.locator("#fault-seconds").fill("999999")


def pasted(page: Page) -> None:
    open_editor(page)
    write(page, "{apiVersion: v1, kind: Namespace, metadata: {name: Bad_Name}}")


FORMS: dict[str, tuple[Callable[[Page], None], str, str, str, str]] = {
    "node": (node_form, "#form-node .btn-ink", r"/add/node/$", "#form-node [name=name]", "Bad_Name"),
    "edit": (edit_form, "#form-edit .btn-ink", r"/edit/Node/\?", "#form-edit [name=cpu]", "much"),
    "break": (break_form, "#fault-go", r"/break/$", "#fault-seconds", "999999"),
    "paste": (pasted, "#form-paste .btn-ink", r"/apply/$", "#manifests", "Bad_Name"),
}
"""How to fill the form, what sends it, to where, and the field's value afterwards."""


@pytest.mark.parametrize("how", ["no answer", "refused"])
@pytest.mark.parametrize("form", FORMS)
def test_the_result_of_a_closed_form_is_shown(page: Page, eventually: Eventually, form: str, how: str) -> None:
    opened(page, eventually)
    fill, go, path, field, typed = FORMS[form]
    fill(page)
    held: list[Route] = []
    page.route(
        re.compile(path), lambda route: held.append(route) if route.request.method == "POST" else route.continue_()
    )
    page.locator(go).click()
    eventually(lambda: page.evaluate("0") == 0 and held)
    page.keyboard.press("Escape")
    eventually(lambda: page.locator("dialog[open]").count() == 0)
    route = held.pop()
    if how == "refused":
        route.continue_()
    else:
        route.abort()
    eventually(lambda: page.locator("#notice .way-back").count() == 1)
    if how == "refused":
        assert re.search("RFC 1123|must be|quantit", notice(page)), notice(page)
    else:
        assert NO_ANSWER in notice(page)
    page.unroute(re.compile(path))
    page.locator("#notice .way-back").click()
    eventually(lambda: page.locator("dialog[open]").count() == 1)
    assert typed in page.locator(field).input_value()
    assert page.locator("#notice .toast").count() == 0


def test_esc_keeps_the_typed_text(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    apply(page, NODE | {"metadata": {"name": "n2"}})
    page.locator("#break").click()
    page.locator("#fault-seconds").fill("44")
    page.keyboard.press("Escape")
    page.locator("#break").click()
    assert page.locator("#fault-seconds").input_value() == "44"
    page.locator("#dialog-break [data-do=close]").click()
    page.locator("#break").click()
    eventually(lambda: page.locator("#fault-seconds").input_value() != "44")
    page.keyboard.press("Escape")
    page.locator("#tab-leader").click()
    page.locator("#replicas-set").click()
    page.locator("#replicas-lease").fill("33s")
    page.keyboard.press("Escape")
    page.locator("#replicas-set").click()
    assert page.locator("#replicas-lease").input_value() == "33s"
    page.keyboard.press("Escape")

    def edit(node: str) -> None:
        page.locator(f'[id="n:{node}"]').click()
        eventually(lambda: text(page, "#panel-inspector h3") == node)
        page.locator("#insp-edit").click()
        eventually(lambda: text(page, "#drawer-h").endswith(node) and page.locator("#drawer").is_visible())

    edit("n1")
    page.locator("#form-edit [name=cpu]").fill("6")
    page.keyboard.press("Escape")
    edit("n2")
    assert page.locator("#form-edit [name=cpu]").input_value() == "4"
    page.keyboard.press("Escape")
    edit("n1")
    assert page.locator("#form-edit [name=cpu]").input_value() == "6"
    before = level(page)
    page.locator("#form-edit .btn-ink").click()
    eventually(lambda: head(page) == before + 1 and not page.locator("#drawer").is_visible())
    edit("n1")
    assert page.locator("#form-edit [name=cpu]").input_value() == "6"


# --- notices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", FAILS)
def test_play_and_a_step_report_errors(page: Page, eventually: Eventually, how: str) -> None:
    opened(page, eventually)
    page.route("**/do/**", FAILS[how])
    for key in (" ", "s"):
        page.keyboard.press(key)
        eventually(lambda: SAYS[how] in notice(page))
        assert "nginx" not in notice(page)
        assert page.locator("#play").get_attribute("aria-pressed") == "false"
        page.locator("#notice [data-do=dismiss]").click()


def test_play_that_gets_no_answer_for_long_says_so(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    held: list[Route] = []
    page.route("**/do/advance/", lambda route: held.append(route))
    page.keyboard.press(" ")
    eventually(lambda: page.evaluate("0") == 0 and held and page.locator("#running").is_visible())
    held.pop().continue_()
    page.unroute("**/do/advance/")
    eventually(lambda: not page.locator("#running").is_visible())
    page.keyboard.press(" ")


def test_play_in_the_past_leads_to_the_present(page: Page, eventually: Eventually) -> None:
    open_example(page)
    press(page, eventually, "n")
    past = "() => document.getElementById('panel-timeline').dataset.now"
    page.keyboard.press("Home")
    eventually(lambda: page.evaluate(past))
    page.keyboard.press(" ")
    eventually(lambda: not page.evaluate(past))
    page.keyboard.press(" ")


def test_notices_do_not_cover_one_another(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    page.evaluate("""() => {
        for (const id of ['running', 'lost']) document.getElementById(id).hidden = false;
        document.getElementById('notice').replaceChildren(document.getElementById('no-answer').content.cloneNode(true));
    }""")
    for selector in ("#running", "#lost", "#notice > .toast", "#stop", "#notice [data-do=dismiss]"):
        assert readable(page, selector), selector


@pytest.mark.parametrize("how", FAILS)
@pytest.mark.parametrize("what", ["find", "export", "branches", "faults"])
def test_a_failure_in_a_dialog_shows_where_it_can_be_dismissed(
    page: Page, eventually: Eventually, what: str, how: str
) -> None:
    opened(page, eventually)
    page.route(re.compile(rf"/{what}/"), FAILS[how])
    page.locator({"faults": "#break"}.get(what, f"#{what}")).click()
    toast = "dialog:modal .toast"
    eventually(lambda: page.locator(toast).count() == 1 and SAYS[how] in text(page, toast))
    assert readable(page, toast)
    page.locator(f"{toast} [data-do=dismiss]").click()
    assert page.locator(toast).count() == 0
    page.keyboard.press("Escape")
    eventually(lambda: page.locator("body > #notices, main ~ #notices").count() == 1)


def test_a_copy_that_fails_says_so(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    page.locator("#export").click()
    page.locator("#export-copy").wait_for()
    page.route(re.compile("/export/"), FAILS["no answer"])
    page.locator("#export-copy").click()
    eventually(lambda: NO_ANSWER in notice(page))
    assert readable(page, "#notice .toast")


def test_esc_that_ends_a_composition_closes_nothing(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    composing = """selector => document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown',
        {key: 'Escape', isComposing: true, bubbles: true, cancelable: true}))"""
    node_form(page)
    page.evaluate(composing, "#form-node [name=name]")
    assert page.locator("#drawer").is_visible()
    page.keyboard.press("Escape")
    page.locator('[id="n:n1"]').click()
    eventually(lambda: page.locator("#insp-labels").is_visible())
    page.locator("#insp-labels").click()
    page.evaluate(composing, "#label-key")
    page.locator("#label-key").fill("a")
    assert text(page, "#panel-inspector h3") == "n1"
    assert "node=n1" in page.evaluate("new Promise(done => setTimeout(() => done(location.search), 400))")


def test_a_notice_appears_when_others_go_back_past_the_moment_in_view(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    page = new_page()
    open_example(page)
    press(page, eventually, "n", "s", "s", "s")
    page.keyboard.press("ArrowLeft")
    past = "() => document.getElementById('panel-timeline').dataset.now"
    eventually(lambda: page.evaluate(past))
    other = new_page()
    other.goto(page.url.partition("?")[0])
    connected(other)
    for _ in range(3):
        post(other, "do/back/", who="Ana")
    eventually(lambda: not page.evaluate(past))
    eventually(lambda: "Somebody else went back past the moment you were looking at" in notice(page))


def test_a_refused_number_of_replicas_is_tied_to_its_field(page: Page, eventually: Eventually) -> None:
    opened(page, eventually)
    page.locator("#tab-workloads").click()
    field = page.locator('[id="w-n:Deployment:default/web"]')
    field.fill("-1")
    field.press("Enter")
    eventually(lambda: field.get_attribute("aria-invalid") == "true")
    said = page.locator(f'[id="{field.get_attribute("aria-describedby")}"]')
    assert said.inner_text().strip() == "Invalid value: -1: must be greater than or equal to 0"
    field.fill("2")
    field.press("Enter")
    eventually(lambda: head(page) == 2 and field.get_attribute("aria-invalid") == "false")
