"""The questions for a learner, and the engine's answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_engine.lesson.ends import ATTEMPT, Why
from scheduler_engine.lesson.leaving import why_nobody
from scheduler_engine.lesson.model import Option, Question, Steps
from scheduler_engine.lesson.predictions import KINDS, Judged, Sight, asked, choices, compare, is_right, judge
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.lesson.window import Answer
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.testing.builders import make_priority_class
from scheduler_engine.trace import events as ev
from tests.installed import SCENARIOS

REFUSED = Why("refused", {"plugin": "NodeResourcesFit", "reasons": ("Insufficient cpu",)})


def cluster(*objects: object) -> Simulation:
    simulation = Simulation()
    play(simulation, [{"kind": "apply", "manifests": list(objects)}])
    return simulation


def sight(simulation: Simulation) -> Sight:
    return Sight(simulation.recorder, lambda _: RunView(simulation))


def asked_then(simulation: Simulation, question: Question, *steps: dict[str, object]) -> Answer | None:
    """Ask about the next attempt, take the steps, and return the answer. Assert that it is not known before."""
    question = replace(question, at=question.at or KINDS[question.kind].at)
    since = len(simulation.recorder.entries)
    if question.at:
        assert judge(question, since, sight(simulation)) == Judged()
    play(simulation, list(steps))
    return judge(question, since, sight(simulation)).answer


def now(simulation: Simulation, question: Question) -> Judged:
    return judge(question, 0, sight(simulation))


def two_nodes() -> Simulation:
    return cluster(
        make_node("n1").capacity(cpu="4", memory="8Gi").obj(),
        make_node("n2").capacity(cpu="2", memory="8Gi").obj(),
        make_pod("web").cpu("3").obj(),
    )


def test_nodes_that_pass() -> None:
    answer = asked_then(two_nodes(), Question("passes", "default/web"), {"kind": "pod"})
    assert answer is not None
    assert answer.right == ("n1",)
    assert answer.why == {"n1": Why("passes"), "n2": REFUSED}


def test_an_attempt_is_not_abandoned_because_another_replica_tries_the_pod() -> None:
    simulation, stage = two_nodes(), {"kind": "stage"}
    play(simulation, [{"kind": "replicas", "count": 2, "leader_elect": False}])
    question = Question("passes", "default/web", at="Filter")
    since, started = len(simulation.recorder.entries), ev.CycleStarted
    ends = []
    for _ in range(8):
        play(simulation, [stage])
        ends.append(judge(question, since, sight(simulation)))
    begun = [entry.replica for entry in simulation.recorder.entries[since:] if isinstance(entry.event, started)]
    assert begun == ["kube-scheduler-1", "kube-scheduler-2"]
    assert ends[:6] == [Judged()] * 6
    answer = ends[-1].answer
    assert answer is not None
    assert answer.right == ("n1",)


def test_an_attempt_is_abandoned_if_its_replica_stops_and_the_next_one_answers_later_questions() -> None:
    simulation, stage = cluster(make_node("n1").capacity(cpu="4").obj()), {"kind": "stage"}
    web = {"kind": "apply", "manifests": [make_pod("web").cpu("3").obj()]}
    play(simulation, [{"kind": "replicas", "count": 2}, {"kind": "advance", "seconds": 5}, web])
    question, since = Question("passes", "default/web", at="Filter"), len(simulation.recorder.entries)
    play(simulation, [stage, {"kind": "replica", "replica": "kube-scheduler-1", "action": "kill"}])
    assert judge(question, since, sight(simulation)) == Judged(none=Why("abandoned", {"pod": "default/web"}))
    since = len(simulation.recorder.entries)
    assert judge(question, since, sight(simulation)) == Judged()
    play(simulation, [{"kind": "advance", "seconds": 30}, {"kind": "settle"}])
    answer = judge(question, since, sight(simulation)).answer
    assert answer is not None
    assert answer.right == ("n1",)


def test_nothing_passes_where_all_nodes_were_refused_before_the_filters() -> None:
    pinned = make_pod("web").obj()
    pinned["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n9"]}]}]
            }
        }
    }
    answer = asked_then(cluster(make_node("n1").obj(), pinned), Question("passes", "default/web"), {"kind": "pod"})
    assert answer is not None
    assert answer.right == ()
    assert is_right(Question("passes", "default/web"), [], answer)


def test_the_winner_and_its_total() -> None:
    answer = asked_then(two_nodes(), Question("winner", "default/web"), {"kind": "pod"})
    assert answer is not None
    assert answer.right == ("n1",)
    assert answer.why["n2"] == REFUSED


def test_each_of_equal_nodes_is_a_right_answer() -> None:
    nodes = [make_node(name).obj() for name in ("n1", "n2", "n3")]
    simulation = cluster(*nodes, make_pod("web").obj())
    question = Question("winner", "default/web")
    answer = asked_then(simulation, question, {"kind": "pod"})
    assert answer is not None
    assert sorted(answer.right) == ["n1", "n2", "n3"]
    assert all(is_right(question, [name], answer) for name in ("n1", "n2", "n3"))
    assert not is_right(question, [], answer)
    assert [why.values["count"] for why in answer.why.values() if why.key == "drawn"] == [3]


@pytest.mark.parametrize(
    ("cpu", "lane", "key", "values"),
    [
        ("1", "bound", "bound", {"node": "n1"}),
        ("64", "unschedulablePods", "moved", {"cause": "ScheduleAttemptFailure", "plugins": ("NodeResourcesFit",)}),
    ],
)
def test_where_a_pod_is_after_its_attempt(cpu: str, lane: str, key: str, values: dict[str, object]) -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("web").cpu(cpu).obj())
    answer = asked_then(simulation, Question("lane", "default/web"), {"kind": "pod"})
    assert answer is not None
    assert answer.right == (lane,)
    assert answer.why[lane].key == key
    assert values.items() <= answer.why[lane].values.items()


def test_where_a_pod_is_at_the_end_of_a_step() -> None:
    simulation = cluster(make_node("n1").obj())
    gated = make_pod("web").obj()
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    play(simulation, [{"kind": "apply", "manifests": [gated]}])
    answer = now(simulation, Question("lane", "default/web")).answer
    assert answer is not None
    assert answer.right == ("gated",)


def test_who_has_to_leave() -> None:
    scenario = SCENARIOS["high-priority-preemption"]
    simulation = scenario.open()
    question = Question("victims", "default/high-priority-pod")
    pods = [pod.key for pod in simulation.api.pods() if not pod.node_name]
    question = Question("victims", pods[0])
    answer = asked_then(simulation, question, {"kind": "run"})
    assert answer is not None
    assert answer.right
    offered = choices(RunView(scenario.open()), question)
    assert set(answer.right) <= set(offered)


def test_nobody_has_to_leave_for_a_pod_that_fits() -> None:
    answer = asked_then(two_nodes(), Question("victims", "default/web"), {"kind": "pod"})
    assert answer == Answer((), nobody=Why("nobody-fits", {"pod": "default/web", "node": ""}))
    assert is_right(Question("victims", "default/web"), [], answer)


def test_which_plugin_refuses() -> None:
    simulation = two_nodes()
    play(simulation, [{"kind": "pod"}])
    question = Question("refuses", "default/web", "n2")
    answer = now(simulation, question).answer
    assert answer == Answer(
        ("NodeResourcesFit",), {"NodeResourcesFit": Why("says", {"reasons": ("Insufficient cpu",)})}
    )
    offered = choices(RunView(simulation), question)
    assert offered[:3] == ("NodeUnschedulable", "NodeName", "TaintToleration")
    none = now(simulation, Question("refuses", "default/web", "n1")).none
    assert none == Why("not-refused", {"pod": "default/web", "node": "n1", "why": Why("passes")})


def test_options_are_right_if_their_conditions_hold() -> None:
    options = (
        Option("n1", ({"pod": "default/web", "node": "n1"},)),
        Option("nowhere", ({"pod": "default/web", "pending": True},)),
    )
    answer = asked_then(two_nodes(), Question("options", ask="Where?", options=options), {"kind": "pod"})
    assert answer == Answer(("n1",))


def test_an_old_answer_does_not_answer_a_new_question() -> None:
    simulation = two_nodes()
    play(simulation, [{"kind": "pod"}])
    question = Question("winner", "default/web")
    play(simulation, [{"kind": "delete", "object_kind": "Pod", "key": "default/web"}, {"kind": "run"}])
    again = make_pod("web").cpu("1").obj()
    answer = asked_then(simulation, question, {"kind": "apply", "manifests": [again]}, {"kind": "pod"})
    assert answer is not None
    assert set(answer.why) == {"n1", "n2"}


def test_answers_are_compared_point_by_point() -> None:
    question = Question("passes", "default/web")
    answer = Answer(("n1", "n3"), {"n2": REFUSED}, ("n1", "n2", "n3"))
    assert [(point.choice, point.agrees, point.why) for point in compare(["n1", "n2"], answer)] == [
        ("n1", True, None),
        ("n2", False, REFUSED),
        ("n3", False, None),
    ]
    assert not is_right(question, ["n1", "n2"], answer)
    assert is_right(question, ["n3", "n1"], answer)


def test_a_question_for_one_choice_compares_only_what_counts() -> None:
    answer = Answer(("n1",))
    points = compare(["n2"], answer)
    assert [(point.choice, point.chosen, point.right) for point in points] == [("n2", True, False), ("n1", False, True)]


def test_a_question_has_words() -> None:
    assert asked(Question("refuses", "default/web", "n2")) == "Which plugin refuses n2 for web?"
    assert asked(Question("winner", "kube-system/dns")) == "Which node does kube-system/dns get?"
    assert asked(Question("winner", "default/web", ask="Where to?")) == "Where to?"
    assert asked(Question("lane", "default/web")) == "Where is web at the end of this step?"
    assert asked(Question("lane", "default/web", at=ATTEMPT)) == "Where is web when this attempt is over?"


# --- when a question is over, and unexpected ends -------------------------------------------------------------------

FAILS, LATER = make_pod("web").cpu("64").obj(), Question("lane", "default/web", at=ATTEMPT)
STAGE: dict[str, object] = {"kind": "stage"}
POD: dict[str, object] = {"kind": "pod"}
DELETE: dict[str, object] = {"kind": "delete", "object_kind": "Pod", "key": "default/web"}


def test_a_lane_is_that_of_the_end_of_the_attempt_and_not_of_the_next_one() -> None:
    simulation = cluster(make_node("n1").obj(), FAILS)
    play(simulation, [STAGE])
    since = len(simulation.recorder.entries)
    node = make_node("n2").capacity(cpu="90", memory="8Gi").obj()
    for _ in range(3):
        play(simulation, [STAGE])
        assert judge(LATER, since, sight(simulation)) == Judged()
    play(simulation, [{"kind": "apply", "manifests": [node]}])
    assert judge(LATER, since, sight(simulation)) == Judged()
    play(simulation, [STAGE])
    judgement = judge(LATER, since, sight(simulation))
    assert judgement.answer is not None
    assert judgement.answer.right == ("backoffQ",)
    play(simulation, [{"kind": "advance", "seconds": 5}])
    assert simulation.api.pod("default/web").node_name == "n2"
    assert judge(LATER, since, sight(simulation)) == judgement


@pytest.mark.parametrize("stages", [0, 1, 3])
def test_a_pod_that_is_deleted_leaves_a_reason_and_no_answer(stages: int) -> None:
    simulation = cluster(make_node("n1").obj(), FAILS)
    play(simulation, [STAGE] * stages)
    since = len(simulation.recorder.entries)
    play(simulation, [DELETE, {"kind": "settle"}])
    assert judge(LATER, since, sight(simulation)).none == Why("gone", {"pod": "default/web"})


def replaced(pod: dict[str, object]) -> dict[str, object]:
    return {"kind": "replace", "object_kind": "Pod", "key": "default/web", "manifest": pod}


def test_a_pod_that_takes_the_name_is_another_pod() -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("web").obj())
    play(simulation, [STAGE])
    since = len(simulation.recorder.entries)
    play(simulation, [STAGE, replaced(make_pod("web").obj()), *[STAGE] * 12])
    assert judge(LATER, since, sight(simulation)).none == Why("gone", {"pod": "default/web"})


def test_two_pods_with_one_name_have_separate_attempts() -> None:
    wait = {"kind": "fault", "plugin": "DefaultBinder", "point": "bind", "answer": "wait"}
    simulation = cluster(make_node("n1").obj(), make_pod("web").obj())
    play(simulation, [{**wait, "seconds": 20}, STAGE])
    old = len(simulation.recorder.entries)
    play(simulation, [POD, {**wait, "seconds": 60}, replaced(make_pod("web").obj()), POD])
    assert judge(LATER, old, sight(simulation)).none == Why("gone", {"pod": "default/web"})
    play(simulation, [{"kind": "advance", "seconds": 30}])
    new = len(simulation.recorder.entries)
    play(simulation, [{"kind": "advance", "seconds": 60}])
    answer = judge(LATER, new, sight(simulation)).answer
    assert answer is not None
    assert answer.right == ("bound",)


def relabelled(pod: str) -> dict[str, object]:
    return {
        "kind": "patch",
        "object_kind": "Pod",
        "key": f"default/{pod}",
        "changes": {"metadata": {"labels": {"a": "b"}}},
    }


def test_a_change_to_a_waiting_pod_is_not_the_cause_of_its_lane() -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("new").cpu("64").obj(), FAILS)
    play(simulation, [{"kind": "settle"}, {"kind": "apply", "manifests": [sized("n2", "90")]}, relabelled("web")])
    why = now(simulation, Question("lane", "default/web")).answer
    assert why is not None
    assert why.right == ("backoffQ",)
    assert why.why["backoffQ"].values["cause"] == "NodeAdd"
    play(simulation, [{"kind": "apply", "manifests": [make_pod("fresh").obj()]}, relabelled("fresh")])
    fresh = now(simulation, Question("lane", "default/fresh")).answer
    assert fresh is not None
    assert fresh.why["activeQ"].values["cause"] == "UnschedulablePodAdd"


def test_an_event_in_mid_cycle_is_why_a_pod_backs_off() -> None:
    simulation = cluster(make_node("n1").obj(), FAILS)
    play(simulation, [*[STAGE] * 3, {"kind": "apply", "manifests": [sized("n2", "90")]}, *[STAGE] * 2])
    answer = now(simulation, Question("lane", "default/web")).answer
    assert answer is not None
    values = answer.why["backoffQ"].values
    assert (values["cause"], values["plugin"]) == ("ScheduleAttemptFailure", "NodeResourcesFit")


def test_a_pod_that_is_never_tried_is_waited_for() -> None:
    gated = make_pod("web").obj()
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    simulation = cluster(make_node("n1").obj(), gated)
    since = len(simulation.recorder.entries)
    play(simulation, [{"kind": "advance", "seconds": 60}])
    assert judge(LATER, since, sight(simulation)) == Judged()


def test_a_bind_that_fails_is_where_the_attempt_ends() -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("web").obj())
    play(simulation, [{"kind": "fault", "plugin": "DefaultBinder", "point": "bind"}])
    answer = asked_then(simulation, LATER, {"kind": "pod"})
    assert answer is not None
    assert answer.right == ("errorBackoffQ",)


def test_an_error_before_the_stage_is_reported() -> None:
    simulation = cluster(make_node("n1").obj(), make_node("n2").obj(), make_pod("web").obj())
    play(simulation, [{"kind": "fault", "plugin": "NodeResourcesFit", "point": "filter"}])
    since = len(simulation.recorder.entries)
    play(simulation, [{"kind": "pod"}])
    none = judge(Question("winner", "default/web", at="SelectHost"), since, sight(simulation)).none
    assert none is not None
    assert none.key == "error"


def test_a_node_that_came_after_the_snapshot_was_not_in_it() -> None:
    simulation = two_nodes()
    play(simulation, [STAGE, STAGE])
    since = len(simulation.recorder.entries)
    play(simulation, [{"kind": "apply", "manifests": [make_node("n3").obj()]}, STAGE, STAGE])
    answer = judge(Question("passes", "default/web", at="Filter"), since, sight(simulation)).answer
    assert answer is not None
    assert answer.why["n3"] == Why("not-in-snapshot")


# --- the choices: what the attempt sees, whatever the API server has by now -----------------------------------------


def low(name: str, priority: int, node: str = "n1") -> dict[str, object]:
    pod = make_pod(name).cpu("2").priority(priority).node(node).obj()
    pod["spec"]["terminationGracePeriodSeconds"] = 0
    return pod


def remove(kind: str, key: str) -> dict[str, object]:
    return {"kind": "delete", "object_kind": kind, "key": key}


VIP = make_pod("vip").cpu("2").priority(500).obj()
VICTIMS = Question("victims", "default/vip", at="PostFilter")


def victims_after(simulation: Simulation, *steps: dict[str, object]) -> tuple[tuple[str, ...], Answer]:
    """Return the choices before PostFilter, and the answer after it and ``steps``."""
    since, offered = len(simulation.recorder.entries), choices(RunView(simulation), VICTIMS)
    play(simulation, [STAGE, *steps])
    answer = judge(replace(VICTIMS, offered=offered), since, sight(simulation)).answer
    assert answer is not None
    return offered, answer


def test_a_pod_that_waits_at_permit_can_be_a_victim() -> None:
    simulation = cluster(make_node("n1").capacity(cpu="2", memory="8Gi").obj())
    wait = {"kind": "fault", "plugin": "NodeResourcesFit", "point": "permit", "answer": "wait", "seconds": 60}
    slow = make_pod("slow").cpu("2").obj()
    play(simulation, [wait, {"kind": "apply", "manifests": [slow]}, {"kind": "pod"}])
    assert choices(RunView(simulation), VICTIMS) == ("default/slow",)
    play(simulation, [{"kind": "apply", "manifests": [VIP]}, *[STAGE] * 4])
    offered, answer = victims_after(simulation)
    assert offered == answer.right == ("default/slow",)


def test_a_pod_that_was_deleted_after_the_snapshot_can_be_a_victim() -> None:
    node = make_node("n1").capacity(cpu="4", memory="8Gi").obj()
    simulation = cluster(node, low("low-1", 0), low("low-2", 10))
    play(simulation, [{"kind": "apply", "manifests": [VIP]}, *[STAGE] * 4, remove("Pod", "default/low-1")])
    offered, answer = victims_after(simulation)
    assert offered == ("default/low-2", "default/low-1")
    assert answer.right == ("default/low-1",)


@pytest.mark.parametrize(("kind", "stages"), [("passes", 2), ("winner", 4)])
def test_a_node_that_was_deleted_after_the_snapshot_can_be_right(kind: str, stages: int) -> None:
    sizes = {"n1": "1", "n2": "4", "n3": "4"}
    nodes = [make_node(name).capacity(cpu=cpu, memory="8Gi").obj() for name, cpu in sizes.items()]
    simulation = cluster(*nodes, make_pod("web").cpu("2").obj())
    play(simulation, [*[STAGE] * stages, remove("Node", "n2")])
    question = Question(kind, "default/web", at=KINDS[kind].at)
    offered, since = choices(RunView(simulation), question), len(simulation.recorder.entries)
    assert offered == ("n1", "n3", "n2")
    play(simulation, [STAGE] * 5)
    answer = judge(replace(question, offered=offered), since, sight(simulation)).answer
    assert answer is not None
    assert sorted(answer.right) == ["n2", "n3"]
    assert sorted(answer.why) == ["n1", "n2", "n3"]


def test_a_reveal_lists_what_was_offered_and_nothing_newer() -> None:
    node = make_node("n1").capacity(cpu="4", memory="8Gi").obj()
    simulation = cluster(node, low("low-1", 0), low("low-2", 10))
    play(simulation, [{"kind": "apply", "manifests": [VIP]}, *[STAGE] * 4])
    late = low("late", 0)
    offered, answer = victims_after(simulation, {"kind": "apply", "manifests": [late]}, MINUTE)
    assert [point.choice for point in compare([], answer)] == [*offered] == ["default/low-1", "default/low-2"]


# --- why a pod has to leave, or not --------------------------------------------------------------------------------


def sized(name: str, cpu: str = "4") -> dict[str, object]:
    return make_node(name).capacity(cpu=cpu, memory="8Gi").obj()


def only_on(name: str) -> dict[str, object]:
    """Return the preemptor, restricted to one node."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod = make_pod("vip").cpu("2").priority(500).obj()
    pod["spec"]["affinity"] = {"nodeAffinity": required}
    return pod


