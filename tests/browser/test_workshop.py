"""A workshop in real browsers: a trainer, the projector view, and people on a laptop, on a phone, in a frame of another
site, and on an interrupted line.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, WebSocketRoute

from tests.browser.axe import PHONE, violations
from tests.browser.conftest import Server
from tests.browser.workbench import Eventually

CUT_SECONDS = 10
ALLOWED = "http://localhost"


class Frame(BaseHTTPRequestHandler):
    """A page of another site. The requested path is the address it shows in a frame."""

    def __init__(self, site: str, *args: object) -> None:
        self.site = site
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        frame = f'<iframe src="{self.site}{self.path}" width=1200 height=800></iframe>'
        body = f"<!doctype html><title>Training</title>{frame}"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def framed(own_server: Server) -> Iterator[str]:
    """Return the address of another site that the server allows to frame it."""
    other = ThreadingHTTPServer(("127.0.0.1", 0), partial(Frame, own_server.url))
    address = f"{ALLOWED}:{other.server_port}"
    own_server.kill()
    own_server.env["FRAME_ANCESTORS"] = f"'self' {address}"
    own_server.start()
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    yield address
    other.shutdown()
    thread.join()
    other.server_close()


def open_room(page: Page, scenario: str = "three-zones-one-gpu-pool") -> str:
    """Open a room by its form. Return its code."""
    page.goto("/workshop/")
    page.locator("[name=scenario]").select_option(scenario)
    page.get_by_role("button", name="Open the room").click()
    page.locator("#board").wait_for()
    return page.locator(".room-in .room-code").inner_text()


def join(page: Page | FrameLocator, code: str, name: str) -> None:
    page.locator("[name=code]").fill(code.lower())
    page.get_by_role("button", name="Continue").click()
    page.locator("[name=name]").fill(name)
    page.get_by_role("button", name="Join").click()
    workbench(page).locator("#do-stage").wait_for()


def ask(trainer: Page, question: str, choices: str) -> None:
    """Ask a question of the trainer's own."""
    if not trainer.locator("[name=ask]").is_visible():
        trainer.get_by_text("Your own question").click()
    trainer.locator("[name=ask]").fill(question)
    trainer.locator("[name=choices]").fill(choices)
    trainer.get_by_role("button", name="Ask", exact=True).click()


def workbench(page: Page | FrameLocator) -> FrameLocator:
    return page.frame_locator("iframe[title='Your sandbox']")


def looks_inactive(button: Locator) -> bool:
    cursor, background = button.evaluate("b => ['cursor', 'backgroundColor'].map(name => getComputedStyle(b)[name])")
    return (cursor, background) == ("not-allowed", "rgba(0, 0, 0, 0)")


def row(board: Page, name: str) -> str:
    return " ".join(board.locator("#board tr", has_text=name).inner_text().split())


