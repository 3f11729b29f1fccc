"""Preemption: candidates, film and ladder."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.facts.sentences import sentence
from sandbox.panels.facts.verdicts import helps
from sandbox.panels.filter.panel import stats as filter_stats
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.witness import Nobody
from sandbox.panels.preemption.panel import stats
from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import DryRunRoom
from scheduler_engine.preemption.candidates import Candidate
from scheduler_engine.preemption.criteria import CRITERIA
from scheduler_engine.scenario import FOLDER, load_scenario, play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.decision import decision
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.engine.cluster import node, pod
from tests.sandbox import traces
from tests.sandbox.scenarios import delete, hatched, panel_html, world_after, world_of

OUT = [("2000m", "batch-8"), ("1100m", "batch-7"), ("500m", "api-2"), ("0m", "cart-5")]
FRAMES = [
    ("2300m used of 4000m", "payments-1 requests 3000m"),
    *(
        (f"{used} used of 4000m", f"RemovePod({name}); PreFilter plugins that count it remove it, too")
        for used, name in OUT
    ),
    ("3000m requested ≤ 4000m", "without 4 pods of lower priority, payments-1 fits"),
    ("3000m requested + 500m back = 3500m ≤ 4000m", "cart-5 fits beside payments-1: it may stay"),
    (
        "3000m requested + 500m staying + 600m back = 4100m > 4000m",
        "api-2 does not fit beside payments-1, so it is a victim",
    ),
    (
        "3000m requested + 500m staying + 900m back = 4400m > 4000m",
        "batch-7 does not fit beside payments-1, so it is a victim",
    ),
    ("3000m requested + 500m staying + 300m back = 3800m ≤ 4000m", "batch-8 fits beside payments-1: it may stay"),
    ("3000m requested + 800m staying = 3800m ≤ 4000m", "2 victims: api-2, batch-7"),
]


class Remembers(Nobody):
    """The story's attempt on node-b1, as a witness."""

    def room(self, cycle: Cycle, node: str, resource: str) -> DryRunRoom:
        asked = {"cart-5": 500, "api-2": 600, "batch-7": 900, "batch-8": 300}
        return DryRunRoom(4000, 3000, tuple((f"default/{name}", number) for name, number in asked.items()))


@pytest.fixture(name="world")
def create_world() -> World:
    world = World.fold(traces.payments_preempts().entries)
    world.witness = Remembers()
    return world


def test_the_chosen_candidate_comes_first_with_where_the_others_fell(world: World) -> None:
    panel = stats(world, View())
    assert [(item["node"], item["fell"]) for item in panel["candidates"]] == [
        ("node-b1", 0),
        ("node-a1", 5),
        ("node-b3", 3),
        ("node-a2", 2),
        ("node-c1", 1),
    ]
    assert panel["not_helped"] == 3
    assert [any(victim["budget"] is not None for victim in item["victims"]) for item in panel["candidates"]] == [
        False
    ] * 4 + [True]


def test_the_film_goes_from_as_it_is_over_all_out_and_each_reprieve_to_the_result(world: World) -> None:
    film = stats(world, View())["film"]
    assert film["node"] == "node-b1"
    assert [(frame["title"], frame["outcome"]) for frame in film["frames"]][1:-1] == [
        *(("out", f"{used} used") for used, _ in OUT),
        ("all 4 lower ones out", "fits"),
        ("back in?", "kept"),
        ("back in?", "victim"),
        ("back in?", "victim"),
        ("back in?", "kept"),
    ]
    assert film["frames"][0]["title"] == "as it is"
    assert film["frames"][-1]["title"] == "result"


def test_each_frame_shows_its_sum(world: World) -> None:
    frames = stats(world, View())["film"]["frames"]
    assert [(frame["formula"], frame["note"]) for frame in frames] == FRAMES


