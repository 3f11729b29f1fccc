"""Where two small runs differ first, and why."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.comparing import compare
from scheduler_engine.answers.parting import Parting, PluginScores, Verdicts, partings
from scheduler_engine.answers.profiles import PluginChange, SettingChange
from scheduler_engine.cli.comparison import text_of
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.random_clusters import configuration

Data = dict[str, Any]
MOST = {
    "scoringStrategy": {
        "type": "MostAllocated",
        "resources": [{"name": name, "weight": 1} for name in ("cpu", "memory")],
    }
}
LEAST = ("preFilter", "filter", "preScore", "score")


def node(name: str, cpu: str = "4", memory: str = "8Gi") -> Data:
    return make_node(name).capacity(cpu=cpu, memory=memory, pods="10").obj()


def simulated(*manifests: Data, seed: int = 1, config: Data | None = None, run: int = 50) -> Simulation:
    simulation = Simulation(seed=seed, configuration=config)
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Run(run))
    return simulation


def plugins(**sets: Any) -> Data:
    """Return a configuration with plugins enabled or disabled at extension points."""
    config = configuration()
    config["profiles"][0]["plugins"] = sets
    return config


def first_of(one: Simulation, other: Simulation) -> Parting:
    return next(partings(one, other))


PAIR = (node("large", "8", "16Gi"), node("small"), make_pod("web").cpu("1").memory("2Gi").obj())
"""The pod wants an eighth of the large node or a quarter of the small one, of both resources."""


def test_another_strategy_chooses_another_node() -> None:
    parting = first_of(simulated(*PAIR), simulated(*PAIR, config=configuration(NodeResourcesFit=MOST)))
    assert (parting.pod, parting.number) == ("default/web", 1)
    assert parting.kinds == ("node", "score")
    assert parting.decides
    contest = parting.contest
    assert contest is not None
    assert contest.nodes == ("large", "small")
    assert contest.plugins == (PluginScores("NodeResourcesFit", (87, 75), (12, 25), -25),)
    assert contest.first is not None
    assert contest.second is not None
    assert contest.first[0] - contest.first[1] - 25 == contest.second[0] - contest.second[1]
    assert not contest.only_drawn
    strategy = SettingChange("scoringStrategy.type", '"LeastAllocated"', '"MostAllocated"')
    assert parting.changes == (PluginChange("NodeResourcesFit", LEAST, LEAST, (1, 1), (strategy,)),)


def test_only_the_draw_differs() -> None:
    manifests = (node("n1"), node("n2"), make_pod("web").obj())
    one, *others = (simulated(*manifests, seed=seed) for seed in range(1, 9))
    parted = [parting for other in others for parting in partings(one, other)]
    assert parted
    for parting in parted:
        assert parting.kinds == ("node",)
        assert parting.contest is not None
        assert parting.contest.only_drawn
        assert parting.contest.plugins == ()
        assert parting.changes == ()
        assert parting.first is not None
        assert (parting.first.how, parting.first.ties) == ("draw", ("n1", "n2"))


def test_a_filter_that_is_off() -> None:
    tainted = make_node("n2").capacity(cpu="64", memory="64Gi", pods="10").taint("dedicated").obj()
    manifests = (node("n1"), tainted, make_pod("web").cpu("1").obj())
    config = plugins(multiPoint={"disabled": [{"name": "TaintToleration"}]})
    parting = first_of(simulated(*manifests), simulated(*manifests, config=config))
    assert parting.kinds[0] == "node"
    assert {"feasible", "verdict"} < {*parting.kinds}
    refused = ("TaintToleration", "UnschedulableAndUnresolvable", ("node(s) had untolerated taint {dedicated: }",))
    assert parting.verdicts == (Verdicts("n2", refused, ("", "Success", ())),)
    [change] = parting.changes
    assert (change.plugin, change.second, change.weights) == ("TaintToleration", (), (3, 0))
    assert "filter" in change.first
    contest = parting.contest
    assert contest is not None
    assert (contest.first, contest.plugins) == (None, ()), "n2 has no total in the first run"


def test_scores_that_change_no_decision() -> None:
    heavy = plugins(multiPoint={"enabled": [{"name": "NodeResourcesFit", "weight": 2}]})
    parting, *more = partings(simulated(*PAIR), simulated(*PAIR, config=heavy))
    assert parting.kinds == ("score",)
    assert not parting.decides
    assert more == []
    [score] = parting.scores
    assert (score.plugin, score.nodes, score.node, score.first, score.second) == (
        "NodeResourcesFit",
        2,
        "large",
        87,
        174,
    )
    [change] = parting.changes
    assert (change.plugin, change.weights, change.arguments) == ("NodeResourcesFit", (1, 2), ())


def test_a_score_of_nothing_is_as_good_as_none() -> None:
    without = plugins(score={"disabled": [{"name": "ImageLocality"}]})
    assert [*partings(simulated(*PAIR), simulated(*PAIR, config=without))] == []


def test_an_attempt_that_one_run_lacks() -> None:
    more = make_pod("more").obj()
    parting, *others = partings(simulated(*PAIR), simulated(*PAIR, more))
    assert (parting.pod, parting.kinds, parting.first) == ("default/more", ("missing",), None)
    assert parting.second is not None
    assert parting.second.position == 2
    assert parting.decides
    assert others == []


def test_two_positions_of_one_run_differ_where_the_earlier_one_ends() -> None:
    pods = [make_pod(f"p{number}").cpu("100m").obj() for number in range(4)]
    early, late = (simulated(node("n1"), node("n2"), *pods, run=cycles) for cycles in (2, 4))
    assert [parting.pod for parting in partings(early, late)] == ["default/p2", "default/p3"]
    paused = simulated(node("n1"), *pods, run=1)
    for _ in range(4):
        paused.execute(commands.Stage())
    parting = first_of(paused, simulated(node("n1"), *pods))
    assert parting.pod == "default/p1"
    assert "outcome" in parting.kinds
    assert parting.first is not None
    assert parting.first.outcome == ""


def test_another_outcome_with_its_message() -> None:
    pod = make_pod("web").cpu("3").obj()
    parting = first_of(simulated(node("n1"), pod), simulated(node("n1", "2"), pod))
    assert parting.kinds[:2] == ("node", "outcome")
    assert parting.first is not None
    assert parting.second is not None
    assert (parting.first.node, parting.first.outcome, parting.first.message) == ("n1", "bound", "")
    assert parting.second.outcome == "unschedulable"
    assert parting.second.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_an_attempt_that_its_scheduler_abandons() -> None:
    def led(*steps: commands.Command) -> Simulation:
        simulation = Simulation(seed=1)
        for step in (commands.Replicas(2), commands.Apply(PAIR), *steps, commands.Advance(30.0)):
            simulation.execute(step)
        return simulation

    killed = led(*[commands.Stage()] * 10, commands.Replica("kube-scheduler-1", "kill"))
    abandoned, again = partings(killed, led())
    assert abandoned.first is not None
    assert (abandoned.pod, abandoned.number, abandoned.first.outcome) == ("default/web", 1, "")
    assert abandoned.first.abandoned.startswith("kube-scheduler-1 stopped")
    assert "  first   at 0.000 s: abandoned, because kube-scheduler-1 stopped" in "\n".join(
        text_of(compare(killed, led()))
    )
    assert (again.pod, again.number, again.kinds, again.second) == ("default/web", 1, ("missing",), None)


def test_another_victim() -> None:
    low = [make_pod(name).cpu("2").priority(1).node("n1").obj() for name in ("low-1", "low-2")]
    vip = make_pod("vip").cpu("2").priority(9).obj()
    kept = [low[0], {**low[1], "spec": {**low[1]["spec"], "priority": 5}}]
    parting = first_of(simulated(node("n1"), *low, vip), simulated(node("n1"), *kept, vip))
    assert parting.pod == "default/vip"
    assert "victims" in parting.kinds
    assert parting.second is not None
    assert (parting.second.nominated, parting.second.victims) == ("n1", ("default/low-1",))


def test_only_the_order_differs() -> None:
    pods = [make_pod(name).node_selector({"kubernetes.io/hostname": name}).obj() for name in ("n1", "n2")]
    nodes = [
        make_node(name).label("kubernetes.io/hostname", name).capacity(cpu="4", pods="9").obj() for name in ("n1", "n2")
    ]
    parting, *more = partings(simulated(*nodes, *pods), simulated(*nodes, *reversed(pods)))
    assert parting.kinds == ("order",)
    assert (parting.pod, parting.instead) == ("default/n1", "default/n2")
    assert not parting.decides
    assert more == []


def test_the_earliest_difference_in_either_run_comes_first() -> None:
    """Pod z differs and is the first of the second run; y differs and is the second of the first run."""
    nodes = [make_node(name).label("at", name).capacity(cpu="4", pods="9").obj() for name in ("n1", "n2")]
    first = [make_pod(name).node_selector({"at": "n1"}).obj() for name in "xyz"]
    second = [make_pod(name).node_selector({"at": "n1" if name == "x" else "n2"}).obj() for name in "zxy"]
    one, other = simulated(*nodes, *first), simulated(*nodes, *second)
    assert [parting.pod for parting in partings(one, other)] == ["default/z", "default/y"]
    assert [parting.pod for parting in partings(other, one)] == ["default/z", "default/y"]


def test_pods_that_share_a_name_are_told_apart() -> None:
    def twice(cpu: str) -> Simulation:
        simulation = simulated(node("n1"), make_pod("web").cpu("1").obj())
        simulation.execute(commands.Delete("Pod", "default/web"))
        simulation.execute(commands.Advance(60.0))
        simulation.execute(commands.Apply((make_pod("web").cpu(cpu).obj(),)))
        simulation.execute(commands.Run(5))
        return simulation

    parting = first_of(twice("1"), twice("9"))
    assert parting.first is not None
    assert (parting.number, parting.first.position) == (1, 2)


CHANGES = {
    "on": (plugins(multiPoint={"disabled": [{"name": "NodePorts"}]}), None, ((), ("preFilter", "filter"))),
    "at fewer extension points": (
        *(None, plugins(filter={"disabled": [{"name": "NodePorts"}]})),
        (("preFilter", "filter"), ("preFilter",)),
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_how_a_profile_differs(case: str) -> None:
    one, other, points = CHANGES[case]
    parting = first_of(simulated(*PAIR, config=one), simulated(*PAIR[1:], config=other))
    [change] = parting.changes
    assert (change.plugin, change.first, change.second) == ("NodePorts", *points)


SETTINGS = {
    "of the scheduler": ({"percentageOfNodesToScore": 50}, ("percentageOfNodesToScore", "0", "50")),
    "its backoff": ({"podInitialBackoffSeconds": 3}, ("podInitialBackoffSeconds", "1", "3")),
    "of a profile": (
        {"profiles": [{"schedulerName": "default-scheduler", "percentageOfNodesToScore": 70}]},
        ("default-scheduler.percentageOfNodesToScore", "", "70"),
    ),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_other_settings_differ_too(case: str) -> None:
    settings, change = SETTINGS[case]
    config = {**configuration(), **settings}
    parting = first_of(simulated(*PAIR, config=configuration()), simulated(*PAIR[1:], config=config))
    assert (parting.changes, parting.settings) == ((), (SettingChange(*change),))


def test_plugins_in_another_order() -> None:
    early = plugins(filter={"enabled": [{"name": "NodeResourcesFit"}]})
    parting = first_of(simulated(*PAIR), simulated(*PAIR[1:], config=early))
    [setting] = parting.settings
    assert setting.path == "default-scheduler.filter"
    assert setting.second.startswith('["NodeResourcesFit", ')
    assert parting.changes == ()


def test_the_rules_of_the_queue_are_a_setting() -> None:
    simulation = Simulation(seed=1, queue_rules="design-doc")
    simulation.execute(commands.Apply(PAIR[1:]))
    simulation.execute(commands.Run(5))
    parting = first_of(simulated(*PAIR), simulation)
    assert parting.settings == (SettingChange("queueRules", '"v1.34"', '"design-doc"'),)


def test_the_configuration_is_the_one_at_the_attempt() -> None:
    def reconfigured(config: Data | None) -> Simulation:
        simulation = simulated(node("n1"), node("n2", "8"), make_pod("first").cpu("1").obj())
        simulation.execute(commands.Configure(config))
        simulation.execute(commands.Apply((make_pod("second").cpu("1").obj(),)))
        simulation.execute(commands.Run(5))
        return simulation

    parting = first_of(reconfigured(None), reconfigured(configuration(NodeResourcesFit=MOST)))
    assert parting.pod == "default/second"
    assert [change.plugin for change in parting.changes] == ["NodeResourcesFit"]
