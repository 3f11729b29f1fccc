"""The facts of preemption: why a node is a candidate, who may stay, and why one candidate won."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands, wording
from scheduler_engine.cli.explaining import explained
from scheduler_engine.framework.facts import DryRunFacts, Facts, RungFacts
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scheduler.explaining import choice_facts, dry_run_facts, filter_facts, ineligible_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, NodeBuilder, PodBuilder, make_node, make_pod
from scheduler_engine.testing.builders import make_priority_class
from tests.engine.cluster import preemptor, tried_again


def four_cpu(name: str = "n1") -> NodeBuilder:
    return make_node(name).capacity(cpu="4", memory="8Gi", pods="10")


def low(name: str, cpu: str, priority: int = 0, node: str = "n1") -> PodBuilder:
    return make_pod(name).cpu(cpu).priority(priority).node(node).label("app", name)


VIP = make_pod("vip").cpu("2").priority(9)


def budget(app: str, allowed: int) -> dict[str, Any]:
    """Return a budget whose status the disruption controller confirms: one pod, of which none or all must stay."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"guard-{app}", "namespace": "default"},
        "spec": {"minAvailable": 1 - allowed, "selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1},
    }


def at_post_filter(*items: Any, full: bool = True) -> Simulation:
    """Return a simulation in which the preemptor's cycle has just finished PostFilter."""
    simulation = Simulation(full=full)
    simulation.execute(commands.Apply(tuple(item if isinstance(item, dict) else item.obj() for item in items)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    return simulation


def dry_run(simulation: Simulation, node: str = "n1") -> DryRunFacts:
    facts = dry_run_facts(simulation.scheduler, 1, node)
    assert facts is not None
    return facts


def steps(facts: DryRunFacts) -> list[str]:
    """Return the sentences of all steps after the removals."""
    return [wording.sentence(step.facts) for step in facts.steps if step.action != "remove"]


def test_each_step_says_who_may_stay_and_which_filter_refuses_the_others() -> None:
    facts = dry_run(at_post_filter(four_cpu(), low("small", "1", 5), low("large", "3", 1), VIP))
    assert wording.sentence(facts.facts) == "n1 is a candidate: without large, vip fits."
    assert steps(facts) == [
        "without 2 pods of lower priority, vip fits",
        "small fits beside vip: it may stay",
        "large does not fit beside vip, so it is a victim. n1 does not have enough cpu left for vip.",
    ]
    assert wording.lines(facts.steps[-1].facts)[1].formula == "4000m used + 2000m requested = 6000m > 4000m allocatable"


def test_the_facts_are_the_same_in_a_lean_trace_and_after_the_victims_are_gone() -> None:
    items = (four_cpu(), low("small", "1", 5), low("large", "3", 1), VIP)
    lean, later = at_post_filter(*items, full=False), at_post_filter(*items)
    later.execute(commands.Delete("Pod", "default/small"))
    assert dry_run(lean) == dry_run(later) == dry_run(at_post_filter(*items))


def test_without_a_pod_of_lower_priority_nothing_is_removed() -> None:
    simulation = at_post_filter(four_cpu(), low("same", "4", 9), VIP)
    facts = dry_run(simulation)
    assert wording.sentence(facts.facts) == "No pod on n1 has a lower priority than vip (9)."
    assert (wording.brief(facts.facts), facts.steps) == ("no pod here has a lower priority", ())


def test_the_filter_that_still_refuses_is_named_with_its_numbers() -> None:
    facts = dry_run(at_post_filter(four_cpu(), low("same", "3", 9), low("less", "1", 0), VIP))
    assert wording.sentence(facts.facts) == (
        "Without the 1 pod of lower priority, vip still does not fit. n1 does not have enough cpu left for vip."
    )
    assert [line.formula for line in wording.lines(facts.facts)] == [
        "3000m used + 2000m requested = 5000m > 4000m allocatable"
    ]


@pytest.mark.parametrize(
    ("allowed", "line", "first"),
    [
        (0, ("PDB guard-calm", "0 allowed − 1 = −1 < 0", "the eviction would violate the budget"), "calm"),
        (1, ("PDB guard-calm", "1 allowed − 1 = 0 ≥ 0", "the budget allows the eviction"), "busy"),
    ],
    ids=["a budget without disruptions left is violated", "a budget with one left allows it"],
)
def test_a_budget_shows_its_disruptions_before_and_after(allowed: int, line: tuple[str, ...], first: str) -> None:
    pods = (low("busy", "2", 5), low("calm", "2", 1))
    facts = dry_run(at_post_filter(four_cpu(), budget("calm", allowed), *pods, VIP))
    turns = {step.pod: step for step in facts.steps if step.action == "reprieve"}
    shown = [wording.Line(*line)]
    assert [item for item in wording.lines(turns["default/calm"].facts) if item.label.startswith("PDB")] == shown
    assert next(iter(turns)) == f"default/{first}"


def test_a_violated_budget_is_named_with_the_victim() -> None:
    facts = dry_run(at_post_filter(four_cpu(), budget("calm", 0), low("calm", "4", 1), VIP))
    assert dict(facts.violations) == {"default/calm": ("default/guard-calm",)}
    assert wording.sentence(facts.facts).endswith("1 of these evictions violates a PodDisruptionBudget.")


def test_nominated_pods_count_in_the_refusal() -> None:
    simulation = Simulation()
    items = (four_cpu(), low("large", "4").grace_period(300), make_pod("first").cpu("3").priority(20))
    simulation.execute(commands.Apply(tuple(item.obj() for item in items)))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((VIP.obj(),)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    facts = dry_run_facts(simulation.scheduler, 2, "n1")
    assert facts is not None
    assert wording.lines(facts.facts)[-1].note == "counted as if already running here"


def ladder(simulation: Simulation) -> tuple[RungFacts, ...]:
    return choice_facts(simulation.scheduler, 1)


def test_each_rung_shows_the_numbers_it_compared() -> None:
    nodes = [four_cpu(name) for name in ("n1", "n2", "n3")]
    pods = [low("a", "4", 1, "n1"), low("b", "2", 1, "n2"), low("c", "2", 1, "n2"), low("d", "4", 5, "n3")]
    rungs = ladder(at_post_filter(*nodes, *pods, make_pod("vip").cpu("4").priority(9)))
    assert [wording.sentence(rung.facts) for rung in rungs] == [
        "Fewest PDB violations: all 3 are equal.",
        "Lowest top priority: keeps n1 and n2, drops n3.",
        "Smallest sum of priorities: keeps n1, drops n2.",
        "Fewest victims",
        "Latest start of the top victim",
        "First in the list",
    ]
    values = [[(line.label, line.formula) for line in wording.lines(rung.facts)] for rung in rungs]
    assert values[1:3] == [
        [("n1", "1"), ("n2", "1"), ("n3", "5")],
        [("n1", "1 + 1·2³¹"), ("n2", "2 + 2·2³¹")],
    ]


def test_among_equals_the_first_by_name_wins() -> None:
    nodes = [four_cpu(name) for name in ("n2", "n1")]
    rungs = ladder(at_post_filter(*nodes, low("a", "4", 1, "n2"), low("b", "4", 1, "n1"), VIP))
    assert wording.sentence(rungs[-1].facts) == "n1 is the first of 2 equal nodes by name."
    assert (rungs[-1].survivors, rungs[-1].fallen) == (("n1",), ("n2",))
    assert [line.formula for line in wording.lines(rungs[-2].facts)] == ["started at 0 s", "started at 0 s"]


def test_a_single_candidate_is_not_compared() -> None:
    assert ladder(at_post_filter(four_cpu(), low("a", "4", 1), VIP)) == ()


def test_nothing_is_known_without_a_dry_run_or_once_another_cycle_has_begun() -> None:
    simulation = at_post_filter(four_cpu(), low("small", "1", 5), low("large", "3", 1), VIP)
    assert dry_run_facts(simulation.scheduler, 1, "n2") is None
    simulation.execute(commands.Apply((make_pod("next").obj(),)))
    simulation.execute(commands.Stage())
    assert (dry_run_facts(simulation.scheduler, 1, "n1"), ladder(simulation)) == (None, ())
    bound = Simulation()
    bound.execute(commands.Apply((four_cpu().obj(), make_pod("web").obj())))
    bound.execute(commands.Settle())
    assert (dry_run_facts(bound.scheduler, 1, "n1"), ladder(bound)) == (None, ())


def test_a_lean_trace_does_not_say_that_nodes_were_not_checked() -> None:
    simulation = at_post_filter(four_cpu(), low("small", "1", 5), low("large", "3", 1), VIP, full=False)
    attempt = RunView(simulation).attempts["default/vip"][0]
    texts = [text.strip() for text in explained(simulation, attempt, "n1")]
    assert "The trace is lean: it has no answers for single nodes." in texts
    assert "n1: the trace is lean, so it does not say what Filter answered." in texts
    assert "n1 is a candidate: without large, vip fits." in texts
    assert not [text for text in texts if "not check" in text]


def test_a_lean_trace_does_not_say_that_no_other_node_fits() -> None:
    simulation = Simulation(full=False)
    nominated = make_pod("web").nominated("n1")
    simulation.execute(commands.Apply((four_cpu("n1").obj(), four_cpu("n2").obj(), nominated.obj())))
    simulation.execute(commands.Settle())
    texts = [*explained(simulation, RunView(simulation).attempts["default/web"][0], "")]
    assert texts[-1] == "n1 was chosen: no other node is left."


def test_a_filter_explains_its_answer_for_the_popped_pod_after_another_took_the_name() -> None:
    """A failed attempt puts the pod that has the name by then into the queue."""
    simulation = Simulation()
    simulation.execute(commands.Apply((four_cpu().taint("dedicated").obj(), make_pod("vip").obj())))
    for _ in range(4):
        simulation.execute(commands.Stage())
    simulation.execute(commands.Delete("Pod", "default/vip"))
    simulation.execute(commands.Apply((make_pod("vip").toleration("dedicated").obj(),)))
    simulation.execute(commands.Stage())
    facts = filter_facts(simulation.scheduler, 1, "n1", "TaintToleration")
    assert facts is not None
    assert facts.status is not None


def test_a_pod_that_waits_for_its_victim_says_so_at_any_later_moment() -> None:
    simulation = preemptor()
    tried_again(simulation)
    for change in (commands.Advance(1), commands.Delete("Node", "n1"), commands.Advance(400)):
        attempt = RunView(simulation).attempts["default/web"][1]
        texts = [text.strip() for text in explained(simulation, attempt, "n2")]
        assert texts.count("Preemption tries no node: web waits until low has left n1.") == 1
        simulation.execute(change)


def test_the_facts_of_an_ineligible_pod_are_those_of_the_decision() -> None:
    simulation = preemptor()
    tried_again(simulation)
    facts = dry_run_facts(simulation.scheduler, 2, "n2")
    assert facts is not None
    assert facts.facts == ineligible_facts(simulation.scheduler, 2)
    assert facts.facts.status is not None
    assert facts.facts.status.message == "not eligible due to a terminating pod on the nominated node."
    assert ineligible_facts(preemptor().scheduler, 1) is None


def test_a_pod_that_never_preempts_says_so_although_another_pod_has_its_name_by_now() -> None:
    shy = make_priority_class("shy", 9, policy="Never")
    simulation = at_post_filter(four_cpu(), low("large", "4"), shy, make_pod("vip").cpu("2").priority_class("shy"))
    simulation.execute(commands.Delete("Pod", "default/vip"))
    simulation.execute(commands.Apply((VIP.obj(),)))
    simulation.execute(commands.Settle())
    texts = [*explained(simulation, RunView(simulation).attempts["default/vip"][0], "n1")]
    assert texts.count("Preemption tries no node: the preemptionPolicy of vip is Never.") == 1


def test_a_node_that_was_not_tried_says_why() -> None:
    tainted = four_cpu("n2").taint("dedicated")
    simulation = at_post_filter(four_cpu(), tainted, low("small", "3", 5), VIP)
    facts = dry_run(simulation, "n2")
    assert wording.sentence(facts.facts) == ("Preemption does not try n2: evicting pods cannot make vip fit there.")
    assert (facts.steps, facts.victims) == ((), ())


def spreading_beside_one_that_leaves(*others: PodBuilder) -> Simulation:
    """Return a simulation after PostFilter of a pod that spreads over zones; ``dying`` is being deleted in zone a."""
    simulation = Simulation()
    nodes = make_node("n1").zone("a").capacity(cpu="9"), make_node("n2").zone("b").capacity(cpu="1").taint("x")
    pods = low("dying", "1", 5).label("app", "w").grace_period(300), *(item.label("app", "w") for item in others)
    simulation.execute(commands.Apply(tuple(item.obj() for item in (*nodes, *pods))))
    simulation.execute(commands.Delete("Pod", "default/dying"))
    spread = make_pod("vip").label("app", "w").cpu("2").priority(9).spread(ZONE, {"app": "w"})
    simulation.execute(commands.Apply((spread.obj(),)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    return simulation


def counted(facts: Facts) -> list[tuple[str, str]]:
    """Return the lines on the pods that count or do not."""
    return [(line.label, line.formula) for line in wording.lines(facts) if line.label.endswith(" zone")]


def test_a_terminating_pod_that_the_dry_run_removes_is_subtracted_although_it_never_counted() -> None:
    """As upstream: RemovePod does not ask if the pod was counted."""
    simulation = spreading_beside_one_that_leaves(*(low(f"keep{number}", "1", 50) for number in range(3)))
    filtered = filter_facts(simulation.scheduler, 1, "n1", "PodTopologySpread")
    assert filtered is not None
    assert counted(filtered) == [("Pods per zone", "a 3, b 0 (fewest)"), ("Does not count for zone", "dying")]
    assert counted(dry_run(simulation).facts) == [
        ("Pods per zone", "a 2, b 0 (fewest)"),
        ("Subtracted for zone", "dying"),
    ]


def test_a_terminating_pod_that_may_stay_is_no_longer_subtracted() -> None:
    steps_of = dry_run(spreading_beside_one_that_leaves(low("last", "1", 1))).steps
    refused = next(step for step in steps_of if step.action == "reprieve" and not step.ok)
    assert refused.pod == "default/last"
    assert counted(refused.facts)[1:] == [("Does not count for zone", "dying")]


def test_enough_candidates_leave_the_other_nodes_untried() -> None:
    args = {"minCandidateNodesAbsolute": 1, "minCandidateNodesPercentage": 0}
    profile = {"schedulerName": "default-scheduler", "pluginConfig": [{"name": "DefaultPreemption", "args": args}]}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    simulation = Simulation(configuration={**head, "profiles": [profile]})
    items = [four_cpu("n1"), four_cpu("n2"), low("a", "4", 1, "n1"), low("b", "4", 1, "n2"), VIP]
    simulation.execute(commands.Apply(tuple(item.obj() for item in items)))
    for _ in range(5):
        simulation.execute(commands.Stage())
    said = {wording.sentence(dry_run(simulation, node).facts) for node in ("n1", "n2")}
    assert len([text for text in said if text.endswith("it had found 1 candidate, which is enough.")]) == 1
    assert len([text for text in said if "is a candidate" in text]) == 1