def test_the_film_of_the_past_counts_pods_that_are_gone_by_now() -> None:
    simulation = Simulation()
    old = (pod("small-1", "1", 5, nodeName="n1"), pod("large-1", "3", 0, nodeName="n1"))
    simulation.execute(commands.Apply((node("n1"), *old, pod("new-1", "2", 10))))
    simulation.execute(commands.Advance(100))
    world = world_of(simulation)
    assert "default/large-1" not in world.pods
    frames = stats(world, View(cycle=1))["film"]["frames"]
    message = "RemovePod(small-1): priority 5 is below 10; PreFilter plugins that count it remove it, too"
    assert (frames[1]["note"], "small-1" in frames[1]["pod"]) == (message, True)
    assert [frame["formula"] for frame in frames] == [
        "4000m used of 4000m",
        "3000m used of 4000m",
        "0m used of 4000m",
        "2000m requested ≤ 4000m",
        "2000m requested + 1000m back = 3000m ≤ 4000m",
        "2000m requested + 1000m staying + 3000m back = 6000m > 4000m",
        "2000m requested + 1000m staying = 3000m ≤ 4000m",
    ]


def test_the_budget_that_an_eviction_would_violate_is_named() -> None:
    simulation = Simulation()
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}
    status = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard"},
        "spec": spec,
        "status": status,
    }
    guarded = pod("guarded-1", "4", 0, nodeName="n1")
    simulation.execute(commands.Apply((node("n1"), budget, guarded, pod("new-1", "2", 10))))
    for _ in range(5):
        simulation.execute(commands.Stage())
    panel = stats(world_of(simulation), View())
    assert [victim["budget"] for victim in panel["candidates"][0]["victims"]] == ["guard"]
    assert [frame["violates"] for frame in panel["film"]["frames"]] == [False, False, False, True, False]


def test_a_refused_reprieve_is_hatched_and_does_not_stay(world: World) -> None:
    frames = stats(world, View())["film"]["frames"]
    assert [hatched(frames[number]["drawing"]) for number in (7, 9)] == [True, False]


def test_another_candidate_can_be_looked_at(world: World) -> None:
    panel = stats(world, View(node="node-c1"))
    assert panel["film"]["node"] == "node-c1"
    assert panel["film"]["protected"] == ["cart-2"]
    assert [item["node"] for item in panel["candidates"] if item["shown"]] == ["node-c1"]


def test_the_ladder_shows_which_candidate_fell_at_which_criterion(world: World) -> None:
    ladder = stats(world, View())["ladder"]
    assert [(rung["title"], rung["change"]) for rung in ladder] == [
        ("Fewest PodDisruptionBudget violations", "5 → 4"),
        ("Lowest priority of the most important victim", "4 → 3"),
        ("Smallest sum of the victims' priorities", "3 → 2"),
        ("Fewest victims", "2, all equal"),
        ("Latest start of the most important victims", "2 → 1"),
    ]
    assert [(token["node"], token["won"], token["fell"]) for token in ladder[4]["tokens"]] == [
        ("node-b1", True, False),
        ("node-a1", False, True),
    ]


def test_of_many_pods_the_first_are_removed_one_by_one() -> None:
    simulation = Simulation()
    small = [pod(f"small-{number:02}", "100m", 0, nodeName="n1") for number in range(20)]
    roomy = node("n1")
    roomy["status"]["allocatable"] = {**roomy["status"]["allocatable"], "pods": "30"}
    simulation.execute(commands.Apply((roomy, *small, pod("new-1", "4", 10))))
    simulation.execute(commands.Advance(1))
    frames = stats(world_of(simulation), View(cycle=1))["film"]["frames"]
    titles = [frame["title"] for frame in frames]
    assert titles[1:15] == ["out"] * 12 + ["8 more out", "all 20 lower ones out"]
    assert frames[13]["formula"] == "0m used of 4000m"
    assert [frame["number"] for frame in frames] == list(range(len(frames)))


def _preempting(nodes: int, *budgets: dict[str, Any], **args: int) -> World:
    """Return ``nodes`` full nodes, and a pod that preempts under these arguments of DefaultPreemption."""
    profile = {"schedulerName": "default-scheduler", "pluginConfig": [{"name": "DefaultPreemption", "args": args}]}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    simulation = Simulation()
    if args:
        simulation.execute(commands.Configure({**head, "profiles": [profile]}))
    names = [f"n{number:03}" for number in range(nodes)]
    full = [pod(f"old-{name}", "4", 0, nodeName=name) for name in names]
    simulation.execute(commands.Apply((*map(node, names), *full, *budgets, pod("new-1", "2", 10))))
    for _ in range(5):
        simulation.execute(commands.Stage())
    return world_of(simulation)


