"""Extenders: what they are asked, and what their answers do to nodes, totals, victims and bindings."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any, TypeVar

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import ANY, Address, ExtenderCalls
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line
from tests.engine.cluster import node, pod
from tests.engine.own_plugin import KIND

URL = "http://extender.example/v1/"
NAMES = {"urlPrefix": URL, "filterVerb": "filter", "nodeCacheCapable": True}
RANKS = {"urlPrefix": URL, "prioritizeVerb": "rank", "weight": 2, "nodeCacheCapable": True}
PREEMPTS = {"urlPrefix": URL, "preemptVerb": "preempt", "nodeCacheCapable": True}
Kind = TypeVar("Kind", bound=ev.Event)
BINDS = {"urlPrefix": URL, "bindVerb": "bind"}


class Played:
    """Answers by verb: a value, an error, or a function of the arguments. ``asked`` are all calls."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, address: Address, verb: str, arguments: Mapping[str, Any]) -> Any:
        self.asked.append((verb, arguments))
        answer = self.answers[verb]
        if isinstance(answer, ExtenderError):
            raise answer
        return answer(arguments) if callable(answer) else answer

    def __deepcopy__(self, memo: dict[int, object]) -> Played:
        raise AssertionError("copies share a transport")


def cluster(extender: Played, *configured: Mapping[str, Any], **more: Any) -> Cluster:
    """Return a cluster of three nodes whose configuration has these extenders."""
    configuration = KIND | {"extenders": [*configured], **more}
    return Cluster(configuration, extenders={URL: extender}).apply(node("n1"), node("n2"), node("n3"))


def events_in(made: Cluster, kind: type[Kind]) -> list[Kind]:
    return [entry.event for entry in made.simulation.recorder.entries if isinstance(entry.event, kind)]


def calls_in(made: Cluster) -> list[ev.ExtenderAsked]:
    return events_in(made, ev.ExtenderAsked)


def message_of(made: Cluster, name: str = "a") -> str:
    """Return the message of the pod's condition."""
    stored = made.simulation.api.pod(f"default/{name}")
    assert stored is not None
    return str((stored.condition("PodScheduled") or {}).get("message", ""))


def node_of(made: Cluster, name: str = "a") -> str:
    stored = made.simulation.api.pod(f"default/{name}")
    assert stored is not None
    return stored.node_name


# --- Filter -----------------------------------------------------------------------------------------------------------


def test_an_extender_that_caches_nodes_gets_names_and_keeps_those_that_it_names() -> None:
    extender = Played(filter={"NodeNames": ["n2"], "FailedNodes": {"n1": "too hot"}})
    made = cluster(extender, NAMES).apply(pod("a")).run()
    [(verb, arguments)] = extender.asked
    assert (verb, arguments["Nodes"], arguments["NodeNames"]) == ("filter", None, ["n1", "n2", "n3"])
    assert arguments["Pod"]["metadata"]["name"] == "a"
    assert not {"kind", "apiVersion"} & arguments["Pod"].keys()
    assert node_of(made) == "n2"
    [event] = calls_in(made)
    assert event.remaining == ("n2",)
    assert line(event) == f"Extender {URL} passes n2; n1: too hot"


def test_another_extender_gets_node_objects_and_scores_then_see_empty_nodes() -> None:
    """As upstream: it makes new NodeInfos of the answer, which have no pods."""
    kept = {"items": [{"metadata": {"name": "n1"}}, {"metadata": {"name": "n2"}}]}
    extender = Played(filter={"Nodes": kept})
    made = cluster(extender, {**NAMES, "nodeCacheCapable": False})
    made.apply(pod("old", nodeName="n1"), pod("a")).run()
    [(_, arguments)] = extender.asked
    assert arguments["NodeNames"] is None
    assert [item["metadata"]["name"] for item in arguments["Nodes"]["items"]] == ["n1", "n2", "n3"]
    [totals] = events_in(made, ev.NormalizeRan)
    assert [name for name, _ in totals.totals] == ["n1", "n2"]
    assert len({total for _, total in totals.totals}) == 1


