from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from markupsafe import escape

from sandbox.content.scenarios import scenarios
from sandbox.panels import PANELS
from sandbox.storage.models import Sandbox

pytestmark = pytest.mark.django_db


def test_the_landing_page_lists_every_scenario() -> None:
    page = Client().get("/").content.decode()
    assert scenarios()
    assert [scenario.slug for scenario in scenarios().values() if f'value="{scenario.slug}"' not in page] == []


def test_a_page_is_compressed_for_clients_that_accept_it() -> None:
    plain = Client().get("/")
    packed = Client().get("/", headers={"accept-encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) / 3
    assert gzip.decompress(packed.content) == plain.content


def test_one_click_makes_a_sandbox_of_a_scenario_without_any_cookie() -> None:
    slug, scenario = next(iter(scenarios().items()))
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post("/new/", {"scenario": slug}, follow=True)
    sandbox = Sandbox.objects.get()
    assert answer.status_code == 200
    assert (sandbox.title, sandbox.scenario, sandbox.seed) == (scenario.title, slug, scenario.seed)
    assert sandbox.head == sandbox.records.count() == len(scenario.setup)
    assert not browser.cookies


@pytest.mark.parametrize("slug", list(scenarios()))
def test_every_scenario_opens_with_one_click(slug: str) -> None:
    answer = Client().post("/new/", {"scenario": slug}, follow=True)
    assert answer.status_code == 200
    assert str(escape(scenarios()[slug].about)) in answer.content.decode()


def test_a_sandbox_can_start_empty() -> None:
    answer = Client().post("/new/", {}, follow=True)
    assert answer.status_code == 200
    assert Sandbox.objects.get().head == 0


def test_an_unknown_scenario_is_refused_and_creates_nothing() -> None:
    answer = Client().post("/new/", {"scenario": "../../etc/passwd"})
    assert answer.status_code == 404
    assert "no such scenario" in answer.content.decode()
    assert not Sandbox.objects.exists()


def test_a_click_that_leaves_the_page_gets_a_refusal_as_a_page_and_any_other_a_fragment() -> None:
    wanted = {"scenario": "no-such"}
    page = Client().post("/new/", wanted, headers={"Sec-Fetch-Mode": "navigate"}).content.decode()
    part = Client().post("/new/", wanted, headers={"Sec-Fetch-Mode": "cors"}).content.decode()
    assert "There is no such scenario." in page
    assert "There is no such scenario." in part
    assert "<!doctype html>" in page
    assert "<html" not in part


def test_the_landing_page_refuses_post_and_get_creates_nothing() -> None:
    assert Client().post("/").status_code == 405
    assert Client().get("/new/").status_code == 405
    assert not Sandbox.objects.exists()


@pytest.mark.parametrize(("method", "path", "allowed"), [("GET", "/new/", "POST"), ("POST", "/", "GET, HEAD")])
def test_a_wrong_method_gets_a_page_with_a_way_back(method: str, path: str, allowed: str) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"Sec-Fetch-Mode": "navigate"})
    answer = strict.generic(method, path)
    assert (answer.status_code, answer["Allow"]) == (405, allowed)
    page = answer.content.decode()
    assert "This address does not take this kind of request. Nothing was changed." in page
    assert 'href="/"' in page
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def shared(page: HttpResponse, link: str) -> str:
    """Return the link ``edit`` or ``view`` that the page offers to share, "" if it offers none."""
    match = re.search(rf'id="share-{link}" readonly value="([^"]*)"', page.content.decode())
    return match[1] if match else ""


def test_the_workbench_shows_the_editor_both_links_and_the_watcher_only_his_own(visitor: Any) -> None:
    watcher = visitor.watching()
    for_editor, for_watcher = visitor.get(), watcher.get()
    assert shared(for_editor, "edit").endswith(visitor.url())
    assert shared(for_editor, "view").endswith(watcher.url())
    assert shared(for_watcher, "edit") == ""
    assert visitor.token not in for_watcher.content.decode()
    assert watcher.token in for_watcher.content.decode()


def test_the_workbench_has_the_address_of_its_socket_and_shows_every_panel(visitor: Any) -> None:
    page = visitor.get()
    assert f'ws-connect="/ws{visitor.url()}"' in page.content.decode()
    shown = re.findall(r'id="panel-([a-z]+)"', page.content.decode())
    assert sorted(PANELS) == sorted(set(shown))


@pytest.mark.parametrize("path", ["", "panel/status/", "yaml/Node/"])
def test_a_wrong_token_or_an_unknown_sandbox_is_simply_not_found(visitor: Any, path: str) -> None:
    unknown = visitor.url(path).replace(str(visitor.sandbox.pk), "00000000-0000-4000-8000-000000000000")
    wrong = visitor.url(path).replace(visitor.token, "wrong")
    assert visitor.client.get(unknown).status_code == 404
    assert visitor.client.get(wrong).status_code == 404
    assert visitor.client.get(unknown).content == visitor.client.get(wrong).content
    assert "complete link" in visitor.client.get(wrong).content.decode()


@pytest.mark.parametrize("rules", ["v1.34", "design-doc"])
def test_a_blank_sandbox_has_the_queue_rules_that_were_chosen(rules: str) -> None:
    answer = Client().post("/new/", {"queue_rules": rules}, follow=True)
    assert Sandbox.objects.get().queue_rules == rules
    assert f">{rules}</span>" in answer.content.decode()


def test_unknown_queue_rules_are_refused_and_create_nothing() -> None:
    assert Client().post("/new/", {"queue_rules": "v1.0"}).status_code == 400
    assert not Sandbox.objects.exists()


def test_each_heading_of_the_scenarios_appears_once() -> None:
    headings = re.findall(r'<li class="scen-t" [^>]+><h3>([^<]+)</h3>', Client().get("/").content.decode())
    assert "Taints and tolerations" in headings
    assert len(headings) == len(set(headings))


def test_the_first_page_draws_the_cluster_of_every_scenario() -> None:
    page = Client().get("/").content.decode()
    assert page.count('<svg class="dwg"') == len(scenarios())


def test_a_lesson_opens_by_its_name_and_an_unknown_one_makes_nothing() -> None:
    assert Client().post("/new/", {"lesson": "a-scheduling-cycle"}).status_code == 302
    assert Sandbox.objects.get().title == "A scheduling cycle"
    assert Client().post("/new/", {"lesson": "nowhere"}).status_code == 404
    assert Sandbox.objects.count() == 1
