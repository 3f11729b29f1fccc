"""Which pods InterPodAffinity names: those it counted in that cycle, by the deciding term and domain."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.panels.explain import Explanation, explain_filter, explain_score
from sandbox.panels.facts.brief import brief_refusal
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.state_text import state_text
from scheduler_engine.plugins.inter_pod_affinity.plugin import FILTER_STATE, SCORE_STATE
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, REQUIRED, ZONE, PodBuilder, make_node, make_pod
from tests.engine.counting import calls
from tests.engine.random_clusters import CONFIGURATIONS, cluster, configuration, namespace, run
from tests.sandbox.witnessing import witnessed

Data = dict[str, Any]
PLUGIN = "InterPodAffinity"
DB, WEB, TIER = {"app": "db"}, {"app": "web"}, {"tier": "1"}
BLUE = namespace("blue", team="a")


def played(*steps: tuple[Data, ...] | commands.Command, config: Data | None = None) -> World:
    """Apply objects, and let the scheduler settle after each step."""
    simulation = Simulation(configuration=config)
    for step in steps:
        simulation.execute(commands.Apply(step) if isinstance(step, tuple) else step)
        if isinstance(step, tuple):
            simulation.execute(commands.Settle())
    return witnessed(simulation)


def filtered(world: World, pod: str, node: str = "n1") -> Explanation:
    return explain_filter(world, world.attempts[pod][-1], node, PLUGIN)


def judged(world: World, pod: str, node: str = "n1") -> Explanation:
    return explain_score(world, world.attempts[pod][-1], node, PLUGIN)


def card(world: World, pod: str, node: str = "n1") -> str:
    cycle = world.attempts[pod][-1]
    assert cycle.filter is not None
    return brief_refusal(world, cycle, next(row for row in cycle.filter.rows if row[0] == node))


def lines(explanation: Explanation) -> list[str]:
    return [f"{line.label}: {line.formula}" for line in explanation.lines]


def node(name: str = "n1", zone: str = "a") -> Data:
    return make_node(name).zone(zone).obj()


def running(name: str, labels: dict[str, str], on: str = "n1", space: str = "default") -> PodBuilder:
    return make_pod(name, space).labels(labels).node(on)


def keeping_off(*terms: Data, name: str = "web-1", labels: dict[str, str] = WEB, space: str = "default") -> PodBuilder:
    """Return a pod with these terms of required anti-affinity."""
    return make_pod(name, space).labels(labels).spec(affinity={"podAntiAffinity": {REQUIRED: list(terms)}})


def term(labels: dict[str, str], key: str = HOSTNAME, **more: Any) -> Data:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}


def team(operator: str, *values: str) -> Data:
    return {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": operator, "values": [*values]}]}}


# --- pods that anti-affinity names -----------------------------------------------------------------------------------


def in_another_namespace() -> World:
    stranger, meant = running("a-1", {"app": "cache", **TIER}, space="blue"), running("db-1", {**DB, **TIER})
    return played((BLUE, node(), stranger.obj(), meant.obj(), keeping_off(term(TIER)).obj()))


def by_the_second_term() -> World:
    """Return a world whose first term selects db-1 by its labels, but in another namespace."""
    terms = term(TIER, namespaces=["blue"]), term(WEB)
    return played((BLUE, node(), running("db-1", {**DB, **TIER}).obj(), running("web-0", WEB).obj()), waiting(*terms))


def waiting(*terms: Data) -> tuple[Data, ...]:
    return (keeping_off(*terms).obj(),)


def by_the_second_term_in_a_zone() -> World:
    terms = term(TIER), term(DB, ZONE, namespaces=["blue"])
    return played((BLUE, node(), node("n2"), running("db-1", DB, "n2", "blue").obj()), waiting(*terms))


def being_deleted() -> World:
    going = (node(), running("db-1", {**DB, **TIER}).grace_period(60).obj(), running("a-1", {"app": "a"}).obj())
    return played(going, commands.Delete("Pod", "default/db-1"), waiting(term(TIER)))


def gone_since() -> World:
    """db-1 kept web-1 off and is gone, another pod of its tier has come, and web-1 is not tried again."""
    there = (node(), running("db-1", {**DB, **TIER}).grace_period(0).obj(), keeping_off(term(TIER)).obj())
    late = running("cache-1", {"app": "cache", **TIER}).obj()
    return played(there, commands.Apply((late,)), commands.Delete("Pod", "default/db-1"))


def by_a_selector_of_absence(**more: Any) -> World:
    """Upstream matches such a selector against no labels at all, which satisfies it: every namespace counts."""
    return played((BLUE, node(), running("db-1", DB, space="blue").obj(), keeping_off(term(DB, **more)).obj()))


def by_version(field: str) -> Callable[[], World]:
    def build() -> World:
        held = [running(f"web-{version}", {**WEB, "version": version}, f"n{version}").obj() for version in "12"]
        pod = keeping_off(term(WEB, **{field: ["version"]}), name="web-9", labels={**WEB, "version": "1"})
        return played(
            (make_node("n1").obj(), make_node("n2").obj(), *held, make_node("n3").cordoned().obj(), pod.obj())
        )

    return build


NAMED: dict[str, tuple[Callable[[], World], str, str, str, str, list[str]]] = {
    "not a pod with the same labels in another namespace": (
        in_another_namespace,
        "default/web-1",
        "n1",
        "db-1 here",
        "web-1 must not be near pods with tier=1, but db-1 is on n1.",
        ["Not near pods with tier=1: db-1 on n1", "Does not count for pods with tier=1: blue/a-1"],
    ),
    "not a pod that matches the first term only in part": (
        by_the_second_term,
        "default/web-1",
        "n1",
        "web-0 here",
        "web-1 must not be near pods with app=web (term 2), but web-0 is on n1.",
        [
            "Not near pods with tier=1 in blue (term 1): no such pod on n1",
            "Not near pods with app=web (term 2): web-0 on n1",
            "Does not count for pods with tier=1 in blue (term 1): db-1",
        ],
    ),
    "a pod elsewhere in the zone, which is named": (
        by_the_second_term_in_a_zone,
        "default/web-1",
        "n1",
        "blue/db-1 in zone a",
        "web-1 must not be near pods with app=db in blue (term 2), but blue/db-1 is in zone a.",
        [
            "Not near pods with tier=1 (term 1): no such pod on n1",
            "Not near pods with app=db in blue (term 2): blue/db-1 in zone a",
        ],
    ),
    "a pod that is being deleted, with a line that says so": (
        being_deleted,
        "default/web-1",
        "n1",
        "db-1 here",
        "web-1 must not be near pods with tier=1, but db-1 is on n1.",
        ["Not near pods with tier=1: db-1 on n1", "Being deleted: db-1"],
    ),
    "a pod deleted since, not a newer one": (
        gone_since,
        "default/web-1",
        "n1",
        "db-1 here",
        "web-1 must not be near pods with tier=1, but db-1 is on n1.",
        ["Not near pods with tier=1: db-1 on n1"],
    ),
    "pods of every namespace for an empty selector": (
        lambda: by_a_selector_of_absence(namespaceSelector={}),
        "default/web-1",
        "n1",
        "blue/db-1 here",
        "web-1 must not be near pods with app=db in any namespace, but blue/db-1 is on n1.",
        ["Not near pods with app=db in any namespace: blue/db-1 on n1"],
    ),
    "pods of every namespace for NotIn, even of one that it does not select": (
        lambda: by_a_selector_of_absence(**team("NotIn", "a")),
        "default/web-1",
        "n1",
        "blue/db-1 here",
        "web-1 must not be near pods with app=db in any namespace, but blue/db-1 is on n1.",
        [
            "Not near pods with app=db in any namespace: blue/db-1 on n1",
            "Namespaces: pods with app=db in any namespace",
        ],
    ),
    "pods of every namespace for DoesNotExist": (
        lambda: by_a_selector_of_absence(**team("DoesNotExist")),
        "default/web-1",
        "n1",
        "blue/db-1 here",
        "web-1 must not be near pods with app=db in any namespace, but blue/db-1 is on n1.",
        [
            "Not near pods with app=db in any namespace: blue/db-1 on n1",
            "Namespaces: pods with app=db in any namespace",
        ],
    ),
    "pods of the namespaces that the selector matches, by name": (
        lambda: by_a_selector_of_absence(**team("In", "a")),
        "default/web-1",
        "n1",
        "blue/db-1 here",
        "web-1 must not be near pods with app=db in blue, but blue/db-1 is on n1.",
        ["Not near pods with app=db in blue: blue/db-1 on n1"],
    ),
    "pods of the same version for matchLabelKeys": (
        by_version("matchLabelKeys"),
        "default/web-9",
        "n1",
        "web-1 here",
        "web-9 must not be near pods with app=web,version in (1), but web-1 is on n1.",
        ["Not near pods with app=web,version in (1): web-1 on n1"],
    ),
    "pods of another version for mismatchLabelKeys": (
        by_version("mismatchLabelKeys"),
        "default/web-9",
        "n2",
        "web-2 here",
        "web-9 must not be near pods with app=web,version notin (1), but web-2 is on n2.",
        ["Not near pods with app=web,version notin (1): web-2 on n2"],
    ),
}


@pytest.mark.parametrize("words", NAMED)
def test_anti_affinity_names(words: str) -> None:
    build, pod, node_name, brief, sentence, expected = NAMED[words]
    world = build()
    explanation = filtered(world, pod, node_name)
    assert (explanation.sentence, lines(explanation), explanation.brief) == (sentence, expected, brief)
    assert card(world, pod, node_name) == brief


def uncounted(explanation: Explanation) -> list[tuple[str, str]]:
    shown = [line for line in explanation.lines if line.label.startswith("Does not count")]
    return [(f"{line.label}: {line.formula}", line.note) for line in shown]


def with_uncounted(pod: PodBuilder) -> World:
    """Return a world with db pods in another namespace, and on a node without a zone."""
    held = running("db-1", DB), running("db-2", DB, "n3"), running("db-3", DB, "n2", "blue")
    objects = (BLUE, node(), node("n2", "b"), make_node("n3").obj(), *(item.obj() for item in held))
    return played((*objects, running("cache-1", {"app": "cache"}, "n3", "blue").obj()), (pod.obj(),))


UNCOUNTED = [
    ("Does not count for pods with app=db: db-2", f"it is on a node without the label {ZONE}"),
    ("Does not count for pods with app=db: blue/db-3", "it is in a namespace that the term does not select"),
]


@pytest.mark.parametrize(
    ("pod", "explain"),
    [
        pytest.param(make_pod("web-1").affinity(ZONE, DB), filtered, id="required affinity"),
        pytest.param(make_pod("web-1").anti_affinity(ZONE, DB), filtered, id="required anti-affinity"),
        pytest.param(make_pod("web-1").affinity(ZONE, DB, 5), judged, id="preferred affinity"),
        pytest.param(make_pod("web-1").anti_affinity(ZONE, DB, 5), judged, id="preferred anti-affinity"),
    ],
)
def test_pods_that_a_term_selects_but_that_do_not_count_are_named(
    pod: PodBuilder, explain: Callable[..., Explanation]
) -> None:
    world = with_uncounted(pod)
    for name in ("n1", "n2"):
        assert uncounted(explain(world, "default/web-1", name)) == UNCOUNTED


def test_a_selector_of_every_pod_names_none_that_does_not_count() -> None:
    assert uncounted(filtered(with_uncounted(make_pod("web-1").anti_affinity(ZONE, {})), "default/web-1")) == []


def test_domains_whose_keys_end_alike_do_not_read_alike() -> None:
    nodes = make_node("n1").zone("a").label("power/zone", "a").obj()
    both = keeping_off(term(DB, ZONE), term(DB, "power/zone")).affinity(ZONE, DB).affinity("power/zone", DB)
    shown = lines(filtered(played((nodes, running("db-1", DB).obj()), (both.obj(),)), "default/web-1"))
    assert [line for line in shown if line.startswith("Not near")] == [
        f"Not near pods with app=db (term 1): db-1 in {ZONE} a",
        "Not near pods with app=db (term 2): db-1 in power/zone a",
    ]
    wishes = make_pod("web-1").affinity(ZONE, DB, 5).affinity("power/zone", DB, 5)
    explanation = judged(played((nodes, node("n2", "b"), running("db-1", DB).obj()), (wishes.obj(),)), "default/web-1")
    assert [line.note for line in explanation.lines[:2]] == [f"in {ZONE} a: db-1", "in power/zone a: db-1"]


def test_a_selector_that_matches_no_namespace_matches_no_pod() -> None:
    explanation = filtered(by_a_selector_of_absence(**team("In", "z")), "default/web-1")
    assert (explanation.code, lines(explanation)) == (
        "Success",
        [
            "Not near pods with app=db in no namespace: no such pod on n1",
            "Does not count for pods with app=db in no namespace: blue/db-1",
        ],
    )


# --- existing pods' anti-affinity ------------------------------------------------------------------------------------


def test_the_labels_of_a_namespace_count_as_they_were_in_that_cycle() -> None:
    keeper = keeping_off(term(WEB, ZONE, **team("In", "a")), name="db-1", labels=DB).node("n1").obj()
    pod = make_pod("web-1", "blue").labels(WEB).obj()
    world = played((BLUE, node(), keeper, pod), commands.Apply((namespace("blue", team="b"),)))
    explanation = filtered(world, "blue/web-1")
    assert explanation.sentence == "The anti-affinity of db-1 in zone a keeps blue/web-1 out."
    assert lines(explanation) == [
        "db-1 must not be near pods with app=web in namespaces with team in (a): it is in zone a"
    ]
    assert card(world, "blue/web-1") == "db-1 keeps it out"


def test_pods_with_equal_terms_are_listed_together_and_each_once() -> None:
    def keeper(name: str, *terms: Data) -> Data:
        return keeping_off(*terms, name=name, labels={"app": name}).node("n1").obj()

    both = keeper("db-1", term(WEB), term(WEB)), keeper("db-2", term(WEB))
    explanation = filtered(played((node(), *both, make_pod("web-1").labels(WEB).obj())), "default/web-1")
    assert explanation.sentence == "The anti-affinity of db-1 and db-2 on n1 keeps web-1 out."
    assert lines(explanation) == ["db-1 and db-2 must not be near pods with app=web: they are on n1"]


# --- nominated pods --------------------------------------------------------------------------------------------------


def with_nominated(vip: PodBuilder, pod: PodBuilder) -> World:
    """Return a world: vip-1 waits for the end of low-1 on n1; cache-1 has the tier of vip-1, and is on n2."""
    small = make_node("n1").capacity(cpu="2").obj()
    low = make_pod("low-1").labels({"app": "low"}).cpu("2").node("n1").grace_period(60).obj()
    there = small, make_node("n2").capacity(cpu="1").obj(), low, running("cache-1", TIER, "n2").cpu("1").obj()
    return played((*there, vip.cpu("1500m").priority(100).obj()), (pod.priority(1).obj(),))


def test_a_pod_that_only_waits_for_the_node_is_named() -> None:
    vip = make_pod("vip-1").labels(TIER)
    world = with_nominated(vip, keeping_off(term(TIER)))
    explanation = filtered(world, "default/web-1")
    assert explanation.sentence == "web-1 must not be near pods with tier=1, but vip-1 is on n1."
    assert lines(explanation) == ["Not near pods with tier=1: vip-1 on n1", "Nominated here: vip-1"]
    assert card(world, "default/web-1") == "vip-1 here"
    assert lines(filtered(world, "default/web-1", "n2")) == ["Not near pods with tier=1: cache-1 on n2"]


def test_the_anti_affinity_of_a_pod_that_only_waits_for_the_node_counts() -> None:
    vip = keeping_off(term(WEB), name="vip-1", labels=TIER)
    world = with_nominated(vip, keeping_off(term({"app": "nobody"})))
    explanation = filtered(world, "default/web-1")
    assert explanation.sentence == "The anti-affinity of vip-1 on n1 keeps web-1 out."
    assert card(world, "default/web-1") == "vip-1 keeps it out"
    assert lines(explanation)[1:] == ["vip-1 must not be near pods with app=web: it is on n1", "Nominated here: vip-1"]


def test_a_pod_that_only_waits_for_the_node_satisfies_no_affinity() -> None:
    world = with_nominated(make_pod("vip-1").labels(DB), make_pod("web-1").affinity(HOSTNAME, DB))
    explanation = filtered(world, "default/web-1")
    assert explanation.sentence == "web-1 must be near pods with app=db, but there are none on n1."
    assert lines(explanation) == ["Near pods with app=db: no such pod on n1", "Nominated here: vip-1"]


# --- affinity --------------------------------------------------------------------------------------------------------


def test_one_pod_must_match_every_term() -> None:
    pod = make_pod("web-1").affinity(HOSTNAME, DB).affinity(ZONE, TIER)
    world = played((node(), running("db-1", DB).obj(), running("cache-1", TIER).obj(), pod.obj()))
    explanation = filtered(world, "default/web-1")
    assert (
        explanation.sentence
        == "web-1 must be near pods that match both of its affinity terms, but there are none on n1."
    )
    assert lines(explanation) == [
        "Near pods with app=db (term 1): no pod that matches both terms on n1",
        "Near pods with tier=1 (term 2): no pod that matches both terms in zone a",
        "Counts as near: a pod that matches both terms",
    ]


def test_the_first_of_a_group_still_needs_every_label() -> None:
    pod = make_pod("db-1").labels(DB).affinity(HOSTNAME, DB).affinity("rack", DB)
    explanation = filtered(played((node(), pod.obj())), "default/db-1")
    assert explanation.sentence == "db-1 must be near pods with app=db (term 2), but n1 has no label rack."
    assert lines(explanation)[:2] == [
        "Near pods with app=db (term 1): no such pod on n1",
        "Near pods with app=db (term 2): no label rack",
    ]


def test_the_first_of_a_group_may_go() -> None:
    explanation = filtered(played((node(), make_pod("db-1").labels(DB).affinity(ZONE, DB).obj())), "default/db-1")
    assert explanation.sentence == "db-1 gets along with the pods around n1."
    assert explanation.lines[0].note.startswith("no pod anywhere matches, but the pod matches itself")


# --- the score -------------------------------------------------------------------------------------------------------


def two_zones(*pods: PodBuilder) -> tuple[Data, ...]:
    return (node(), node("n2", "b"), *(pod.obj() for pod in pods))


def scored(*pods: PodBuilder, **arguments: Any) -> Explanation:
    return judged(played(two_zones(*pods), config=configuration(InterPodAffinity=arguments)), "default/web-1")


def test_required_terms_of_others_count_their_weight() -> None:
    explanation = scored(
        running("db-1", DB).affinity(ZONE, WEB), make_pod("web-1").labels(WEB), hardPodAffinityWeight=13
    )
    assert lines(explanation)[:3] == [
        "db-1 needs pods with app=web: 1 × 13 = 13",
        "Raw: 13",
        "Normalized: 100 × (13 − 0) / (13 − 0) = 100",
    ]
    assert explanation.sentence == "Pod affinity favours n1 most for web-1."


def test_preferences_of_others_that_were_to_be_ignored_count_for_a_pod_that_has_its_own() -> None:
    pod = make_pod("web-1").labels(WEB).affinity(ZONE, DB, 10)
    friends = [running(f"db-{number}", DB).affinity(ZONE, WEB, 5) for number in (1, 2)]
    explanation = scored(*friends, pod, ignorePreferredTermsOfExistingPods=True)
    assert lines(explanation)[:4] == [
        "web-1 likes pods with app=db: 2 × 10 = 20",
        "db-1 and db-2 like pods with app=web: 2 × 5 = 10",
        "Terms of other pods: counted",
        "Raw: 30",
    ]


def test_the_lowest_score_may_be_below_0() -> None:
    foe = running("db-1", DB).anti_affinity(ZONE, WEB, 7)
    explanation = scored(foe, make_pod("web-1").labels(WEB).affinity("rack", DB, 3))
    assert lines(explanation)[:4] == [
        "web-1 likes pods with app=db: 0",
        "db-1 dislikes pods with app=web: 1 × −7 = −7",
        "Raw: −7",
        "Normalized: 100 × (−7 − (−7)) / (0 − (−7)) = 0",
    ]
    assert [line.note for line in explanation.lines][:3:2] == [
        "no label rack",
        "negative: the dislikes outweigh the likes",
    ]
    assert explanation.sentence == "Pod affinity favours n1 least for web-1."


def test_a_pod_that_is_being_deleted_counts_in_the_score_and_is_named() -> None:
    going = two_zones(running("db-1", DB).grace_period(60), running("db-2", DB))
    pod = make_pod("web-1").affinity(ZONE, DB, 10).obj()
    explanation = judged(played(going, commands.Delete("Pod", "default/db-1"), (pod,)), "default/web-1")
    assert lines(explanation)[:3] == [
        "web-1 likes pods with app=db: 2 × 10 = 20",
        "Being deleted: db-1",
        "Raw: 20",
    ]
    assert explanation.lines[1].note == "it counts until it is gone"


def test_equal_scores_become_0() -> None:
    held = running("db-1", DB), running("db-2", DB, "n2")
    explanation = scored(*held, make_pod("web-1").affinity(ZONE, DB, 10))
    assert explanation.sentence == "Pod affinity makes no difference between the nodes for web-1."
    assert lines(explanation)[1:3] == ["Raw: 10", "Normalized: 0"]
    assert explanation.lines[2].note == "all raw scores are equal, so all nodes get 0"


def test_a_preference_for_the_absence_of_a_label_means_every_namespace() -> None:
    wish = {"weight": 9, "podAffinityTerm": term(DB, ZONE, **team("NotIn", "a"))}
    pod = make_pod("web-1").spec(affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}})
    explanation = judged(played((BLUE, *two_zones(running("db-1", DB, space="blue"), pod))), "default/web-1")
    assert lines(explanation)[:2] == [
        "web-1 likes pods with app=db in any namespace: 1 × 9 = 9",
        "Namespaces: pods with app=db in any namespace",
    ]


def test_each_of_two_equal_preferences_counts() -> None:
    friend = running("db-1", DB).affinity(ZONE, WEB, 3).affinity(ZONE, WEB, 3)
    explanation = scored(friend, make_pod("web-1").labels(WEB).affinity(ZONE, DB, 4).affinity(ZONE, DB, 4))
    assert lines(explanation)[:4] == [
        "web-1 likes pods with app=db (term 1): 1 × 4 = 4",
        "web-1 likes pods with app=db (term 2): 1 × 4 = 4",
        "db-1 likes pods with app=web: 2 × 3 = 6",
        "Raw: 14",
    ]
    assert explanation.lines[0].note == "in zone a: db-1"


@pytest.mark.parametrize(
    ("kind", "selector", "sentence", "line"),
    [
        pytest.param(
            "podAntiAffinity",
            {"labelSelector": {}},
            "web-1 must not be near any pod, but db-1 is on n1.",
            "Not near any pod: db-1 on n1",
            id="an empty selector means any pod",
        ),
        pytest.param(
            "podAntiAffinity",
            {"labelSelector": {}, "namespaceSelector": {}},
            "web-1 must not be near any pod in any namespace, but db-1 is on n1.",
            "Not near any pod in any namespace: db-1 on n1",
            id="of any namespace",
        ),
        pytest.param(
            "podAffinity",
            {},
            "web-1 must be near a pod that its affinity selects, but it selects none.",
            "Near pods (no labelSelector, so none): no such pod on n1",
            id="no selector means none",
        ),
    ],
)
def test_a_term_may_select_every_pod_or_none(kind: str, selector: Data, sentence: str, line: str) -> None:
    pod = make_pod("web-1").spec(affinity={kind: {REQUIRED: [{"topologyKey": HOSTNAME, **selector}]}})
    explanation = filtered(played((node(), running("db-1", DB).obj(), pod.obj())), "default/web-1")
    assert (explanation.sentence, lines(explanation)[0]) == (sentence, line)


# --- the cost of naming, and its side effects ------------------------------------------------------------------------


def busy() -> Simulation:
    simulation = Simulation()
    held = [running(f"db-{number}", DB, f"n{number % 3}") for number in range(30)]
    pod = make_pod("web-1").anti_affinity("rack", DB).affinity(ZONE, DB, 5)
    simulation.execute(commands.Apply((*(node(f"n{n}") for n in range(3)), *(one.obj() for one in held), pod.obj())))
    simulation.execute(commands.Settle())
    return simulation


def test_pods_are_looked_through_once_for_all_nodes() -> None:
    simulation = busy()
    world = witnessed(simulation)
    cycle = world.attempts["default/web-1"][-1]
    for ask in (world.witness.filter, world.witness.score):
        first, second = (calls(lambda name=name, ask=ask: ask(cycle, name, PLUGIN)) for name in ("n0", "n1"))
        assert second * 3 < first


def test_naming_is_in_no_copy_of_the_state_and_not_in_the_trace() -> None:
    simulation = busy()
    latest = simulation.scheduler.latest
    assert latest is not None
    held = [latest.state.data[key] for key in (FILTER_STATE, SCORE_STATE)]
    before = [(state_text(state), pickle.dumps(state)) for state in held]
    world = witnessed(simulation)
    for ask in (world.witness.filter, world.witness.score):
        assert ask(world.attempts["default/web-1"][-1], "n0", PLUGIN) is not None
    assert all(state.known is not None for state in held)
    assert [(state_text(state), pickle.dumps(state)) for state in held] == before
    assert [copy.deepcopy(state).known for state in held] == [None, None]
    assert held[0].clone().known is held[0].known


# --- all of it, in random clusters -----------------------------------------------------------------------------------


def names_in(facts: Facts, row: str) -> list[bool]:
    """Return, for each fact of a row, True if it names a pod."""
    return [bool(item.values["pods"]) for item in facts.of(f"pod-affinity.{row}")]


FULL = ("near", "not-near", "keeps-off", "likes", "dislikes", "they-like", "they-dislike", "they-need")
EMPTY = ("near-nobody", "near-first-of-group", "near-no-label", "not-near-nobody", "not-near-no-label")
OFTEN = ("near", "not-near", "keeps-off", "likes", "they-like", "they-dislike", "near-nobody", "not-near-nobody")


def contradictions(world: World, counts: Counter[str]) -> list[str]:
    """Return facts that name nobody although a pod counted, or the reverse, and scores whose shares do not add up."""
    results = []
    for cycle in world.cycles:
        table = cycle.filter
        asked = (
            [row[0] for row in table.rows] if table and PLUGIN in table.plugins and PLUGIN not in table.skipped else []
        )
        raws = dict(dict(cycle.score.raw).get(PLUGIN, ())) if cycle.score else {}
        verdicts = [(name, world.witness.filter(cycle, name, PLUGIN)) for name in asked]
        verdicts += [(name, world.witness.score(cycle, name, PLUGIN)) for name in raws]
        for name, facts in verdicts:
            if facts is None:
                results.append(f"cycle {cycle.number}, {name}: no facts")
                continue
            counts.update(item.key for item in (facts.says, *facts.shown))
            wrong = [row for row in FULL if not all(names_in(facts, row))]
            wrong += [row for row in EMPTY if any(names_in(facts, row))]
            shares = [number for item in facts.shown if isinstance(number := item.values.get("share"), int)]
            if wrong or (facts.raw is not None and facts.raw != sum(shares)):
                results.append(f"cycle {cycle.number}, {name}: {wrong or shares}, {facts}")
    return results


def test_in_random_clusters_exactly_those_terms_that_counted_name_pods() -> None:
    counts: Counter[str] = Counter()
    for seed in range(100):
        simulation = Simulation(configuration=CONFIGURATIONS[seed % len(CONFIGURATIONS)])
        run(simulation, cluster(seed))
        assert contradictions(witnessed(simulation), counts) == []
    assert [row for row in OFTEN if not counts[f"pod-affinity.{row}"]] == []