def test_the_message_counts_what_extenders_said() -> None:
    answer = {
        "NodeNames": [],
        "FailedNodes": {"n1": "too hot", "n2": "too hot"},
        "FailedAndUnresolvableNodes": {"n2": "no such rack"},
    }
    made = cluster(Played(filter=answer), NAMES).apply(pod("a")).run()
    assert message_of(made).startswith("0/3 nodes are available: 1 no such rack, 1 too hot. ")
    failed, *_ = events_in(made, ev.PodUnschedulable)
    assert failed.plugins == ("Extender",)
    ran, *_ = events_in(made, ev.FilterRan)
    assert [row[:4] for row in ran.rows] == [
        ("n1", "Extender", "Unschedulable", ("too hot",)),
        ("n2", "Extender", "UnschedulableAndUnresolvable", ("no such rack",)),
        ("n3", "Extender", "UnschedulableAndUnresolvable", ("no reason given",)),
    ]


def test_any_event_may_help_a_pod_that_extenders_rejected() -> None:
    extender = Played(filter={"NodeNames": []})
    made = cluster(extender, NAMES).apply(pod("a")).run()
    made.execute(
        commands.Apply(
            (
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": "fast"},
                    "provisioner": "x.example",
                },
            )
        )
    )
    assert made.simulation.scheduler.queue.lane_of("default/a") in ("backoffQ", "activeQ")


def test_a_name_that_was_not_asked_about_is_an_error() -> None:
    made = cluster(Played(filter={"NodeNames": ["n9"]}), NAMES).apply(pod("a")).run()
    expected = f'extender "{URL}" claims a filtered node "n9" which is not found in the input node list'
    assert message_of(made) == expected


@pytest.mark.parametrize("answer", [ExtenderError("connection refused"), {"Error": "connection refused"}])
def test_an_error_fails_the_pod_unless_the_extender_is_ignorable(answer: Any) -> None:
    made = cluster(Played(filter=answer), NAMES).apply(pod("a")).run()
    assert message_of(made) == "connection refused"
    made = cluster(Played(filter=answer), {**NAMES, "ignorable": True}).apply(pod("a")).run()
    assert node_of(made)
    [event] = calls_in(made)
    assert (event.error, event.ignored) == ("connection refused", True)
    assert line(event) == f"Extender {URL} failed in filter, which is ignored: connection refused"


def test_ignorable_extenders_are_asked_last_and_the_next_one_gets_what_is_left() -> None:
    first = {**NAMES, "filterVerb": "first", "ignorable": True}
    extender = Played(first={"NodeNames": ["n2"]}, second={"NodeNames": ["n2", "n3"]})
    made = cluster(extender, first, {**NAMES, "filterVerb": "second"}).apply(pod("a")).run()
    assert [(verb, arguments["NodeNames"]) for verb, arguments in extender.asked] == [
        ("second", ["n1", "n2", "n3"]),
        ("first", ["n2", "n3"]),
    ]
    assert node_of(made) == "n2"


def test_an_extender_is_asked_only_about_pods_with_its_resources() -> None:
    managed = {**NAMES, "managedResources": [{"name": "example.com/fpga", "ignoredByScheduler": True}]}
    extender = Played(filter={"NodeNames": ["n3"]})
    made = cluster(extender, managed).apply(pod("a")).run()
    assert extender.asked == []
    wanting = pod("b")
    wanting["spec"]["containers"][0]["resources"] = {"limits": {"example.com/fpga": "1"}}
    made.apply(wanting).run()
    assert len(extender.asked) == 1
    assert node_of(made, "b") == "n3"


def test_a_nominated_node_must_pass_the_extenders_too() -> None:
    extender = Played(filter=lambda arguments: {"NodeNames": [name for name in arguments["NodeNames"] if name != "n1"]})
    nominated = pod("a")
    nominated["status"] = {"nominatedNodeName": "n1"}
    made = cluster(extender, NAMES).apply(nominated).run()
    assert [arguments["NodeNames"] for _, arguments in extender.asked] == [["n1"], ["n1", "n2", "n3"]]
    assert node_of(made) in ("n2", "n3")


def test_a_nominated_node_that_an_extender_cannot_judge_is_searched_again() -> None:
    answers = [ExtenderError("EOF"), {"NodeNames": ["n1"]}]

    def one_after_the_other(arguments: Mapping[str, Any]) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, ExtenderError):
            raise answer
        return answer

    nominated = pod("a")
    nominated["status"] = {"nominatedNodeName": "n1"}
    made = cluster(Played(filter=one_after_the_other), NAMES).apply(nominated).run()
    assert node_of(made) == "n1"
    assert answers == []


