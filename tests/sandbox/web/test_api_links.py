"""The links of a sandbox through the API, and the code that embeds it."""

from __future__ import annotations

from html import unescape
from urllib.parse import urlsplit

import pytest
from django.test import Client

from sandbox.words.say import say
from tests.sandbox.web.test_api import API, create_sandbox, get, post

pytestmark = pytest.mark.django_db


def test_each_link_leads_to_what_it_names() -> None:
    base = create_sandbox(scenario="nothing-fits")
    links = get(f"{base}/links").json()
    paths = {name: urlsplit(links[name]).path for name in ("view", "edit", "api", "api_view", "kubectl")}
    assert paths["api"] == base
    assert {get(paths[name]).status_code for name in ("view", "edit", "api", "api_view")} == {200}
    assert get(f"{paths['kubectl']}/api/v1/nodes").status_code == 200
    assert post(f"{paths['api_view']}/commands", {"kind": "stage"}).status_code == 403
    seen = get(f"{paths['api_view']}/links").json()
    assert (seen["edit"], seen["view"], seen["api"]) == ("", links["view"], links["api_view"])
    token = base.rpartition("/")[2]
    assert token not in str(seen)


@pytest.mark.parametrize("query", [{}, {"at": "1.0", "panels": "lanes,map"}, {"theme": "dark", "size": "compact"}])
def test_an_embed_can_be_opened_and_cannot_change_anything(query: dict[str, str]) -> None:
    base = create_sandbox(scenario="nothing-fits")
    embed = get(f"{base}/links", **query).json()["embed"]
    page = Client().get(embed["address"].removeprefix("http://testserver"))
    assert page.status_code == 200
    assert base.rpartition("/")[2] not in str(embed)
    assert unescape(embed["iframe"].split('"')[1]) == embed["address"]
    assert "/embed.js" in embed["element"]


def test_readers_may_change_it_only_by_the_edit_link() -> None:
    base = create_sandbox()
    assert base.rpartition("/")[2] in get(f"{base}/links", act="true").json()["embed"]["iframe"]
    view = urlsplit(get(f"{base}/links").json()["api_view"]).path
    assert get(f"{view}/links", act="true").status_code == 403
    both = get(f"{base}/links", act="true", at="1.0")
    assert (both.status_code, both.json()["message"]) == (422, say("errors.act-or-at"))


@pytest.mark.parametrize("query", [{"panels": "nothing"}, {"at": "no moment"}, {"theme": "pink"}, {"size": "huge"}])
def test_an_embed_that_cannot_be_shown_is_refused(query: dict[str, str]) -> None:
    answer = get(f"{create_sandbox()}/links", **query)
    assert (answer.status_code, answer.json()["message"] != "") == (422, True)


def test_a_title_cannot_leave_its_attribute() -> None:
    base = create_sandbox(title='a">&<script>')
    embed = get(f"{base}/links").json()["embed"]
    assert 'title="a&quot;>&amp;&lt;script> – Scheduler Sandbox"' in embed["iframe"]
    assert f"{API}/" not in embed["iframe"]
