"""Two sandboxes side by side."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from sandbox.storage.models import Sandbox
from sandbox.words.say import say

KEYS = ("compare.by-the-design-doc", "compare.by-v1-34")

pytestmark = pytest.mark.django_db


def test_two_scenarios_open_in_one_page_each_with_its_rules() -> None:
    fields = {"left": "queue-backoff-design-doc", "right": "queue-backoff-v1-34"}
    answer = Client(enforce_csrf_checks=True).post("/compare/", fields, follow=True)
    assert answer.status_code == 200
    sandboxes = {sandbox.scenario: sandbox for sandbox in Sandbox.objects.all()}
    assert {sandbox.queue_rules for sandbox in sandboxes.values()} == {"design-doc", "v1.34"}
    html = answer.content.decode()
    for sandbox in sandboxes.values():
        assert f'data-base="/s/{sandbox.pk}/' in html
    captions = re.findall(r"<figcaption>(.+?)</figcaption>", html)
    assert ["by the design document" in caption for caption in captions] == [True, False]
    assert [escape(say(key)) in caption for key, caption in zip(KEYS, captions, strict=True)] == [True, True]
    assert "frame-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("https://example.com/", "{own}", id="another site"),
        pytest.param("//example.com/s/x/y/", "{own}", id="another host"),
        pytest.param("javascript:alert(1)", "{own}", id="a script"),
        pytest.param("{own}", "/", id="a page that is not a workbench"),
        pytest.param("{own}", "{own}metrics", id="another view of a sandbox"),
    ],
)
def test_only_workbenches_of_this_site_are_framed(visitor: Any, left: str, right: str) -> None:
    query = {"left": left.format(own=visitor.url()), "right": right.format(own=visitor.url())}
    answer = visitor.client.get("/compare/", query)
    assert answer.status_code == 404
    assert "<iframe" not in answer.content.decode()


def test_any_two_sandboxes_can_be_compared_and_a_watcher_may_look_on(visitor: Any) -> None:
    answer = visitor.client.get("/compare/", {"left": visitor.url(), "right": visitor.watching().url()})
    assert answer.status_code == 200
    html = answer.content.decode()
    assert f'src="{visitor.url()}?panel=queue"' in html
    assert html.count(f"<figcaption><b>{visitor.sandbox.title}</b></figcaption>") == 2


def test_without_a_key_nothing_of_a_sandbox_is_shown(visitor: Any) -> None:
    strange = visitor.url().replace(visitor.token, "A" * len(visitor.token))
    html = visitor.client.get("/compare/", {"left": strange, "right": visitor.url()}).content.decode()
    assert html.count("<figcaption>") == 1


def test_an_unknown_scenario_is_refused_and_creates_nothing() -> None:
    answer = Client().post("/compare/", {"left": "queue-backoff-design-doc", "right": "nothing"})
    assert answer.status_code == 404
    assert not Sandbox.objects.exists()