def test_a_node_that_passes_with_a_complaint_passes() -> None:
    made = cluster(Played(filter={"NodeNames": ["n1"], "FailedNodes": {"n1": "warm"}}), NAMES).apply(pod("a")).run()
    assert node_of(made) == "n1"
    [ran] = events_in(made, ev.FilterRan)
    assert [(row[0], row[1]) for row in ran.rows] == [("n1", ""), ("n2", "Extender"), ("n3", "Extender")]


# --- scores -----------------------------------------------------------------------------------------------------------


def test_points_are_score_times_weight_times_ten() -> None:
    made = cluster(Played(rank=[{"Host": "n3", "Score": 7}, {"Host": "gone", "Score": 9}]), RANKS).apply(pod("a")).run()
    assert node_of(made) == "n3"
    [ran] = events_in(made, ev.NormalizeRan)
    assert ran.weighted[-1] == (URL, ran.weighted[-1][1])
    assert dict(ran.weighted[-1][1]) == {"n1": 0, "n2": 0, "n3": 140}
    totals = dict(ran.totals)
    assert totals["n3"] - totals["n1"] == 140
    assert line(calls_in(made)[0]) == f"Extender {URL} scores n3 7 (+140), gone 9 (+180)"


def test_points_beyond_64_bits_wrap_as_in_go() -> None:
    made = cluster(Played(rank=[{"Host": "n3", "Score": 2**63 - 1}]), RANKS).apply(pod("a")).run()
    [ran] = events_in(made, ev.NormalizeRan)
    assert dict(ran.weighted[-1][1]) == {"n1": 0, "n2": 0, "n3": -20}
    assert node_of(made) != "n3"


def test_an_extender_ranks_alone_if_no_plugin_scores() -> None:
    none = {"plugins": {"multiPoint": {"enabled": [{"name": "NodeName"}]}, "score": {"disabled": [{"name": "*"}]}}}
    extender = Played(rank=[{"Host": "n2", "Score": 1}])
    made = cluster(extender, RANKS, profiles=[{"schedulerName": "default-scheduler", **none}]).apply(pod("a")).run()
    assert node_of(made) == "n2"


def test_a_failed_ranking_adds_nothing() -> None:
    made = cluster(Played(rank=ExtenderError("EOF")), RANKS).apply(pod("a")).run()
    assert node_of(made)
    assert calls_in(made)[0].ignored


def test_one_feasible_node_is_not_ranked() -> None:
    extender = Played(filter={"NodeNames": ["n1"]}, rank=[])
    made = cluster(extender, {**NAMES, **RANKS}).apply(pod("a")).run()
    assert [verb for verb, _ in extender.asked] == ["filter"]
    assert node_of(made) == "n1"


# --- preemption -------------------------------------------------------------------------------------------------------


def full(extender: Played, *configured: Mapping[str, Any]) -> Cluster:
    """Return a cluster whose nodes are full with pods of low priority, and the uids of these."""
    made = cluster(extender, *configured)
    return made.apply(*(pod(f"low-{name}", cpu="4", nodeName=name) for name in ("n1", "n2", "n3"))).run()


def uid_of(made: Cluster, name: str) -> str:
    stored = made.simulation.api.pod(f"default/{name}")
    assert stored is not None
    return stored.uid


def test_an_extender_chooses_among_candidates() -> None:
    def last(arguments: Mapping[str, Any]) -> Any:
        return {"NodeNameToMetaVictims": {"n3": arguments["NodeNameToMetaVictims"]["n3"]}}

    extender = Played(preempt=last)
    made = full(extender, PREEMPTS)
    victim = uid_of(made, "low-n3")
    made.apply(pod("a", priority=10))
    made.run(1)
    [(_, arguments)] = extender.asked
    assert arguments["NodeNameToVictims"] is None
    assert arguments["NodeNameToMetaVictims"]["n3"] == {"Pods": [{"UID": victim}], "NumPDBViolations": 0}
    [ran] = events_in(made, ev.PostFilterRan)
    assert (ran.nominated_node, ran.victims) == ("n3", ("default/low-n3",))
    assert line(calls_in(made)[0]) == f"Extender {URL} leaves as candidates n3 (default/low-n3)"


