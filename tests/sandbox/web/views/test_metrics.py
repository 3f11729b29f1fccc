"""The metrics endpoint, as a Prometheus scrapes it."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from prometheus_client.parser import text_string_to_metric_families

from sandbox.changes import store
from sandbox.storage.tokens import view_token

pytestmark = pytest.mark.django_db


def values(response: Any) -> dict[str, float]:
    """Return ``name`` or ``name/label value/…`` → value."""
    assert response.status_code == 200
    return {
        "/".join((sample.name, *(value for _, value in sorted(sample.labels.items())))): sample.value
        for family in text_string_to_metric_families(response.content.decode())
        for sample in family.samples
    }


def test_it_is_prometheus_text(visitor: Any) -> None:
    response = visitor.get("metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert values(response)["scheduler_pending_pods/active"] == 0


def test_its_name_leads_to_it(visitor: Any) -> None:
    assert reverse("metrics", args=[visitor.sandbox.pk, visitor.token]) == visitor.url("metrics")


def test_it_shows_the_present_state(visitor: Any, node: Any, pod: Any) -> None:
    store.execute(visitor.sandbox, pod("web-1", "web-2"))
    assert values(visitor.get("metrics"))["scheduler_pending_pods/active"] == 2
    store.execute(visitor.sandbox, node("n"))
    store.execute(visitor.sandbox, {"kind": "settle"})
    after = values(visitor.get("metrics"))
    assert after["scheduler_pending_pods/active"] == 0
    assert after["scheduler_schedule_attempts_total/default-scheduler/scheduled"] == 2


def test_going_back_takes_the_counters_back(visitor: Any, node: Any, pod: Any) -> None:
    for command in (node("n"), pod("web-1"), {"kind": "settle"}):
        store.execute(visitor.sandbox, command)
    later = visitor.get("metrics").content
    store.go_to(visitor.sandbox, lambda _: 2)
    assert values(visitor.get("metrics"))["scheduler_pod_scheduling_attempts_count"] == 0
    store.go_to(visitor.sandbox, lambda _: 3)
    assert visitor.get("metrics").content == later


def test_every_worker_shows_the_same(visitor: Any, node: Any, pod: Any, on_worker: Any) -> None:
    store.execute(visitor.sandbox, node("n"))
    store.execute(visitor.sandbox, pod("web-1"))
    here = visitor.get("metrics").content
    with on_worker("b"):
        assert visitor.get("metrics").content == here


def test_watchers_may_scrape(visitor: Any) -> None:
    assert visitor.watching().get("metrics").content == visitor.get("metrics").content


@pytest.mark.parametrize("token", ["wrong", "x" * 43], ids=["short", "of the right length"])
def test_without_a_token_there_is_nothing(visitor: Any, token: str) -> None:
    assert visitor.client.get(f"/s/{visitor.sandbox.pk}/{token}/metrics").status_code == 404
    assert visitor.client.get(f"/s/{visitor.sandbox.pk}/{view_token(token)}/metrics").status_code == 404


def test_only_reading_is_possible(visitor: Any) -> None:
    assert visitor.post("metrics").status_code == 405
    assert visitor.client.head(visitor.url("metrics")).status_code == 200
