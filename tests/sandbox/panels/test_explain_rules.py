"""Explanations of the rules about a single node: labels, taints, names, ports, devices and images."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels.explain import Explanation, explain_filter, explain_score
from sandbox.panels.facts.brief import brief_refusal
from sandbox.panels.model.world import World
from scheduler_engine import commands, wording
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from tests.engine.cells import plain
from tests.sandbox.witnessing import witnessed

Data = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def played(*steps: commands.Command, configuration: Data | None = None) -> World:
    simulation = Simulation(configuration=configuration)
    for step in steps:
        simulation.execute(step)
    return witnessed(simulation)


def filtered(world: World, plugin: str, node: str = "n1") -> Explanation:
    return explain_filter(world, world.attempts["default/web-1"][-1], node, plugin)


def judged(world: World, plugin: str, node: str = "n1") -> Explanation:
    return explain_score(world, world.attempts["default/web-1"][-1], node, plugin)


def brief(world: World, node: str = "n1") -> str:
    cycle = world.attempts["default/web-1"][-1]
    assert cycle.filter is not None
    return brief_refusal(world, cycle, next(row for row in cycle.filter.rows if row[0] == node))


def texts(explanation: Explanation) -> list[str]:
    return [f"{line.label}: {line.formula}" + (f" ({line.note})" if line.note else "") for line in explanation.lines]


# --- node affinity ---------------------------------------------------------------------------------------------------


def term(*expressions: tuple[str, str, list[str]], fields: list[tuple[str, list[str]]] | None = None) -> Data:
    listed = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    named = [{"key": "metadata.name", "operator": operator, "values": values} for operator, values in fields or ()]
    return {**({"matchExpressions": listed} if listed else {}), **({"matchFields": named} if named else {})}


def requiring(*terms: Data, **selector: str) -> Data:
    spec: Data = {"nodeSelector": selector} if selector else {}
    if terms:
        spec["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}
    return make_pod("web-1").spec(**spec).obj()


NODE = make_node("n1").label("disk", "hdd").label("cpus", "4").label("tier", "").zone("c").obj()
AFFINITIES: dict[str, tuple[Data, str, str, list[str]]] = {
    "a label of the node selector": (
        requiring(disk="ssd"),
        "disk=hdd",
        "web-1 needs disk ssd; n1 has disk hdd.",
        ["nodeSelector: disk=ssd (fails: node has disk=hdd)"],
    ),
    "a label of the node selector that the node lacks": (
        requiring(gpu="a"),
        "no gpu",
        "web-1 needs gpu a; n1 has no gpu.",
        ["nodeSelector: gpu=a (fails: node has no label gpu)"],
    ),
    "the node selector before the affinity": (
        requiring(term(("disk", "In", ["hdd"])), gpu="a"),
        "no gpu",
        "web-1 needs gpu a; n1 has no gpu.",
        ["nodeSelector: gpu=a (fails: node has no label gpu)", "required: disk In [hdd] (matches)"],
    ),
    "In": (
        requiring(term(("disk", "In", ["ssd", "nvme"]))),
        "disk=hdd",
        "web-1 needs disk ssd or nvme; n1 has disk hdd.",
        ["required: disk In [ssd, nvme] (fails: disk In [ssd, nvme], node has disk=hdd)"],
    ),
    "NotIn": (
        requiring(term((ZONE, "NotIn", ["c"]))),
        "zone=c",
        "web-1 needs zone other than c; n1 has zone c.",
        [f"required: {ZONE} NotIn [c] (fails: {ZONE} NotIn [c], node has {ZONE}=c)"],
    ),
    "Exists": (
        requiring(term(("gpu", "Exists", []))),
        "no gpu",
        "web-1 needs a label gpu; n1 has no gpu.",
        ["required: gpu Exists (fails: gpu Exists, node has no label gpu)"],
    ),
    "DoesNotExist": (
        requiring(term(("tier", "DoesNotExist", []))),
        "tier=(empty)",
        "web-1 needs a node without the label tier; n1 has tier (empty).",
        ["required: tier DoesNotExist (fails: tier DoesNotExist, node has tier=)"],
    ),
    "Gt": (
        requiring(term(("cpus", "Gt", ["4"]))),
        "cpus=4",
        "web-1 needs cpus above 4; n1 has cpus 4.",
        ["required: cpus Gt [4] (fails: cpus Gt [4], node has cpus=4)"],
    ),
    "Lt of a label that is not a number": (
        requiring(term(("disk", "Lt", ["4"]))),
        "disk=hdd",
        "web-1 needs disk below 4; n1 has disk hdd.",
        ["required: disk Lt [4] (fails: disk Lt [4], node has disk=hdd)"],
    ),
    "the second expression of a term": (
        requiring(term(("disk", "In", ["hdd"]), ("gpu", "Exists", []))),
        "no gpu",
        "web-1 needs a label gpu; n1 has no gpu.",
        ["required: disk In [hdd] and gpu Exists (fails: gpu Exists, node has no label gpu)"],
    ),
    "an excluded node name": (
        requiring(term(fields=[("NotIn", ["n1"])])),
        "other node",
        "web-1 needs a node other than n1; this is n1.",
        ["required: metadata.name NotIn [n1] (fails: metadata.name NotIn [n1], node is n1)"],
    ),
    "several terms about one label": (
        requiring(term((ZONE, "In", ["a"])), term((ZONE, "In", ["b"]), ("gpu", "Exists", []))),
        "zone=c",
        "None of the 2 alternative terms of web-1 matches.",
        [
            f"required, term 1: {ZONE} In [a] (fails: {ZONE} In [a], node has {ZONE}=c)",
            f"required, term 2: {ZONE} In [b] and gpu Exists (fails: {ZONE} In [b], node has {ZONE}=c; gpu Exists, "
            "node has no label gpu)",
        ],
    ),
    "several terms about different things": (
        requiring(term(("disk", "In", ["ssd"])), term(fields=[("In", ["n2"])])),
        "no term matches",
        "None of the 2 alternative terms of web-1 matches.",
        [
            "required, term 1: disk In [ssd] (fails: disk In [ssd], node has disk=hdd)",
            "required, term 2: metadata.name In [n2] (fails: metadata.name In [n2], node is n1)",
        ],
    ),
    "a term without requirements": (
        requiring({}),
        "empty term",
        "web-1 needs something that no node has.",
        ["required: (empty) (fails: an empty term matches nothing)"],
    ),
    "an invalid number": (
        requiring(term(("gpu", "DoesNotExist", []), ("cpus", "Gt", ["many"]))),
        "invalid term",
        "web-1 needs something that no node has: cpus Gt [many] is invalid.",
        [
            "required: gpu DoesNotExist and cpus Gt [many] (fails: cpus Gt [many] is invalid, so the term matches "
            "nothing)"
        ],
    ),
}


@pytest.mark.parametrize("case", AFFINITIES)
def test_the_requirement_that_decided_is_on_the_card(case: str) -> None:
    pod, card, sentence, lines = AFFINITIES[case]
    world = played(commands.Apply((NODE, pod)), commands.Settle())
    explanation = filtered(world, "NodeAffinity")
    assert (brief(world), explanation.sentence) == (card, sentence)
    assert texts(explanation) == lines


def adding(*terms: Data, **more: Any) -> Data:
    affinity = {REQUIRED: {"nodeSelectorTerms": list(terms)}, **more} if terms or not more else more
    configs = [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}}]
    profile = {"schedulerName": "default-scheduler", "pluginConfig": configs}
    version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


ADDED: dict[str, tuple[Data, str, str, list[str]]] = {
    "a label": (
        adding(term(("disk", "In", ["ssd"]))),
        "disk=hdd",
        "it requires disk ssd; n1 has disk hdd",
        ["addedAffinity of the profile: disk In [ssd] (fails: disk In [ssd], node has disk=hdd)"],
    ),
    "another node": (
        adding(term(fields=[("In", ["n2"])])),
        "other node",
        "it requires the node n2; this is n1",
        ["addedAffinity of the profile: metadata.name In [n2] (fails: metadata.name In [n2], node is n1)"],
    ),
    "several terms": (
        adding(term(("gpu", "Exists", [])), term(("gpu", "In", ["a"]))),
        "no gpu",
        "none of its 2 alternative terms matches",
        [
            "addedAffinity of the profile, term 1: gpu Exists (fails: gpu Exists, node has no label gpu)",
            "addedAffinity of the profile, term 2: gpu In [a] (fails: gpu In [a], node has no label gpu)",
        ],
    ),
    "no term at all": (
        adding(),
        "empty term",
        "it requires something that no node has",
        ["addedAffinity of the profile: (empty) (without a term, no node matches)"],
    ),
}


@pytest.mark.parametrize("case", ADDED)
def test_the_profiles_requirements_come_before_the_pods(case: str) -> None:
    configuration, card, wanted, lines = ADDED[case]
    pod = requiring(disk="nvme")
    world = played(commands.Apply((NODE, pod)), commands.Settle(), configuration=configuration)
    explanation = filtered(world, "NodeAffinity")
    assert explanation.sentence == f"The scheduler profile keeps its pods off n1: {wanted}."
    assert brief(world) == card
    assert texts(explanation) == [*lines, "nodeSelector: disk=nvme (fails: node has disk=hdd)"]


def test_preferred_terms_of_profile_and_pod_add_their_weights() -> None:
    preferred = [{"weight": 9, "preference": term(("disk", "Exists", []))}]
    configuration = adding(preferredDuringSchedulingIgnoredDuringExecution=preferred)
    pod = make_pod("web-1").node_affinity("cpus", ["3"], "Gt", 20).node_affinity("gpu", ["a"], weight=50).obj()
    world = played(commands.Apply((NODE, make_node("n2").obj(), pod)), commands.Settle(), configuration=configuration)
    explanation = judged(world, "NodeAffinity")
    assert explanation.sentence == "n1 matches 2 of the 3 preferences of web-1 and the profile."
    assert texts(explanation)[:4] == [
        "addedAffinity, weight 9: disk Exists: 9 (matches)",
        "weight 20: cpus Gt [3]: 20 (matches)",
        "weight 50: gpu In [a]: 0 (does not match: gpu In [a], node has no label gpu)",
        "Raw: 9 + 20 = 29 (total weight of the preferred terms that match)",
    ]
    assert judged(world, "NodeAffinity", "n2").sentence == (
        "n2 matches none of the preferences of web-1 and the profile."
    )


def test_without_any_preferred_node_all_score_zero() -> None:
    pod = make_pod("web-1").node_affinity("gpu", ["a"], weight=50).obj()
    world = played(commands.Apply((NODE, make_node("n2").obj(), pod)), commands.Settle())
    explanation = judged(world, "NodeAffinity")
    assert explanation.sentence == "n1 does not match the preference of web-1."
    assert texts(explanation)[-2] == "Normalized: 0 (every node has 0, so every node gets 0)"


# --- what the cycle saw, though the cluster has changed since --------------------------------------------------------


def gone_stale(plugin: str, before: Data, after: Data, *more: Data) -> tuple[World, World]:
    """Return the worlds right after the attempt, and after the node changed. The pod is not tried again."""
    simulation = Simulation()
    simulation.execute(commands.Apply((before, *more)))
    simulation.execute(commands.PodCycle())
    early = witnessed(simulation)
    assert filtered(early, plugin).code != "Success"
    simulation.execute(commands.Apply((after,)))
    return early, witnessed(simulation)


def test_a_label_that_has_changed_since_is_shown_as_the_cycle_saw_it() -> None:
    hdd, nvme = (make_node("n1").label("disk", value).obj() for value in ("hdd", "nvme"))
    for pod in (requiring(disk="ssd"), requiring(term(("disk", "In", ["ssd"])))):
        early, late = gone_stale("NodeAffinity", hdd, nvme, pod)
        assert late.nodes["n1"].node.labels["disk"] == "nvme"
        assert brief(early) == brief(late) == "disk=hdd"
        assert filtered(late, "NodeAffinity").sentence == "web-1 needs disk ssd; n1 has disk hdd."


def test_a_taint_that_has_changed_since_is_shown_as_the_cycle_saw_it() -> None:
    gpu, tpu = (make_node("n1").taint("dedicated", value).obj() for value in ("gpu", "tpu"))
    early, late = gone_stale("TaintToleration", gpu, tpu, make_pod("web-1").obj())
    assert [taint.value for taint in late.nodes["n1"].node.taints] == ["tpu"]
    assert brief(early) == brief(late) == "dedicated taint"
    assert filtered(early, "TaintToleration") == filtered(late, "TaintToleration")
    assert texts(filtered(late, "TaintToleration"))[0].startswith("dedicated=gpu:NoSchedule: not tolerated")


def test_a_port_that_is_free_since_is_shown_as_the_cycle_saw_it() -> None:
    holder, pod = (make_pod(name).host_port(80) for name in ("db-1", "web-1"))
    first = commands.Apply((make_node("n1").obj(), holder.node("n1").grace_period(0).obj(), pod.obj()))
    world = played(first, commands.PodCycle(), commands.Delete("Pod", "default/db-1"))
    assert "default/db-1" not in world.pods
    assert brief(world) == "port 80 taken"
    assert texts(filtered(world, "NodePorts")) == ["port TCP 80: taken by db-1 (TCP 80)"]


HDD, GPU = make_node("n1").label("disk", "hdd").obj(), make_node("n1").taint("dedicated", "gpu").obj()
PLAIN, CORDONED = make_node("n1").obj(), make_node("n1").cordoned().obj()
MID_CYCLE: dict[str, tuple[str, Data, commands.Command, str]] = {
    "a label": ("NodeAffinity", HDD, commands.Apply((make_node("n1").label("disk", "ssd").obj(),)), "disk=hdd"),
    "a taint": ("TaintToleration", GPU, commands.Apply((PLAIN,)), "dedicated taint"),
    "a cordon": ("NodeUnschedulable", CORDONED, commands.Cordon("n1", on=False), "cordoned"),
}


@pytest.mark.parametrize("what", MID_CYCLE)
def test_a_change_in_mid_cycle_is_shown_as_the_snapshot_has_it(what: str) -> None:
    plugin, node, change, card = MID_CYCLE[what]
    pod = requiring(term(("disk", "In", ["ssd"]))) if what == "a label" else make_pod("web-1").obj()
    simulation = Simulation()
    simulation.execute(commands.Apply((node, pod)))
    while simulation.scheduler.cycle is None or simulation.scheduler.cycle.stage != "Filter":
        simulation.execute(commands.Stage())
    simulation.execute(change)
    simulation.execute(commands.Stage())
    world = witnessed(simulation)
    now = world.nodes["n1"].node
    assert (now.labels.get("disk"), now.taints, now.unschedulable) in (("ssd", (), False), (None, (), False))
    assert brief(world) == card
    assert filtered(world, plugin).lines


# --- taints ----------------------------------------------------------------------------------------------------------


def test_every_toleration_is_named_with_why_it_does_not_match() -> None:
    node = make_node("n1").taint("dedicated", "gpu", "NoExecute").taint("old", "", "PreferNoSchedule")
    pod = (
        make_pod("web-1")
        .toleration("dedicated", "web")
        .toleration("other")
        .toleration("dedicated", effect="NoSchedule")
    )
    world = played(commands.Apply((node.obj(), pod.obj())), commands.Settle())
    assert texts(filtered(world, "TaintToleration")) == [
        "dedicated=gpu:NoExecute: not tolerated: “dedicated=web:any effect” is for the value “web”; the taint has "
        "“gpu”; “other exists:any effect” is for another key; “dedicated exists:NoSchedule” is for NoSchedule",
        "old:PreferNoSchedule: does not filter (it can only lower the score)",
    ]


def test_a_card_writes_the_whole_key_if_another_taint_of_the_node_ends_alike() -> None:
    node = make_node("n1").taint("a.io/dedicated", "gpu").taint("b.io/dedicated", "gpu", "NoExecute")
    pod = make_pod("web-1").toleration("a.io/dedicated", "gpu").obj()
    assert brief(played(commands.Apply((node.obj(), pod)), commands.Settle())) == "b.io/dedicated taint"


def test_a_toleration_without_a_key_tolerates_every_taint() -> None:
    node = make_node("n1").taint("dedicated", "gpu").cordoned()
    world = played(commands.Apply((node.obj(), make_pod("web-1").toleration("").obj())), commands.Settle())
    assert texts(filtered(world, "TaintToleration"))[0] == (
        "dedicated=gpu:NoSchedule: tolerated by “any key:any effect”"
    )
    explanation = filtered(world, "NodeUnschedulable")
    assert explanation.sentence == "n1 is cordoned, but web-1 tolerates that."
    assert texts(explanation)[-1].endswith("tolerated by “any key:any effect”")


def test_a_toleration_with_an_unknown_operator_matches_nothing() -> None:
    pod = make_pod("web-1").spec(tolerations=[{"key": "dedicated", "operator": "Like", "value": "g*"}])
    info = NodeInfo()
    info.set_node(Node(make_node("n1").taint("dedicated", "gpu").obj()))
    (line,) = wording.lines(plugin_facts("TaintToleration", pod.obj(), info))
    assert line.formula == "not tolerated: “dedicated=g*:any effect” has an unknown operator"


def test_the_score_names_tolerations_that_do_not_count() -> None:
    """“NoSchedule” does not help against a taint that is PreferNoSchedule."""
    soft = make_node("n1").taint("old", "a", "PreferNoSchedule").taint("slow", "", "PreferNoSchedule")
    pod = make_pod("web-1").toleration("old", "a", "NoSchedule").toleration("slow", "", "PreferNoSchedule")
    world = played(commands.Apply((soft.obj(), make_node("n2").obj(), pod.obj())), commands.Settle())
    explanation = judged(world, "TaintToleration")
    assert explanation.sentence == "web-1 does not tolerate 1 PreferNoSchedule taint of n1."
    assert texts(explanation)[:4] == [
        "old=a:PreferNoSchedule: 1 (not tolerated: “old=a:NoSchedule” does not count, because it is for NoSchedule; "
        "“slow=:PreferNoSchedule” is for another key)",
        "slow:PreferNoSchedule: 0 (tolerated by “slow=:PreferNoSchedule”)",
        "Raw: 1 (PreferNoSchedule taints that the pod does not tolerate; fewer is better)",
        "Normalized: 100 − 100 × 1 / 1 = 0 (1 is the highest raw score of all nodes)",
    ]
    assert texts(judged(world, "TaintToleration", "n2"))[1].startswith("Normalized: 100 − 100 × 0 / 1 = 100")


@pytest.mark.parametrize(
    ("effect", "note"),
    [
        pytest.param("NoSchedule", "does not count, because it is for NoSchedule", id="NoSchedule"),
        pytest.param("NoExecute", "does not count, because it is for NoExecute", id="NoExecute"),
    ],
)
def test_a_toleration_of_every_key_for_another_effect_does_not_count(effect: str, note: str) -> None:
    soft = make_node("n1").taint("old", "", "PreferNoSchedule")
    pod = make_pod("web-1").toleration("", effect=effect)
    world = played(commands.Apply((soft.obj(), make_node("n2").obj(), pod.obj())), commands.Settle())
    assert texts(judged(world, "TaintToleration"))[0] == (
        f"old:PreferNoSchedule: 1 (not tolerated: “any key:{effect}” {note})"
    )


def test_tolerations_of_admission_are_not_named_for_other_taints() -> None:
    soft = make_node("n1").taint("old", "", "PreferNoSchedule")
    world = played(commands.Apply((soft.obj(), make_node("n2").obj(), make_pod("web-1").obj())), commands.Settle())
    assert texts(judged(world, "TaintToleration"))[0] == (
        "old:PreferNoSchedule: 1 (not tolerated: the pod has no toleration that could match)"
    )


# --- ports -----------------------------------------------------------------------------------------------------------

PORTS: dict[str, tuple[Data, Data, list[str]]] = {
    "the same address": (
        make_pod("db-1").host_port(80, host_ip="10.0.0.1").obj(),
        make_pod("web-1").host_port(80, host_ip="10.0.0.1").obj(),
        ["port TCP 10.0.0.1:80: taken by db-1 (TCP 10.0.0.1:80)"],
    ),
    "every address is requested": (
        make_pod("db-1").host_port(80, host_ip="10.0.0.1").host_port(80, host_ip="10.0.0.2").obj(),
        make_pod("web-1").host_port(80, host_ip="0.0.0.0").obj(),
        [
            "port TCP 80: taken by db-1 (TCP 10.0.0.1:80) (TCP 80 is needed on every address of the node)",
            "port TCP 80: taken by db-1 (TCP 10.0.0.2:80) (TCP 80 is needed on every address of the node)",
        ],
    ),
    "every address is held": (
        make_pod("db-1").host_port(80).obj(),
        make_pod("web-1").host_port(80, host_ip="10.0.0.1").host_port(80, "UDP").obj(),
        [
            "port TCP 10.0.0.1:80: taken by db-1 (TCP 80) (TCP 80 is taken on every address of the node)",
            "port UDP 80: free (UDP 80 is needed on every address of the node)",
        ],
    ),
    "another address and another protocol are free": (
        make_pod("db-1").host_port(80, "UDP").host_port(80, host_ip="10.0.0.2").obj(),
        make_pod("web-1").host_port(80, host_ip="10.0.0.1").obj(),
        ["port TCP 10.0.0.1:80: free"],
    ),
}


@pytest.mark.parametrize("case", PORTS)
def test_the_holder_of_a_port_and_its_address(case: str) -> None:
    holder, pod, lines = PORTS[case]
    holder = {**holder, "spec": {**holder["spec"], "nodeName": "n1"}}
    world = played(commands.Apply((make_node("n1").obj(), holder, pod)), commands.Settle())
    assert texts(filtered(world, "NodePorts")) == lines


def test_a_port_of_a_nominated_pod_is_taken_by_it() -> None:
    victim = make_pod("low-1").cpu("3").node("n1").grace_period(30).obj()
    vip = make_pod("vip-1").cpu("3").host_port(80).priority(100).obj()
    late = commands.Apply((make_pod("web-1").host_port(80).priority(5).obj(),))
    setup = commands.Apply((make_node("n1").obj(), victim)), commands.Apply((vip,))
    world = played(*setup, commands.Settle(), late, commands.Settle())
    assert texts(filtered(world, "NodePorts")) == [
        "port TCP 80: taken by vip-1 (TCP 80)",
        "Nominated here: vip-1 (counted as if already running here)",
    ]


def plugin_facts(plugin: str, pod: Data, info: NodeInfo) -> Facts:
    """Return a plugin's facts about a node outside any cycle."""
    asked: Any = Simulation().scheduler.profiles["default-scheduler"].plugins[plugin]
    state, wanted = CycleState(), Pod(pod)
    asked.pre_filter(state, wanted, [info]) if hasattr(asked, "pre_filter") else None
    facts: Facts = asked.explain_filter(state, wanted, info)
    assert facts.status == asked.filter(state, wanted, info)
    return facts