def test_a_workshop_from_the_code_to_the_results(
    own_server: Server,
    framed: str,
    new_page: Callable[..., Page],
    eventually: Eventually,
    tmp_path: Path,
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors.append("Blocked autofocusing on a <input> element in a cross-origin subframe")
    page = partial(new_page, base_url=own_server.url)
    trainer, laptop, phone, beamer = page(), page(), page(viewport=PHONE), page()
    code = open_room(trainer)
    beamer.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))

    # Four people join: on a laptop, on a phone, in a frame of another site, and on a line that will be cut.
    for each, name in ((laptop, "Ada"), (phone, "Phoebe")):
        each.goto("/join/")
        join(each, code, name)
    outside = page()
    outside.context.new_cdp_session(outside).send(
        "Network.setCookieControls",
        {
            "enableThirdPartyCookieRestriction": True,
            "disableThirdPartyCookieMetadata": True,
            "disableThirdPartyCookieHeuristics": True,
        },
    )
    outside.goto(f"{framed}/join/")
    inside = outside.frame_locator("iframe").first
    join(inside, code, "Iris")
    cut, lines = page(), Lines()
    cut.route_web_socket("**/ws/**", lines.route)
    cut.goto("/join/")
    join(cut, code, "Carl")
    eventually(lambda: "4 in the room" in trainer.locator("#board h2").inner_text())
    eventually(lambda: "4 in the room" in beamer.locator("#corner").inner_text())

    # A participant's action is on the board.
    workbench(laptop).locator("#do-pod").click()
    eventually(lambda: "next pod" in row(trainer, "Ada"))

    # A question, its distribution on the projector view, and the engine's reveal.
    trainer.get_by_role("button", name="Which node wins").click()
    for each, choice in ((laptop, "node-b3"), (phone, "no node"), (inside, "no node"), (cut, "node-a1")):
        each.locator("#asked").get_by_label(choice, exact=True).check()
        each.locator("#asked").get_by_role("button", name="Answer").click()
        each.locator("#asked [role=status]").wait_for()
    eventually(lambda: "4 of 4 have answered" in beamer.locator("#asked").inner_text())
    assert beamer.locator("#asked meter").count() > 2
    trainer.get_by_role("tab", name="Your sandbox").click()
    workbench(trainer).locator("#do-pod").click()
    eventually(lambda: "PostFilter" in workbench(trainer).locator("#panel-sentence").inner_text())
    trainer.get_by_role("tab", name="Everyone").click()
    trainer.get_by_role("button", name="Reveal").click()
    eventually(lambda: "You were right" in phone.locator("#asked").inner_text())
    eventually(lambda: "Not quite" in laptop.locator("#asked").inner_text())
    trainer.get_by_role("button", name="Hide question").click()
    laptop.locator("#asked-box").wait_for(state="detached")

    # One line is cut while the room continues.
    lines.cut()
    cut.locator("#lost").wait_for()

    # Eyes here, then back to one's own sandbox.
    laptop.locator("iframe[title='Your sandbox']").evaluate("frame => { frame.contentWindow.typed = 'here'; }")
    trainer.get_by_role("button", name="Eyes here").click()
    shown = laptop.frame_locator("iframe[title='The trainer’s sandbox']")
    eventually(lambda: "payments-1" in shown.locator("#panel-sentence").inner_text())
    assert not laptop.locator("iframe[title='Your sandbox']").is_visible()
    trainer.get_by_role("button", name="Show own sandboxes").click()
    laptop.locator("iframe[title='Your sandbox']").wait_for()
    own = laptop.locator("iframe[title='Your sandbox']")
    assert own.evaluate("frame => frame.contentWindow.typed") == "here", "typed text is lost"
    assert "payments-1" in workbench(laptop).locator("#panel-sentence").inner_text()

    # In a frozen room only the trainer changes anything.
    trainer.get_by_role("button", name="Pause").click()
    phone.get_by_text("has paused the room").wait_for()
    assert phone.locator("iframe[title='Your sandbox']").get_attribute("inert") is not None
    # Its buttons do nothing, and look so.
    eventually(lambda: looks_inactive(workbench(phone).locator("#do-stage")))
    trainer.get_by_role("button", name="Resume").click()
    phone.get_by_text("has paused the room").wait_for(state="detached")
    eventually(lambda: not looks_inactive(workbench(phone).locator("#do-stage")))

    # Help, with permission to change something.
    phone.get_by_text("More", exact=True).click()
    phone.get_by_role("button", name="Let the trainer help").click()
    with trainer.context.expect_page() as opened:
        trainer.get_by_role("link", name="Help").click()
    opened.value.wait_for_load_state()  # As goto waits: before its scripts have run, a click does nothing.
    opened.value.locator("#do-stage").click()
    eventually(lambda: "Pop" in workbench(phone).locator("#panel-sentence").inner_text())
    assert "nothing yet" in row(trainer, "Phoebe"), "a helper's steps do not count as theirs"
    opened.value.close()

    # The cut line reconnects and shows what has happened meanwhile.
    cut.wait_for_timeout(CUT_SECONDS * 1000)
    lines.mend()
    cut.locator("#lost").wait_for(state="hidden")

    # A step is sent to all, and their own work stays.
    trainer.get_by_role("button", name="Send to all").click()
    for each in (laptop, phone, inside, cut):
        each.locator("#strip", has_text="The trainer sent you").wait_for()
        eventually(lambda each=each: "payments-1" in workbench(each).locator("#panel-sentence").inner_text())
    laptop.get_by_text("More", exact=True).click()
    assert laptop.locator(".strip-own li").count() == 2

    # The results, and the end.
    with trainer.expect_download() as saved:
        trainer.get_by_role("link", name="Results (CSV)").click()
    saved.value.save_as(tmp_path / "results.csv")
    text = (tmp_path / "results.csv").read_text(encoding="utf-8")
    answers = {line["participant"]: line for line in csv.DictReader(text.splitlines()) if line["question"]}
    assert {name: line["right"] for name, line in answers.items()} == {
        "Ada": "no",
        "Phoebe": "yes",
        "Iris": "yes",
        "Carl": "no",
    }
    trainer.once("dialog", lambda dialog: dialog.accept())
    trainer.get_by_role("button", name="Close the room").click()
    laptop.get_by_text("The room is closed").wait_for()
    workbench(laptop).locator("#do-stage").click()


class Lines:
    """The live lines of a page, which a test can cut and mend."""

    def __init__(self) -> None:
        self.open: list[WebSocketRoute] = []
        self.works = True

    def route(self, line: WebSocketRoute) -> None:
        if self.works:
            line.connect_to_server()
            self.open.append(line)
        else:
            line.close(code=1011)

    def cut(self) -> None:
        self.works = False
        for line in self.open:
            line.close(code=1011)
        self.open.clear()

    def mend(self) -> None:
        self.works = True


