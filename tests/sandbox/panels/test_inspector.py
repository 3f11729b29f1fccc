"""The inspector."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.explain import explain_score
from sandbox.panels.inspector.panel import stats
from sandbox.panels.queues.panel import stats as queues
from sandbox.panels.sentence.panel import stats as sentence
from scheduler_engine import commands
from scheduler_engine.scenario import FOLDER, load_scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.engine.expression_plugin import declaring
from tests.installed import SCENARIOS
from tests.sandbox import traces
from tests.sandbox.scenarios import panel_html, world_after, world_of
from tests.sandbox.witnessing import witnessed


@pytest.fixture(name="world")
def create_world() -> World:
    return World.fold(traces.web_at_filter().entries)


def test_without_a_choice_it_shows_the_pod_in_question(world: World) -> None:
    panel = stats(world, View())
    assert (panel["kind"], panel["name"], panel["state"]) == ("pod", "web-4", "being scheduled")


def test_a_pod_shows_its_requests_preferences_spread_and_anti_affinity(world: World) -> None:
    facts = {fact["term"]: fact["text"] for fact in stats(world, View(pod="default/web-4"))["facts"]}
    assert facts["Requests"] == "1.5 cpu, 2Gi memory"
    assert facts["Wants"] == "disk=ssd"
    assert facts["Spread"] == "app=web per zone, maxSkew 1"
    assert facts["Keeps off"] == "app=web per node"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "app=db per zone"),
        ({"namespaces": ["red"]}, "app=db in namespace red per zone"),
        ({"namespaces": ["red", "blue"]}, "app=db in namespaces red, blue per zone"),
        ({"namespaceSelector": {}}, "app=db in any namespace per zone"),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, "app=db in namespaces with team=a per zone"),
        (
            {"namespaces": ["red"], "namespaceSelector": {"matchLabels": {"team": "a"}}},
            "app=db in namespace red or namespaces with team=a per zone",
        ),
    ],
)
def test_affinity_terms_name_their_namespaces(chosen: dict[str, Any], words: str) -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE, **chosen}
    sides = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": term}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
    }
    simulation = Simulation()
    simulation.execute(commands.Apply((make_pod("p").spec(affinity=sides).obj(),)))
    facts = {fact["term"]: fact["text"] for fact in stats(witnessed(simulation), View(pod="default/p"))["facts"]}
    assert (facts["Keeps off"], facts["Prefers"]) == (words, f"near {words} (5)")


def test_why_not_there_groups_nodes_by_their_reasons(world: World) -> None:
    groups = {group["short"]: group["nodes"] for group in stats(world, View())["not_there"]}
    assert groups["spread"] == "node-b1 and node-b3"
    assert groups["cordoned"] == "node-c2"


def test_attempts_are_a_history_with_outcomes(world: World) -> None:
    attempts = stats(world, View())["attempts"]
    assert [(attempt["number"], attempt["at"], attempt["what"]) for attempt in attempts] == [
        (3, "00:12.4", "now"),
        (2, "00:08.1", "unschedulable"),
        (1, "00:02.0", "unschedulable"),
    ]


@pytest.mark.parametrize(
    ("story", "pod", "words"),
    [
        pytest.param(
            traces.api_scored, "default/api-4", "Against node-c1 it gains most by InterPodAffinity (+200)", id="highest"
        ),
        pytest.param(traces.tied, "default/lone", "shares the highest total", id="draw"),
        pytest.param(traces.web_at_filter, "default/api-3", "No other node fits.", id="only one"),
        pytest.param(traces.web_at_filter, "default/web-1", "the scheduler did not choose it", id="bound by hand"),
    ],
)
def test_why_here_in_words(story: object, pod: str, words: str) -> None:
    assert callable(story)
    here = stats(World.fold(story().entries), View(pod=pod))["here"]
    assert words in f"{here['text']} {here.get('edge', '')}"


NO_SCORE_PLUGIN = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}}}],
}


@pytest.mark.parametrize(
    ("nominated", "configuration", "here", "said"),
    [
        ("n1", None, "It was nominated here and fits, so no other node was visited.", "n1 is nominated and fits, so"),
        (
            "",
            NO_SCORE_PLUGIN,
            "It was the first node that fits, and one is enough.",
            "n1 is the first node that fits, and one is",
        ),
    ],
    ids=["nominated", "no score plugin"],
)
def test_unvisited_nodes_are_not_said_to_refuse(
    nominated: str, configuration: dict[str, Any] | None, here: str, said: str
) -> None:
    simulation = Simulation(configuration=configuration)
    pod = make_pod("p").nominated(nominated).obj()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_node("n2").obj(), pod)))
    while not (world := world_of(simulation)).cycles or world.cycles[0].last_stage != "SelectHost":
        simulation.execute(commands.Stage())
    assert sentence(world, View())["text"].startswith(said)
    simulation.execute(commands.Settle())
    assert stats(world_of(simulation), View(pod="default/p"))["here"]["text"] == here


def test_nodes_with_one_reason_and_other_numbers_share_only_the_reason() -> None:
    nodes = [make_node(f"node-{zone}").zone(zone).obj() for zone in "abc"]
    nodes += [make_node("node-d").zone("d").taint("dedicated", "gpu").obj()]
    held = [make_pod(f"web-{i}").label("app", "web").node(f"node-{zone}").obj() for i, zone in enumerate("aaabbc")]
    new = make_pod("new").label("app", "web").spread(ZONE, {"app": "web"}).obj()
    simulation = Simulation()
    simulation.execute(commands.Apply((*nodes, *held, new)))
    simulation.execute(commands.Settle())
    spread, tainted = stats(witnessed(simulation), View(pod="default/new"))["not_there"]
    assert (spread["nodes"], spread["short"]) == ("node-a, node-b and node-c", "spread")
    assert spread["says"].startswith("On node-a: With new, zone a would be 4 pods ahead")
    assert (tainted["nodes"], tainted["says"].startswith("On ")) == ("node-d", False)


def test_why_here_and_why_not_there_use_the_sentences_of_the_explanations() -> None:
    here = stats(World.fold(traces.api_scored().entries), View(pod="default/api-4"))["here"]
    scored = World.fold(traces.api_scored().entries)
    assert scored.cycle is not None
    assert here["says"].startswith(explain_score(scored, scored.cycle, "node-b3", here["plugin"]).sentence)
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").cordoned().obj(), make_pod("p").obj())))
    simulation.execute(commands.Settle())
    world = witnessed(simulation)
    groups = {group["first"]: group["says"] for group in stats(world, View())["not_there"]}
    assert groups["n1"] == "n1 is cordoned, and p does not tolerate that."
    node = stats(world, View(node="n1"))
    assert (node["says"], node["word"].plugin) == (groups["n1"], "NodeUnschedulable")


def opened(slug: str) -> Simulation:
    return load_scenario(next(FOLDER.glob(f"*-{slug}.yaml"))).open()


def gain(simulation: Simulation, pod: str) -> str:
    """Return the inspector's sentence on the score that decided most."""
    simulation.execute(commands.Run())
    here = stats(witnessed(simulation), View(pod=pod))["here"]
    return f"{here['edge']} {here['says']}"