def test_the_limit_of_candidates_is_shown_with_the_numbers_of_the_dry_run() -> None:
    world = _preempting(150)
    panel = stats(world, View())
    first = world.cycle.tried[0].node
    assert panel["candidate_count"] == 100
    assert panel["limit"] == (
        f"The dry run began at {first}, drawn at random. It stopped after 100 of the 150 nodes where evictions may "
        "help. It looks for 100 candidates: the larger of 10 % of these nodes and 100. "
        "One of them must violate no PodDisruptionBudget."
    )
    assert panel["limit"] in panel_html("preemption", world)
    said = PANELS["sentence"].stats(world, View())["text"]
    assert said.endswith(f"The dry run began at {first} and had enough after 100 of 150 nodes.")


def test_without_a_limit_none_is_shown() -> None:
    assert stats(_preempting(3), View())["limit"] == ""


def test_candidates_beyond_the_limit_are_not_compared() -> None:
    spec = {"minAvailable": 5, "selector": {"matchLabels": {"app": "old"}}}
    status = {"disruptionsAllowed": 0, "currentHealthy": 5, "desiredHealthy": 5, "expectedPods": 5}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all"}}
    wanted = {"minCandidateNodesAbsolute": 2, "minCandidateNodesPercentage": 0}
    world = _preempting(5, budget | {"spec": spec, "status": status}, **wanted)
    panel, names = stats(world, View()), [tried.node for tried in world.cycle.tried]
    assert panel["limit"] == (
        f"The dry run began at {names[0]}, drawn at random, and tried all 5 nodes where evictions may help. "
        "It would have stopped at 2 candidates: the larger of 0 % of these nodes and 2. "
        "One of them would have had to violate no PodDisruptionBudget. "
        f"{names[2]}, {names[3]} and {names[4]} are beyond that number and were not compared."
    )
    assert [item["node"] for item in panel["candidates"] if item["surplus"]] == names[2:]
    assert [len(rung["tokens"]) for rung in panel["ladder"][:1]] == [2]


def test_arguments_that_allow_no_candidate_are_shown() -> None:
    world = _preempting(5, minCandidateNodesAbsolute=0, minCandidateNodesPercentage=10)
    assert stats(world, View())["limit"].endswith(
        "10 % of them and 0 both come to 0 candidates, so it keeps none, as in Kubernetes."
    )
    said = PANELS["sentence"].stats(world, View())["text"]
    assert (
        said == "preemption keeps no candidate, because of minCandidateNodesPercentage and minCandidateNodesAbsolute."
    )


