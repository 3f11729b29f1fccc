"""The sentence, when something beside the scheduler is the newest that happened."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from sandbox.panels import View, World
from sandbox.panels.sentence import stats
from tests.sandbox.scenarios import advance, drain, evict, taint, world_after

NOT_READY = {"kind": "node-condition", "node": "node1", "type": "Ready", "status": "False"}
SCALE = {"kind": "scale", "object_kind": "StatefulSet", "key": "default/db", "replicas": 5}
MORE_MEMORY = {"kind": "usage", "pod": "default/stays-an-hour", "memory": "2Gi"}
SYSTEM = {"kind": "usage", "node": "node1", "memory": "1Gi"}


def text(world: World, **view: Any) -> str:
    """The sentence as it is read."""
    html = render_to_string("panels/sentence.html", stats(world, View(**view)))
    inner = html[html.index('<p id="sentence-text">') : html.index("</p>")]
    while "<" in inner:
        inner = inner[: inner.index("<")] + inner[inner.index(">") + 1 :]
    return " ".join(inner.replace("&#x27;", "'").split())


@pytest.mark.parametrize(
    ("slug", "steps", "words"),
    [
        pytest.param(
            "eviction-answers",
            [evict("db-0")],
            "The API server lets db-0 go: 200. It has 30 s to end, and no controller counts it any more.",
            id="an eviction is allowed",
        ),
        pytest.param(
            "eviction-answers",
            [evict("db-0"), evict("db-1")],
            "The API server refused to evict db-1: 429, Cannot evict pod as it would violate the pod's disruption "
            "budget.",
            id="an eviction is refused by the budget",
        ),
        pytest.param(
            "eviction-two-budgets",
            [evict("db-0"), evict("db-0")],
            "The API server refused to evict db-0: 500, This pod has more than one PodDisruptionBudget, which the "
            "eviction subresource does not support. It was asked 2 times.",
            id="an eviction is refused twice, as two budgets select the pod",
        ),
        pytest.param(
            "drain",
            [drain("node1")],
            "The drain of node1 waits: 1 pod evicted so far, but the API server refuses db-1.",
            id="a drain waits for a budget",
        ),
        pytest.param(
            "drain",
            [drain("node1"), advance(6), drain("node1", on=False)],
            "The drain of node1 was stopped: nobody is asked any more.",
            id="a drain is stopped",
        ),
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute")],
            "no-toleration is evicted from node1: key1=value1:NoExecute is not tolerated.",
            id="a taint drives a pod away at once",
        ),
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute"), advance(3601)],
            "stays-an-hour is evicted from node1: tolerationSeconds 3600 are over.",
            id="a taint drives a pod away when its time is over",
        ),
        pytest.param(
            "taint-removed-in-time",
            [advance(60), taint()],
            "stays-an-hour may stay on node1 after all: the taint was removed in time.",
            id="a taint is removed in time",
        ),
        pytest.param(
            "taint-removed-in-time",
            [MORE_MEMORY],
            "stays-an-hour now uses memory 2Gi.",
            id="a pod uses more",
        ),
        pytest.param(
            "taint-removed-in-time",
            [SYSTEM],
            "The system on node1 now uses memory 1Gi.",
            id="a node's system uses more",
        ),
        pytest.param(
            "taint-removed-in-time",
            [{**NOT_READY, "type": "DiskPressure", "status": "True"}],
            "node1: DiskPressure is True now. Its taints: key1=value1:NoExecute and "
            "node.kubernetes.io/disk-pressure:NoSchedule.",
            id="a node gets a condition",
        ),
    ],
)
def test_the_newest_that_happened_is_told(slug: str, steps: list[dict[str, Any]], words: str) -> None:
    assert text(world_after(slug, *steps)) == words


def test_pods_that_must_leave_together_are_told_together() -> None:
    world = world_after("node-not-ready", NOT_READY)
    told = text(world)
    assert told.startswith("web-")
    assert told.endswith(
        " and 1 more pod must leave node1 at 05:00.0: node.kubernetes.io/not-ready:NoExecute, tolerationSeconds 300."
    )


def test_a_scaled_workload_tells_how_far_it_is() -> None:
    words = "StatefulSet db now wants 5 pods: 5 there, 3 ready."
    assert text(world_after("eviction-answers", SCALE)) == words


def test_a_stage_that_came_after_is_told_instead() -> None:
    world = world_after("eviction-answers", SCALE, {"kind": "stage"})
    assert "at Pop: it left the queue for its first attempt" in text(world)


def test_who_looks_back_at_a_cycle_reads_about_that_cycle() -> None:
    world = world_after("eviction-answers", evict("db-0"))
    assert text(world, cycle=1).startswith("At 00:00.0: db-0 at PostBind")


def test_the_cause_of_a_refusal_is_the_precise_form_and_a_new_answer_is_news() -> None:
    first = stats(world_after("eviction-answers", evict("db-0"), evict("db-1")), View())
    assert first["precise"] == "The disruption budget db needs 2 healthy pods and has 2 currently"
    again = stats(world_after("eviction-answers", evict("db-0"), evict("db-1"), evict("db-1")), View())
    assert first["n"] != again["n"]