def test_a_gain_over_a_worse_node_names_its_drawback() -> None:
    simulation = Simulation()
    soft = [make_node(f"n{n}").taint("busy", f"v{n}", "PreferNoSchedule") for n in (1, 2)]
    soft[1] = soft[1].taint("slow", "", "PreferNoSchedule")
    simulation.execute(commands.Apply((*(node.obj() for node in soft), make_pod("p").obj())))
    assert gain(simulation, "default/p") == (
        "Against n2 it gains most by TaintToleration (+150). "
        "p does not tolerate 1 PreferNoSchedule taint of n1. "
        "p does not tolerate 2 PreferNoSchedule taints of n2. "
        "Normalized, that is 50 for n1 and 0 for n2."
    )


def test_a_score_that_needs_no_comparison_is_shown_for_the_chosen_node_alone() -> None:
    said = gain(opened("image-locality"), "default/model-1")
    assert said.endswith("node-1 already has the image that model-1 runs.")


def test_a_gain_never_comes_with_a_reason_against_it_alone() -> None:
    """Pod affinity is zero for the winner, and counts against the other node."""
    said = gain(opened("preferred-anti-affinity"), "default/web-3")
    assert "favours node-c1 most for web-3. Pod affinity" in said
    assert "favours node-a1 least for web-3. Normalized, that is 100 for" in said


