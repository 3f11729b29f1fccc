"""What a learner is asked, and what the engine answers."""

from __future__ import annotations

import pytest

from scheduler_engine.lesson.model import Option, Question
from scheduler_engine.lesson.predictions import Answer, answer, asked, choices, compare, is_right
from scheduler_engine.scenario import load_scenarios, play
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

SCENARIOS = {scenario.slug: scenario for scenario in load_scenarios()}


def cluster(*objects: object) -> Simulation:
    simulation = Simulation()
    play(simulation, [{"kind": "apply", "manifests": list(objects)}])
    return simulation


def asked_then(simulation: Simulation, question: Question, *steps: dict[str, object]) -> Answer | None:
    """The answer to a question that is asked before some steps, which must not be there yet."""
    since = len(simulation.recorder.entries)
    assert answer(Seen(simulation), question, since) is None
    play(simulation, list(steps))
    return answer(Seen(simulation), question, since)


def two_nodes() -> Simulation:
    return cluster(
        make_node("n1").capacity(cpu="4", memory="8Gi").obj(),
        make_node("n2").capacity(cpu="2", memory="8Gi").obj(),
        make_pod("web").cpu("3").obj(),
    )


def test_nodes_that_pass() -> None:
    found = asked_then(two_nodes(), Question("passes", "default/web"), {"kind": "pod"})
    assert found is not None
    assert found.right == ("n1",)
    assert found.why == {"n1": "passes", "n2": "refused by NodeResourcesFit (Insufficient cpu)"}


def test_nothing_passes_where_all_nodes_were_refused_before_the_filters() -> None:
    pinned = make_pod("web").obj()
    pinned["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n9"]}]}]
            }
        }
    }
    found = asked_then(cluster(make_node("n1").obj(), pinned), Question("passes", "default/web"), {"kind": "pod"})
    assert found is not None
    assert found.right == ()
    assert is_right(Question("passes", "default/web"), [], found)


def test_the_winner_and_its_total() -> None:
    found = asked_then(two_nodes(), Question("winner", "default/web"), {"kind": "pod"})
    assert found is not None
    assert found.right == ("n1",)
    assert found.why["n2"] == "refused by NodeResourcesFit (Insufficient cpu)"


def test_each_of_equal_nodes_is_a_right_answer() -> None:
    nodes = [make_node(name).obj() for name in ("n1", "n2", "n3")]
    simulation = cluster(*nodes, make_pod("web").obj())
    question = Question("winner", "default/web")
    found = asked_then(simulation, question, {"kind": "pod"})
    assert found is not None
    assert sorted(found.right) == ["n1", "n2", "n3"]
    assert all(is_right(question, [name], found) for name in ("n1", "n2", "n3"))
    assert not is_right(question, [], found)
    assert "drawn among 3 equal ones" in " ".join(found.why.values())


@pytest.mark.parametrize(
    ("cpu", "lane", "why"),
    [("1", "bound", "bound to n1"), ("64", "unschedulablePods", "held back by NodeResourcesFit")],
)
def test_where_a_pod_goes(cpu: str, lane: str, why: str) -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("web").cpu(cpu).obj())
    found = asked_then(simulation, Question("lane", "default/web"), {"kind": "pod"})
    assert found is not None
    assert found.right == (lane,)
    assert why in found.why[lane]


def test_where_a_pod_goes_that_is_not_there_yet() -> None:
    simulation = cluster(make_node("n1").obj())
    gated = make_pod("web").obj()
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    found = asked_then(simulation, Question("lane", "default/web"), {"kind": "apply", "manifests": [gated]})
    assert found is not None
    assert found.right == ("gated",)


def test_who_has_to_leave() -> None:
    scenario = SCENARIOS["high-priority-preemption"]
    simulation = scenario.open()
    question = Question("victims", "default/high-priority-pod")
    pods = [pod.key for pod in simulation.api.pods() if not pod.node_name]
    question = Question("victims", pods[0])
    found = asked_then(simulation, question, {"kind": "run"})
    assert found is not None
    assert found.right
    offered = choices(Seen(scenario.open()), question)
    assert set(found.right) <= set(offered)


def test_nobody_has_to_leave_for_a_pod_that_fits() -> None:
    found = asked_then(two_nodes(), Question("victims", "default/web"), {"kind": "pod"})
    assert found == Answer(())
    assert is_right(Question("victims", "default/web"), [], found)


def test_which_plugin_refuses() -> None:
    simulation = two_nodes()
    play(simulation, [{"kind": "pod"}])
    question = Question("refuses", "default/web", "n2")
    found = answer(Seen(simulation), question)
    assert found == Answer(("NodeResourcesFit",), {"NodeResourcesFit": "Insufficient cpu"})
    offered = choices(Seen(simulation), question)
    assert offered[:3] == ("NodeUnschedulable", "NodeName", "TaintToleration")
    assert answer(Seen(simulation), Question("refuses", "default/web", "n1")) is None


def test_options_are_right_by_what_holds() -> None:
    options = (
        Option("n1", ({"pod": "default/web", "node": "n1"},)),
        Option("nowhere", ({"pod": "default/web", "pending": True},)),
    )
    found = asked_then(two_nodes(), Question("options", ask="Where?", options=options), {"kind": "pod"})
    assert found == Answer(("n1",))


def test_an_old_answer_does_not_answer_a_new_question() -> None:
    simulation = two_nodes()
    play(simulation, [{"kind": "pod"}])
    question = Question("winner", "default/web")
    play(simulation, [{"kind": "delete", "object_kind": "Pod", "key": "default/web"}, {"kind": "run"}])
    again = make_pod("web").cpu("1").obj()
    found = asked_then(simulation, question, {"kind": "apply", "manifests": [again]}, {"kind": "pod"})
    assert found is not None
    assert set(found.why) == {"n1", "n2"}


def test_answers_are_compared_point_by_point() -> None:
    question = Question("passes", "default/web")
    found = Answer(("n1", "n3"), {"n1": "passes", "n2": "refused", "n3": "passes"})
    points = compare(question, ["n1", "n2"], found, ["n1", "n2", "n3"])
    assert [(point.choice, point.agrees, point.why) for point in points] == [
        ("n1", True, "passes"),
        ("n2", False, "refused"),
        ("n3", False, "passes"),
    ]
    assert not is_right(question, ["n1", "n2"], found)
    assert is_right(question, ["n3", "n1"], found)


def test_of_a_question_for_one_only_what_counts_is_compared() -> None:
    question = Question("winner", "default/web")
    found = Answer(("n1",), {"n1": "total 300", "n2": "total 200"})
    points = compare(question, ["n2"], found, ["n1", "n2", "n3"])
    assert [(point.choice, point.given, point.right) for point in points] == [("n2", True, False), ("n1", False, True)]


def test_a_question_has_words() -> None:
    assert asked(Question("refuses", "default/web", "n2")) == "Which plugin refuses n2 for web?"
    assert asked(Question("winner", "kube-system/dns")) == "Which node does kube-system/dns get?"
    assert asked(Question("winner", "default/web", ask="Where to?")) == "Where to?"
