"""Sandboxes and scenarios in other people's pages: the content at an address, and its cost for the site."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, override_settings

from sandbox.changes import sharing, store
from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.limits import ratelimit
from sandbox.panels import EMBEDS, PANELS, frames
from sandbox.panels.frames import USUAL, Frame
from sandbox.storage.models import Sandbox
from scheduler_engine.testing import make_node, make_pod

pytestmark = pytest.mark.django_db

SLUG = next(iter(scenarios()))
PATH = f"/embed/scenario/{SLUG}/"


def embed_state(answer: Any) -> dict[str, Any]:
    """Return the page's data for its script."""
    match = re.search(r'<script id="em-state" type="application/json">(.*?)</script>', answer.content.decode())
    assert match is not None
    return json.loads(match[1])


def test_every_name_leads_to_panels_that_there_are() -> None:
    assert {panel for panels in EMBEDS.values() for panel in panels} <= PANELS.keys()


@pytest.mark.parametrize("name", EMBEDS)
def test_every_panel_can_be_shown_alone(visitor: Any, node: Any, pod: Any, name: str) -> None:
    for command in (node("a"), pod("x"), {"kind": "pod"}):
        store.execute(visitor.sandbox, command)
    html = visitor.get("embed/", panels=name).content.decode()
    shown = {panel for panel in PANELS if f'id="panel-{panel}"' in html}
    assert shown == set(EMBEDS[name])


FRAMES = {
    "": USUAL,
    "panels=lanes,map": ("lanes", "map"),
    "panels=map map,map": ("map",),
    "panels=nonsense": USUAL,
    "panels=../../etc,map": ("map",),
}


@pytest.mark.parametrize("query", FRAMES)
def test_the_panels_of_an_address(query: str) -> None:
    name, _, value = query.partition("=")
    assert Frame.from_mapping({name: value}).names == FRAMES[query]


WRONG = {"theme": "pink", "size": "huge", "steps": "yes", "live": "true", "origin": "javascript:alert(1)", "tab": "x"}


def test_an_invalid_parameter_of_an_address_becomes_the_default() -> None:
    assert Frame.from_mapping(WRONG) == Frame()


ORIGINS = [
    ("'self'", ["http://own"]),
    ("'self' https://docs.example", ["http://own", "https://docs.example"]),
    ("https://docs.example:8443/", ["https://docs.example:8443"]),
    ("'none'", []),
    ("*", []),
    ("https://docs.example https:", []),
    ("https://*.example", []),
]


@pytest.mark.parametrize(("ancestors", "listed"), ORIGINS)
def test_the_origins_that_an_embed_talks_to(ancestors: str, listed: list[str]) -> None:
    assert frames.origins(ancestors, "http://own") == listed


@override_settings(FRAME_ANCESTORS="'self' https://docs.example")
def test_an_embed_declares_which_pages_may_frame_it(visitor: Any) -> None:
    for answer in (visitor.get("embed/"), Client().get(PATH)):
        assert "frame-ancestors 'self' https://docs.example" in answer["Content-Security-Policy"]
        assert "http://testserver https://docs.example" in unescape(answer.content.decode())


def test_a_moment_of_the_past_has_neighbours(visitor: Any, node: Any, pod: Any) -> None:
    for command in (node("a"), pod("x"), {"kind": "stage"}, {"kind": "stage"}):
        store.execute(visitor.sandbox, command)
    last = visitor.get("embed/state/").json()["moment"]
    assert (last["after"], last["present"], last["place"]) == ("", True, last["of"])
    walked = [last["at"]]
    while before := visitor.get("embed/state/", at=walked[-1]).json()["moment"]["before"]:
        walked.append(before)
    assert len(walked) == last["of"]
    first = visitor.get("embed/state/", at=walked[-1]).json()["moment"]
    assert (first["place"], first["present"], first["after"]) == (1, False, walked[-2])


def test_facts_say_where_each_pod_is(visitor: Any, node: Any, pod: Any) -> None:
    for command in (node("a"), pod("x"), {"kind": "pod"}, pod("y")):
        store.execute(visitor.sandbox, command)
    facts = visitor.get("embed/state/").json()["facts"]
    assert facts["pods"] == [
        {"name": "default/x", "lane": "", "node": "a", "assumed": ""},
        {"name": "default/y", "lane": "activeQ", "node": "", "assumed": ""},
    ]
    assert facts["attempt"]["node"] == "a"
    assert facts["attempt"]["outcome"] == "bound"