def test_everybody_can_use_a_room_on_a_phone(new_page: Callable[..., Page], eventually: Eventually) -> None:
    trainer, person = (new_page(viewport=PHONE, color_scheme="light", bypass_csp=True) for _ in range(2))
    code = open_room(trainer, "node-selector")
    person.goto("/join/")
    problems = {"join": violations(person)}
    join(person, code, "Somebody with a rather long name to show")
    trainer.get_by_role("tab", name="Actions").click()
    trainer.get_by_text("Your own question").click()
    trainer.locator("[name=ask]").fill("Which queue?")
    trainer.locator("[name=choices]").fill("*activeQ\nbackoffQ")
    trainer.get_by_role("button", name="Ask", exact=True).click()
    person.locator("#asked form").wait_for()
    problems["actions"] = violations(trainer, "#pane-do")
    trainer.get_by_role("tab", name="Everyone").click()
    problems["asked"] = violations(person, "#strip") + violations(person, "#asked")
    trainer.get_by_role("button", name="Reveal").click()
    eventually(lambda: person.locator("#asked meter").count() == 2)
    eventually(lambda: "long name" in trainer.locator("#board").inner_text())
    person.locator("#asked-box summary").click()
    person.locator("#asked meter").first.wait_for()
    problems["answered"] = violations(person, "#asked")
    problems["board"] = violations(trainer, "#pane-board")
    assert not any(problems.values()), {place: bad for place, bad in problems.items() if bad}
    for each in (trainer, person):
        assert each.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


PLAN = """kind: Workshop
title: Planned
begin: {scenario: node-selector}
plan:
- {ask: "First?", choices: [a, b], minutes: 5}
- {ask: "Second?", choices: [a, b], minutes: 5}
- {title: Break, minutes: 10}
"""


def test_next_runs_the_plan_row_by_row_on_all_pages(new_page: Callable[..., Page], eventually: Eventually) -> None:
    trainer, second = new_page(), new_page()
    trainer.goto("/workshop/")
    trainer.get_by_text("Use your own file").click()
    trainer.locator("[name=text]").fill(PLAN)
    trainer.get_by_role("button", name="Open the room").click()
    trainer.get_by_role("button", name="Next: Ask “First?”").wait_for()
    second.goto(trainer.url)
    trainer.evaluate("performance.now = () => 0")  # Every second click is the second half of a slow double click.
    trainer.get_by_role("button", name="Next: Ask “First?”").dblclick()
    for page in (trainer, second):
        page.get_by_role("button", name="Next: Ask “Second?”").wait_for()
    assert trainer.locator("#asked").inner_text().count("Question 1") == 1
    trainer.locator("#plan-next button").click()
    second.get_by_role("button", name="Go: Start a timer of 10 min").click()
    for page in (trainer, second):
        page.get_by_text("The plan has no more rows.").wait_for()
        page.locator("#controls .timer").wait_for()
        assert "Break" in page.locator("#plan [aria-current=step]").inner_text()
        assert page.locator(".plan-due").inner_text().endswith("left by the plan")
        eventually(lambda page=page: not page.locator("#asked").is_visible())
    second.get_by_role("button", name="Again: Ask “First?”").click()
    eventually(lambda: trainer.locator("#asked").is_visible())
    assert "Question 2" in trainer.locator("#asked").inner_text()


def test_people_ask_vote_and_answer_freely(new_page: Callable[..., Page], eventually: Eventually) -> None:
    trainer, ada, ben, wall = (new_page() for _ in range(4))
    code = open_room(trainer, "node-selector")
    wall.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))
    for person, name in ((ada, "Ada"), (ben, "Ben")):
        person.goto("/join/")
        join(person, code, name)
        person.locator("#inquiries summary").click()
    ada.get_by_label("Your question").fill("Why there?")
    ada.get_by_role("button", name="Ask the trainer").click()
    ben.get_by_label("Your question").fill("Half a que")
    ben.get_by_role("button", name="Vote for Why there?").click()
    ben.get_by_role("button", name="Take back your vote for Why there?").wait_for()
    eventually(lambda: "1 vote" in trainer.locator("#inquiries li").inner_text())
    assert ben.get_by_label("Your question").input_value() == "Half a que"
    assert ada.get_by_label("Your question").input_value() == ""
    trainer.get_by_role("button", name="Show on projector").click()
    wall.locator("#inquiries").get_by_text("Why there?").wait_for()
    trainer.get_by_text("Your own question").click()
    trainer.locator("[name=ask]").fill("What did you expect?")
    trainer.locator("form:has([name=ask]) button").click()
    wall.locator("#asked").get_by_text("What did you expect?").wait_for()
    eventually(lambda: not wall.locator("#inquiries").is_visible())
    ben.locator("#asked-box summary").get_by_text("What did you expect?").click()  # His own question stayed open.
    ben.get_by_label("Your answer").fill("Half an ans")
    ada.get_by_label("Your answer").fill("node-1")
    ada.locator("#asked").get_by_role("button", name="Answer").click()
    ada.locator("#asked").get_by_text("Answered: node-1").wait_for()
    trainer.get_by_role("button", name="Show node-1").click()
    wall.locator("#asked .bars-q").get_by_text("node-1").wait_for()
    assert ben.get_by_label("Your answer").input_value() == "Half an ans"
    assert ben.get_by_label("Your question").input_value() == "Half a que"
    trainer.get_by_role("button", name="Hide question").click()
    trainer.get_by_role("button", name="Mark Why there? as answered").click()
    trainer.get_by_text("Answered: 1").wait_for()
    eventually(lambda: not wall.locator("#inquiries").is_visible())
