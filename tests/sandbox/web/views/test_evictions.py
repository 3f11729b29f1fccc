"""Evict and Drain as buttons: each is one command; the API server's refusal is an answer, not an error."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sandbox.panels.view import View
from scheduler_engine.commands import DRAIN_FLAGS
from tests.sandbox.inside import fragments

pytestmark = pytest.mark.django_db


@pytest.fixture(name="ready")
def one_pod_on_one_node(visitor: Any, node: Any, pod: Any) -> Any:
    manifests = node("n1")["manifests"] + [
        item | {"spec": item["spec"] | {"nodeName": "n1"}} for item in pod("web")["manifests"]
    ]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all"},
        "spec": {"minAvailable": 1, "selector": {}},
    }
    visitor.post("apply/", manifests=json.dumps({"apiVersion": "v1", "kind": "List", "items": [*manifests, budget]}))
    return visitor


def panel(visitor: Any) -> str:
    return str(fragments(visitor.row(), View(), ["evictions"], True)["evictions"].html)


def test_a_refused_eviction_is_an_answer_that_everybody_sees(ready: Any) -> None:
    answer = ready.post("evict/", who="Ada", pod="default/web")
    assert answer.status_code == 204
    assert json.loads(ready.log()[-1]) == {"kind": "evict", "pod": "default/web"}
    html = panel(ready)
    assert "429 Too Many Requests" in html
    assert "requested by Ada" in " ".join(html.split())


@pytest.mark.parametrize("on", [True, False])
def test_a_drain_is_started_and_stopped(ready: Any, on: bool) -> None:
    assert ready.post("drain/", node="n1", on="1" if on else "0").status_code == 204
    flags = dict.fromkeys(DRAIN_FLAGS, False)
    assert json.loads(ready.log()[-1]) == {"kind": "drain", "node": "n1", "on": on, **flags}


@pytest.mark.parametrize("flag", DRAIN_FLAGS)
def test_a_drain_takes_kubectls_flags_and_keeps_them_ticked(ready: Any, flag: str) -> None:
    ready.post("drain/", node="n1", on="1", **{flag: "1"})
    command = json.loads(ready.log()[-1])
    assert [name for name in DRAIN_FLAGS if command[name]] == [flag]
    ready.post("drain/", node="n1", on="0")
    html = str(fragments(ready.row(), View(node="n1"), ["inspector"], True)["inspector"].html)
    ticked = [name for name in DRAIN_FLAGS if re.search(f'id="insp-{name}" checked', " ".join(html.split()))]
    assert ticked == [flag]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        pytest.param("evict/", {"pod": "default/nobody"}, id="a missing pod"),
        pytest.param("evict/", {}, id="no pod"),
        pytest.param("drain/", {"node": "nowhere", "on": "1"}, id="a missing node"),
    ],
)
def test_an_impossible_request_is_refused_with_a_notice(ready: Any, path: str, fields: dict[str, str]) -> None:
    before = ready.log()
    answer = ready.post(path, **fields)
    assert answer.status_code == 422
    assert "data-notice" in answer.content.decode()
    assert ready.log() == before


@pytest.mark.parametrize("path", ["evict/", "drain/"])
def test_a_watcher_may_not_evict(ready: Any, path: str) -> None:
    assert ready.watching().post(path, pod="default/web", node="n1", on="1").status_code == 403