NEVER = make_priority_class("never", 500, "Never")
SHY = make_pod("vip").cpu("2").priority_class("never").obj()
TAINTED = make_node("n2").capacity(cpu="4", memory="8Gi").taint("gpu", "NoSchedule").obj()
FULL = (low("a", 0), low("b", 10))
STAYS: dict[str, tuple[list[object], object, str, dict[str, str]]] = {
    "it fits beside it": ([sized("n1"), *FULL], VIP, "", {"a": "leaves", "b": "stays-beside"}),
    "it is as important": ([sized("n1"), low("a", 0), low("b", 500)], VIP, "", {"a": "leaves", "b": "stays-important"}),
    "all are as important": (
        [sized("n1"), low("a", 500), low("b", 500)],
        VIP,
        "nobody-helps",
        {"a": "stays-important", "b": "stays-important"},
    ),
    "another node is better": (
        [sized("n1"), sized("n2", "2"), *FULL, low("c", 20, "n2")],
        VIP,
        "",
        {"a": "leaves", "b": "stays-beside", "c": "stays-for-better"},
    ),
    "it would not help": (
        [sized("n1"), low("a", 0), low("b", 900)],
        make_pod("vip").cpu("4").priority(500).obj(),
        "nobody-helps",
        {"a": "stays-in-vain", "b": "stays-important"},
    ),
    "its node is refused with any victims": (
        [sized("n1", "2"), TAINTED, low("a", 0), low("b", 0, "n2")],
        VIP,
        "",
        {"a": "leaves", "b": "stays-refused"},
    ),
    "its node is left out": (
        [sized("n1", "2"), sized("n2", "2"), low("a", 0), low("b", 0, "n2")],
        only_on("n1"),
        "",
        {"a": "leaves", "b": "stays-narrowed"},
    ),
    "the policy is Never": ([NEVER, sized("n1"), *FULL], SHY, "nobody-never", {}),
    "a node is free": ([sized("n1"), sized("n2"), *FULL], VIP, "nobody-fits", {}),
}