def node_info(*pods: Data) -> NodeInfo:
    info = NodeInfo()
    info.set_node(Node(make_node("n1").obj()))
    for pod in pods:
        info.add_pod(Pod(pod))
    return info


@pytest.mark.parametrize(
    ("held", "wanted", "line"),
    [
        ("10.0.0.1", "10.0.0.1", "port TCP 10.0.0.1:80: counts as taken (TCP 10.0.0.1:80), though no pod on n1 has it"),
        ("10.0.0.1", "0.0.0.0", "port TCP 80: counts as taken (TCP 10.0.0.1:80), though no pod on n1 has it"),
        ("0.0.0.0", "10.0.0.1", "port TCP 10.0.0.1:80: counts as taken (TCP 80), though no pod on n1 has it"),
    ],
)
def test_a_port_that_counts_as_taken_decides_even_when_no_pod_has_it(held: str, wanted: str, line: str) -> None:
    info = node_info()
    info.used_ports[held, "TCP", 80] = None
    facts = plugin_facts("NodePorts", make_pod("web-1").host_port(80, host_ip=wanted).obj(), info)
    assert [f"{said.label}: {said.formula}" for said in wording.lines(facts)] == [line]
    assert wording.brief(facts) == "port 80 taken"


def test_several_ports_that_are_taken_are_counted() -> None:
    info = node_info(make_pod("db-1").host_port(80).host_port(81).obj())
    facts = plugin_facts("NodePorts", make_pod("web-1").host_port(80).host_port(81).obj(), info)
    assert wording.sentence(facts) == "web-1 needs TCP 80 and TCP 81, but they are taken on n1."
    assert wording.brief(facts) == "ports taken"


