"""The sentence, when something beside the scheduler is the newest that happened."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.model.eviction_log import Happening
from sandbox.panels.model.node_health import Deed
from sandbox.panels.sentence.happenings import told
from sandbox.panels.sentence.panel import stats
from scheduler_engine.testing import make_pod
from scheduler_engine.trace import events as ev
from tests.sandbox.scenarios import advance, delete, drain, evict, looking_back, panel_html, taint, world_after

NOT_READY = {"kind": "node-condition", "node": "node1", "type": "Ready", "status": "False"}
SCALE = {"kind": "scale", "object_kind": "StatefulSet", "key": "default/db", "replicas": 5}
MORE_MEMORY = {"kind": "usage", "pod": "default/stays-an-hour", "memory": "2Gi"}
ANEW = {
    "kind": "replace",
    "object_kind": "Pod",
    "key": "default/stays-an-hour",
    "manifest": make_pod("stays-an-hour").cpu("1").obj(),
}
SYSTEM = {"kind": "usage", "node": "node1", "memory": "1Gi"}


def text(world: World, **view: Any) -> str:
    """The sentence as it is read."""
    html = panel_html("sentence", world, **view)
    inner = html[html.index('<p id="sentence-text">') : html.index("</p>")]
    while "<" in inner:
        inner = inner[: inner.index("<")] + inner[inner.index(">") + 1 :]
    return " ".join(unescape(inner).split())


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
            [ANEW],
            "stays-an-hour was deleted and made anew.",
            id="a pod is made anew",
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
    then = looking_back(world, world.by_number[1].last_entry)
    assert text(then).startswith("The past, 00:00.0: db-0 at PostBind")


def test_the_cause_of_a_refusal_is_the_precise_form_and_a_new_answer_is_news() -> None:
    first = stats(world_after("eviction-answers", evict("db-0"), evict("db-1")), View())
    assert first["precise"] == "The disruption budget db needs 2 healthy pods and has 2 currently"
    again = stats(world_after("eviction-answers", evict("db-0"), evict("db-1"), evict("db-1")), View())
    assert first["n"] != again["n"]


def uses(pod: str, memory: str) -> dict[str, Any]:
    return {"kind": "usage", "pod": f"default/{pod}", "memory": memory}


@pytest.mark.parametrize(
    ("slug", "steps", "words"),
    [
        pytest.param(
            "memory-pressure",
            [uses("greedy-low", "4168Mi"), advance(15)],
            "greedy-low is evicted by the kubelet of node1: the node was low on resource: memory. Threshold quantity: "
            "500Mi, available: 200Mi.",
            id="a kubelet evicts a pod",
        ),
        pytest.param(
            "minimum-reclaim",
            [uses("small-3", "400Mi"), advance(60)],
            "small-2 is evicted by the kubelet of node1: the node was low on resource: memory. Threshold quantity: "
            "500Mi, available: 809Mi. The minimum is not reclaimed yet.",
            id="a kubelet evicts above its threshold, to reclaim the minimum",
        ),
        pytest.param(
            "images-before-pods",
            [{"kind": "usage", "pod": "default/writer", "ephemeral_storage": "13Gi"}, advance(20)],
            "The kubelet of node1 removes unused images before it evicts anyone: registry.example/huge:1, 6Gi freed.",
            id="a kubelet removes images",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(60)],
            "The kubelet of node1 reports MemoryPressure: memory.available<1.5Gi must last until 01:40.0 before it "
            "evicts.",
            id="a soft threshold is crossed",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(60), uses("busy", "4Gi"), advance(60)],
            "The kubelet of node1: memory.available<1.5Gi holds no more, so its grace period would start anew.",
            id="a soft threshold is no longer crossed",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(20), uses("busy", "4Gi"), advance(400)],
            "The kubelet of node1 reports no MemoryPressure any more.",
            id="the pressure is over",
        ),
        pytest.param(
            "eviction-stuck",
            [delete("Pod", "db-0")],
            "db-0 is deleted: no budget is asked for that. It has 30 s to end.",
            id="a pod is deleted past its budget",
        ),
        pytest.param(
            "eviction-two-budgets",
            [delete("PodDisruptionBudget", "forgotten")],
            "PodDisruptionBudget forgotten was deleted.",
            id="a budget is deleted",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{**delete("Deployment", "last"), "propagation_policy": "Foreground"}],
            "Deployment last is being deleted: what it owns goes first.",
            id="an owner waits for what it owns",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{**delete("Deployment", "spared"), "propagation_policy": "Orphan"}],
            "Deployment spared was deleted; what it owned stays.",
            id="an owner leaves orphans",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{"kind": "delete", "object_kind": "Node", "key": "node-1"}],
            "Node node-1 was deleted.",
            id="a node is deleted, though its pods are still there",
        ),
    ],
)
def test_what_kubelets_do_and_what_is_deleted_is_told(slug: str, steps: list[dict[str, Any]], words: str) -> None:
    assert text(world_after(slug, *steps)) == words


def test_the_kubelets_own_words_are_the_precise_form_of_an_eviction() -> None:
    found = stats(world_after("memory-pressure", uses("greedy-low", "4168Mi"), advance(15)), View())
    assert found["precise"].endswith(
        "Container main was using 4168Mi, request is 1Gi, has larger consumption of memory."
    )


@pytest.mark.parametrize(
    ("slug", "steps", "following"),
    [
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute"), advance(3599)],
            "stays-an-hour must leave in 1 s",
            id="who goes after the one that went",
        ),
        pytest.param("taint-removed-in-time", [advance(1800)], "30 min to go", id="how long the next one may stay"),
    ],
)
def test_what_comes_next_by_the_clock_is_told(slug: str, steps: list[dict[str, Any]], following: str) -> None:
    assert stats(world_after(slug, *steps), View())["next"] == following


def test_who_stops_a_drain_that_does_not_run_is_told_so() -> None:
    assert text(world_after("node-not-ready", drain("node1", on=False))) == (
        "Nobody drains node1: there is nothing to stop."
    )


def test_a_kubelet_removes_dead_containers() -> None:
    deed = Deed(0, ev.NodeResourcesReclaimed("node1", "dead containers", ("default/done",), 4 << 30))
    said = told(World(), Happening(1, 0, "deed", deed))
    assert said["before"] + said["name"] + said["text"] == (
        "The kubelet of node1 removes dead containers before it evicts anyone: done, 4Gi freed."
    )
