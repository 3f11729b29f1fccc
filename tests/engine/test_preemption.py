"""Preemption: which pods may preempt, candidate nodes, the best one, its victims, and the recorded steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.errors import forbidden
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, NodeToStatus, PostFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.framework.status import SUCCESS, Status, error, unresolvable, unschedulable
from scheduler_engine.plugins.default_preemption import DefaultPreemption
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.preemption import preemption
from scheduler_engine.preemption.candidates import Candidate
from scheduler_engine.preemption.criteria import CRITERIA, climb
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import (
    EventRecorded,
    PreemptionCriterionApplied,
    PreemptionLimited,
    PreemptionNodeTried,
)
from tests.engine.plugins.world import World, events_of, hint_of, node_info, object_of, pod_of

FITS = ("NodeUnschedulable", "NodePorts", "NodeResourcesFit", "InterPodAffinity")


@dataclass
class Profile:
    """A profile with a few filters, set as the configuration would."""

    scheduler_name: str = "default-scheduler"
    percentage_of_nodes_to_score: int | None = None
    args: dict[str, dict[str, Any]] = field(default_factory=dict)
    plugins: dict[str, tuple[tuple[str, int], ...]] = field(
        default_factory=lambda: {
            "preFilter": tuple((name, 0) for name in FITS[1:]),
            "filter": tuple((name, 0) for name in FITS),
            "postFilter": (("DefaultPreemption", 0),),
        }
    )


def started(builder: PodBuilder, second: int) -> PodBuilder:
    return builder.status(startTime=f"2026-01-01T00:00:{second:02}Z")


def running(name: str, cpu: str = "1", priority: int = 0, second: int = 0) -> PodBuilder:
    return started(make_pod(name).cpu(cpu).priority(priority), second)


def budget(allowed: int, selector: dict[str, Any] | None, name: str = "pdb", disrupted: str = "") -> KubeObject:
    status = {"disruptionsAllowed": allowed, "disruptedPods": {disrupted: "2026-01-01T00:00:00Z"} if disrupted else {}}
    metadata = {"name": name, "namespace": "default"}
    return object_of(
        {"kind": "PodDisruptionBudget", "metadata": metadata, "spec": {"selector": selector}, "status": status}
    )


class Cluster(World):
    """A world in which the filters really run and ``preemptor`` has just failed everywhere."""

    def __init__(self, preemptor: PodBuilder, *infos: NodeInfo, args: dict[str, Any] | None = None) -> None:
        super().__init__(*infos)
        self.preemptor = pod_of(preemptor)
        self.add(self.preemptor)
        self.framework = Framework(Profile(args={"DefaultPreemption": args or {}}), REGISTRY, self.handle)
        self.plugin = self.framework.plugins["DefaultPreemption"]
        assert isinstance(self.plugin, DefaultPreemption)
        self.evaluator = self.plugin.evaluator

    def filtered(self) -> tuple[CycleState, NodeToStatus]:
        state, statuses = CycleState(), NodeToStatus(unresolvable())
        self.framework.run_pre_filter_plugins(state, self.preemptor, list(self.infos.values()))
        for name, info in self.infos.items():
            status = self.framework.run_filter_plugins_with_nominated_pods(state, self.preemptor, info)
            if status is not None:
                statuses.statuses[name] = status
        return state, statuses

    def candidates(self) -> dict[str, tuple[list[str], int]]:
        """Return node → (names of the victims, PDB violations)."""
        nominees = self.evaluator.evaluate(*self.around()).candidates
        return {item.node: ([victim.name for victim in item.victims], item.pdb_violations) for item in nominees}

    def around(self) -> tuple[CycleState, Pod, NodeToStatus]:
        state, statuses = self.filtered()
        return state, self.preemptor, statuses

    def preempt(self) -> tuple[PostFilterResult | None, Status]:
        assert isinstance(self.plugin, DefaultPreemption)
        return self.plugin.post_filter(*self.around())

    def deleted(self) -> list[str]:
        return [call[1] for call in self.calls if call[0] == "delete_pod"]


VIP = make_pod("vip").cpu("2").priority(100)
TWO_CPU = make_node("n1").capacity(cpu="2")


@pytest.mark.parametrize(
    ("pods", "budgets", "expected"),
    [
        pytest.param(
            [running("a", "1"), running("b", "1")],
            [],
            (["a", "b"], 0),
            id="all are evicted if all are needed; of equal priority the older one is more important",
        ),
        pytest.param(
            [running("low", "500m", 1), running("high", "500m", 2), running("big", "2", 0)],
            [],
            (["high", "low", "big"], 0),
            id="victims are named from the most important one down",
        ),
        pytest.param(
            [make_pod(name).cpu("2") for name in "abc"],
            [],
            (["c", "b", "a"], 0),
            id="equal pods that have not started are tried and named in reverse order",
        ),
        pytest.param(
            [make_pod("a").cpu("2"), make_pod("b").cpu("2").label("app", "web"), make_pod("c").cpu("2")],
            [budget(0, {"matchLabels": {"app": "web"}})],
            (["a", "c", "b"], 1),
            id="with protected pods they are sorted and reversed once more",
        ),
    ],
)
def test_victims_when_no_pod_can_stay(
    pods: list[PodBuilder], budgets: list[KubeObject], expected: tuple[list[str], int]
) -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, *pods))
    cluster.add(*budgets)
    assert cluster.candidates() == {"n1": expected}


FOUR_CPU = make_node("n1").capacity(cpu="4")
WEB = {"matchLabels": {"app": "web"}}


def web(name: str, priority: int = 0, second: int = 0) -> PodBuilder:
    return running(name, "2", priority, second).label("app", "web")


@pytest.mark.parametrize(
    ("pods", "budgets", "expected"),
    [
        pytest.param(
            [running("a", "2", 5), running("b", "2", 1)], [], (["b"], 0), id="the higher priority is reprieved"
        ),
        pytest.param(
            [running("a", "2", 0, 9), running("b", "2", 0, 1)],
            [],
            (["a"], 0),
            id="of equal priority the older is reprieved",
        ),
        pytest.param(
            [make_pod("new").cpu("2"), running("old", "2", 0, 59)],
            [],
            (["new"], 0),
            id="a pod that has not started is the youngest",
        ),
        pytest.param(
            [make_pod("first").cpu("2"), make_pod("last").cpu("2")],
            [],
            (["first"], 0),
            id="of equal pods that have not started the last added is reprieved",
        ),
        pytest.param(
            [running("first", "2", 0, 5), running("last", "2", 0, 5)],
            [],
            (["last"], 0),
            id="of equal pods that started together the first added is reprieved",
        ),
        pytest.param(
            [running("a", "2", 5), web("b", 1)], [budget(0, WEB)], (["a"], 0), id="a protected pod is reprieved first"
        ),
        pytest.param(
            [web("a", 5), web("b", 1)], [budget(0, WEB)], (["b"], 1), id="if both are protected, one violation remains"
        ),
        pytest.param(
            [web("a", 5), web("b", 1)],
            [budget(1, WEB)],
            (["a"], 0),
            id="the most important pod uses up the budget, the other one violates it",
        ),
        pytest.param([web("a", 5), web("b", 1)], [budget(0, {})], (["b"], 0), id="an empty selector protects no pod"),
        pytest.param([web("a", 5), web("b", 1)], [budget(0, None)], (["b"], 0), id="no selector protects no pod"),
        pytest.param(
            [running("a", "2", 5), web("b", 1)],
            [budget(0, WEB, disrupted="b")],
            (["b"], 0),
            id="a pod that is already being evicted is not protected",
        ),
        pytest.param(
            [running("a", "2", 5).metadata(namespace="team"), web("b", 1).metadata(namespace="team")],
            [budget(0, WEB)],
            (["b"], 0),
            id="a budget protects its own namespace only",
        ),
    ],
)
@pytest.mark.parametrize("full", [True, False], ids=["in a full trace", "in a lean trace"])
def test_victims_when_one_of_two_can_stay(
    pods: list[PodBuilder], budgets: list[KubeObject], expected: tuple[list[str], int], full: bool
) -> None:
    cluster = Cluster(VIP, node_info(FOUR_CPU, *pods))
    cluster.recorder.full = full
    cluster.add(*budgets)
    assert cluster.candidates() == {"n1": expected}


@pytest.mark.parametrize("seed", range(200))
def test_dry_runs_by_sums_have_the_results_of_plain_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def results(full: bool) -> list[tuple[object, ...]]:
        random = Random(seed)
        cluster = Cluster(VIP, node_info(make_node("n1").capacity(cpu="6"), *random_pods(random)))
        cluster.add(budget(random.randrange(3), WEB), budget(random.randrange(2), {"matchLabels": {"tier": "x"}}, "x"))
        cluster.recorder.full = full
        cluster.evaluator.evaluate(*cluster.around())
        tried = cluster.events(PreemptionNodeTried)
        return [(event.victims, event.violating, event.pdb_violations, event.rejected) for event in tried]

    plain = results(full=True)
    if plain and not plain[0][-1]:
        # The sums must suffice.
        monkeypatch.setattr(preemption, "select_victims_on_node", None)
    assert results(full=False) == plain


def random_pods(random: Random) -> list[PodBuilder]:
    """Return pods that fill a node of 6 CPUs. Some have equal priorities and starts, or have not started."""
    pods: list[PodBuilder] = []
    for number in range(random.randint(3, 8)):
        pod = make_pod(f"p{number}").cpu(random.choice(("500m", "1", "2"))).priority(random.choice((0, 0, 5, 200)))
        for key, value in (("app", "web"), ("tier", "x")):
            if random.random() < 0.5:
                pod = pod.label(key, value)
        pods.append(started(pod, random.randrange(2)) if random.random() < 0.5 else pod)
    return pods


def test_pods_of_equal_or_higher_priority_are_never_victims() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("same", "1", 100), running("low", "1", 99)))
    assert cluster.preempt() == (
        PostFilterResult(""),
        unschedulable("preemption: 0/1 nodes are available: 1 Insufficient cpu."),
    )


def test_affinity_to_a_victim_makes_a_node_unfit() -> None:
    """Seed 002 §9: the pod that the preemptor wants to be near is among those removed first."""
    vip = make_pod("vip").cpu("2").priority(100).affinity("kubernetes.io/hostname", {"app": "web"})
    cluster = Cluster(vip, node_info(TWO_CPU, running("near", "1").label("app", "web")))
    evaluation = cluster.evaluator.evaluate(*cluster.around())
    assert evaluation.candidates == []
    assert evaluation.rejected["n1"].reasons == ("node(s) didn't match pod affinity rules",)


def test_anti_affinity_of_the_preemptor_decides_who_has_to_go() -> None:
    vip = make_pod("vip").cpu("1").priority(100).anti_affinity("kubernetes.io/hostname", {"app": "web"})
    pods = [running("other", "1", 0), running("web", "1", 50).label("app", "web")]
    assert Cluster(vip, node_info(FOUR_CPU, *pods)).candidates() == {"n1": (["web"], 0)}


def test_nominated_pods_of_higher_priority_take_their_place_in_the_dry_run() -> None:
    cluster = Cluster(VIP, node_info(FOUR_CPU, running("a", "2", 5), running("b", "2", 1)))
    cluster.nominate(pod_of(make_pod("first").cpu("2").priority(200).nominated("n1")), "n1")
    assert cluster.candidates() == {"n1": (["a", "b"], 0)}


def victims(*priorities: int, seconds: tuple[int, ...] = ()) -> tuple[Pod, ...]:
    times = seconds or (0,) * len(priorities)
    return tuple(
        pod_of(running(f"v{index}", "1", priority, second))
        for index, (priority, second) in enumerate(zip(priorities, times, strict=True))
    )


UNBORN = pod_of(make_pod("unborn"))
LOWEST = -(2**31)


@pytest.mark.parametrize(
    ("left", "right", "rung"),
    [
        pytest.param(((9, 9, 9), 0), ((1,), 1), 0, id="fewest PDB violations come before everything"),
        pytest.param(((1, 1, 1), 0), ((2,), 0), 1, id="then the lowest priority of the most important victim"),
        pytest.param(((5, 1), 0), ((5, 4), 0), 2, id="then the smallest sum of priorities"),
        pytest.param(((5,), 0), ((5, -9), 0), 2, id="a negative priority does not make a longer list cheaper"),
        pytest.param(
            ((5,), 0), ((5, LOWEST), 0), 3, id="only a victim of the lowest possible priority sums to nothing"
        ),
    ],
)
def test_criteria(left: tuple[tuple[int, ...], int], right: tuple[tuple[int, ...], int], rung: int) -> None:
    candidates = [
        Candidate("right", victims(*right[0]), right[1]),
        Candidate("left", victims(*left[0]), left[1]),
    ]
    best, rungs = climb(candidates)
    assert [item.node for item in best] == ["left"]
    assert rungs[-1].criterion == CRITERIA[rung]
    assert (rungs[-1].survivors, rungs[-1].fallen) == (("left",), ("right",))
    assert len(rungs) == rung + 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(victims(5, seconds=(9,)), victims(5, seconds=(1,)), id="the youngest victim goes"),
        pytest.param(
            victims(5, 5, seconds=(7, 8)), victims(5, 5, seconds=(1, 59)), id="the oldest of the most important counts"
        ),
        pytest.param(
            victims(5, 1, seconds=(9, 1)), victims(5, 1, seconds=(1, 9)), id="starts of lesser victims do not count"
        ),
        pytest.param((UNBORN,), victims(0, seconds=(59,)), id="a victim that has not started is the youngest"),
    ],
)
def test_the_last_criterion_is_the_latest_start(left: tuple[Pod, ...], right: tuple[Pod, ...]) -> None:
    best, rungs = climb([Candidate("right", right, 0), Candidate("left", left, 0)])
    assert [item.node for item in best] == ["left"]
    assert rungs[-1].criterion == CRITERIA[4]


def test_values_are_shown_in_words() -> None:
    _, rungs = climb([Candidate("a", victims(5, seconds=(9,)), 0), Candidate("b", (UNBORN,), 0)])
    assert rungs[1].values == (("a", "5"), ("b", "0"))
    _, rungs = climb([Candidate("a", victims(0, seconds=(9,)), 0), Candidate("b", (UNBORN,), 0)])
    assert rungs[-1].values == (("a", "9 s"), ("b", "not started"))


def test_a_single_candidate_needs_no_criterion() -> None:
    assert climb([Candidate("a", victims(1), 0)])[1] == []


def test_among_equals_the_first_by_name_is_chosen() -> None:
    infos = [node_info(make_node(name).capacity(cpu="2"), running(f"on-{name}")) for name in ("n3", "n1", "n2")]
    cluster = Cluster(VIP, *infos)
    result, status = cluster.preempt()
    assert status is SUCCESS
    assert result is not None
    assert (result.nominated_node, result.best_nodes) == ("n1", ("n1", "n2", "n3"))
    assert cluster.deleted() == ["default/on-n1"]


def test_making_room_deletes_victims_and_withdraws_lower_nominations() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("victim"), running("leaving").metadata(deletionTimestamp="x")))
    cluster.nominate(pod_of(make_pod("lower").priority(7).nominated("n1")), "n1")
    cluster.nominate(pod_of(make_pod("equal").priority(100).nominated("n1")), "n1")
    cluster.nominate(pod_of(make_pod("cleared-before").priority(7)), "n1")
    result, status = cluster.preempt()
    assert status is SUCCESS
    assert result is not None
    assert result.cleared_nominations == ("default/lower",)
    assert cluster.calls == [
        ("patch", "Pod", "default/lower", {"status": {"nominatedNodeName": None}}),
        (
            "delete_pod",
            "default/victim",
            "PreemptionByScheduler",
            "default-scheduler: preempting to accommodate a higher priority pod",
        ),
    ], "in this order, as asynchronous preemption does"
    assert cluster.events(EventRecorded) == [
        EventRecorded(
            "Pod", "default/victim", "Normal", "Preempted", "Preempted by pod uid-vip on node n1", uid="uid-victim"
        )
    ]


def test_a_nomination_where_all_victims_are_leaving_already_takes_no_lower_nomination_away() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("leaving", "2").metadata(deletionTimestamp="x")))
    cluster.nominate(pod_of(make_pod("lower").priority(7).nominated("n1")), "n1")
    result, status = cluster.preempt()
    assert status is SUCCESS
    assert result is not None
    assert (result.nominated_node, result.cleared_nominations) == ("n1", ())
    assert cluster.calls == []


def test_a_victim_that_ended_by_itself_is_not_deleted_again() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("gone"), running("replaced"), running("there")))
    del cluster.objects["Pod", "default/gone"]
    cluster.add(pod_of(make_pod("replaced").metadata(uid="another")))
    cluster.preempt()
    assert cluster.deleted() == ["default/there"]


def test_a_refusal_of_the_api_server_is_an_error() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("victim")))
    cluster.refusal = forbidden("pods", "victim", "no")
    assert cluster.preempt() == (None, error('preemption: pods "victim" is forbidden: no'))


DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
WAITING = "preemption: not eligible due to a terminating pod on the nominated node."
NEVER = "preemption: not eligible due to preemptionPolicy=Never."


def leaving(priority: int, *conditions: dict[str, str]) -> PodBuilder:
    pod = running("leaving", "2", priority).metadata(deletionTimestamp="2026-01-01T00:00:30Z")
    return pod.status(conditions=list(conditions))


def vip() -> PodBuilder:
    return make_pod("vip").cpu("2").priority(100)


@pytest.mark.parametrize(
    ("preemptor", "pods", "reasons"),
    [
        pytest.param(vip().never_preempts(), [running("a")], (NEVER,), id="preemptionPolicy Never"),
        pytest.param(vip().nominated("n1"), [leaving(0, DISRUPTED)], (WAITING,), id="its victim is still leaving"),
        pytest.param(vip().nominated("n1"), [leaving(0)], (), id="a pod that leaves for another reason does not count"),
        pytest.param(vip().nominated("n1"), [running("a", "2")], (), id="a nomination without victims does not count"),
        pytest.param(
            vip().nominated("n9"), [running("a", "2")], (), id="a nomination to a deleted node does not matter"
        ),
        pytest.param(vip(), [leaving(0, DISRUPTED)], (), id="without a nomination the pod does not wait"),
    ],
)
def test_eligibility(preemptor: PodBuilder, pods: list[PodBuilder], reasons: tuple[str, ...]) -> None:
    result, status = Cluster(preemptor, node_info(TWO_CPU, *pods)).preempt()
    assert status.reasons == reasons
    assert (result is None or result.nominated_node is None) is bool(reasons)
    why = {NEVER: ("never", ""), WAITING: ("waiting", "n1")}
    assert result is not None
    assert (result.ineligible, result.waits_for) == (why[reasons[0]] if reasons else ("", ""))


def test_a_nominated_node_that_became_hopeless_does_not_keep_the_pod_waiting() -> None:
    cordoned = node_info(make_node("n1").capacity(cpu="2").cordoned(), leaving(0, DISRUPTED))
    other = node_info(make_node("n2").capacity(cpu="2"), running("b", "2"))
    result, _ = Cluster(vip().nominated("n1"), cordoned, other).preempt()
    assert result is not None
    assert result.nominated_node == "n2"


@pytest.mark.parametrize(
    ("infos", "message"),
    [
        pytest.param(
            [node_info(make_node("n1").capacity(cpu="1"), running("a", "500m")), node_info(make_node("n2").cordoned())],
            "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
            id="nodes that evictions cannot fix are not tried",
        ),
        pytest.param(
            [
                node_info(make_node("n1").capacity(cpu="2"), running("a", "1", 100)),
                node_info(make_node("n2").capacity(cpu="2"), running("b", "1", 0), running("c", "1", 100)),
                node_info(make_node("n3").cordoned()),
            ],
            "0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling.",
            id="every reason is counted",
        ),
    ],
)
def test_no_candidate_clears_the_nomination(infos: list[NodeInfo], message: str) -> None:
    assert Cluster(VIP, *infos).preempt() == (PostFilterResult(""), unschedulable(f"preemption: {message}"))


def test_a_deleted_pod_cannot_preempt() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("a")))
    del cluster.objects["Pod", "default/vip"]
    assert cluster.preempt() == (None, error('preemption: pod "vip" not found'))


def many(count: int) -> list[NodeInfo]:
    return [
        node_info(make_node(f"n{number:03}").capacity(cpu="2"), running(f"r{number:03}", "2").label("app", "web"))
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("potential", "args", "expected"),
    [
        pytest.param(40, {}, 40, id="up to 100 nodes all are tried"),
        pytest.param(400, {}, 100, id="above that, 100"),
        pytest.param(4000, {}, 400, id="or ten percent, if that is more"),
        pytest.param(50, {"minCandidateNodesAbsolute": 0, "minCandidateNodesPercentage": 50}, 25, id="as configured"),
    ],
)
def test_number_of_candidates_to_look_for(potential: int, args: dict[str, int], expected: int) -> None:
    assert Cluster(VIP, args=args).evaluator.candidates_to_find(potential) == expected


FEW = {"minCandidateNodesAbsolute": 3, "minCandidateNodesPercentage": 0}


def test_the_search_stops_when_there_are_enough_candidates() -> None:
    cluster = Cluster(VIP, *many(10), args=FEW)
    limited = cluster.evaluator.evaluate(*cluster.around())
    assert (len(limited.potential_nodes), limited.candidates_to_find, len(limited.candidates)) == (10, 3, 3)
    first = Random(1).randrange(10)
    assert [event.node for event in cluster.events(PreemptionNodeTried)] == [
        f"n{number % 10:03}" for number in range(first, first + 3)
    ]
    (limit,) = cluster.events(PreemptionLimited)
    assert limit == PreemptionLimited(0, 10, 3, 0, 3, f"n{first:03}", 3, ())
    unlimited = cluster.evaluator.evaluate(*cluster.around(), every_node=True)
    assert len(cluster.events(PreemptionLimited)) == 1
    assert len(unlimited.candidates) == 10
    assert unlimited.best_nodes == tuple(f"n{number:03}" for number in range(10))


def test_a_percentage_that_allows_no_candidate_disables_preemption() -> None:
    cluster = Cluster(VIP, *many(5), args={"minCandidateNodesAbsolute": 0, "minCandidateNodesPercentage": 10})
    result, status = cluster.preempt()
    assert result == PostFilterResult("")
    assert status.reasons == ("preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",)
    assert len(cluster.events(PreemptionNodeTried)) == 5


def test_the_search_continues_until_one_candidate_violates_no_budget() -> None:
    infos = [*many(9), node_info(make_node("free").capacity(cpu="2"), running("free", "2", 50))]
    cluster = Cluster(VIP, *infos, args=FEW)
    cluster.add(budget(0, WEB))
    evaluation = cluster.evaluator.evaluate(*cluster.around())
    assert evaluation.candidates[0].node == "free"
    assert evaluation.best_nodes == ("free",)
    (limit,) = cluster.events(PreemptionLimited)
    tried = [event.node for event in cluster.events(PreemptionNodeTried)]
    assert (limit.first, limit.tried) == (tried[0], len(tried))
    assert limit.surplus == tuple(tried[3:-1])


def test_the_film_shows_every_removal_and_every_reprieve() -> None:
    pods = [running("keep", "2", 5), running("protected", "1", 1).label("app", "web"), running("goes", "1", 0)]
    cluster = Cluster(VIP, node_info(FOUR_CPU, *pods))
    cluster.add(budget(0, WEB))
    cluster.evaluator.evaluate(*cluster.around())
    assert cluster.events(PreemptionNodeTried) == [
        PreemptionNodeTried(
            0,
            "n1",
            (
                ("remove", "default/keep", True, "priority 5 is below 100"),
                ("remove", "default/protected", True, "priority 1 is below 100"),
                ("remove", "default/goes", True, "priority 0 is below 100"),
                ("fits", "", True, ""),
                ("reprieve", "default/protected", True, ""),
                ("reprieve", "default/keep", False, "Insufficient cpu"),
                ("reprieve", "default/goes", True, ""),
            ),
            ("default/protected",),
            ("default/keep",),
            0,
            "",
        )
    ]


def test_the_film_shows_why_a_node_is_not_a_candidate() -> None:
    infos = [
        node_info(make_node("n1").capacity(cpu="2"), running("a", "1", 100), running("b", "1", 0)),
        node_info(make_node("n2").capacity(cpu="2"), running("c", "1", 100)),
    ]
    cluster = Cluster(VIP, *infos)
    cluster.evaluator.evaluate(*cluster.around())
    removed = ("remove", "default/b", True, "priority 0 is below 100")
    assert cluster.events(PreemptionNodeTried) == [
        PreemptionNodeTried(0, "n1", (removed, ("fits", "", False, "Insufficient cpu")), (), (), 0, "Insufficient cpu"),
        PreemptionNodeTried(0, "n2", (), (), (), 0, "No preemption victims found for incoming pod"),
    ]


def test_the_film_shows_the_ladder_until_one_is_left() -> None:
    infos = [
        node_info(make_node("n1").capacity(cpu="2"), running("a", "2", 5)),
        node_info(make_node("n2").capacity(cpu="2"), running("b", "2", 1)),
    ]
    cluster = Cluster(VIP, *infos)
    cluster.evaluator.evaluate(*cluster.around())
    assert cluster.events(PreemptionCriterionApplied) == [
        PreemptionCriterionApplied(0, CRITERIA[0].name, (("n1", "0"), ("n2", "0")), ("n1", "n2"), ()),
        PreemptionCriterionApplied(0, CRITERIA[1].name, (("n1", "5"), ("n2", "1")), ("n2",), ("n1",)),
    ]


def test_a_lean_trace_leaves_the_steps_out() -> None:
    cluster = Cluster(VIP, node_info(TWO_CPU, running("a")))
    cluster.recorder.full = False
    cluster.evaluator.evaluate(*cluster.around())
    assert [(event.steps, event.victims) for event in cluster.events(PreemptionNodeTried)] == [((), ("default/a",))]


def test_the_dry_run_changes_neither_the_snapshot_nor_the_cycle_state() -> None:
    info = node_info(FOUR_CPU, running("a", "2", 5), running("b", "2", 1))
    cluster = Cluster(VIP, info)
    state, pod, statuses = cluster.around()
    before = ([held.pod.name for held in info.pods], info.requested.clone(), dict(state.data))
    cluster.evaluator.evaluate(state, pod, statuses)
    assert ([held.pod.name for held in info.pods], info.requested, state.data) == before
    assert cluster.calls == []


def test_the_plugin_never_decides_when_to_try_again() -> None:
    plugin, pod = DefaultPreemption({}, World().handle), pod_of(VIP)
    assert events_of(plugin) == {"Pod/DELETE": True}
    assert hint_of(plugin, "Pod", pod, pod_of(make_pod("q").node("n")), None) is Hint.SKIP
    assert plugin.pre_enqueue(pod) is None
