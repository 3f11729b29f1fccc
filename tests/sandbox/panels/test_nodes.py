"""Nodes under pressure: their conditions, gauges, pods, and their kubelets' actions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import yaml

from sandbox.panels import View, World
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.nodes.panel import stats
from scheduler_engine import commands
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox import traces
from tests.sandbox.scenarios import advance, panel_html, world_after, world_of

html = partial(panel_html, "nodes")

Step = dict[str, Any]


def use(pod: str, memory: str) -> Step:
    return {"kind": "usage", "pod": f"default/{pod}", "memory": memory}


def disk(pod: str, amount: str) -> Step:
    return {"kind": "usage", "pod": f"default/{pod}", "ephemeral_storage": amount}


def inodes(pod: str, number: str) -> Step:
    return {"kind": "usage", "pod": f"default/{pod}", "inodes": number}


def condition(kind: str, status: str, node: str = "node1") -> Step:
    return {"kind": "node-condition", "node": node, "type": kind, "status": status}


def detail(slug: str, *steps: Step, view: View | None = None) -> dict[str, Any]:
    return dict(stats(world_after(slug, *steps), view or View())["node"])


def gauge(details: dict[str, Any], signal: str) -> dict[str, Any]:
    return next(row for row in details["gauges"]["rows"] if row["signal"] == signal)


def words(details: dict[str, Any], signal: str = "memory.available") -> list[str]:
    return [limit["words"] for limit in gauge(details, signal)["limits"]]


def state_of(details: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(item for item in details["conditions"] if item["type"] == kind)


def nodes(*names: str, **more: Any) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(make_node(name).obj() for name in names)))
    play(simulation, more.get("steps", ()))
    return simulation


# --- the list ---------------------------------------------------------------------------------------------------------


def test_without_nodes_the_panel_says_what_to_do() -> None:
    assert stats(World(), View()) == {"empty": True}
    assert "Add one" in html(World())


@pytest.mark.parametrize(
    ("steps", "order", "troubles"),
    [
        pytest.param((), ["a", "b", "c"], [[], [], []], id="healthy nodes are in the order of their creation"),
        pytest.param(
            (condition("DiskPressure", "True", "b"), condition("Ready", "Unknown", "c")),
            ["c", "b", "a"],
            [["Unreachable"], ["DiskPressure"], []],
            id="an unreachable node comes before one under pressure",
        ),
        pytest.param(
            (
                condition("MemoryPressure", "True", "b"),
                condition("MemoryPressure", "True", "c"),
                condition("PIDPressure", "True", "c"),
            ),
            ["c", "b", "a"],
            [["MemoryPressure", "PIDPressure"], ["MemoryPressure"], []],
            id="of two equal ones, the one with more problems comes first",
        ),
        pytest.param(
            ({"kind": "cordon", "node": "c", "on": True}, condition("Ready", "True", "a")),
            ["c", "a", "b"],
            [[], [], []],
            id="a cordoned node comes before open ones, and Ready is no problem",
        ),
    ],
)
def test_nodes_in_trouble_come_first(steps: tuple[Step, ...], order: list[str], troubles: list[list[str]]) -> None:
    panel = stats(world_of(nodes("a", "b", "c", steps=steps)), View())
    assert [row["name"] for row in panel["rows"]] == order
    assert [row["troubles"] for row in panel["rows"]] == troubles
    assert panel["node"]["name"] == order[0]
    assert panel["troubled"] == sum(1 for items in troubles if items)


@pytest.mark.parametrize(
    ("kind", "status", "bad"),
    [
        pytest.param("Ready", "True", False, id="a ready node is healthy"),
        pytest.param("Ready", "Unknown", True, id="an unreachable node is not"),
        pytest.param("MemoryPressure", "True", True, id="pressure is bad"),
        pytest.param("MemoryPressure", "Unknown", False, id="unknown pressure does not count"),
        pytest.param("KernelDeadlock", "True", True, id="a true condition without a taint is bad"),
        pytest.param("KernelDeadlock", "False", False, id="a false condition without a taint is good"),
    ],
)
def test_a_condition_is_bad_where_it_means_a_taint(kind: str, status: str, bad: bool) -> None:
    node = traces.node("n")
    node["status"]["conditions"] = [{"type": kind, "status": status}]
    story = traces.Story()
    story.add_node(node)
    world = World.fold(story.entries)
    assert inspector(world, View(node="n"))["conditions"] == [{"type": kind, "status": status, "good": not bad}]
    shown = {row["type"]: row["bad"] for row in stats(world, View())["node"]["conditions"]}
    assert shown.get(kind, bad) == bad


def test_a_long_list_has_pages_and_the_chosen_node_is_shown_from_any_of_them() -> None:
    world = world_of(nodes(*(f"n{number:03}" for number in range(120))))
    panel = stats(world, View(pages=(("nodes", "3"),), node="n004"))
    assert (panel["pages"].pages, panel["pages"].last) == (3, True)
    assert [row["name"] for row in panel["rows"]] == [f"n{number:03}" for number in range(100, 120)]
    assert panel["node"]["name"] == "n004"


def test_the_node_of_a_chosen_pod_is_shown() -> None:
    simulation = nodes("a", "b")
    simulation.execute(commands.Apply((make_pod("web").node("b").obj(),)))
    world = world_of(simulation)
    assert stats(world, View())["node"]["name"] == "a"
    assert stats(world, View(pod="default/web"))["node"]["name"] == "b"
    assert stats(world, View(pod="default/web", node="a"))["node"]["name"] == "a"


# --- conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "taint", "effects"),
    [
        ("Ready", "False", "not-ready", "NoSchedule, NoExecute"),
        ("Ready", "Unknown", "unreachable", "NoSchedule, NoExecute"),
        ("MemoryPressure", "True", "memory-pressure", "NoSchedule"),
        ("DiskPressure", "True", "disk-pressure", "NoSchedule"),
        ("PIDPressure", "True", "pid-pressure", "NoSchedule"),
        ("NetworkUnavailable", "True", "network-unavailable", "NoSchedule"),
    ],
)
def test_a_bad_condition_shows_with_its_taint_and_its_time(kind: str, status: str, taint: str, effects: str) -> None:
    details = detail("node-not-ready", advance(20), condition(kind, status), advance(5))
    item = state_of(details, kind)
    assert (item["bad"], item["since"]) == (True, "00:20")
    assert [(mark["text"], mark["effects"]) for mark in item["taints"]] == [(taint, effects)]
    assert [choice for choice, on, _ in item["choices"] if on] == [status]


def test_a_good_condition_has_no_taint_and_an_unreported_one_no_status() -> None:
    details = detail("node-not-ready", condition("Ready", "False"), condition("Ready", "True"))
    ready, network = state_of(details, "Ready"), state_of(details, "NetworkUnavailable")
    assert (ready["bad"], ready["taints"], ready["status"]) == (False, [], "True")
    assert (network["bad"], network["status"], network["since"]) == (False, "", "")


def test_taints_without_a_condition_show_beside_the_name() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("a").taint("gpu", "yes", "NoSchedule").obj(),)))
    simulation.execute(commands.Cordon("a"))
    data = stats(world_of(simulation), View())["node"]
    assert [mark["text"] for mark in data["taints"]] == ["gpu"]
    assert data["cordoned"]


def test_a_node_that_is_being_deleted_says_so_in_the_list_and_beside_its_name() -> None:
    simulation = Simulation()
    held = make_node("a").metadata(finalizers=["x.io/a"]).obj()
    simulation.execute(commands.Apply((held, make_node("b").obj())))
    simulation.execute(commands.Delete("Node", "a"))
    panel = stats(world_of(simulation), View(node="a"))
    assert {row["name"]: row["leaving"] for row in panel["rows"]} == {"a": True, "b": False}
    assert panel["node"]["leaving"]


def test_a_pressure_that_is_over_shows_how_long_it_stays() -> None:
    steps = (use("busy", "9Gi"), advance(20), use("busy", "4Gi"), advance(20))
    assert state_of(detail("soft-threshold", *steps[:2]), "MemoryPressure")["stays"] == "a threshold is met"
    assert (
        state_of(detail("soft-threshold", *steps), "MemoryPressure")["stays"]
        == "no longer met, but reported for 280 s more"
    )
    over = state_of(detail("soft-threshold", *steps, advance(280)), "MemoryPressure")
    assert (over["status"], over["bad"], over["stays"], over["taints"]) == ("False", False, "", [])


# --- gauges -----------------------------------------------------------------------------------------------------------


def test_usage_shows_before_the_kubelet_has_measured_it() -> None:
    details = detail("memory-pressure", use("greedy-low", "4168Mi"))
    assert gauge(details, "memory.available")["left"] == "200Mi"
    assert words(details) == ["below the threshold: the kubelet will notice at its next check"]
    assert details["gauges"]["news"]
    assert details["gauges"]["looks"] == "it checks every 10 s, next at 00:10"


def test_a_hard_threshold_is_met_and_quiet_again_when_the_victim_is_gone() -> None:
    met = detail("memory-pressure", use("greedy-low", "4168Mi"), advance(10))
    assert words(met) == ["met: evicts"]
    assert met["gauges"]["looks"] == "it checks again when its victim is gone"
    after = detail("memory-pressure", use("greedy-low", "4168Mi"), advance(12))
    assert (words(after), gauge(after, "memory.available")["left"]) == (["quiet"], "4.3Gi")
    assert not after["gauges"]["news"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (10, "in its grace period: 90 s left"),
        (88, "in its grace period: 12 s left"),
        (100, "met: evicts"),
    ],
)
def test_a_soft_threshold_counts_its_grace_period_down(seconds: int, said: str) -> None:
    details = detail("soft-threshold", use("busy", "9Gi"), advance(seconds))
    assert words(details) == ["quiet", said]
    assert [limit["text"] for limit in gauge(details, "memory.available")["limits"]] == [
        "memory.available<500Mi",
        "memory.available<1.5Gi for 1m30s",
    ]


def test_minimum_reclaim_goes_on_until_its_goal() -> None:
    details = detail("minimum-reclaim", use("small-3", "400Mi"), advance(11))
    limit = gauge(details, "memory.available")["limits"][0]
    assert (limit["reclaim"], limit["words"]) == ("then 500Mi more", "reclaiming until 1000Mi")
    assert words(detail("minimum-reclaim", use("small-3", "400Mi"), advance(60))) == ["quiet"]


def test_images_on_the_same_disk_have_no_separate_gauge_but_their_thresholds_count() -> None:
    data = stats(world_of(nodes("a")), View())["node"]
    assert [row["signal"] for row in data["gauges"]["rows"] if row["signal"].startswith("imagefs")] == []
    assert [limit["text"] for limit in gauge(data, "nodefs.available")["limits"]] == [
        "nodefs.available<10%",
        "imagefs.available<15%",
    ]


def test_a_separate_disk_for_images_has_its_gauges() -> None:
    simulation = Simulation()
    node = make_node("a").obj()
    node["metadata"]["annotations"] = {"sandbox/imagefs": "50Gi"}
    simulation.execute(commands.Apply((node,)))
    data = stats(world_of(simulation), View())["node"]
    assert [limit["text"] for limit in gauge(data, "imagefs.available")["limits"]] == ["imagefs.available<15%"]
    assert gauge(data, "imagefs.available")["capacity"] == "50Gi"


def test_a_silent_kubelet_does_nothing_and_the_panel_says_so() -> None:
    assert "it measures and evicts nothing" in html(world_after("node-unreachable", condition("Ready", "Unknown")))


# --- pods -------------------------------------------------------------------------------------------------------------


def test_pods_are_in_the_order_of_their_eviction() -> None:
    users = detail("memory-pressure", use("greedy-low", "4168Mi"))["users"]
    assert [(pod["place"], pod["name"], pod["exceeds"]) for pod in users["pods"]] == [
        (1, "greedy-low", True),
        (2, "greedy-high", True),
        (3, "modest", False),
    ]
    first = users["pods"][0]
    assert (first["used"], first["request"], first["value"]) == ("4.1Gi", "1Gi", "4168Mi")


def test_the_oom_score_is_the_share_of_the_memory_and_the_adjustment_by_qos() -> None:
    pods = {pod["name"]: pod for pod in detail("minimum-reclaim")["users"]["pods"]}
    assert (pods["small-1"]["oom"], pods["small-1"]["oom_sum"]) == ("1039", "39 + 1000")
    assert (pods["guaranteed"]["oom"], pods["guaranteed"]["oom_sum"]) == ("−155", "842 − 997")
    greedy = detail("memory-pressure")["users"]["pods"][0]
    assert greedy["oom_says"] == "main: 300 for its share of the memory, 900 for Burstable"


def test_where_the_disk_has_the_thresholds_the_pods_are_compared_by_their_disk_usage() -> None:
    users = detail("images-before-pods", disk("writer", "13Gi"))["users"]
    assert (users["main"], users["place"]) == ("ephemeral_storage", "disk")
    assert [(pod["name"], pod["used"]) for pod in users["pods"]] == [("writer", "13Gi"), ("reader", "0")]


def test_among_many_pods_the_first_and_the_chosen_one_are_listed() -> None:
    simulation = nodes("a")
    pods = [make_pod(f"p{number:03}").node("a").obj() for number in range(60)]
    simulation.execute(commands.Apply(tuple(pods)))
    world = world_of(simulation)
    users = stats(world, View(pod="default/p055"))["node"]["users"]
    assert [pod["name"] for pod in users["pods"]] == [*(f"p{number:03}" for number in range(40)), "p055"]
    asked = stats(world, View(pages=(("nodes.users", "1"),)))["node"]["users"]
    assert (users["pages"].more, len(asked["pods"])) == (20, 60)


def test_the_system_daemons_use_something_too() -> None:
    steps = ({"kind": "usage", "node": "node1", "memory": "1Gi"},)
    details = detail("memory-pressure", *steps)
    assert details["users"]["system"]["value"] == "1Gi"
    assert gauge(details, "memory.available")["left"] == "3.3Gi"


# --- ranking and history ----------------------------------------------------------------------------------------------


def test_the_ranking_for_inodes_says_how_the_kubelet_differs_from_its_documentation() -> None:
    default = {"kind": "kubelet", "node": "node1", "configuration": None}
    steps = (default, inodes("greedy-high", "6500k"), inodes("greedy-low", "10"), advance(10))
    table = detail("memory-pressure", *steps)["ranking"]
    assert [(row["name"], row["why"]) for row in table["rows"]] == [
        ("greedy-low", "uses inodes; priority 0, lower than that of greedy-high"),
        ("greedy-high", "uses inodes; priority 1000, higher than that of greedy-low"),
        ("modest", "uses no inodes"),
    ]
    assert "is evicted first, whatever its priority" in table["note"]
    assert table["note"] in html(world_after("memory-pressure", *steps))


def test_the_ranking_marks_the_victim_and_explains_each_rank() -> None:
    table = detail("memory-pressure", use("greedy-low", "4168Mi"), advance(15))["ranking"]
    assert (table["at"], table["threshold"], table["spared"]) == ("00:10", "memory.available<500Mi", False)
    assert [(row["name"], row["victim"], row["over"], row["why"]) for row in table["rows"]] == [
        ("greedy-low", True, "3.1Gi", "exceeds its request; priority 0, lower than that of greedy-high"),
        ("greedy-high", False, "2Gi", "exceeds its request; priority 1000, higher than that of greedy-low"),
        ("modest", False, "−272Mi", "stays within its request"),
    ]


def test_equal_pods_are_ordered_by_name_and_more_usage_goes_first() -> None:
    equal = detail("minimum-reclaim", use("small-3", "400Mi"), advance(10))["ranking"]["rows"]
    assert [row["why"] for row in equal[:2]] == [
        "exceeds its request; equal to small-2: by name",
        "exceeds its request; equal to small-1: by name",
    ]
    more = detail("minimum-reclaim", use("small-3", "420Mi"), advance(10))["ranking"]["rows"]
    assert (more[0]["name"], more[0]["why"]) == (
        "small-3",
        "exceeds its request; 420Mi over its request, more than small-1",
    )
    assert more[1]["why"] == "exceeds its request; 400Mi over its request, less than small-3"


def test_critical_pods_are_never_evicted_and_the_panel_says_so() -> None:
    simulation = Simulation()
    node = make_node("a").capacity({"memory": "10Gi", "cpu": "4", "pods": "110"}).obj()
    pod = make_pod("vital").node("a").obj()
    pod["spec"] |= {"priority": 2_000_001_000, "priorityClassName": "system-node-critical"}
    pod["metadata"]["namespace"] = "kube-system"
    simulation.execute(commands.Apply((node, pod)))
    simulation.execute(commands.Usage(pod="kube-system/vital", memory="10Gi"))
    simulation.execute(commands.Advance(10))
    data = stats(world_of(simulation), View())["node"]
    assert [(row["why"], row["victim"]) for row in data["ranking"]["rows"]] == [
        ("critical: never evicted by a kubelet", False)
    ]
    assert data["ranking"]["spared"]
    assert data["users"]["pods"][0]["place"] == "never"


def test_history_shows_what_was_reclaimed_before_any_eviction() -> None:
    steps = (disk("writer", "13Gi"), advance(20), disk("writer", "19Gi"), advance(20))
    first = detail("images-before-pods", *steps[:2])
    assert first["ranking"] is None
    details = detail("images-before-pods", *steps)
    assert [(deed["kind"], deed["at"], deed["title"]) for deed in details["history"]["deeds"]] == [
        ("evicted", "00:30", "writer"),
        ("reclaimed", "00:10", "1 unused image removed"),
    ]
    assert "6Gi freed" in details["history"]["deeds"][1]["text"]
    assert "low on resource: ephemeral-storage" in details["history"]["deeds"][0]["text"]


def test_an_empty_ranking_does_not_say_that_no_threshold_was_met() -> None:
    """Look once after a removal that was enough, and once while a soft threshold is in its grace period."""
    steps = {
        "images-before-pods": (disk("writer", "13Gi"), advance(20)),
        "soft-threshold": (use("busy", "9Gi"), advance(20)),
    }
    for slug, done in steps.items():
        shown = html(world_after(slug, *done))
        assert "The kubelet has ranked no pods so far." in shown
        assert "No threshold was met" not in shown


def layer(pod: str, amount: str) -> Step:
    return {"kind": "usage", "pod": f"default/{pod}", "writable_layer": amount}


FREED = (advance(10), layer("writer", "10Gi"), advance(10))
"""The disk for images runs short, and what the kubelet removes there is enough."""


def test_a_threshold_met_by_removing_alone_does_not_announce_evictions() -> None:
    details = detail("two-disks", *FREED)
    (limit,) = gauge(details, "imagefs.available")["limits"]
    assert (limit["state"], limit["words"]) == ("freed", "was met: enough was freed")
    assert state_of(details, "DiskPressure")["stays"] == "no longer met, but reported for 300 s more"
    assert not details["gauges"]["news"], "the kubelet measures again after a removal"
    assert details["ranking"] is None
    assert details["relief"] == (
        "imagefs.available<15% was met at 00:20. Removing containers and images freed 8Gi: "
        "enough, so no pod was evicted then."
    )
    shown = html(world_after("two-disks", *FREED))
    assert "has ranked no pods so far" not in shown
    assert "Removing containers and images freed 8Gi" in shown
    assert [(deed["title"], deed["note"], deed["first"]) for deed in details["history"]["deeds"]] == [
        ("1 unused image removed", "imagefs.available<15%", "That was enough, so no pod was evicted then."),
        ("Containers of 1 ended pod removed", "imagefs.available<15%", ""),
    ]


def test_usage_that_rises_again_after_a_removal_is_below_the_threshold() -> None:
    details = detail("two-disks", *FREED, layer("writer", "19Gi"))
    assert words(details, "imagefs.available") == ["below the threshold: the kubelet will notice at its next check"]
    assert details["gauges"]["news"]


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        pytest.param(
            (disk("logger", "95Gi"), advance(10)),
            "Containers and images are on another disk, so removing them first would not have helped.",
            id="the node's disk is short, and images have a separate one",
        ),
        pytest.param(
            (advance(10), layer("writer", "19Gi"), advance(10)),
            "Before, the kubelet removed the containers of the ended pod batch and the unused image "
            "registry.example/huge:1. That freed 8Gi, which was not enough.",
            id="removing was not enough",
        ),
        pytest.param(
            (*FREED, layer("writer", "19Gi"), advance(10)),
            "There were no containers of ended pods and no unused images to remove first.",
            id="nothing was left to remove",
        ),
        pytest.param(
            ({"kind": "usage", "pod": "default/logger", "memory": "8Gi"}, advance(10)), "", id="memory was short"
        ),
    ],
)
def test_an_eviction_says_what_the_kubelet_removed_before(steps: tuple[Step, ...], why: str) -> None:
    newest = detail("two-disks", *steps)["history"]["deeds"][0]
    assert newest["kind"] == "evicted"
    assert newest["note"].endswith("1 s to end")
    assert newest["first"] == why


def test_a_kubelet_without_victims_says_so() -> None:
    gone: tuple[Step, ...] = tuple(
        {"kind": "delete", "object_kind": "Pod", "key": f"default/{name}"} for name in ("writer", "logger", "batch")
    )
    system: Step = {"kind": "usage", "node": "node1", "ephemeral_storage": "95Gi"}
    assert "No pod is evicted: none runs here." in html(
        world_after("two-disks", *gone, advance(60), system, advance(10))
    )


def test_a_soft_eviction_says_how_long_the_pod_has() -> None:
    details = detail("soft-threshold", use("busy", "9Gi"), advance(101))
    assert details["history"]["deeds"][0]["note"] == "memory.available, 20 s to end"


def test_a_replaced_node_starts_fresh() -> None:
    steps = (
        use("greedy-low", "4168Mi"),
        advance(15),
        {"kind": "delete", "object_kind": "Node", "key": "node1"},
        advance(60),
        {"kind": "apply", "manifests": [make_node("node1").obj()]},
    )
    details = detail("memory-pressure", *steps)
    assert (details["ranking"], details["history"]["deeds"]) == (None, [])


# --- controls ----------------------------------------------------------------------------------------------------


def test_the_form_holds_the_configuration_in_force() -> None:
    details = detail("soft-threshold")["kubelet"]
    assert details["configured"]
    assert "evictionMaxPodGracePeriod: 20" in details["yaml"]
    plain = stats(world_of(nodes("a")), View())["node"]["kubelet"]
    assert not plain["configured"]
    assert "memory.available: 100Mi" in plain["yaml"]


def test_an_invalid_configuration_leaves_the_default_in_force() -> None:
    simulation = Simulation()
    node = make_node("a").obj()
    # The grace period is missing.
    node["metadata"]["annotations"] = {"sandbox/kubelet-configuration": '{"evictionSoft": {"memory.available": "1Gi"}}'}
    simulation.execute(commands.Apply((node,)))
    data = stats(world_of(simulation), View())["node"]["kubelet"]
    assert not data["configured"]
    assert "memory.available<100Mi" in data["thresholds"]


def test_every_configuration_to_start_from_is_one_that_the_kubelet_takes() -> None:

    simulation = nodes("a")
    for _, _, text in stats(world_of(simulation), View())["node"]["kubelet"]["presets"]:
        simulation.execute(commands.KubeletConfigure("a", yaml.safe_load(text)))


def test_a_watcher_sees_everything_and_can_change_nothing() -> None:
    world = world_after("memory-pressure", use("greedy-low", "4168Mi"), advance(15))
    for view in ({}, {"node": "node1"}):
        watching = html(world, can_edit=False, **view)
        assert "hx-post" not in watching
        assert "<input" not in watching
        assert "The node was low on resource: memory" in watching
    assert "hx-post" in html(world)


def test_pods_and_nodes_are_linked_to_all_other_panels() -> None:
    text = html(world_after("memory-pressure", use("greedy-low", "4168Mi"), advance(15)))
    assert text.count('data-pod="default/greedy-high"') >= 3
    assert 'data-pod="default/greedy-low"' in text
    assert 'data-node="node1"' in text
