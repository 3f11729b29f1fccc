"""The inspector on pods that leave: buttons, budgets, the last answer, planned evictions, drains."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sandbox.panels import View
from sandbox.panels.inspector.panel import stats
from tests.sandbox.scenarios import advance, delete, drain, evict, panel_html, taint, world_after

markup = partial(panel_html, "inspector")


def test_a_pod_shows_its_budget_and_the_last_answer() -> None:
    world = world_after("eviction-answers", evict("db-0"), evict("db-1"))
    panel = stats(world, View(pod="default/db-1"))
    assert panel["budgets"] == [{"name": "db", "text": "2 healthy, 2 needed, none may be evicted"}]
    assert (panel["answer"]["code"], panel["answer"]["cause"]) == (
        429,
        "The disruption budget db needs 2 healthy pods and has 2 currently",
    )
    assert "Cannot evict pod as it would violate the pod&#39;s disruption budget." in markup(world, pod="default/db-1")


def test_an_answer_to_a_drain_names_the_node() -> None:
    world = world_after("drain", drain("node1"), advance(6))
    answer = stats(world, View(pod="default/db-1"))["answer"]
    assert (answer["by"], answer["times"]) == ("drain of node1", 2)


def test_the_pod_that_comes_back_begins_without_answers() -> None:
    world = world_after("eviction-answers", evict("db-0"), advance(31))
    assert stats(world, View(pod="default/db-0"))["answer"] is None


def test_a_pod_counts_down_to_its_planned_eviction() -> None:
    world = world_after("taint-removed-in-time", advance(900))
    plan = stats(world, View(pod="default/stays-an-hour"))["plan"]
    assert plan == {"taint": "key1=value1:NoExecute", "at": "60:00.0", "left": "45 min", "ring": 75}
    gone = world_after("taint-removed-in-time", advance(900), taint())
    assert stats(gone, View(pod="default/stays-an-hour"))["plan"] is None


@pytest.mark.parametrize(
    ("steps", "offered"),
    [
        pytest.param([], True, id="a running pod"),
        pytest.param([delete("Pod", "db-0")], False, id="a terminating pod"),
    ],
)
def test_evict_is_offered_for_a_pod_that_runs(steps: list[dict[str, Any]], offered: bool) -> None:
    world = world_after("eviction-answers", *steps)
    assert ('id="insp-evict"' in markup(world, pod="default/db-0")) is offered
    assert "hx-post" not in markup(world, can_edit=False, pod="default/db-0")


def test_a_node_offers_to_drain_or_to_stop() -> None:
    for steps, on, name in (([], "1", "Drain"), ([drain("node1")], "0", "Stop drain")):
        html = markup(world_after("drain", *steps), node="node1")
        assert html.partition('id="insp-drain"')[2].partition("</button>")[0].endswith(f">{name}")
        form = html.partition('id="insp-drain-form"')[2].partition("</form>")[0]
        assert f'name="on" value="{on}"' in form
        assert form.count("checkbox") == (3 if on == "1" else 0)
        assert ("This node is being drained." in html) is (on == "0")


def test_a_failed_drain_shows_kubectls_message_and_the_flag_that_helps() -> None:
    failed = world_after("drain", drain("node1", ignore_daemonsets=False))
    html = markup(failed, node="node1")
    assert "error: unable to drain node &#34;node1&#34; due to error: cannot delete DaemonSet-managed Pods" in html
    assert "<li>--ignore-daemonsets: leave DaemonSet pods where they are.</li>" in html
    again = html.partition('id="insp-again-node1"')[2].partition("</button>")[0]
    assert '"ignore_daemonsets": "1"' in again
    assert "Drain again with --ignore-daemonsets" in again
    uncordoned = world_after(
        "drain", drain("node1", ignore_daemonsets=False), {"kind": "cordon", "node": "node1", "on": False}
    )
    assert stats(uncordoned, View(node="node1"))["failure"] is None
    assert "insp-again" not in markup(failed, can_edit=False, node="node1")


def test_a_node_shows_its_conditions_and_how_many_pods_must_leave() -> None:
    not_ready = {"kind": "node-condition", "node": "node1", "type": "Ready", "status": "False"}
    world = world_after("node-not-ready", not_ready, advance(60))
    panel = stats(world, View(node="node1"))
    assert {"type": "Ready", "status": "False", "good": False} in panel["conditions"]
    assert (panel["planned"], panel["planned_left"]) == (2, "4 min")
    html = markup(world, node="node1")
    assert 'data-goto-tab="nodes"' in html
    assert 'data-goto-tab="evictions"' in html
