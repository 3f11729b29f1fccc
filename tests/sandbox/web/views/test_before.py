"""The page about older versions, and its converter of policies."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.content.scenarios import scenarios
from sandbox.storage.models import Sandbox
from sandbox.web.views.before import EXAMPLE, MOST_BYTES
from scheduler_engine.config import load_configuration
from scheduler_engine.config.policy import PREDICATES, PRIORITIES, read_policy
from scheduler_engine.leaderelection.locks import REMOVED
from scheduler_engine.scenario.yaml_text import documents

pytestmark = pytest.mark.django_db

POLICY = """\
kind: Policy
apiVersion: v1
priorities:
- {name: MostRequestedPriority, weight: 3}
- {name: EqualPriority, weight: 1}
"""


def page(answer: Any) -> str:
    return unescape(answer.content.decode())


def post(path: str = "convert", **fields: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(f"/before/{path}/", fields)


def test_the_page_shows_the_tables_of_the_converter() -> None:
    text = page(Client().get("/before/"))
    for item in (*PREDICATES, *PRIORITIES):
        assert f"<code>{item.name}</code>" in text
        assert item.note in text
    for words in REMOVED.values():
        assert words in text
    assert '<td class="num">10,000</td><td class="num">–</td>' in text, "NodePreferAvoidPods is gone"
    assert text.count('<td class="num">1</td><td class="num">3</td>') == 1, "TaintToleration weighs more"


def test_every_button_of_the_page_opens_an_existing_scenario() -> None:
    text = Client().get("/before/").content.decode()
    slugs = [part.partition('"')[0] for part in text.split('name="scenario" value="')[1:]]
    assert len(slugs) == 8
    assert set(slugs) <= set(scenarios())
    assert {item.slug for item in scenarios().values() if item.group == "D12"} <= set(slugs)


def test_the_first_page_leads_to_it() -> None:
    assert 'href="/before/"' in Client().get("/").content.decode()


def test_the_example_can_be_converted() -> None:
    answer = post(text=EXAMPLE)
    assert answer.status_code == 200
    assert documents([read_policy(EXAMPLE).configuration]) in page(answer)


def test_a_policy_is_converted_with_its_notices_and_stays_in_the_form() -> None:
    answer = post(text=POLICY)
    text = page(answer)
    assert "type: MostAllocated" in text
    assert "EqualPriority: It gave every node the same" in text
    assert "line 5" in text
    assert POLICY in text
    assert not answer.cookies
    assert Sandbox.objects.count() == 0


def test_a_file_goes_before_the_text() -> None:
    answer = post(text="nonsense", file=SimpleUploadedFile("policy.cfg", POLICY.encode()))
    assert answer.status_code == 200
    assert "type: MostAllocated" in page(answer)


def test_an_invalid_policy_is_reported_at_its_line_and_nothing_is_created() -> None:
    wrong = POLICY + "predicates: [{name: <b>Odd</b>}]\n"
    for path in ("convert", "open"):
        answer = post(path, text=wrong)
        assert answer.status_code == 422
        assert "Line 6:" in page(answer)
        assert 'predicate type not found for "<b>Odd</b>"' in page(answer)
        assert "<b>Odd" not in answer.content.decode()
        assert wrong in page(answer), "it need not be typed again"
    assert Sandbox.objects.count() == 0


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 422, "the text is empty"),
        ({"text": "x" * (MOST_BYTES + 1)}, 413, "the limit is 65,536 bytes"),
        ({"file": SimpleUploadedFile("p", b"x" * (MOST_BYTES + 1))}, 413, "the limit is 65,536 bytes"),
        ({"file": SimpleUploadedFile("p", b"\xff\xfe")}, 422, "The file is not valid UTF-8 text."),
        ({"text": "a: &a [*a, *a]"}, 422, ""),
        ({"text": "a\x00"}, 422, ""),
        ({"text": "kind: Policy\napiVersion: v1\npredicates:\n" + "- {name: Odd}\n" * 300}, 422, "And 280 more."),
    ],
    ids=["nothing", "a long text", "a long file", "not text", "an alias to itself", "odd letters", "many errors"],
)  # fmt: skip
def test_a_text_that_is_not_a_policy_is_refused(fields: dict[str, Any], status: int, words: str) -> None:
    answer = post(**fields)
    assert answer.status_code == status
    assert words in page(answer)


def test_a_sandbox_opens_with_the_configuration_and_something_to_try_it_on() -> None:
    answer = post("open", text=POLICY)
    assert answer.status_code == 302
    assert answer["Location"].endswith("?tab=configuration")
    sandbox = Sandbox.objects.get()
    assert json.loads(sandbox.configuration) == read_policy(POLICY).configuration
    text = page(Client().get(answer["Location"]))
    assert "MostAllocated" in text
    assert sandbox.head == len(next(iter(scenarios().values())).setup)
    assert load_configuration(json.loads(sandbox.configuration)).profiles[0].plugins["score"] == (
        ("NodeResourcesFit", 3),
    )


@pytest.mark.parametrize("path", ["convert", "open"])
def test_only_a_post_converts(path: str) -> None:
    assert Client().get(f"/before/{path}/").status_code == 405
    assert Client().post("/before/").status_code == 405
