"""A refusal on a page of a room shows in the form that was sent, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route

from tests.browser.test_room_layout import stand_in
from tests.browser.test_workshop import open_room
from tests.browser.workbench import Eventually

Open = Callable[..., Page]

FORMS = {
    "trainer": {
        "freeze/", "eyes/", "close/", "timer/", "send/", "step/", "predict/", "planned/", "ask/", "end/", "reveal/",
        "put-away/", "rename/", "remove/", "lessons/", "inquiries/", "answered/", "hide/",
        "assistants/", "revoke/", "lower-hand/",
    },
    "assistant": {"answered/", "lower-hand/"},
    "trainer of a closed room": {"delete/"},
    "participant": {"hand/", "help/", "leave/", "answer/", "inquire/", "vote/", "notes/"},
    "participant without a sandbox": {"take/", "hand/", "help/", "leave/", "answer/", "inquire/", "vote/", "notes/"},
    "beamer": set(),
    "doors": {"/workshop/open/", "/join/"},
    "door": {"/join/"},
}  # fmt: skip
"""The forms on each page of a room."""
OF_THEIR_OWN = {"answer/"}
"""Forms sent by a script that saves what it cannot send."""
SAID = (
    '<div class="toast" data-notice><div><p>Refused with {0}.</p><ul><li data-field="ask"><span class="path">'
    '<b>ask</b>: </span>Enter a question.</li></ul></div><button type="button" data-do="dismiss">x</button></div>'
)
STATUSES = (403, 404, 409, 413, 422, 429, 500, 507)


def answers(status: int, body: str) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, body=body)


ANSWERS: dict[str, tuple[Callable[[Route], None], str]] = {
    **{str(status): (answers(status, SAID.format(status)), f"Refused with {status}.") for status in STATUSES},
    "a proxy's own page": (
        answers(502, "<html><body>Bad Gateway</body></html>"),
        "The server did not answer (502), so your last click may be lost.",
    ),
    "a link that was revoked": (
        answers(404, "<html><body>Not Found</body></html>"),
        "This no longer exists, or the link to it no longer works. Nothing was changed.",
    ),
    "a proxy's refusal": (
        answers(418, "<html><body>Too much</body></html>"),
        "The server could not do this (418). Nothing was changed; try again.",
    ),
    "server down": (lambda route: route.abort(), "The server did not answer"),
}
"""A server's refusals, and the messages they give."""
SENT = """() => [...new Set([...document.querySelectorAll('form, [hx-post]')]
  .map((element) => element.getAttribute('hx-post') ?? element.getAttribute('action'))
  .filter((path) => path))]"""
PRESS = """async ({ own, first }) => {
  window.confirm = () => true;
  const later = () => new Promise((done) => setTimeout(done, 15));
  const typed = () => JSON.stringify([...document.forms].map((form) => [...new FormData(form)]));
  const places = [];
  const file = new DataTransfer();
  file.items.add(new File(['x'], 'x.yaml'));
  for (const field of document.querySelectorAll('input:required')) {
    if (field.type === 'file') field.files = file.files;
    else field.value ||= 'x';
  }
  for (const element of document.querySelectorAll('[hx-post], [hx-get]')) {
    const path = element.getAttribute('hx-post') ?? element.getAttribute('hx-get');
    if (own.includes(path)) continue;
    const form = element.closest('form');
    const buttons = element === form ? [...form.querySelectorAll('button:not([type="button"])')] : [element];
    const place = form?.querySelector('[data-refusal]');
    for (const button of first ? buttons.slice(0, 1) : buttons) {
      const before = typed();
      if (element === form) htmx.trigger(form, 'submit', { submitter: button });
      else button.click();
      for (let tries = 0; tries < 4000 && !place?.textContent; tries += 1) await later();
      const alert = place?.getAttribute('role') === 'alert';
      places.push([path, (place?.textContent ?? '').replace(/\\s+/g, ' ').trim(), alert, typed() === before]);
      place?.replaceChildren();
    }
  }
  return places;
}"""