@pytest.mark.parametrize("words", STAYS)
def test_there_is_a_reason_for_each_pod_that_need_not_leave(words: str) -> None:
    objects, preemptor, nobody, reasons = STAYS[words]
    simulation = cluster(*objects)
    play(simulation, [{"kind": "apply", "manifests": [preemptor]}])
    since, offered = len(simulation.recorder.entries), choices(RunView(simulation), VICTIMS)
    play(simulation, [POD])
    answer = judge(replace(VICTIMS, offered=offered), since, sight(simulation)).answer
    assert answer is not None
    assert (answer.nobody.key if answer.nobody else "") == nobody
    assert {pod.removeprefix("default/"): why.key for pod, why in answer.why.items()} == reasons


def test_while_a_victim_is_leaving_no_other_pod_has_to() -> None:
    slow = make_pod("low-1").cpu("2").priority(0).node("n1").obj()
    simulation = cluster(sized("n1"), slow, low("low-2", 10))
    play(simulation, [{"kind": "apply", "manifests": [VIP]}, POD])
    less = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1900m"}}}]}
    shrink = {"kind": "patch", "object_kind": "Pod", "key": "default/low-2", "changes": {"spec": less}}
    play(simulation, [{**shrink, "subresource": "resize"}, {"kind": "advance", "seconds": 2}])
    last = judge(replace(VICTIMS, at=""), 0, sight(simulation)).answer
    assert last is not None
    assert last.right == ()
    values = {"pod": "default/vip", "node": "n1"}
    assert last.nobody == Why("nobody-waits", values)
    assert last.why == {"default/low-1": Why("leaves-already", values)}


