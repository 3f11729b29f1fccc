"""What an event meant for waiting pods: in the sentence, on the queue's cards and in the inspector."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.model.guide import Guide
from sandbox.panels.sentence.panel import stats
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.scenarios import advance, drain, looking_back, panel_html, world_after, world_of

GPU = {"kind": "taint", "node": "node-a", "key": "gpu", "effect": "NoSchedule"}
CORDON = {"kind": "cordon", "node": "node-a", "on": True}
LABEL = {"metadata": {"labels": {"disk": "ssd"}}}


def apply(*objects: Any) -> dict[str, Any]:
    return {"kind": "apply", "manifests": [item.obj() for item in objects]}


def patch(kind: str, key: str, changes: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "patch", "object_kind": kind, "key": key, "changes": changes}


def waiting(*steps: dict[str, Any]) -> World:
    """Return a world after ``steps``: web cannot go to node-a for its taint, and big fits on no node."""
    simulation = Simulation()
    tainted = make_node("node-a").taint("gpu", "", "NoSchedule")
    pods = apply(make_pod("web").cpu("2"), make_pod("big").cpu("100"))
    play(simulation, [apply(tainted), pods, {"kind": "run"}, *steps])
    return world_of(simulation)


def sentence_of(world: World) -> str:
    panel = stats(world, View())
    return f"{panel.get('before', '')}{panel.get('name', '')}{panel['text']}" if panel.get("beside") else panel["text"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param(
            [apply(make_node("node-b").capacity({"cpu": "8"}).taint("gpu", "", "NoSchedule"))],
            "node-b joined. 2 pods were checked and not woken.",
            id="a node that helps no pod joins",
        ),
        pytest.param(
            [apply(make_node("node-b").capacity({"cpu": "8"}))],
            "node-b joined. NodeAdd woke web and big: TaintToleration says Queue (no taint of node-b kept the pod "
            "away).",
            id="a node that helps a pod joins",
        ),
        pytest.param(
            [apply(make_node("node-b").capacity({"cpu": "1"}), make_node("node-c"))],
            "2 nodes joined. NodeAdd woke web and big: TaintToleration says Queue (no taint of node-b kept the pod "
            "away).",
            id="several nodes join",
        ),
        pytest.param(
            [{**GPU, "on": False}],
            "node-a no longer has the taint gpu:NoSchedule. NodeUpdateNodeTaint woke web and big: TaintToleration says "
            "Queue (no taint of node-a kept the pod away).",
            id="a taint is removed",
        ),
        pytest.param(
            [{**GPU, "key": "slow"}],
            "node-a now has the taint slow:NoSchedule. 2 pods were checked and not woken.",
            id="a node is tainted",
        ),
        pytest.param(
            [CORDON],
            "node-a is cordoned: it takes only new pods that tolerate this. 2 pods were checked and not woken.",
            id="a cordon",
        ),
        pytest.param(
            [CORDON, {**CORDON, "on": False}],
            "node-a is no longer cordoned. 2 pods were checked and not woken.",
            id="a cordon is lifted",
        ),
        pytest.param(
            [patch("Node", "node-a", LABEL)],
            "node-a was edited: metadata.labels.disk=ssd. 2 pods are unschedulable; no plugin that rejected them was "
            "asked.",
            id="an edit without a registration",
        ),
        pytest.param(
            [drain("node-a")],
            "The drain of node-a is over: 0 pods evicted. 2 pods were checked and not woken.",
            id="a drain is over",
        ),
        pytest.param(
            [{"kind": "delete", "object_kind": "Pod", "key": "default/big"}],
            "big was deleted: no budget is checked for that.",
            id="a waiting pod is deleted",
        ),
        pytest.param([apply(make_pod("late"))], "late was added.", id="a pod is added"),
        pytest.param([apply(make_pod("late"), make_pod("later"))], "2 pods were added.", id="pods are added"),
        pytest.param(
            [apply(make_pod("late"), make_node("node-b").capacity({"cpu": "1"}).taint("gpu", "", "NoSchedule"))],
            "Applied: 1 × Pod and 1 × Node. 2 pods were checked and not woken.",
            id="objects of several kinds are applied",
        ),
        pytest.param(
            [advance(2)],
            "2 s passed, and woke no pod: 2 pods are still unschedulable.",
            id="time passes without an event",
        ),
    ],
)
def test_the_last_event_is_the_sentence_with_its_effect_on_waiting_pods(
    steps: list[dict[str, Any]], words: str
) -> None:
    assert sentence_of(waiting(*steps)) == words


def test_plugin_answers_are_in_the_details_and_the_next_pod_is_named() -> None:
    panel = stats(waiting({**GPU, "on": False}), View())
    answer = "NodeUpdateNodeTaint node-a → TaintToleration says Queue: no taint of node-a kept the pod away"
    assert panel["precise"] == f"web: {answer}; big: {answer}"
    assert panel["next"] == "Pop takes web from backoffQ, because activeQ is empty"
    assert stats(waiting(apply(make_pod("late"))), View())["next"] == "Pop takes late"


def test_by_the_design_document_no_pod_leaves_backoff_early() -> None:
    simulation = Simulation(queue_rules="design-doc")
    play(simulation, [apply(make_node("node-a")), apply(make_pod("big").cpu("100")), {"kind": "run"}])
    play(simulation, [apply(make_node("node-b"))])
    world = world_of(simulation)
    assert sentence_of(world) == "node-b joined. NodeAdd woke big."
    assert stats(world, View())["next"] == "big leaves backoffQ at 00:02.0"


def test_plugins_that_answer_differently_are_all_named() -> None:
    small, larger = (make_node(name).capacity({"cpu": cpu}) for name, cpu in (("node-b", "1"), ("node-c", "3")))
    assert sentence_of(waiting(apply(small), {"kind": "run"}, apply(larger))) == (
        "node-c joined. NodeAdd woke web and big: NodeResourcesFit and TaintToleration say Queue."
    )


def test_a_pod_in_flight_notes_a_node_that_comes_in_mid_cycle_and_continues() -> None:
    panel = stats(
        waiting(
            {**GPU, "on": False},
            {"kind": "stage"},
            apply(make_node("node-b")),
        ),
        View(),
    )
    assert panel["text"] == " joined. web is in flight and noted the event."
    assert panel["next"] == "Snapshot for web"


def test_a_stage_names_the_pods_it_woke_and_a_later_one_does_not() -> None:
    bound = world_after("queue-affinity-wakes-a-pod", {"kind": "pod"}, {"kind": "pod"})
    assert sentence_of(bound) == (
        "it is bound to node-a1; this attempt is over. AssignedPodAdd woke web-1: InterPodAffinity says Queue (cache-1 "
        "began to match all of the pod's affinity terms)."
    )
    popped = world_after("queue-affinity-wakes-a-pod", {"kind": "pod"}, {"kind": "pod"}, {"kind": "stage"})
    assert "woke" not in sentence_of(popped)


def test_a_stage_that_follows_is_the_sentence_again() -> None:
    assert sentence_of(waiting({**GPU, "on": False}, {"kind": "stage"})).startswith("it left the queue for attempt 2")


def test_the_setup_of_a_scenario_is_not_news() -> None:
    world = waiting(apply(make_pod("late")))
    world.guide = Guide(len(world.commands))
    assert sentence_of(world) == "no eviction would make room anywhere."


def test_before_the_first_attempt_the_sentence_says_what_to_do() -> None:
    simulation = Simulation()
    play(simulation, [apply(make_node("node-a"))])
    assert sentence_of(world_of(simulation)) == "node-a joined. 1 node and no pod yet."
    play(simulation, [apply(make_pod("web"))])
    assert sentence_of(world_of(simulation)) == "web was added. 1 pod waits in activeQ."


def test_the_past_has_the_sentence_of_then() -> None:
    world = waiting({**GPU, "on": False})
    then = looking_back(world, world.end_of(3))
    assert sentence_of(then) == "no eviction would make room anywhere."


def test_a_card_says_what_woke_the_pod_and_why() -> None:
    html = unescape(panel_html("queues", waiting({**GPU, "on": False})))
    assert "woken by command 4: untaint node-a gpu:NoSchedule" in html
    assert 'NodeUpdateNodeTaint node-a → <span data-plugin="TaintToleration">TaintToleration</span> says' in html
    assert "woken" not in unescape(panel_html("queues", waiting({**GPU, "key": "slow"})))


@pytest.mark.parametrize(
    ("step", "text", "answer"),
    [
        pytest.param(
            {**GPU, "on": False},
            "At 00:00.0 woken by command 4: untaint node-a gpu:NoSchedule.",
            "NodeUpdateNodeTaint node-a → TaintToleration says Queue: no taint of node-a kept the pod away",
            id="woken",
        ),
        pytest.param(
            {**GPU, "key": "slow"},
            "The last event did not move it.",
            "NodeUpdateNodeTaint node-a → TaintToleration says QueueSkip: node-a had a taint that the pod does not "
            "tolerate",
            id="left",
        ),
    ],
)
def test_the_inspector_says_what_woke_the_pod_or_left_it(step: dict[str, Any], text: str, answer: str) -> None:
    panel = PANELS["inspector"].stats(waiting(step), View(pod="default/web"))
    assert panel["woken"] == {"text": text, "answer": answer}
    assert text in unescape(panel_html("inspector", waiting(step), pod="default/web"))