@pytest.mark.parametrize(
    ("pod", "state"),
    [
        ("default/api-2", "assumed on node-b1, not yet bound"),
        ("default/web-1", "bound to node-b1"),
        ("default/search-2", "in backoffQ, nominated to node-a2"),
        ("default/batch-5", "terminating on node-a2, 18 s left"),
        ("default/ml-2", "unschedulable"),
    ],
)
def test_a_pod_says_where_it_is(world: World, pod: str, state: str) -> None:
    assert stats(world, View(pod=pod))["state"] == state


def test_a_pod_that_failed_by_an_error_is_in_the_lane_that_the_queues_show() -> None:
    simulation = Simulation(configuration=declaring(filter="node.spec.missing == 1"))
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("p").obj())))
    simulation.execute(commands.PodCycle())
    world = World.fold(simulation.recorder.entries)
    assert [lane["id"] for lane in queues(world, View())["lanes"] if lane["cards"]] == ["errorBackoffQ"]
    assert stats(world, View(pod="default/p"))["state"] == "in errorBackoffQ"


@pytest.mark.parametrize(
    ("phase", "reason", "state"),
    [
        pytest.param("Failed", "Evicted", "evicted from n1", id="evicted"),
        pytest.param("Failed", "DeadlineExceeded", "failed on n1 (DeadlineExceeded)", id="failed for a reason"),
        pytest.param("Succeeded", "", "succeeded on n1", id="succeeded"),
        pytest.param("Running", "", "bound to n1", id="still running"),
    ],
)
def test_a_pod_that_has_ended_holds_no_node(phase: str, reason: str, state: str) -> None:
    simulation = Simulation()
    pod = make_pod("p").node("n1").status(phase=phase, reason=reason)
    simulation.execute(commands.Apply((make_node("n1").obj(), pod.obj())))
    world = World.fold(simulation.recorder.entries)
    assert stats(world, View(pod="default/p"))["state"] == state
    assert stats(world, View())["bound"] == (1 if phase == "Running" else 0)


def test_a_node_shows_its_room_pods_taints_and_why_not_for_the_pod_in_question(world: World) -> None:
    panel = stats(world, View(node="node-a3"))
    assert (panel["kind"], panel["place"], panel["zone"]) == ("node", 7, "eu-a")
    assert [(item["name"], item["text"]) for item in panel["resources"]] == [
        ("cpu", "5.5/8"),
        ("memory", "10Gi/16Gi"),
        ("pods", "2/10"),
    ]
    assert [taint["text"] for taint in panel["taints"]] == ["dedicated=gpu:NoSchedule"]
    assert (panel["question"], panel["word"].text) == ("web-4", "dedicated taint")


def test_a_node_shows_requests_with_overhead_exactly_and_as_a_share() -> None:
    panel = stats(world_after("pod-overhead-kata-fc", {"kind": "run"}), View(node="node-3"))
    assert [(item["name"], item["text"], item["percent"]) for item in panel["resources"]] == [
        ("cpu", "2.25/4", "56 %"),
        ("memory", "320Mi/32Gi", "1 %"),
        ("pods", "1/110", "1 %"),
    ]