def test_a_scenario_is_created_once_and_used_again() -> None:
    answers = [Client().get(PATH, {"panels": "map", "at": at}) for at in ("", "start", "end", "4.9")]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert Sandbox.objects.count() == 1
    assert embed_state(answers[0])["moment"]["present"] is True
    assert embed_state(answers[1])["moment"]["place"] < embed_state(answers[0])["moment"]["place"]


def test_the_shared_sandbox_can_only_be_watched() -> None:
    html = Client().get(PATH).content.decode()
    base = re.search(r'data-base="([^"]+)"', html)
    assert base is not None
    assert Client().post(f"{base[1]}do/stage/").status_code == 403
    _, edit = sharing.key_of(scenarios()[SLUG])
    assert edit not in html


@override_settings(SECRET_KEY="another")
def test_another_secret_key_makes_another_sandbox() -> None:
    with override_settings(SECRET_KEY="one"):
        before = sharing.key_of(scenarios()[SLUG])
    assert sharing.key_of(scenarios()[SLUG]) != before


def test_try_it_opens_a_sandbox_at_the_same_moment() -> None:
    at = embed_state(Client().get(PATH, {"at": "4.9"}))["moment"]["at"]
    answer = Client().post(PATH, {"panels": "map,lanes", "at": at, "theme": "dark"})
    assert answer.status_code == 302
    page = Client().get(answer["Location"])
    assert "panels=map%2Clanes" in answer["Location"]
    assert "live=1" in answer["Location"]
    assert embed_state(page)["moment"]["present"] is True
    assert embed_state(page)["moment"]["at"] == at
    assert Client().post(answer["Location"].partition("embed/")[0] + "do/stage/").status_code == 204
    assert Sandbox.objects.count() == 2


def test_a_wrong_moment_makes_nothing() -> None:
    Client().get(PATH)
    answer = Client().post(PATH, {"at": "tomorrow"})
    assert answer.status_code == 400
    assert "a moment such as 12.40" in unescape(answer.content.decode())
    assert Sandbox.objects.count() == 1


def test_trying_is_limited_as_new_sandboxes_are_and_looking_is_not() -> None:
    Client().get(PATH)
    rates = {"address": (600, 3000), "create": (0.001, 1), "look": (40, 400), "command": (30, 60)}
    with override_settings(RATE_LIMITS=rates):
        ratelimit.buckets.buckets.clear()
        assert Client().post(PATH).status_code == 302
        assert Client().post(PATH).status_code == 429
        assert Client().get(PATH).status_code == 200


@pytest.mark.parametrize("slug", [*lessons()][:3])
def test_a_lesson_is_played_to_its_end_and_starts_before_its_first_step(slug: str) -> None:
    end, start = (embed_state(Client().get(f"/embed/lesson/{slug}/", {"at": at}))["moment"] for at in ("end", "start"))
    assert start["place"] < end["place"] == end["of"]
    assert Sandbox.objects.count() == 1


def test_an_unknown_scenario_is_not_found() -> None:
    assert Client().get("/embed/scenario/nothing/").status_code == 404
    assert Client().post("/embed/scenario/nothing/").status_code == 404
    assert Client().delete(PATH).status_code == 405


def test_pages_that_need_the_link_may_be_read_without_an_origin(visitor: Any) -> None:
    for answer in (visitor.get("embed/"), visitor.get("embed/state/"), Client().get(PATH)):
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer
    assert "Access-Control-Allow-Origin" not in Client().get("/")


def test_the_script_may_be_cached_and_needs_no_other_file() -> None:
    answer = Client().get("/embed.js")
    text = answer.content.decode()
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "import " not in text
    assert Client().post("/embed.js").status_code == 405


def test_a_title_is_never_markup(visitor: Any) -> None:
    Sandbox.objects.filter(pk=visitor.sandbox.pk).update(title="<script>alert(1)</script>")
    html = visitor.get("embed/", pod="</script><script>alert(2)</script>").content.decode()
    assert "<script>alert" not in html