# --- plugins without a cluster --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pod", "plugin", "said", "card", "line"),
    [
        (make_pod("web-1"), "NodeName", "web-1 does not name a node.", "", "spec.nodeName: not set"),
        (make_pod("web-1").node_selector({}), "NodeAffinity", "web-1 does not care about node labels.", "", ""),
        (
            make_pod("web-1").node("n1"),
            "NodeName",
            "web-1 names n1, and this is that node.",
            "",
            "spec.nodeName: n1 = n1",
        ),
        (
            make_pod("web-1").node("n2"),
            "NodeName",
            "web-1 may only run on n2, which it names; this is n1.",
            "other node",
            "spec.nodeName: n2 ≠ n1",
        ),
        (make_pod("web-1"), "DynamicResources", "web-1 claims no devices.", "", ""),
    ],
)
def test_names_devices_and_an_empty_node_selector(pod: Any, plugin: str, said: str, card: str, line: str) -> None:
    facts = plugin_facts(plugin, pod.obj(), node_info())
    assert (wording.sentence(facts), wording.brief(facts)) == (said, card)
    assert [f"{item.label}: {item.formula}" for item in wording.lines(facts)] == ([line] if line else [])


# --- images ----------------------------------------------------------------------------------------------------------


def test_images_count_by_size_and_by_how_many_nodes_have_them() -> None:
    both, one = "registry.example/web:1", "registry.example/tool"
    nodes = [
        make_node("n1").image(both, 1500 << 20).image(f"{one}:latest", 30 << 20).obj(),
        make_node("n2").image(both, 1500 << 20).obj(),
        make_node("n3").obj(),
    ]
    pod = make_pod("web-1").image(both).obj()
    pod["spec"]["initContainers"] = [{"name": "warm-up", "image": one}]
    world = played(commands.Apply((*nodes, pod)), commands.Settle())
    explanation = judged(world, "ImageLocality")
    assert explanation.sentence == "n1 already has the images of 2 of the 2 containers of web-1."
    assert texts(explanation)[:3] == [
        "registry.example/tool:latest: 30 Mi × 1 / 3 = 10 Mi (on 1 of 3 nodes)",
        "registry.example/web:1: 1500 Mi × 2 / 3 = 1000 Mi (on 2 of 3 nodes)",
        "Raw: (1010 Mi − 23 Mi) × 100 / (2000 Mi − 23 Mi) = 49 (1010 Mi in total, limited to between 23 Mi and "
        "2 containers × 1000 Mi; each division drops the fraction)",
    ]
    assert judged(world, "ImageLocality", "n3").sentence == "n3 reports no images, so nothing speeds up the start."
    assert texts(judged(world, "ImageLocality", "n3"))[2].startswith("Raw: (23 Mi − 23 Mi) × 100")


# --- facts as data ---------------------------------------------------------------------------------------------------


def test_facts_within_facts_are_plain_data() -> None:
    info = node_info()
    facts = plugin_facts("NodeAffinity", requiring(term(("disk", "In", ["ssd"]))), info)
    said = plain(facts.says)
    assert (said["key"], said["ok"]) == ("node-affinity.pod-needs", False)
    assert said["values"]["missed"]["key"] == "node-affinity.has-no"
    assert said["values"]["missed"]["values"]["key"] == {"key": "disk", "whole": False}
    (row,) = plain(tuple(facts.shown))
    assert [item["key"] for item in row["values"]["missed"]] == ["node-affinity.label"]