def test_an_extender_that_caches_no_nodes_gets_the_victims_themselves() -> None:
    extender = Played(preempt={"NodeNameToMetaVictims": {}})
    made = full(extender, {**PREEMPTS, "nodeCacheCapable": False}).apply(pod("a", priority=10)).run()
    arguments = extender.asked[0][1]
    assert arguments["NodeNameToMetaVictims"] is None
    [victim] = arguments["NodeNameToVictims"]["n2"]["Pods"]
    assert victim["metadata"]["uid"] == uid_of(made, "low-n2")


NO_VICTIMS = {"NodeNameToMetaVictims": {"n1": {"Pods": []}}}
UNKNOWN_POD = {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "u9"}]}}}
PREEMPTIONS: dict[str, tuple[Any, str]] = {
    "no candidate is left": ({"NodeNameToMetaVictims": {}}, "no candidate node for preemption"),
    "a node without victims": (NO_VICTIMS, 'expected at least one victim pod on node "n1"'),
    "a pod that is not there": (
        UNKNOWN_POD,
        f"extender: {URL} claims to preempt pod (UID: &{{u9}}) on node: n1, but the pod is not found on that node",
    ),
    "a node that is not there": (
        {"NodeNameToMetaVictims": {"n9": {"Pods": []}}},
        'nodeinfo not found for node name "n9"',
    ),
    "an error": (ExtenderError("EOF"), "EOF"),
}


@pytest.mark.parametrize(("answer", "text"), PREEMPTIONS.values(), ids=PREEMPTIONS)
def test_preemption_that_an_extender_ends(answer: Any, text: str) -> None:
    made = full(Played(preempt=answer), PREEMPTS).apply(pod("a", priority=10)).run()
    assert message_of(made).endswith(f"preemption: {text}")
    assert uid_of(made, "low-n1")


def test_an_ignorable_extender_drops_nodes_without_victims_and_its_errors_change_nothing() -> None:
    ignorable = {**PREEMPTS, "ignorable": True}
    made = full(Played(preempt=NO_VICTIMS), ignorable).apply(pod("a", priority=10)).run()
    assert message_of(made).endswith("preemption: no candidate node for preemption")
    made = full(Played(preempt=ExtenderError("EOF")), ignorable).apply(pod("a", priority=10)).run()
    assert calls_in(made)[0].ignored
    assert made.simulation.api.pod("default/low-n1") is None


# --- Bind -------------------------------------------------------------------------------------------------------------


def test_an_extender_binds_instead_of_the_plugins() -> None:
    extender = Played(bind={})
    made = cluster(extender, BINDS).apply(pod("a")).run()
    [(_, arguments)] = extender.asked
    assert arguments == {
        "PodName": "a",
        "PodNamespace": "default",
        "PodUID": uid_of(made, "a"),
        "Node": node_of(made),
    }
    points = events_in(made, ev.PluginsRan)
    assert "Bind" not in [event.extension_point for event in points]


def test_a_failed_binding_fails_the_attempt_unless_it_is_ignorable() -> None:
    made = cluster(Played(bind={"Error": "already bound"}), BINDS).apply(pod("a")).run()
    assert (node_of(made), message_of(made)) == ("", "already bound")
    made = cluster(Played(bind={"Error": "already bound"}), {**BINDS, "ignorable": True}).apply(pod("a")).run()
    assert node_of(made)


# --- answers ----------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, Any, str]] = {
    "another type": ("filter", [], "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"),
    "a list that is a text": (
        "filter",
        {"NodeNames": "n1"},
        "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type []string",
    ),
    "a number in a list": (
        "filter",
        {"nodenames": [1]},
        "json: cannot unmarshal number into Go struct field ExtenderFilterResult.NodeNames of type string",
    ),
    "a score that is not whole": (
        "rank",
        [{"Host": "n1", "Score": 1.5}],
        "json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type int64",
    ),
    "scores by name": ("rank", {"n1": 3}, "json: cannot unmarshal object into Go value of type v1.HostPriorityList"),
}


@pytest.mark.parametrize(("verb", "answer", "text"), WRONG.values(), ids=WRONG)
def test_an_answer_of_a_wrong_type(verb: str, answer: Any, text: str) -> None:
    made = cluster(Played(**{verb: answer}), NAMES if verb == "filter" else RANKS).apply(pod("a")).run()
    assert calls_in(made)[0].error == text