def test_the_declarations_name_the_messages_of_the_script() -> None:
    root = Path(__file__).resolve().parents[4]
    declared = re.findall(r"type: '(\w+)'", (root / "docs" / "embed.d.ts").read_text())
    script = (root / "static" / "js" / "embed-talk.js").read_text()
    lists = re.findall(r"export const (?:SENT|ACCEPTED) = \[(.*?)\]", script)
    assert declared == [name for names in lists for name in re.findall(r"'(\w+)'", names)]


# --- errors, inside the frame ---

NAVIGATES = {"Sec-Fetch-Mode": "navigate"}


def sentence_at(path: str, status: int, **headers: str) -> str:
    answer = Client().get(path, headers=headers or NAVIGATES)
    assert answer.status_code == status
    return answer.content.decode()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/embed/scenario/nothing/", "There is no scenario named “nothing” on this site."),
        ("/embed/lesson/nothing/", "There is no lesson named “nothing” on this site."),
        ("/embed/nonsense/", "There is nothing at this address."),
        ("/s/00000000-0000-4000-8000-000000000000/abc/embed/", "This sandbox no longer exists"),
    ],
)
def test_a_missing_sandbox_is_reported_in_the_frame_with_advice(path: str, words: str) -> None:
    html = sentence_at(path, 404)
    assert words in html
    assert "Check the address of this frame in the page that embeds it." in html
    assert "embed-refused.js" in html
    assert 'class="embed"' in html


def test_the_state_of_a_missing_sandbox_is_one_sentence() -> None:
    path = "/s/00000000-0000-4000-8000-000000000000/abc/embed/state/"
    html = sentence_at(path, 404, **{"Sec-Fetch-Mode": "cors"})
    assert re.sub(r"<[^>]+>", "", html).strip() == "This sandbox no longer exists, or its link is incomplete."


def test_too_many_requests_are_reported_in_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratelimit, "wait", lambda *_: 3.0)
    html = sentence_at(PATH, 429)
    assert "Too many" in html
    assert "Reload the page in a minute." in html


def test_a_missing_page_of_the_site_is_as_before() -> None:
    assert "There is nothing at this address." in sentence_at("/nonsense/", 404)
    assert "embed-refused" not in sentence_at("/nonsense/", 404)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"panels": "map,mapp"}, ["There is no panel “mapp”."]),
        ({"theme": "pink"}, ["theme must be auto or light or dark."]),
        ({"size": "huge"}, ["size must be normal or compact."]),
        ({"steps": "yes", "live": "on"}, ["steps must be 0 or 1.", "live must be 0 or 1."]),
        ({"at": "soon"}, ["at must be start, end or a moment such as 12.40."]),
        ({"origin": "docs"}, ["origin must be an origin such as https://docs.example."]),
        ({"pannels": "map"}, ["“pannels” is not a parameter of an embed."]),
        ({"panels": "map, lanes", "at": "3.7", "steps": "1", "theme": "dark", "lang": "en", "pod": "x/y"}, []),
    ],
)
def test_an_invalid_parameter_is_reported_and_left_out(visitor: Any, query: dict[str, str], words: list[str]) -> None:
    html = visitor.get("embed/", **query).content.decode()
    match = re.search(r'id="em-note" role="status">([^<]*)<', html)
    assert match is not None
    assert match[1] == " ".join(words)


HOW = re.compile(r'<(span|p) class="(?:quiet )?how">.*?</\1>', re.DOTALL)
BUTTONS = re.compile(r"(?i)\b(press|click|choose) (?:\w+ )*(stage|evict|drain|settle|add|a pod|a node)\b|Stage pops")


def test_sentences_of_an_embed_name_no_button_that_it_does_not_have(visitor: Any) -> None:
    """Advice has its own element, which the style of an embed hides."""
    for _ in range(2):
        html = visitor.get("embed/", panels=",".join(EMBEDS)).content.decode()
        assert HOW.search(html)
        shown = re.sub(r"<[^>]+>", " ", HOW.sub("", html))
        assert not BUTTONS.search(shown), BUTTONS.search(shown)
        store.execute(visitor.row(), {"kind": "apply", "manifests": [make_node("n1").obj(), make_pod("web").obj()]})
    css = (Path(__file__).resolve().parents[4] / "static" / "css" / "embed.css").read_text()
    assert ".how" in css