def _beside_one_that_leaves(*others: dict[str, Any], cpu: str) -> World:
    """Return the attempt for a pod that preempts on n1, where gone-1 is being deleted."""
    simulation = Simulation()
    leaving = pod("gone-1", "2", 0, nodeName="n1", terminationGracePeriodSeconds=30)
    simulation.execute(commands.Apply((node("n1"), leaving, *others)))
    simulation.execute(commands.Delete("Pod", "default/gone-1"))
    simulation.execute(commands.Apply((pod("new-1", cpu, 10),)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    return world_of(simulation)


def test_a_victim_that_was_already_leaving_is_not_called_evicted() -> None:
    world = _beside_one_that_leaves(cpu="3")
    assert world.cycle.post_filter.victims == ("default/gone-1",)
    said, panel = PANELS["sentence"].stats(world, View())["text"], stats(world, View())
    assert said == ("there will be room on n1, and no pod has to be evicted for it. gone-1 was already leaving.")
    assert (panel["summary"], panel["background"]) == (
        "new-1 is nominated to n1 and waits until the room is free; a nomination is not a promise. "
        "gone-1 was already leaving.",
        "",
    )
    assert not [event for event in world.kube_events if event.event.reason == "Preempted"]


def test_beside_one_that_was_leaving_only_the_others_are_evicted() -> None:
    world = _beside_one_that_leaves(pod("old-1", "2", 0, nodeName="n1"), cpu="4")
    said = PANELS["sentence"].stats(world, View())["text"]
    assert said == "evicting old-1 makes room on n1. gone-1 was already leaving."
    assert stats(world, View())["summary"].startswith("old-1 must leave. new-1 is nominated to n1")
    preempted = [event.event.regarding for event in world.kube_events if event.event.reason == "Preempted"]
    assert preempted == ["default/old-1"]


def test_a_victim_that_waited_on_permit_is_rejected_and_not_evicted() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), pod("held-1", "4", 0))))
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=60))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((pod("new-1", "4", 10),)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    assert (
        PANELS["sentence"]
        .stats(world_of(simulation), View())["text"]
        .startswith(
            "there will be room on n1, and no pod has to be evicted for it. "
            "held-1 waited on Permit there: it was rejected, and is queued again."
        )
    )


def test_a_tie_to_the_last_rung_says_that_the_first_in_the_list_decided() -> None:
    simulation = Simulation()
    old = [pod(f"old-{name}", "4", 0, nodeName=name) for name in ("n1", "n2")]
    simulation.execute(commands.Apply((node("n1"), node("n2"), *old, pod("new-1", "2", 10))))
    simulation.execute(commands.Advance(1))
    panel = stats(world_of(simulation), View(cycle=1))
    *equal, last = panel["ladder"]
    assert [rung["change"] for rung in equal] == ["2, all equal"] * 5
    assert (last["number"], last["title"], last["change"]) == (6, "First in the list", "2 → 1")
    assert [token["node"] for token in last["tokens"] if token["won"]] == ["n1"]
    assert "the one that its map returns first" in last["note"]
    assert panel["criteria_left"] == []


def every_rung() -> World:
    """Return a world after six candidates were compared by five criteria."""
    return world_after("preemption-every-rung", *[{"kind": "stage"}] * 5)


def test_where_a_criterion_decides_the_first_in_the_list_is_not_needed() -> None:
    assert stats(every_rung(), View())["criteria_left"] == ["First in the list"]


def test_the_values_and_titles_of_the_ladder_are_those_of_the_facts() -> None:
    rungs = stats(every_rung(), View())["ladder"]
    assert [rung["title"] for rung in rungs] == [
        "Fewest PDB violations",
        "Lowest top priority",
        "Smallest sum of priorities",
        "Fewest victims",
        "Latest start of the top victim",
    ]
    values = {token["node"]: token["value"] for token in rungs[2]["tokens"]}
    assert (values["node-sum"], values["node-count"]) == ("20 + 2·2³¹", "−2147483638 + 2·2³¹")
    assert [token["value"] for token in rungs[4]["tokens"]] == ["started at 0 s", "started at 60 s"]


def test_only_the_sum_of_priorities_explains_its_offset() -> None:
    notes = [rung["note"] for rung in stats(every_rung(), View())["ladder"]]
    assert notes[2].startswith("The priorities of the victims, plus 2³¹ for each of them. No priority is lower")
    assert not any([*notes[:2], *notes[3:]])


def test_each_frame_words_the_facts_of_its_step() -> None:
    film = stats(every_rung(), View(node="node-count"))["film"]
    refused = [frame for frame in film["frames"] if frame["said"] == "no"]
    assert [frame["note"] for frame in refused] == [
        f"{name} does not fit beside vip-1, so it is a victim. node-count does not have enough cpu left for vip-1."
        for name in ("count-1", "none-1")
    ]
    assert [(line.label, line.formula) for line in refused[0]["lines"]] == [
        ("Turn", "1 of 2, priority 10, started at 0 s"),
        ("cpu", "2000m used + 4000m requested = 6000m > 4000m allocatable"),
    ]


def test_a_frame_shows_the_numbers_of_the_budget() -> None:
    film = stats(every_rung(), View(node="node-guarded"))["film"]
    lines = [line for frame in film["frames"] for line in frame["lines"] if line.label.startswith("PDB")]
    assert [(line.label, line.formula) for line in lines] == [("PDB guard", "0 allowed − 1 = −1 < 0")]


def test_the_budget_is_the_one_of_the_dry_run_even_if_it_has_gone_since() -> None:
    simulation = load_scenario(next(FOLDER.glob("*-preemption-every-rung.yaml"))).open()
    play(simulation, [*[{"kind": "stage"}] * 5, delete("PodDisruptionBudget", "guard")])
    panel = stats(world_of(simulation), View())
    guarded = next(item for item in panel["candidates"] if item["node"] == "node-guarded")
    assert [victim["budget"] for victim in guarded["victims"]] == ["guard"]


def test_a_node_that_is_no_candidate_shows_the_filter_that_still_refuses() -> None:
    simulation = Simulation()
    pods = (pod("same-1", "3", 10, nodeName="n1"), pod("less-1", "1", 0, nodeName="n1"), pod("new-1", "2", 10))
    simulation.execute(commands.Apply((node("n1"), *pods)))
    simulation.execute(commands.Settle())
    film = stats(world_of(simulation), View(pod="default/new-1"))["film"]
    assert (film["rejected"], film["why"]) == (
        "Insufficient cpu",
        "Without the 1 pod of lower priority, new-1 still does not fit. n1 does not have enough cpu left for new-1.",
    )
    assert film["lines"][0].formula == "3000m used + 2000m requested = 5000m > 4000m allocatable"


def test_a_further_victim_never_makes_the_sum_smaller() -> None:
    """The note promises it, down to the lowest possible priority."""
    victims = tuple(Pod(make_pod("p").priority(priority).obj()) for priority in (1000, 0, -1, -(2**31)))
    criterion = next(criterion for criterion in CRITERIA if criterion.key == "preemption.smallest-sum")
    sums = [criterion.value(Candidate("n", victims[:count], 0)) for count in range(1, len(victims) + 1)]
    assert sums == sorted(sums)


def test_the_summary_names_the_pods_that_must_go(world: World) -> None:
    assert stats(world, View())["summary"].startswith(
        "api-2 and batch-7 must leave. payments-1 is nominated to node-b1"
    )


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (traces.web_at_filter, "PostFilter comes next"),
        (traces.api_scored, "Not needed: 5 nodes can take api-4"),
        (traces.empty, "No pod has been scheduled yet"),
    ],
    ids=["before PostFilter", "not needed", "no attempt"],
)
def test_why_there_is_nothing_to_see(story: object, words: str) -> None:
    assert callable(story)
    assert words in stats(World.fold(story().entries), View())["empty"]