def check(page: Page, name: str) -> list[str]:
    """Press every button of the page under each server answer. Return the failures."""
    sent = set(page.evaluate(SENT))
    assert sent == FORMS[name], f"{name}: a form is not in the table, or is gone: {sent ^ FORMS[name]}"
    results = []
    for kind, (answer, said) in ANSWERS.items():
        page.route("**/*", refuses(answer))
        for path, text, alert, kept in page.evaluate(PRESS, {"own": sorted(OF_THEIR_OWN), "first": kind != "422"}):
            if said not in text or not alert or not kept:
                results.append(f"{name}, {path}, {kind}: said {text!r}, as an alert {alert}, text kept {kept}")
        page.unroute("**/*")
    return results


def refuses(answer: Callable[[Route], None]) -> Callable[[Route], None]:
    """Return a handler that gives this answer to every form the page sends."""
    return lambda route: answer(route) if route.request.headers.get("hx-request") else route.fallback()


PLAN = """apiVersion: scheduler-sandbox/v1
kind: Workshop
title: Planned
begin: {scenario: node-selector}
plan:
- {ask: "Which queue?", choices: [activeQ, backoffQ]}
"""
EXPECTED_ERRORS = ["Failed to load resource", "Response Status Error Code", "htmx:sendError", "htmx:afterRequest"]


def test_every_form_of_a_room_shows_its_own_refusals(
    new_page: Open, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.extend(EXPECTED_ERRORS)
    trainer, person, beamer = new_page(), new_page(), new_page()
    for page in (trainer, person, beamer):
        page.route("**/s/**", stand_in)
    trainer.goto("/workshop/")
    problems = check(trainer, "doors")
    trainer.get_by_text("Use your own file").click()
    trainer.locator("[name=text]").fill(PLAN)
    trainer.get_by_role("button", name="Open the room").click()
    code = trainer.locator(".room-in .room-code").inner_text()
    beamer.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))
    problems += check(beamer, "beamer")
    person.goto(f"/join/{code}/")
    problems += check(person, "door")
    person.locator("[name=name]").fill("Ada")
    person.route("**/take/", lambda route: route.fulfill(status=429, body=SAID.format(429)))
    person.get_by_role("button", name="Join").click()
    person.locator("#desk", has_text="Refused with 429.").get_by_role("button", name="Try again").wait_for()
    trainer.request.post(f"{trainer.url}ask/", form={"ask": "Which queue?", "choices": "a\nb"})
    other = trainer.request.post("/api/v1/rooms/join", data={"code": code, "name": "Ben"}).json()["page"]
    trainer.request.post(f"{other}inquire/", form={"text": "Why?"})
    trainer.request.post(f"{other}hand/", form={"on": "1"})
    trainer.request.post(f"{trainer.url}assistants/")
    for page in (trainer, person):
        page.locator("#asked form").wait_for()
        page.locator("#inquiries li").wait_for(state="attached")
    problems += check(person, "participant without a sandbox")
    person.unroute("**/take/")
    person.locator("[data-takes] button").evaluate("button => button.click()")
    person.locator("iframe[title='Your sandbox']").wait_for()
    problems += check(person, "participant")
    trainer.locator("[name=ask]").evaluate("field => { field.value = 'Half a question' }")
    trainer.locator("[name=choices]").evaluate("field => { field.value = '*one' }")
    problems += check(trainer, "trainer")
    person.goto(str(trainer.locator("#assistants a").get_attribute("href")))
    problems += check(person, "assistant")
    trainer.request.post(f"{trainer.url}close/")
    trainer.get_by_role("button", name="Delete the room").wait_for()
    left = set(trainer.evaluate(SENT))
    assert left - FORMS["trainer"] == FORMS["trainer of a closed room"]
    assert not problems, "\n".join(problems)


