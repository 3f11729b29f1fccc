"""Sandboxes embedded in pages of another origin: display, steps, messages, and what such pages may not do."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from sandbox.content.scenarios import scenarios
from tests.browser.axe import violations
from tests.browser.conftest import Server
from tests.browser.workbench import Eventually, head, new_sandbox, open_example

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "embedding"
SLUG = next(iter(scenarios()))
LISTENS = """<script>
window.messages = [];
addEventListener('message', ({data, origin}) => {
  if (data && data.source === 'scheduler-sandbox') messages.push({...data, origin});
});
function say(message) { frames[0].postMessage({source: 'scheduler-sandbox', version: 1, ...message}, '*'); }
</script>"""


class Elsewhere:
    """Pages of another origin: path → HTML."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        pages = self.pages

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                html = pages.get(self.path.partition("?")[0])
                self.send_response(404 if html is None else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((html or "").encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Print nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def frame(self, address: str, attributes: str = "", width: int = 800, height: int = 450) -> str:
        """Return the address of a page with one frame."""
        frame = f'<iframe src="{address}" width="{width}" height="{height}" title="embed" {attributes}></iframe>'
        self.pages["/page"] = '<!doctype html><html lang="en"><title>docs</title><link rel="icon" href="data:,">'
        self.pages["/page"] += f"{LISTENS}<body>{frame}</body></html>"
        return f"{self.url}/page"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    site = Elsewhere()
    yield site
    site.http.shutdown()
    site.http.server_close()


@pytest.fixture(scope="module")
def stranger() -> Iterator[Elsewhere]:
    """Serve an origin that the site does not list."""
    site = Elsewhere()
    yield site
    site.http.shutdown()
    site.http.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared: Path, elsewhere: Elsewhere) -> Iterator[Server]:
    """Start the site, which ``elsewhere`` may frame."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FRAME_ANCESTORS", f"'self' {elsewhere.url}")
        server = Server(tmp_path_factory.mktemp("server"), prepared)
    yield server
    server.kill()


def within(page: Page) -> FrameLocator:
    return page.frame_locator("iframe").first


def messages_of(page: Page, kind: str) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = page.evaluate("kind => messages.filter(({type}) => type === kind)", kind)
    return values


def scenario(server: Server, query: str = "") -> str:
    return f"{server.url}/embed/scenario/{SLUG}/?{query}"


def sandbox_of(page: Page) -> str:
    """Create a sandbox. Return its path, with its edit link."""
    open_example(page)
    return page.url.partition("?")[0]


def test_a_foreign_page_shows_a_scenario_and_moves_through_it(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    page.goto(elsewhere.frame(scenario(server, "panels=sentence,map,lanes&at=start&steps=1")))
    frame = within(page)
    expect(frame.locator("#panel-cluster article").first).to_be_visible()
    expect(frame.locator("#panel-queues")).to_be_visible()
    before = frame.locator("#em-at").inner_text()
    frame.get_by_role("button", name="Next").click()
    eventually(lambda: frame.locator("#em-at").inner_text() != before)
    frame.get_by_role("button", name="Back").click()
    eventually(lambda: frame.locator("#em-at").inner_text() == before)
    assert [message["origin"] for message in messages_of(page, "ready")] == [server.url]


def test_an_element_shows_a_figure_that_can_be_dragged(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    element = '<scheduler-sandbox figure="a-pod-that-grows"></scheduler-sandbox>'
    elsewhere.pages["/figure"] = (
        '<!doctype html><html lang="en"><title>docs</title><link rel="icon" href="data:,">'
        f'{LISTENS}<script src="{server.url}/embed.js"></script><body>{element}</body></html>'
    )
    page.goto(f"{elsewhere.url}/figure")
    frame = within(page)
    frame.locator(".fig-k input").first.wait_for()
    assert page.locator("iframe").get_attribute("title") == "Kubernetes scheduler: a pod that grows"
    eventually(lambda: messages_of(page, "resize"))
    assert [message["panels"] for message in messages_of(page, "ready")] == [["figure"]]
    height = messages_of(page, "resize")[-1]["height"]
    eventually(lambda: page.locator("iframe").evaluate("frame => frame.clientHeight") == height)
    assert not frame.locator("html").evaluate("page => page.scrollHeight > page.clientHeight")
    before = frame.locator(".fig-f").inner_text()
    slider = frame.locator(".fig-k input[type=range]").first
    slider.fill(slider.get_attribute("max") or "")
    eventually(lambda: frame.locator(".fig-f").inner_text() != before)


def test_a_page_drives_an_embed_and_gets_its_events(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    page.goto(elsewhere.frame(scenario(server, f"panels=map,matrix&at=start&origin={elsewhere.url}")))
    eventually(lambda: messages_of(page, "facts"))
    first = messages_of(page, "moment")[-1]
    assert any(pod["lane"] == "activeQ" for pod in messages_of(page, "facts")[-1]["facts"]["pods"])
    page.evaluate("say({type: 'step'})")
    eventually(lambda: messages_of(page, "moment")[-1]["place"] == first["place"] + 1)
    page.evaluate("say({type: 'back'})")
    eventually(lambda: messages_of(page, "moment")[-1]["at"] == first["at"])
    page.evaluate("say({type: 'go', at: 'end'})")
    eventually(lambda: messages_of(page, "moment")[-1]["present"])
    assert messages_of(page, "facts")[-1]["facts"]["attempt"]["outcome"]
    page.evaluate("say({type: 'show', node: 'node-b3', panel: 'scores'})")
    expect(within(page).locator("article.node.is-chosen")).to_have_attribute("data-node", "node-b3")
    expect(within(page).locator("#panel-scores")).to_be_visible()
    assert messages_of(page, "resize")[-1]["height"] > 200
    everything = json.dumps(page.evaluate("messages"))
    assert "/s/" not in everything


def test_a_click_means_the_same_as_in_the_workbench(page: Page, server: Server) -> None:
    page.goto(scenario(server, "panels=ribbon,matrix,why,timeline&at=end"))
    opened, scores = page.locator(".tab[aria-selected=true]"), page.locator("#tab-scores")
    page.locator("#cyc-1").click()
    expect(page.locator("#panel-ribbon")).to_have_attribute("data-cycle", "1")
    expect(page.locator("#panel-inspector h3")).to_have_text("payments-1")
    scores.click()
    page.locator("#st-Filter").click()
    expect(page.locator("#st-Filter")).to_have_attribute("aria-current", "step")
    expect(opened).to_have_text("Filter")
    scores.click()
    page.locator("#st-Filter").click()  # the stage in view: the tab follows again
    expect(opened).to_have_text("Filter")
    scores.click()
    page.locator("#why-1").click()
    expect(opened).to_have_text("Filter")
    expect(page.locator("#panel-filter .why")).to_be_visible()


def test_try_it_yourself_continues_live_in_the_frame(page: Page, server: Server, elsewhere: Elsewhere) -> None:
    page.goto(elsewhere.frame(scenario(server, "panels=sentence,map&at=start")))
    within(page).get_by_role("button", name="Try it yourself").click()
    stage = within(page).get_by_role("button", name="Stage")
    expect(stage).to_be_visible()
    stage.click()
    expect(within(page).locator("#panel-sentence")).to_contain_text("at Pop")


def test_a_live_embed_follows_other_peoples_steps(
    new_page: Callable[..., Page], server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    teacher = new_page()
    address = sandbox_of(teacher)
    page = new_page()
    page.goto(elsewhere.frame(f"{address}embed/?panels=sentence&live=1"))
    eventually(lambda: messages_of(page, "ready"))
    teacher.keyboard.press("s")
    expect(within(page).locator("#panel-sentence")).to_contain_text("at Pop")


SANDBOXED = 'sandbox="allow-scripts allow-forms allow-popups"'


def test_a_frame_without_an_origin_works_and_steps_live(
    new_page: Callable[..., Page], server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    page = new_page()
    page.goto(elsewhere.frame(scenario(server, "panels=sentence,map&at=start&steps=1"), SANDBOXED))
    frame = within(page)
    before = frame.locator("#em-at").inner_text()
    frame.get_by_role("button", name="Next").click()
    eventually(lambda: frame.locator("#em-at").inner_text() != before)
    assert messages_of(page, "ready")[-1]["origin"] == "null"
    frame.get_by_role("button", name="Try it yourself").click()
    stage = frame.get_by_role("button", name="Stage")
    expect(stage).to_be_visible()
    stage.click()
    eventually(lambda: " at " in frame.locator("#panel-sentence").inner_text())
    eventually(lambda: page.evaluate("messages.filter(({type}) => type === 'moment').length > 3"))


def test_no_cookie_is_needed_and_none_is_set(
    new_page: Callable[..., Page], server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    page = new_page()
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    line.send(
        "Network.setCookieControls",
        {
            "enableThirdPartyCookieRestriction": True,
            "disableThirdPartyCookieMetadata": False,
            "disableThirdPartyCookieHeuristics": False,
        },
    )
    page.goto(elsewhere.frame(scenario(server, "panels=sentence&at=start")))
    within(page).get_by_role("button", name="Try it yourself").click()
    within(page).get_by_role("button", name="Stage").click()
    expect(within(page).locator("#panel-sentence")).to_contain_text("at Pop")
    assert page.context.cookies() == []


def test_a_page_that_is_not_listed_cannot_frame_it(
    page: Page, server: Server, stranger: Elsewhere, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("frame-ancestors")
    page.goto(stranger.frame(scenario(server)))
    page.wait_for_timeout(1500)
    assert messages_of(page, "ready") == []
    assert within(page).locator("#app").count() == 0


ELEMENT = """<!doctype html><html lang="en"><title>docs</title><link rel="icon" href="data:,">
<body><script src="{url}/embed.js"></script><scheduler-sandbox {what} height="300"></scheduler-sandbox></body></html>"""


def test_an_element_says_in_the_place_of_its_frame_that_the_page_is_not_listed(
    page: Page, server: Server, stranger: Elsewhere, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("frame-ancestors")
    stranger.pages["/element"] = ELEMENT.format(url=server.url, what=f'scenario="{SLUG}"')
    page.goto(f"{stranger.url}/element")
    note = page.locator("scheduler-sandbox p")
    expect(note).to_contain_text(f"{server.url} does not let this page show it.")
    expect(note).to_contain_text(f"{stranger.url} to FRAME_ANCESTORS")
    expect(page.locator("scheduler-sandbox iframe")).to_be_hidden()


def test_an_element_says_that_the_server_does_not_answer(
    page: Page, server: Server, elsewhere: Elsewhere, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("ERR_")
    elsewhere.pages["/element"] = ELEMENT.format(url=server.url, what=f'scenario="{SLUG}"')
    down: list[bool] = []

    def answer(route: Any) -> None:
        if down:
            route.abort("connectionrefused")
        else:
            down.append(True)
            route.continue_()

    page.route(f"{server.url}/**", answer)  # The script comes through, and nothing after it.
    page.goto(f"{elsewhere.url}/element")
    expect(page.locator("scheduler-sandbox p")).to_contain_text("does not answer. Reload this page")


@pytest.mark.parametrize("what", ['scenario="nothing"', 'src="{url}/s/00000000-0000-4000-8000-000000000000/abc/"'])
def test_an_embed_of_nothing_says_so_in_its_frame(
    page: Page, server: Server, elsewhere: Elsewhere, what: str, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("404")
    elsewhere.pages["/element"] = ELEMENT.format(url=server.url, what=what.format(url=server.url))
    page.set_viewport_size({"width": 400, "height": 300})
    page.goto(f"{elsewhere.url}/element")
    expect(within(page).locator("h1")).to_contain_text(
        "There is no scenario" if "scenario" in what else "no longer exists"
    )
    expect(within(page).get_by_text("Check the address")).to_be_visible()
    expect(page.locator("scheduler-sandbox p")).to_have_count(0)


def test_a_live_embed_says_that_its_line_is_cut(page: Page, server: Server) -> None:
    path = sandbox_of(page)
    cut = [True]
    page.route_web_socket("**/ws/**", lambda line: line.close() if cut else line.connect_to_server())
    page.goto(f"{path}embed/?live=1")
    expect(page.locator("#em-note")).to_contain_text("The connection is lost")
    cut.clear()
    expect(page.locator("#em-note")).to_have_text("")


def test_a_hostile_page_gets_no_further_than_its_link(
    new_page: Callable[..., Page], server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    owner = new_page()
    address = sandbox_of(owner)
    page = new_page()
    page.goto(elsewhere.frame(f"{address}embed/?panels=sentence"))  # the edit link, but not live
    eventually(lambda: messages_of(page, "ready"))
    assert messages_of(page, "ready")[-1]["acts"] is False
    for message in (
        {"type": "step"},
        {"type": "go", "at": "javascript:alert(1)"},
        {"type": "go", "at": {"toString": 1}},
        {"type": "show", "panel": "x\"]'><img src=x>"},
        {"type": "show", "pod": 7},
        {"type": "constructor"},
        {"type": "resize", "height": 9},
        {"type": "step", "version": 2},
    ):
        page.evaluate("message => say(message)", message)
    page.evaluate("frames[0].postMessage(null, '*')")
    page.wait_for_timeout(500)
    assert owner.request.get(f"{address}embed/state/").json()["moment"]["at"] == messages_of(page, "moment")[0]["at"]


def test_an_embed_exchanges_messages_only_with_the_origin_it_names(
    page: Page, server: Server, elsewhere: Elsewhere, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("does not match the recipient window's origin")
    page.goto(elsewhere.frame(scenario(server, "panels=sentence&at=start&origin=https://docs.example")))
    expect(within(page).locator("#panel-sentence")).to_be_visible()
    before = within(page).locator("#em-at").inner_text()
    page.evaluate("say({type: 'step'})")
    page.wait_for_timeout(800)
    assert page.evaluate("messages") == []
    assert within(page).locator("#em-at").inner_text() == before


def test_elements_load_when_they_come_into_view(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    element = f'<scheduler-sandbox scenario="{SLUG}" panels="sentence,map" at="start"></scheduler-sandbox>'
    elsewhere.pages["/element"] = (
        '<!doctype html><html lang="en"><title>docs</title><link rel="icon" href="data:,">'
        f'<body>{element}<div style="height: 4000px"></div>{element}'
        f'<script src="{server.url}/embed.js"></script></body></html>'
    )
    page.goto(f"{elsewhere.url}/element")
    eventually(lambda: page.locator("iframe").count() == 1)
    first = page.locator("scheduler-sandbox").first
    expect(first.locator("iframe")).to_have_attribute("title", f"Kubernetes scheduler: {SLUG.replace('-', ' ')}")
    first.evaluate("el => { window.heard = []; el.addEventListener('moment', e => heard.push(e.detail)); }")
    expect(within(page).locator("#panel-cluster")).to_be_visible()
    eventually(lambda: first.locator("iframe").evaluate("el => el.offsetHeight") > 250)
    page.wait_for_timeout(300)
    first.evaluate("el => el.step()")
    eventually(lambda: page.evaluate("heard.length") > 0)
    page.locator("scheduler-sandbox").last.scroll_into_view_if_needed()
    eventually(lambda: page.locator("iframe").count() == 2)


@pytest.mark.parametrize(("width", "scheme"), [(800, "dark"), (390, "light")])
def test_everybody_can_use_an_embed(new_page: Callable[..., Page], server: Server, scheme: str, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 450}, bypass_csp=True)
    page.goto(scenario(server, f"panels=sentence,ribbon,map,lanes,matrix,ladder,why&steps=1&theme={scheme}"))
    page.locator("#panel-cluster").wait_for()
    assert not violations(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def share(page: Page) -> None:
    page.locator("#share").click()
    page.locator("#dialog-share").wait_for()


def by_api(page: Page, edit: str, iframe: str, **more: str) -> dict[str, str]:
    """Return the embed that the API writes for the choices of an iframe of the share dialog."""
    address = urlsplit(unescape(iframe.split('"')[1]))
    chosen = {name: value for name, value in parse_qsl(address.query) if name not in ("steps", "live")} | more
    path = edit.replace("/s/", "/api/v1/sandboxes/").rstrip("/")
    embed: dict[str, str] = page.request.get(f"{path}/links?{urlencode(chosen)}").json()["embed"]
    return embed


def test_the_share_dialog_makes_snippets_that_work(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    sandbox_of(page)
    share(page)
    page.locator("#share-embed summary").click()
    preview = page.frame_locator("#embed-preview")
    expect(preview.locator("#panel-cluster")).to_be_visible()
    page.locator("#embed-form input[value=map]").uncheck()
    page.locator("#embed-form input[value=lanes]").check()
    expect(preview.locator("#panel-queues")).to_be_visible()
    expect(preview.locator("#panel-cluster")).to_have_count(0)
    snippet = page.locator("#embed-iframe").input_value()
    edit = page.locator("#share-edit").input_value()
    assert edit not in snippet
    assert by_api(page, edit, snippet)["iframe"] == snippet
    page.locator("#embed-form input[name=live]").check()
    expect(page.locator("#embed-warning")).to_be_visible()
    element = page.locator("#embed-element").input_value()
    assert edit in element
    assert by_api(page, edit, page.locator("#embed-iframe").input_value(), act="true")["element"] == element
    for name, html in {"/iframe": snippet, "/element": element}.items():
        elsewhere.pages[name] = f'<!doctype html><title>x</title><link rel="icon" href="data:,"><body>{html}</body>'
        page.goto(f"{elsewhere.url}{name}")
        expect(within(page).locator("#panel-queues")).to_be_visible()
    expect(within(page).get_by_role("button", name="Stage")).to_be_visible()


def test_a_link_contains_a_whole_sandbox(page: Page, server: Server, eventually: Eventually) -> None:
    sandbox_of(page)
    page.keyboard.press("n")
    eventually(lambda: head(page) == 4)
    title = page.locator("h1").inner_text()
    objects = sum(len(step.get("manifests", ())) for step in scenarios()[SLUG].setup)
    share(page)
    page.locator("#carry-make").click()
    eventually(lambda: page.locator("#share-carry").input_value())
    link = page.locator("#share-carry").input_value()
    assert "/open/#s=" in link
    assert len(link) <= 8000
    page.goto(link)
    expect(page.locator("#open-title")).to_have_text(title)
    expect(page.locator("#open-about")).to_contain_text(f"{objects} objects in its setup, 1 step after it")
    page.locator("#open-go").click()
    page.wait_for_url("**/s/**")
    assert "web-4" in page.locator("#panel-queues").inner_text()


def test_a_sandbox_that_is_too_large_for_a_link_says_so(page: Page, server: Server, eventually: Eventually) -> None:
    sandbox_of(page)
    labels = {f"example.com/{number}": f"{hash((number, 'x')) & 0xFFFFFFFFFF:x}" for number in range(1000)}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "big", "annotations": labels}}
    answer = page.request.post(f"{page.url.partition('?')[0]}apply/", form={"manifests": json.dumps(node)})
    assert answer.ok, answer.text()
    eventually(lambda: head(page) == 4)
    share(page)
    page.locator("#carry-make").click()
    expect(page.locator("#carry-note")).to_contain_text("the limit is 8,000")
    assert page.locator("#share-carry").input_value() == ""


BAD_LINKS = {
    "": "This link is empty",
    "#s=": "This link is empty",
    "#s=%%%": "broken or cut off",
    "#s=AAAA": "broken or cut off",
    "#s=q1YqU7JSMlGqBQA": "scenario",
}


@pytest.mark.parametrize("fragment", BAD_LINKS)
def test_a_bad_link_gets_a_clear_sentence(page: Page, server: Server, fragment: str) -> None:
    page.goto(f"/open/{fragment}")
    expect(page.locator(".imp")).to_contain_text(BAD_LINKS[fragment])


def test_a_bomb_is_refused_while_it_is_read(page: Page, server: Server) -> None:
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packed.compress(b" " * 50_000_000) + packed.flush()
    page.goto(f"/open/#s={base64.urlsafe_b64encode(bomb).decode().rstrip('=')}")
    expect(page.locator("#open-about")).to_contain_text("more than 1,048,576 bytes")
    expect(page.locator("#open-go")).to_be_hidden()


def example(server: Server, *path: str) -> str:
    """Return a file of the documents, with this site's address."""
    return EXAMPLES.joinpath(*path).read_text().replace("https://sandbox.example", server.url)


def test_the_example_of_a_plain_page_works(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually
) -> None:
    elsewhere.pages["/plain"] = example(server, "page.html")
    page.goto(f"{elsewhere.url}/plain")
    expect(within(page).locator("#panel-cluster")).to_be_visible()
    eventually(lambda: " of " in page.locator("#moment").inner_text())
    before = page.locator("#moment").inner_text()
    page.get_by_role("button", name="Next").first.click()
    eventually(lambda: page.locator("#moment").inner_text() != before)
    page.get_by_role("button", name="Back").first.click()
    eventually(lambda: page.locator("#moment").inner_text() == before)


def test_the_example_of_slides_works_without_reveal_itself(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.extend(["reveal", "Reveal"])  # the user puts it beside their slides
    elsewhere.pages["/slides"] = example(server, "reveal", "slides.html")
    page.goto(f"{elsewhere.url}/slides")
    expect(within(page).locator("#panel-cluster")).to_be_visible()
    assert page.locator("iframe").evaluate("el => el.offsetHeight") == 560


def test_the_example_of_mkdocs_is_built_and_works(
    page: Page, server: Server, elsewhere: Elsewhere, tmp_path: Path, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("localhost")  # the theme's own files are not served here
    shutil.copytree(EXAMPLES / "mkdocs", tmp_path / "handbook")
    settings = tmp_path / "handbook" / "mkdocs.yml"
    settings.write_text(example(server, "mkdocs", "mkdocs.yml"))
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=settings.parent, check=True)
    elsewhere.pages["/handbook"] = (settings.parent / "site" / "index.html").read_text()
    page.goto(f"{elsewhere.url}/handbook")
    before = within(page).locator("#em-at").inner_text()
    within(page).get_by_role("button", name="Next").click()
    expect(within(page).locator("#em-at")).not_to_have_text(before)


COMPARISONS = {
    "a scenario under another configuration": "{site}/embed/scenario/{slug}/differences/?configuration=default",
    "a scenario with many seeds": "{site}/embed/scenario/{slug}/differences/?seeds=10",
    "a sandbox with another seed": "{view}embed/differences/?seed=7",
    "an earlier moment and the present": "{view}embed/differences/?at=1.9999",
    "two sandboxes": "{view}embed/differences/?with={other}",
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_foreign_page_shows_a_comparison_that_changes_nothing(
    new_page: Callable[..., Page], server: Server, elsewhere: Elsewhere, eventually: Eventually, name: str
) -> None:
    page = new_page()
    sandbox_of(page)
    view, other = page.locator("#share-view").input_value(), new_sandbox(page, scenario="bin-packing-most-allocated")
    address = COMPARISONS[name].format(site=server.url, slug=SLUG, view=view, other=other)
    page.goto(elsewhere.frame(f"{address}&theme=dark&nonsense=1", height=600))
    frame = within(page)
    expect(frame.locator("#figures")).to_be_visible()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    expect(frame.locator(".em-note")).to_contain_text("nonsense")
    assert frame.locator("form, #present").count() == 0
    assert frame.locator("a:not([target=_blank])").count() == 0
    assert [message["panels"] for message in messages_of(page, "ready")] == [["differences"]]
    eventually(lambda: messages_of(page, "resize")[-1]["height"] > 300)
    assert frame.locator("body").evaluate("body => body.scrollWidth <= body.clientWidth")


def test_a_comparison_that_cannot_be_shown_says_so_in_its_frame(
    page: Page, server: Server, elsewhere: Elsewhere, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["404", "htmx:responseError"]
    address = sandbox_of(page)
    refused = {"branch=7": "This branch no longer exists.", "cycle=99&node=x": "This run has no cycle 99."}
    for query, sentence in refused.items():
        page.goto(elsewhere.frame(f"{address}embed/differences/?{query}"))
        eventually(lambda: messages_of(page, "refused"))
        message = messages_of(page, "refused")[-1]
        assert message["status"] == 404
        assert sentence in message["sentence"]


def test_the_share_dialog_embeds_a_comparison(page: Page, server: Server, elsewhere: Elsewhere) -> None:
    sandbox_of(page)
    share(page)
    page.locator("#share-embed summary").click()
    page.locator("#embed-form [name=shows]").select_option(label="What differs from the default configuration")
    expect(page.frame_locator("#embed-preview").locator("#figures")).to_be_visible()
    expect(page.locator("#embed-form fieldset")).to_be_hidden()
    edit = page.locator("#share-edit").input_value()
    snippets = {f"/{name}": page.locator(f"#embed-{name}").input_value() for name in ("iframe", "element")}
    for path, html in snippets.items():
        assert edit not in html
        elsewhere.pages[path] = f'<!doctype html><title>x</title><link rel="icon" href="data:,"><body>{html}</body>'
        page.goto(f"{elsewhere.url}{path}")
        expect(within(page).locator("#figures")).to_be_visible()