def test_a_node_that_cannot_help_says_why_in_plain_words_and_in_kubernetes_own() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    precise = "No preemption victims found for incoming pod"
    story.say(ev.PreemptionNodeTried(1, "n", (), (), (), 0, precise))
    panel = stats(World.fold(story.entries), View())
    assert panel["others"] == [{"node": "n", "why": "no pod here has a lower priority", "precise": precise}]
    assert panel["candidates"] == []


def room_for_none(*manifests: Any) -> Simulation:
    simulation = Simulation()
    nodes = [make_node(name).capacity(cpu="2", memory="4Gi", pods="10").obj() for name in ("n1", "n2")]
    low = make_pod("low").cpu("2").node("n1").grace_period(300).obj()
    simulation.execute(commands.Apply((*nodes, low, make_pod("h").cpu("2").node("n2").priority(3).obj(), *manifests)))
    return simulation


def last_words(simulation: Simulation, pod: str) -> tuple[str, str, str, str]:
    """Return PostFilter's sentence, the panel's summary, and the table's last column for n1 and n2."""
    world = world_of(simulation)
    cycle = world.attempts[pod][-1]
    assert cycle.post_filter is not None
    verdicts = [helps(cycle, node, "Unschedulable") for node in ("n1", "n2")]
    return sentence(cycle), stats(world, View(pod=pod))["summary"], *verdicts


