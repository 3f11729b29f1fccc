"""The page of the rules that differ between versions, and what an upgrade comparison says about them."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import store
from sandbox.content.version_cases import cases
from sandbox.storage.models import Sandbox
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.versions import RELEASES, ROWS, VERSIONS, explanation
from tests.sandbox.web.views.test_differences import SETTLE, apply, text_of

pytestmark = pytest.mark.django_db

OLD, MIDDLE, NEW = VERSIONS
PLAYED = [name for name, case in cases().items() if case.scenario is not None]


def test_the_page_lists_every_rule_once_with_its_values_and_its_case() -> None:
    html = unescape(Client().get("/versions/").content.decode())
    for row in ROWS:
        assert html.count(f'<li id="{row.name}">') == 1
        assert explanation(row) in html
        assert (f'name="rule" value="{row.name}"' in html) == (row.name in PLAYED)
    assert all(release in html for release in RELEASES)
    item = html[html.index('id="names_untolerated_taint"') :]
    assert "<dt>v1.34.1</dt><dd>yes</dd></div><div><dt>v1.35.6</dt><dd>no</dd>" in item
    assert 'href="https://github.com/kubernetes/kubernetes/pull/134740"' in item


@pytest.mark.parametrize("name", PLAYED)
def test_a_case_opens_under_both_versions(name: str) -> None:
    answer = Client().post("/versions/open/", {"rule": name, "show": "beside"})
    assert answer.status_code == 302, answer.content.decode()
    assert answer["Location"].startswith("/compare/?left=%2Fs%2F")
    sandboxes = {sandbox.kubernetes: sandbox for sandbox in Sandbox.objects.all()}
    assert set(sandboxes) == set(cases()[name].versions)
    assert all(sandbox.title.endswith(")") and json.loads(sandbox.story)["then"] for sandbox in sandboxes.values())
    assert Client().get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("name", PLAYED)
def test_a_case_shows_what_differs(name: str) -> None:
    client = Client()
    answer = client.post("/versions/open/", {"rule": name, "show": "differences"}, follow=True)
    assert answer.status_code == 200
    html = unescape(answer.content.decode())
    came_up = html[html.index('id="rules"') :].split("</details>")[0]
    assert explanation(cases()[name].row) in came_up


def test_an_unknown_rule_opens_nothing() -> None:
    for rule in ("", "nothing", "placement_points"):
        assert Client().post("/versions/open/", {"rule": rule}).status_code == 404
    assert not Sandbox.objects.exists()
    assert Client().get("/versions/open/").status_code == 405


def test_the_bar_and_the_configuration_lead_to_the_page(visitor: Any) -> None:
    assert 'id="version-rules" href="/versions/"' in visitor.get("panel/toolbar/").content.decode()
    assert 'id="version-cases" href="/versions/"' in visitor.get("panel/configuration/").content.decode()


def alike(visitor: Any) -> None:
    """Let something happen that is the same under all versions."""
    store.execute(visitor.sandbox, apply(make_node("n1"), make_pod("web")))
    store.execute(visitor.sandbox, SETTLE)


def test_an_upgrade_that_changes_nothing_says_what_was_tried(visitor: Any) -> None:
    alike(visitor)
    html = unescape(visitor.get("differences/", kubernetes=NEW).content.decode())
    assert "Nothing changes for the pods" in html
    rules = text_of(html, "rules")
    assert re.search(r"\d+ rules did not come up\.", rules)
    assert "rules that differ came up" not in rules
    assert 'href="/versions/#names_untolerated_taint"' in html
    assert 'id="rules"' not in visitor.get("differences/", kubernetes=OLD).content.decode()


def test_the_embed_of_an_upgrade_says_so_too(visitor: Any) -> None:
    alike(visitor)
    html = unescape(visitor.watching().get("embed/differences/", kubernetes=NEW).content.decode())
    assert "Nothing changes for the pods" in html
    assert re.search(r"\d+ rules did not come up\.", text_of(html, "rules"))
    link = re.search(r'<a class="lnk" href="/versions/#names_untolerated_taint"[^>]*>', html)
    assert link is not None
    assert 'target="_blank"' in link[0]


def test_a_comparison_of_two_moments_is_about_no_rules(visitor: Any) -> None:
    alike(visitor)
    visitor.post("do/kubernetes/", version=NEW)
    page = visitor.get("differences/", at="2.1")
    assert page.status_code == 200
    assert 'id="rules"' not in page.content.decode()


def test_the_api_says_which_rules_came_up(visitor: Any) -> None:
    alike(visitor)
    answer = Client().get(f"/api/v1/sandboxes/{visitor.sandbox.pk}/{visitor.token}/differences", {"kubernetes": NEW})
    assert answer.status_code == 200, answer.content
    rules = json.loads(answer.content)["answer"]["rules"]
    assert [re.sub(r"^\d+ ", "", heading) for heading, _ in rules] == [
        "rules did not come up. These runs do not show what they change:",
        "rules cannot come up here, because no run shows what they are about:",
    ]
    assert ["names_untolerated_taint", explanation(ROWS[0])] in rules[0][1]


ANSWERS = (
    ("fit/", {"pod": "default/web"}),
    ("fixes/", {"pod": "default/web"}),
    ("headroom/", {}),
    ("leave/", {"node": "n1"}),
    ("differences/", {"seeds": "10"}),
)


@pytest.mark.parametrize(("path", "query"), ANSWERS, ids=[path for path, _ in ANSWERS])
def test_each_answer_names_the_version_of_its_moment(visitor: Any, path: str, query: dict[str, str]) -> None:
    alike(visitor)
    visitor.post("do/kubernetes/", version=NEW)
    says = "By the rules of Kubernetes {}."
    assert says.format("v1.36.2") in visitor.get(path, **query).content.decode()
    assert says.format("v1.34.1") in visitor.get(path, **query, at="2.1").content.decode()


def test_the_draw_of_an_attempt_names_the_version(visitor: Any) -> None:
    store.execute(visitor.sandbox, apply(make_node("n1"), make_node("n2"), make_pod("web")))
    store.execute(visitor.sandbox, SETTLE)
    assert "By the rules of Kubernetes v1.34.1." in visitor.get("reroll/", cycle="1").content.decode()


@pytest.mark.parametrize("form", ["scenario", "manifests", "snapshot", "trace"])
def test_an_export_says_which_version_its_cluster_follows(visitor: Any, form: str) -> None:
    alike(visitor)
    visitor.post("do/kubernetes/", version=NEW)
    assert "Its cluster follows Kubernetes v1.36.2." in visitor.get("export/", form=form).content.decode()


def test_exported_manifests_begin_with_the_version(visitor: Any) -> None:
    alike(visitor)
    text = visitor.get("export/manifests/").content.decode()
    assert text.startswith("# From a cluster that follows Kubernetes v1.34.1.\n")


def test_the_start_page_names_every_release_and_leads_to_the_page() -> None:
    html = unescape(Client().get("/").content.decode())
    assert "It knows v1.34.1, v1.35.6 and v1.36.2." in html
    assert 'href="/versions/"' in html


def test_the_embed_of_a_scenario_compares_versions_too() -> None:
    html = unescape(Client().get("/embed/scenario/nothing-fits/differences/", {"kubernetes": NEW}).content.decode())
    assert "untolerated taint(s)" in text_of(html, "first")
    came_up = html[html.index('id="rules"') :].split("</details>")[0]
    assert explanation(ROWS[0]) in came_up