def test_a_refusal_stays_until_the_form_is_sent_again_or_edited(
    new_page: Open, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.extend(EXPECTED_ERRORS)
    trainer, late = new_page(), new_page()
    for page in (trainer, late):
        page.route("**/s/**", stand_in)
    code = open_room(trainer, "three-zones-one-gpu-pool")
    join(trainer, code, "Ada")
    join(trainer, code, "Ben")

    # A question with one choice: refused in its form, next to its field. The board changes; the message stays.
    trainer.get_by_text("Your own question").click()
    ask, choices = trainer.locator("[name=ask]"), trainer.locator("[name=choices]")
    form = trainer.locator("form[hx-post='ask/']")
    ask.fill("Which queue?")
    choices.fill("*activeQ")
    form.get_by_role("button", name="Ask").click()
    refused = form.locator("[data-refusal]")
    form.get_by_role("alert").get_by_text("Enter two different answers").wait_for()
    said = refused.get_attribute("id")
    assert choices.get_attribute("aria-describedby") == said
    assert choices.get_attribute("aria-invalid") == "true"
    assert ask.get_attribute("aria-invalid") is None

    # A taken name, in its dialog.
    eventually(lambda: trainer.locator("#board tbody tr").count() == 2)
    trainer.get_by_role("button", name="Ben").click()
    trainer.locator("#person [name=name]").fill("Ada")
    trainer.get_by_role("button", name="Rename").click()
    taken = trainer.locator("form[hx-post='rename/'] [data-refusal]")
    eventually(lambda: "Ada" in str(taken.text_content()))
    assert trainer.locator("#person [name=name]").input_value() == "Ada"
    join(trainer, code, "Carl")
    eventually(lambda: trainer.locator("#board tbody tr").count() == 3)
    assert "Ada" in str(taken.text_content())
    assert "Enter two different answers" in str(refused.text_content())
    trainer.locator("#person [name=name]").fill("Benedict")
    assert str(taken.text_content()) == ""
    trainer.get_by_role("button", name="Rename").click()
    eventually(lambda: "Benedict" in trainer.locator("#board").inner_text())
    assert not trainer.locator("#person").is_visible()

    # After an edit the refusal is gone; after sending, the form is empty again.
    assert (ask.input_value(), choices.input_value()) == ("Which queue?", "*activeQ")
    choices.fill("*activeQ\nbackoffQ")
    assert str(refused.text_content()) == ""
    assert choices.get_attribute("aria-invalid") is None
    form.get_by_role("button", name="Ask").click()
    eventually(lambda: "Which queue?" in trainer.locator("#asked").inner_text())
    eventually(lambda: ask.input_value() == "")

    # A prediction: Reveal says what it waits for, and is enabled as soon as that has come.
    trainer.get_by_role("button", name="Which node wins").click()
    trainer.locator("#asked", has_text="Reveal waits for your sandbox. Step it until payments-1").wait_for()
    reveal = trainer.get_by_role("button", name="Reveal")
    assert reveal.is_disabled()
    own = str(trainer.locator("#pane-own iframe").get_attribute("src"))
    assert trainer.request.post(f"{own}do/pod/").ok
    eventually(reveal.is_enabled)
    assert "waits" not in trainer.locator("#asked").inner_text()
    reveal.click()
    eventually(lambda: "✓" in trainer.locator("#asked").inner_text())

    # A removed participant keeps the links.
    late.goto(f"/join/{code}/")
    late.locator("[name=name]").fill("Late")
    late.get_by_role("button", name="Join").click()
    late.locator("iframe[title='Your sandbox']").wait_for()
    trainer.get_by_role("button", name="Late").click()
    trainer.get_by_role("button", name="Remove from room").click()
    late.get_by_text("You are no longer in this room").wait_for()
    assert "removed you" in late.locator("#room").inner_text()
    assert "deleted" not in late.locator("#room").inner_text()
    assert "/s/" in str(late.locator("#kept a").get_attribute("href"))
    late.get_by_role("link", name="Join a room").click()
    late.wait_for_url("**/join/")


def join(page: Page, code: str, name: str) -> None:
    """Join as a participant without a browser."""
    answer: Any = page.request.post("/join/", form={"code": code, "name": name}, max_redirects=0)
    assert answer.status == 302