def test_a_pod_that_never_preempts_is_not_said_to_look_for_room() -> None:
    never = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "shy"},
        "value": 100,
        "preemptionPolicy": "Never",
    }
    simulation = room_for_none(never)
    simulation.execute(commands.Apply((make_pod("hi").cpu("1").priority_class("shy").obj(),)))
    simulation.execute(commands.Settle())
    message = "hi may not preempt others: its preemptionPolicy is Never."
    assert last_words(simulation, "default/hi") == (message, message, "may not preempt", "may not preempt")


def test_a_pod_whose_victim_is_still_leaving_waits_for_it() -> None:
    simulation = room_for_none()
    simulation.execute(commands.Apply((make_pod("hi").cpu("1").priority(9).obj(),)))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_node("n3").capacity(cpu="2", memory="4Gi", pods="10").taint("z").obj(),)))
    simulation.execute(commands.Advance(20))
    assert len(world_of(simulation).attempts["default/hi"]) > 1
    assert last_words(simulation, "default/hi") == (
        "a victim on n1 is still terminating, so hi waits and evicts no other pod.",
        "A victim on n1 is still terminating, so hi waits and evicts no other pod.",
        "waits for n1",
        "waits for n1",
    )


def killed() -> Simulation:
    """Kill the leader after Filter, which had no node for ``p``."""
    simulation = Simulation()
    simulation.execute(commands.Replicas(count=2, leader_elect=True))
    simulation.execute(commands.Advance(3))
    nodes = make_node("n1").capacity(cpu="1", memory="4Gi", pods="10").obj()
    simulation.execute(commands.Apply((nodes, make_pod("p").cpu("2").obj())))
    for _ in range(4):
        simulation.execute(commands.Stage())
    simulation.execute(commands.Replica("kube-scheduler-1", "kill"))
    return simulation


def test_an_attempt_whose_scheduler_was_killed_is_shown_as_abandoned() -> None:
    simulation = killed()
    world = world_of(simulation)
    message = "No node fits p. Its scheduler stopped, so PostFilter never ran."
    assert stats(world, View(pod="default/p"))["empty"] == message
    assert filter_stats(world, View(pod="default/p"))["has"]
    assert stats(world, View())["empty"].startswith("This scheduler has not tried any pod yet.")
    assert filter_stats(world, View())["empty"] == "This scheduler has not tried any pod yet."
    attempt = RunView(simulation).attempt("default/p")
    assert attempt is not None
    assert decision(attempt)[0] == "attempt 1 at default/p: abandoned, because kube-scheduler-1 stopped (killed)"


def test_without_a_postfilter_plugin_none_comes_next() -> None:
    profile = {"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    simulation = Simulation(configuration=head | {"profiles": [profile]})
    simulation.execute(
        commands.Apply((make_node("n1").capacity(cpu="1", pods="9").obj(), make_pod("p").cpu("2").obj()))
    )
    simulation.execute(commands.Settle())
    message = "No node fits p. No PostFilter plugin is enabled, so nobody looked for room."
    assert stats(world_of(simulation), View(pod="default/p"))["empty"] == message


def test_the_film_separates_nominated_pods_from_those_on_the_node() -> None:
    simulation = Simulation()
    one = make_node("n1").capacity(cpu="2", memory="4Gi", pods="10").obj()
    simulation.execute(commands.Apply((one, make_pod("low").cpu("2").node("n1").grace_period(300).obj())))
    for asker in (make_pod("q").cpu("1").priority(9), make_pod("hi").cpu("1").priority(5)):
        simulation.execute(commands.Apply((asker.obj(),)))
        simulation.execute(commands.Settle())
    shown = stats(world_of(simulation), View(pod="default/hi"))["film"]
    assert [(frame["outcome"], frame["formula"]) for frame in shown["frames"]] == [
        ("2000m used + 1000m nominated (q)", "2000m used + 1000m nominated (q) of 2000m"),
        ("0m used + 1000m nominated (q)", "0m used + 1000m nominated (q) of 2000m"),
        ("fits", "1000m requested + 1000m nominated (q) = 2000m ≤ 2000m"),
        ("victim", "1000m requested + 1000m nominated (q) + 2000m back = 4000m > 2000m"),
        ("1000m used + 1000m nominated (q)", "1000m requested + 1000m nominated (q) = 2000m ≤ 2000m"),
    ]