def test_the_node_with_the_leaving_victim_is_that_of_post_filter() -> None:
    """The pod's nomination can change between Pop and PostFilter."""
    waited = ev.PostFilterRan(1, (), "", (), (), (), (), "waiting", "n1")
    attempt = Attempt(1, "default/vip", 1, "n2", post_filter=waited)
    assert why_nobody(attempt) == Why("nobody-waits", {"pod": "default/vip", "node": "n1"})


def walked(simulation: Simulation, since: int, *steps: dict[str, object]) -> Walk:
    """Return a learner's progress after steps that began after ``since`` entries, at the end of a command."""
    start = simulation.history
    assert start is not None

    def ahead(entries: int, more: Steps) -> Simulation:
        there = Simulation()
        for command in start.commands:
            if len(there.recorder.entries) < entries:
                there.execute(command)
        play(there, more)
        return there

    return Walk(steps, simulation.recorder, since, ahead)


MINUTE: dict[str, object] = {"kind": "advance", "seconds": 60}
WAYS: dict[str, tuple[tuple[dict[str, object], ...], list[dict[str, object]], int]] = {
    "nothing yet": ((POD,), [], 0),
    "the button": ((POD,), [POD], 1),
    "stage by stage, under way": ((POD,), [STAGE] * 5, 0),
    "stage by stage, to the end": ((POD,), [STAGE] * 11, 1),
    "with another button that goes equally far": ((POD,), [{"kind": "settle"}], 1),
    "over more than one step at once": ((*[STAGE] * 4, POD), [POD], 5),
    "second by second, under way": ((MINUTE,), [{"kind": "advance", "seconds": 20}] * 2, 0),
    "second by second": ((MINUTE,), [{"kind": "advance", "seconds": 20}] * 3, 1),
    "too far": ((MINUTE,), [{"kind": "advance", "seconds": 100}], 1),
    "something else in between, then the rest": ((POD,), [STAGE, {"kind": "cordon", "node": "n2"}, *[STAGE] * 10], 1),
    "by playing": ((MINUTE,), [{"kind": "advance", "seconds": 1, "play": True}] * 60, 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_step_is_done_however_it_was_done(way: str) -> None:
    steps, taken, progress = WAYS[way]
    simulation = two_nodes()
    since = len(simulation.recorder.entries)
    play(simulation, taken)
    walk = walked(simulation, since, *steps)
    assert walk.taken == progress
    assert walk.begun == bool(taken)
    assert walk.other == (1 if "else" in way else 0)


def web(cpu: str) -> dict[str, object]:
    return {"kind": "apply", "manifests": [make_pod("web").cpu(cpu).obj()]}


def weights(weight: int) -> dict[str, object]:
    score = {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "ImageLocality", "weight": weight}]}
    profile = {"schedulerName": "default-scheduler", "plugins": {"score": score}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    return {"kind": "configure", "configuration": configuration}


IDENTITIES: dict[str, tuple[dict[str, object], dict[str, object], bool]] = {
    "the same manifest": (web("1"), web("1"), True),
    "a manifest with a larger request": (web("1"), web("8"), False),
    "the same configuration": (weights(2), weights(2), True),
    "another configuration": (weights(2), weights(3), False),
    "the default configuration": (weights(2), {"kind": "configure"}, False),
    "an explicit default": (
        {"kind": "cordon", "node": "n1"},
        {"kind": "cordon", "node": "n1", "on": True},
        True,
    ),
    "a whole number as one with a point": (
        {"kind": "assumed-ttl", "seconds": 5},
        {"kind": "assumed-ttl", "seconds": 5.0},
        True,
    ),
}


@pytest.mark.parametrize("words", IDENTITIES)
def test_a_step_that_changes_something_is_done_by_its_own_command_alone(words: str) -> None:
    step, taken, same = IDENTITIES[words]
    simulation = cluster(make_node("n1").obj())
    since = len(simulation.recorder.entries)
    play(simulation, [taken])
    walk = walked(simulation, since, step)
    assert (walk.taken, walk.other) == ((1, 0) if same else (0, 1))


def test_of_a_partly_elapsed_time_the_rest_remains() -> None:
    simulation = two_nodes()
    since = len(simulation.recorder.entries)
    play(simulation, [{"kind": "advance", "seconds": 20}])
    assert walked(simulation, since, MINUTE).left() == [{"kind": "advance", "seconds": 40}]


def test_a_learner_who_goes_too_far_is_judged_by_the_end_of_the_step() -> None:
    simulation = two_nodes()
    since = len(simulation.recorder.entries)
    play(simulation, [MINUTE])
    walk = walked(simulation, since, *[STAGE] * 4)
    assert walk.over
    view = RunView(walk.simulation())
    assert view.simulation.api.pod("default/web").node_name == ""
    judgement = judge(Question("lane", "default/web"), since, Sight(simulation.recorder, lambda _: view, walk))
    assert judgement.none == Why("in-flight", {"pod": "default/web"})


WITHOUT_PREEMPTION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}],
}
DENIAL: dict[str, object] = {"kind": "fault", "plugin": "DefaultPreemption", "point": "postFilter", "answer": "deny"}


@pytest.mark.parametrize(
    ("configuration", "steps", "why"),
    [(WITHOUT_PREEMPTION, [], "nobody-asked"), (None, [DENIAL], "says")],
    ids=["preemption is disabled", "a denial in its place"],
)
def test_nobody_tried_whether_evicting_pods_makes_room(
    configuration: dict[str, object] | None, steps: list[dict[str, object]], why: str
) -> None:
    simulation = Simulation(configuration=configuration) if configuration else Simulation()
    play(simulation, [{"kind": "apply", "manifests": [sized("n1"), *FULL, VIP]}, *steps, POD])
    attempt = RunView(simulation).attempt("default/vip")
    assert attempt is not None
    assert why_nobody(attempt).key == why
