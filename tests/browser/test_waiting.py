"""Answers that take seconds: their progress, and a worker that is free as soon as somebody stops or leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import APIResponse, Page

from sandbox.words.say import say
from scheduler_engine.testing import make_node, make_pod
from tests.browser.workbench import Eventually, apply, new_sandbox, post, text
from tests.engine.controllers import deployment

TRIES = 3


def slow(page: Page) -> str:
    """Create a sandbox whose room takes 2 seconds to count, and its nodes 4 more. Return its address."""
    page.goto(new_sandbox(page))
    apply(page, *(make_node(f"n{number}").capacity(cpu="4", pods="110").obj() for number in range(120)))
    apply(page, *(deployment(f"d{number}", 2, cpu="1m") for number in range(150)))
    post(page, "do/settle/")
    return page.url.partition("?")[0]


def so_far(page: Page, base: str) -> APIResponse:
    """Ask the pool for the progress."""
    return page.request.get(f"{base}headroom/?part=so-far")


def wait_for_progress(page: Page, base: str, eventually: Eventually) -> None:
    page.goto(f"{base}headroom/")
    eventually(lambda: "of 150 workloads counted" in text(page, "#so-far"))
    assert so_far(page, base).status == 200


def is_free(page: Page, base: str) -> bool:
    """Return True if the sandbox answers. A request waits 4 seconds for its turn, and then is refused.

    A busy machine may need more than one.
    """
    return any(page.request.get(f"{base}panel/status/").ok for _ in range(TRIES))


def test_an_answer_shows_its_progress_and_its_button_frees_the_worker(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("htmx:(afterRequest|sendAbort)")
    base = slow(page)
    wait_for_progress(page, base, eventually)
    page.locator("#found tbody tr").first.wait_for()
    page.locator("#stop").click()
    page.locator("#stopped").wait_for()
    assert is_free(page, base)
    assert so_far(page, base).status == 204
    assert page.locator("#so-far").count() == 0
    assert page.locator("#found tbody tr").count() > 0
    page.get_by_role("link", name=say("progress.start-again")).click()
    page.locator("#asking").wait_for()
    page.goto("/")


def wait_for_turn(page: Page, first: Page, base: str, eventually: Eventually) -> None:
    """Ask for an answer while ``first`` gets another one. On a busy machine that one may end before."""
    turn, verdict = page.get_by_text(say("progress.turn")), page.locator("#verdict")
    for _ in range(TRIES):
        wait_for_progress(first, base, eventually)
        page.goto(f"{base}leave/?node=n1")
        turn.or_(verdict).first.wait_for()
        if not verdict.count():
            return
    raise AssertionError("the other answer always ended too early")


def test_another_answer_waits_until_the_sandbox_is_free_unless_it_is_stopped(
    page: Page, new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("htmx:(afterRequest|sendAbort)")
    base = slow(page)
    first, other = page, new_page()
    wait_for_turn(other, first, base, eventually)
    first.goto("/")
    other.locator("#verdict").wait_for()
    wait_for_turn(other, first, base, eventually)
    other.locator("#stop").click()
    other.locator("#stopped").wait_for()
    first.goto("/")
    eventually(lambda: is_free(other, base))
    assert (other.locator("#stopped").count(), other.locator("#asking, #verdict").count()) == (1, 0)


def test_whoever_leaves_an_answer_frees_the_worker(
    page: Page, new_page: Callable[..., Page], eventually: Eventually
) -> None:
    base = slow(page)
    for leave in (lambda: page.goto("/"), page.close):
        wait_for_progress(page, base, eventually)
        beside = new_page()
        leave()
        assert is_free(beside, base)
        assert so_far(beside, base).status == 204


def test_a_quick_answer_takes_the_place_of_the_page_that_waits(page: Page) -> None:
    page.goto(new_sandbox(page))
    apply(page, make_node("n1").capacity(cpu="2", pods="9").obj(), make_pod("web").cpu("3").obj())
    base = page.url.partition("?")[0]
    page.goto(f"{base}fixes/?pod=default%2Fweb")
    page.locator("#fix-1").wait_for()
    assert page.locator("#asking").count() == 0
    assert page.title() == f"default/web: {say('fixes.heading')} – Scheduler Sandbox"
    page.goto(f"{base}differences/?seeds=10")
    page.locator("#figures").wait_for()


def test_without_scripts_the_whole_page_comes(new_page: Callable[..., Page]) -> None:
    page: Any = new_page(java_script_enabled=False)
    page.goto(new_sandbox(page))
    apply(page, make_node("n1").capacity(cpu="2", pods="9").obj(), make_pod("web").cpu("3").obj())
    page.goto(f"{page.url.partition('?')[0]}fixes/?pod=default%2Fweb")
    page.locator("#fix-1").wait_for()
    assert "part=whole" in page.url


def test_a_server_that_does_not_answer_is_reported(page: Page, allowed_console_errors: list[str]) -> None:
    allowed_console_errors += ["ERR_FAILED", "htmx:"]
    page.goto(new_sandbox(page))
    page.route("**/headroom/?*part=answer", lambda route: route.abort())
    page.goto(f"{page.url.partition('?')[0]}headroom/")
    page.get_by_text(say("progress.lost")).wait_for()
    page.unroute("**/headroom/?*part=answer")
    page.route("**/nothing", lambda route: route.abort())
    page.get_by_role("link", name=say("progress.start-again")).click()
    page.locator("#verdict").wait_for()


def test_a_row_of_a_long_answer_is_found_by_its_words(page: Page, eventually: Eventually) -> None:
    page.goto(new_sandbox(page))
    pods = [make_pod(f"p{number}").node("n1").obj() for number in range(90)]
    apply(page, make_node("n1").capacity(cpu="4", pods="110").obj(), make_node("n2").obj(), *pods)
    page.goto(f"{page.url.partition('?')[0]}leave/?node=n1#pods")
    rows, field, status = page.locator("#pods li:visible"), page.locator("#pods-find"), "#pods [role=status]"
    eventually(lambda: rows.count() == 90)
    eventually(lambda: abs(page.locator("#pods").evaluate("part => part.getBoundingClientRect().top")) < 100)
    assert page.locator("#displaced-find").count() == 0
    field.fill("LOST p77")
    eventually(lambda: rows.count() == 1)
    assert "p77" in rows.inner_text()
    assert text(page, status) == "1 of 90"
    field.fill("nothing")
    eventually(lambda: text(page, status) == say("script.no-rows"))
    field.fill("")
    eventually(lambda: rows.count() == 90)