def test_keys_in_any_case_and_null_are_read() -> None:
    made = cluster(Played(filter={"nodeNames": ["n2"], "failedNodes": None}), NAMES).apply(pod("a")).run()
    assert node_of(made) == "n2"
    made = cluster(Played(filter=None), NAMES).apply(pod("a")).run()
    assert node_of(made) == ""


# --- transports, copies and replays -----------------------------------------------------------------------------------


def test_an_extender_without_a_transport_is_refused_at_its_place() -> None:
    configuration = KIND | {"extenders": [NAMES, {**NAMES, "urlPrefix": "http://other"}]}
    with pytest.raises(Rejected) as refused:
        Simulation(configuration=configuration, extenders=ExtenderCalls({URL: Played()}))
    assert [error.path for error in refused.value.errors] == ["extenders[1].urlPrefix"]
    Simulation(configuration=configuration, extenders=ExtenderCalls({ANY: Played()}))


def test_looking_back_asks_nobody_again() -> None:
    extender = Played(filter={"NodeNames": ["n2"]}, bind={})
    made = cluster(extender, {**NAMES, **BINDS}).apply(pod("a")).run()
    asked = len(extender.asked)
    earlier = made.simulation.as_of(len(made.simulation.recorder.entries))
    recorded = [entry.event for entry in earlier.recorder.entries if isinstance(entry.event, ev.ExtenderAsked)]
    assert recorded == calls_in(made)
    assert len(extender.asked) == asked


def test_a_command_that_is_undone_and_given_again_asks_nobody_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    extender = Played(filter={"NodeNames": ["n1", "n2", "n3"]})
    made = cluster(extender, NAMES).apply(*(pod(f"web-{number}", cpu="100m") for number in range(9)))
    before = trace_digest(made.simulation)
    monkeypatch.setattr("scheduler_engine.effort.MOST_ENTRIES", 150)
    with pytest.raises(OverBudget):
        made.run()
    monkeypatch.undo()
    asked = len(extender.asked)
    assert 0 < asked < 9
    assert trace_digest(made.simulation) == before
    made.run()
    assert len(extender.asked) == 9


def test_copies_share_the_transport_and_continue_alone() -> None:
    extender = Played(filter={"NodeNames": ["n2"]})
    made = cluster(extender, NAMES).apply(pod("a"))
    other = copy.deepcopy(made.simulation)
    for simulation in (made.simulation, other):
        simulation.execute(commands.Run(10))
    assert trace_digest(other) == trace_digest(made.simulation)
    assert len(extender.asked) == 2


def always_n2(address: Address, verb: str, arguments: Mapping[str, Any]) -> Any:
    return {"NodeNames": ["n2"]}


def test_a_pickle_continues() -> None:
    simulation = Simulation(configuration=KIND | {"extenders": [NAMES]}, extenders=ExtenderCalls({URL: always_n2}))
    simulation.execute(commands.Apply((node("n1"), node("n2"), pod("a"))))
    stored = pickle.loads(pickle.dumps(simulation))
    for one in (simulation, stored):
        one.execute(commands.Run(10))
    assert trace_digest(stored) == trace_digest(simulation)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("version", ["v1.34", "v1.35", "v1.36"])
def test_lean_runs_decide_as_full_ones(cached: bool, version: str) -> None:
    def but_the_first(arguments: Mapping[str, Any]) -> Any:
        if cached:
            return {"NodeNames": arguments["NodeNames"][1:]}
        return {"Nodes": {"items": arguments["Nodes"]["items"][1:]}}

    runs = []
    for full_trace in (True, False):
        extender = Played(filter=but_the_first, rank=lambda arguments: [{"Host": "n20", "Score": 3}])
        configuration = KIND | {"extenders": [{**RANKS, **NAMES, "nodeCacheCapable": cached}]}
        calls = ExtenderCalls({URL: extender})
        simulation = Simulation(configuration=configuration, full=full_trace, kubernetes=version, extenders=calls)
        nodes = [node(f"n{number}", zone="ab"[number % 2]) for number in range(40)]
        pods = [pod(f"web-{number}", cpu="500m", affinity=_together()) for number in range(30)]
        simulation.execute(commands.Apply((*nodes, *pods)))
        simulation.execute(commands.Run(100))
        runs.append([item.node_name for item in simulation.api.pods()])
    assert runs[0] == runs[1]
    assert all(runs[0])


def _together() -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "topology.kubernetes.io/zone"}
    wished = [{"weight": 5, "podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wished}}