def test_a_pod_that_is_gone_keeps_its_attempts() -> None:
    story = traces.api_scored()
    story.say(ev.ObjectDeleted("Pod", "default/api-3"))
    panel = stats(World.fold(story.entries), View(pod="default/api-3"))
    assert (panel["kind"], len(panel["attempts"])) == ("gone", 1)


def test_with_nothing_to_show_it_says_how_to_begin() -> None:
    assert stats(World(), View())["empty"]


def test_an_unknown_choice_falls_back_to_the_pod_in_question(world: World) -> None:
    assert stats(world, View(node="nowhere"))["name"] == "web-4"


def test_a_pod_whose_second_bind_was_refused_explains_the_first_one() -> None:
    scenario = SCENARIOS["two-leaders"]
    world = world_after("two-leaders", *(dict(step) for step in scenario.then))
    assert [cycle.outcome for cycle in world.attempts["default/web-3"]] == ["bound", "error"]
    panel = stats(world, View(pod="default/web-3"))
    assert panel["here"]["node"] == world.pods["default/web-3"].pod.node_name


def test_it_stays_at_the_pod_that_somebody_works_with(world: World) -> None:
    panel = stats(world, View(stays=(("inspector", "default/web-0"),)))
    assert (panel["name"], panel["loose"], panel["asked"], panel["in_flight"]) == (
        "web-0",
        True,
        "default/web-0",
        "web-4",
    )
    gone = stats(world, View(stays=(("inspector", "default/nobody"),)))
    assert (gone["name"], gone["asked"], gone["in_flight"]) == ("web-4", "default/nobody", "")
    assert "loose" not in stats(world, View(pod="default/web-4"))


def after_stages(count: int) -> World:
    """Return the scenario of local disks after so many stages of its first pod."""
    return world_after("volumes-local-disks", *[{"kind": "stage"}] * count)


def test_a_pod_shows_which_volume_was_reserved_and_why() -> None:
    world = after_stages(7)
    assert world.cycle is not None
    assert world.cycle.last_stage == "Reserve"
    (item,) = stats(world, View(pod=world.cycle.pod))["prepared"]
    assert (item["stage"], item["plugin"]) == ("Reserve", "VolumeBinding")
    assert item["says"] == "disk-large-60 is reserved for db-1."
    assert "the smallest of 2 volumes that suit on node-large: disk-large-60 60Gi; disk-large-200 200Gi" in [
        line.note for line in item["lines"]
    ]
    assert PANELS["sentence"].stats(world, View())["text"] == "disk-large-60 is reserved for db-1."
    assert "disk-large-60 is reserved for db-1." in panel_html("inspector", world, pod=world.cycle.pod)


def test_a_pod_shows_what_was_written_even_after_it_is_bound() -> None:
    world = world_after("volumes-local-disks", {"kind": "advance", "seconds": 30})
    reserve, pre_bind = stats(world, View(pod="default/db-1"))["prepared"]
    assert reserve["says"] == "disk-large-60 is reserved for db-1."
    assert pre_bind["says"] == "db-1 can be bound: the volume controller has bound all its claims."
    assert [(line.label, line.formula) for line in pre_bind["lines"]] == [("volume disk-large-60", "claimRef: data-1")]


def test_a_pod_without_claims_shows_no_volumes() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("web").obj())))
    simulation.execute(commands.Settle())
    assert stats(witnessed(simulation), View(pod="default/web"))["prepared"] == []


def test_a_node_says_why_it_is_a_candidate_for_preemption() -> None:
    world = world_after("preemption-every-rung", *[{"kind": "stage"}] * 5)
    panel = stats(world, View(node="node-count"))
    assert panel["dry_run"] == "node-count is a candidate: without count-1 and none-1, vip-1 fits."
    html = panel_html("inspector", world, node="node-count")
    assert 'data-goto-tab="preemption"' in html
    assert stats(after_stages(7), View(node="node-large"))["dry_run"] == ""
