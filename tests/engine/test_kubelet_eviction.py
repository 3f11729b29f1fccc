"""Node-pressure eviction: what a kubelet measures, when it acts, which pods it evicts first."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.eviction_order import rank
from scheduler_engine.api.node_stats import Observation, Stats
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.qos import oom_score_adj, oom_scores, qos_class
from scheduler_engine.config.kubelet import load_kubelet_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import (
    EventRecorded,
    EvictionRanked,
    NodeResourcesReclaimed,
    PodEvicted,
    PressureObserved,
)

MI, GI = 1024**2, 1024**3
Manifest = dict[str, Any]


def machine(**capacity: str) -> NodeBuilder:
    return make_node("n1").capacity(
        {"memory": "10Gi", **{key.replace("_", "-"): text for key, text in capacity.items()}}
    )


def cluster(configuration: Manifest | None, *pods: Manifest, node: NodeBuilder | None = None) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(((node or machine()).obj(), *pods)))
    simulation.execute(commands.Settle())
    simulation.execute(commands.KubeletConfigure("n1", configuration))
    return simulation


def use(simulation: Simulation, name: str, **amounts: str) -> None:
    simulation.execute(commands.Usage(pod=f"default/{name}", **amounts))


def events(simulation: Simulation, kind: type) -> list[Any]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, kind)]


def evicted(simulation: Simulation) -> list[str]:
    return [event.pod.removeprefix("default/") for event in events(simulation, PodEvicted)]


def phase(simulation: Simulation, name: str) -> str:
    pod = simulation.api.pod(f"default/{name}")
    assert pod is not None
    return pod.phase


def condition(simulation: Simulation, kind: str) -> str:
    node = simulation.api.get("Node", "n1")
    assert node is not None
    return next((item["status"] for item in node.status.get("conditions") or () if item["type"] == kind), "")


# --- configuration ---------------------------------------------------------------------------------------------------


def written(data: Manifest | None) -> list[tuple[str, bool, float]]:
    return [(str(item), item.hard, item.grace_us / 1e6) for item in load_kubelet_configuration(data).thresholds]


DEFAULTS = [
    ("memory.available<100Mi", True, 0),
    ("nodefs.available<10%", True, 0),
    ("nodefs.inodesFree<5%", True, 0),
    ("imagefs.available<15%", True, 0),
    ("imagefs.inodesFree<5%", True, 0),
]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, DEFAULTS),
        ({"evictionHard": {"memory.available": "1Gi"}}, [("memory.available<1Gi", True, 0)]),
        (
            {"evictionHard": {"memory.available": "1Gi"}, "mergeDefaultEvictionSettings": True},
            [("memory.available<1Gi", True, 0), *DEFAULTS[1:]],
        ),
        ({"evictionHard": {}}, []),
        ({"evictionHard": {"memory.available": "0%", "pid.available": "100%"}}, []),
        (
            {"evictionSoft": {"pid.available": "5%"}, "evictionSoftGracePeriod": {"pid.available": "1m30s"}},
            [*DEFAULTS, ("pid.available<5%", False, 90)],
        ),
    ],
    ids=[
        "an empty configuration means the defaults",
        "one configured threshold disables the other defaults",
        "unless merging is configured",
        "no hard thresholds at all",
        "0% and 100% disable a threshold",
        "soft thresholds are added, with their grace period",
    ],
)
def test_which_thresholds_hold(data: Manifest | None, expected: list[tuple[str, bool, float]]) -> None:
    assert written(data) == expected


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"evictionHard": {"memory.free": "1Gi"}}, "unsupported eviction signal memory.free"),
        (
            {"evictionSoft": {"memory.available": "1Gi"}},
            "grace period must be specified for the soft eviction threshold memory.available",
        ),
        ({"evictionHard": {"memory.available": "-1Gi"}}, "eviction threshold memory.available must be positive: -1Gi"),
        ({"evictionHard": {"memory.available": "120%"}}, "eviction percentage threshold memory.available must be"),
        ({"evictionHard": {"memory.available": "x%"}}, 'parsing "x"'),
        ({"evictionHard": {"memory.available": "lots"}}, "quantities must match"),
        ({"evictionHard": {"memory.available": 5}}, "must be a string"),
        ({"evictionHard": "memory.available<1Gi"}, "must be dict"),
        ({"evictionSoftGracePeriod": {"memory.available": "soon"}}, "invalid duration"),
        ({"evictionSoftGracePeriod": {"memory.available": "-5s"}}, "must be a positive value"),
        ({"evictionMinimumReclaim": {"memory.available": "-1"}}, "negative eviction minimum reclaim"),
        ({"evictionMaxPodGracePeriod": -1}, "greater than or equal to 0"),
        ({"evictionMaxPodGracePeriod": True}, "must be int"),
        ({"evictionPressureTransitionPeriod": "five minutes"}, "duration"),
        ({"apiVersion": "v1"}, "kubelet.config.k8s.io/v1beta1"),
        ({"maxPods": 5}, 'unknown field "maxPods"'),
    ],
)
def test_a_wrong_configuration_is_refused_in_words(data: Manifest, text: str) -> None:
    simulation = cluster(None)
    with pytest.raises(Rejected) as refusal:
        simulation.execute(commands.KubeletConfigure("n1", data))
    assert text in str(refusal.value)


def test_an_invalid_configuration_of_a_node_is_reported_and_ignored() -> None:
    for text in ('{"maxPods": 5}', '{"evictionHard": {"memory.available": "much"}}'):
        node = machine().annotation("sandbox/kubelet-configuration", text)
        simulation = Simulation()
        simulation.execute(commands.Apply((node.obj(), make_pod("p").obj())))
        simulation.execute(commands.Run())
        reasons = [event.reason for event in events(simulation, EventRecorded)]
        assert reasons.count("InvalidKubeletConfiguration") == 1
        use(simulation, "p", memory="10Gi")
        simulation.execute(commands.Advance(10))
        assert evicted(simulation) == ["p"]


# --- measurements ----------------------------------------------------------------------------------------------------


def stats(node: NodeBuilder, *pods: PodBuilder, dead: tuple[PodBuilder, ...] = ()) -> Stats:
    return Stats(Node(node.obj()), tuple(Pod(pod.obj()) for pod in pods), tuple(Pod(pod.obj()) for pod in dead))


def using(name: str, **amounts: str) -> PodBuilder:
    builder = make_pod(name)
    for kind, text in amounts.items():
        builder.annotation(f"sandbox/usage-{kind.replace('_', '-')}", text)
    return builder


def test_available_space_on_a_node_with_one_disk() -> None:
    node = machine(ephemeral_storage="100Gi").image("a:1", 10 * GI).annotation("sandbox/usage-memory", "1Gi")
    running = using("a", memory="2Gi", ephemeral_storage="5Gi", writable_layer="3Gi", inodes="1000", pids="68")
    dead = using("b", memory="2Gi", ephemeral_storage="5Gi", writable_layer="4Gi")
    observed = stats(node, running, dead=(dead,)).observations()
    assert observed["memory.available"] == Observation(7 * GI, 10 * GI)
    assert observed["nodefs.available"] == observed["imagefs.available"] == Observation(78 * GI, 100 * GI)
    assert observed["nodefs.inodesFree"] == Observation(6_552_600, 6_553_600)
    assert observed["pid.available"] == Observation(32_700, 32_768)


def test_available_space_on_a_node_with_a_disk_for_images() -> None:
    node = machine(ephemeral_storage="100Gi").image("a:1", 10 * GI).annotation("sandbox/imagefs", "50Gi")
    node.annotation("sandbox/max-pids", "100")
    observed = stats(node, using("a", ephemeral_storage="5Gi", writable_layer="3Gi", pids="200")).observations()
    assert observed["nodefs.available"] == Observation(95 * GI, 100 * GI)
    assert observed["imagefs.available"] == Observation(37 * GI, 50 * GI)
    assert observed["pid.available"] == Observation(0, 100)


def test_a_node_that_does_not_say_how_much_memory_it_has_has_no_memory_signal() -> None:
    node = make_node("n1")
    del node.manifest["status"]["capacity"]["memory"]
    assert "memory.available" not in stats(node).observations()


# --- ranking ---------------------------------------------------------------------------------------------------------


def order(signal: str, *pods: PodBuilder, imagefs: bool = False) -> list[str]:
    return [row.pod.name for row in rank([Pod(pod.obj()) for pod in pods], signal, imagefs)]


def test_memory_ranks_by_excess_then_priority_then_how_far_over_the_request() -> None:
    pods = [
        using("guaranteed", memory="900Mi").request(memory="1Gi").limit(memory="1Gi").priority(0),
        using("within-low", memory="100Mi").request(memory="1Gi").priority(-5),
        using("within-close", memory="1000Mi").request(memory="1Gi").priority(0),
        using("over-high", memory="5Gi").request(memory="1Gi").priority(1000),
        using("over-a-little", memory="1100Mi").request(memory="1Gi").priority(0),
        using("over-much", memory="2Gi").request(memory="1Gi").priority(0),
        using("best-effort", memory="1200Mi").priority(0),
        using("best-effort-idle").priority(0),
    ]
    assert order("memory.available", *pods) == [
        "best-effort",
        "over-much",
        "over-a-little",
        "over-high",
        "within-low",
        "best-effort-idle",
        "within-close",
        "guaranteed",
    ]


def test_overhead_counts_as_a_request() -> None:
    boxed = using("boxed", memory="1200Mi").request(memory="1Gi").spec(overhead={"memory": "250Mi"})
    assert order("memory.available", boxed, using("plain", memory="1Mi")) == ["plain", "boxed"]


@pytest.mark.parametrize(
    ("signal", "kind", "expected"),
    [
        pytest.param(
            "pid.available",
            "pids",
            ["low-much", "low-little", "low-none", "high-much"],
            id="processes: by priority, then by usage",
        ),
        pytest.param(
            "nodefs.inodesFree",
            "inodes",
            ["low-much", "low-little", "high-much", "low-none"],
            id="inodes: pods that use any go first, whatever the priority",
        ),
    ],
)
def test_pods_without_requests_rank_as_upstream(signal: str, kind: str, expected: list[str]) -> None:
    pods = [
        using("high-much", **{kind: "9000"}).priority(10),
        using("low-little", **{kind: "1"}).priority(0),
        using("low-much", **{kind: "500"}).priority(0),
        using("low-none").priority(0),
    ]
    assert order(signal, *pods) == expected


def test_inode_ranking_subtracts_the_requested_bytes_of_storage() -> None:
    asking = using("asking", inodes="9000").request({"ephemeral-storage": "1Ki"})
    rows = rank([Pod(asking.obj()), Pod(using("plain", inodes="8500").obj())], "nodefs.inodesFree", False)
    assert [(row.pod.name, row.over) for row in rows] == [("plain", 8500), ("asking", 9000 - 1024)]
    assert rows[1].reason == "uses inodes; priority 0; usage less the request for ephemeral storage 7976"


@pytest.mark.parametrize(
    ("signal", "imagefs", "expected"),
    [
        ("nodefs.available", False, ["both", "layer", "logs"]),
        ("imagefs.available", False, ["both", "layer", "logs"]),
        ("nodefs.available", True, ["logs", "both", "layer"]),
        ("imagefs.available", True, ["layer", "both", "logs"]),
    ],
    ids=[
        "one disk: everything counts",
        "one disk: imagefs is the same",
        "two disks, nodefs: volumes and logs",
        "two disks, imagefs: writable layers",
    ],
)
def test_disks_rank_pods_by_their_use_of_them(signal: str, imagefs: bool, expected: list[str]) -> None:
    pods = [
        using("logs", ephemeral_storage="4Gi"),
        using("layer", writable_layer="5Gi"),
        using("both", ephemeral_storage="3Gi", writable_layer="4Gi"),
    ]
    assert order(signal, *pods, imagefs=imagefs) == expected


def test_the_table_gives_numbers_and_reasons() -> None:
    over = using("over", memory="3Gi").request(memory="1Gi").priority(7)
    critical = using("critical", memory="3Gi").priority(2_000_000_000)
    within = using("within").request(memory="1Gi").priority(7)
    rows = [
        row.row() for row in rank([Pod(item.obj()) for item in (over, critical, within)], "memory.available", False)
    ]
    message = f"exceeds its request; priority 7; usage over request {2 * GI}"
    never = "critical: never evicted by a kubelet"
    kept = f"stays within its request; priority 7; usage over request {-GI}"
    assert rows == [
        ("default/over", True, 7, 3 * GI, GI, 2 * GI, "Burstable", message),
        ("default/critical", True, 2_000_000_000, 3 * GI, 0, 3 * GI, "BestEffort", never),
        ("default/within", False, 7, 0, GI, -GI, "Burstable", kept),
    ]


# --- evictions -------------------------------------------------------------------------------------------------------

HARD = {"evictionHard": {"memory.available": "500Mi"}}
SOFT = {
    "evictionSoft": {"memory.available": "1.5Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m30s"},
}


def test_a_hard_threshold_evicts_at_the_next_look_with_a_second_of_grace() -> None:
    simulation = cluster(HARD, make_pod("a").obj())
    simulation.execute(commands.Advance(3))
    use(simulation, "a", memory="9800Mi")
    simulation.execute(commands.Advance(6))
    assert evicted(simulation) == []
    simulation.execute(commands.Advance(1))
    assert (evicted(simulation), phase(simulation, "a")) == (["a"], "Running")
    simulation.execute(commands.Advance(1))
    pod = simulation.api.pod("default/a")
    assert pod is not None
    assert (pod.phase, pod.status["reason"]) == ("Failed", "Evicted")
    text = (
        "The node was low on resource: memory. Threshold quantity: 500Mi, available: 440Mi. Container main was using "
    )
    assert pod.status["message"] == f"{text}9800Mi, request is 0, has larger consumption of memory."
    marks = {item["type"]: (item["status"], item.get("reason")) for item in pod.conditions}
    assert marks["DisruptionTarget"] == ("True", "TerminationByKubelet")
    assert marks["Ready"][0] == "False"
    messages = {event.reason: event.message for event in events(simulation, EventRecorded)}
    assert messages["EvictionThresholdMet"] == "Attempting to reclaim memory"
    assert messages["Evicted"] == pod.status["message"]


def test_exactly_at_the_threshold_nothing_happens() -> None:
    simulation = cluster(HARD, make_pod("a").obj())
    use(simulation, "a", memory="9740Mi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == []
    use(simulation, "a", memory=str(9740 * MI + 1))
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["a"]


def test_one_pod_at_a_time_and_only_as_many_as_needed() -> None:
    simulation = cluster(HARD, *(make_pod(name).obj() for name in "abc"))
    for name, amount in (("a", "300Mi"), ("b", "4Gi"), ("c", "5800Mi")):
        use(simulation, name, memory=amount)
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == ["c"]
    use(simulation, "b", memory="9950Mi")
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["c", "b"]
    assert phase(simulation, "a") == "Running"


def test_the_system_can_drive_out_pods_within_their_requests_lowest_priority_first() -> None:
    pods = [
        make_pod(name).request(memory="3Gi").priority(priority).obj() for name, priority in (("low", 1), ("high", 9))
    ]
    simulation = cluster(HARD, *pods)
    use(simulation, "low", memory="2Gi")
    use(simulation, "high", memory="3Gi")
    simulation.execute(commands.Usage(node="n1", memory="4800Mi"))
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == ["low"]


def test_critical_pods_are_passed_over() -> None:
    simulation = cluster(
        HARD,
        make_pod("critical").priority_class("system-node-critical").obj(),
        make_pod("within").request(memory="1Gi").obj(),
    )
    use(simulation, "critical", memory="9800Mi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == ["within"]
    assert phase(simulation, "critical") == "Running"
    assert [row[0] for row in events(simulation, EvictionRanked)[0].rows] == ["default/critical", "default/within"]


@pytest.mark.parametrize(
    ("most", "own", "seconds"),
    [(None, 30, 0), (20, 30, 20), (60, 30, 30)],
    ids=["no maximum means no grace", "the maximum is less", "the pod's own is less"],
)
def test_a_soft_threshold_gives_the_lesser_grace(most: int | None, own: int, seconds: int) -> None:
    limit = {} if most is None else {"evictionMaxPodGracePeriod": most}
    simulation = cluster({**SOFT, **limit}, make_pod("a").grace_period(own).obj())
    use(simulation, "a", memory="9Gi")
    simulation.execute(commands.Advance(99))
    assert evicted(simulation) == []
    simulation.execute(commands.Advance(1))
    (event,) = events(simulation, PodEvicted)
    assert event.grace_seconds == seconds
    if seconds:
        simulation.execute(commands.Advance(seconds - 1))
        assert phase(simulation, "a") == "Running"
        simulation.execute(commands.Advance(1))
    assert phase(simulation, "a") == "Failed"


def test_a_soft_threshold_must_hold_without_a_break() -> None:
    simulation = cluster(SOFT, make_pod("a").obj())
    for amount in ("9Gi", "4Gi", "9Gi", "4Gi"):
        use(simulation, "a", memory=amount)
        simulation.execute(commands.Advance(80))
    assert evicted(simulation) == []
    assert condition(simulation, "MemoryPressure") == "True"


def test_the_hard_threshold_does_not_wait_for_the_soft_one() -> None:
    simulation = cluster({**SOFT, **HARD}, make_pod("a").obj())
    use(simulation, "a", memory="9900Mi")
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["a"]
    assert events(simulation, PodEvicted)[0].grace_seconds == 1


@pytest.mark.parametrize(("message", "seconds"), [(None, 1), (0, 0), (1, 1)])
def test_hard_evictions_can_end_pods_at_once_as_the_documentation_says(message: int | None, seconds: int) -> None:
    simulation = cluster(None, make_pod("a").obj())
    simulation.execute(commands.KubeletConfigure("n1", HARD, hard_eviction_grace=message))
    use(simulation, "a", memory="9900Mi")
    simulation.execute(commands.Advance(10))
    assert events(simulation, PodEvicted)[0].grace_seconds == seconds
    assert phase(simulation, "a") == ("Running" if seconds else "Failed")


def changes(simulation: Simulation, kind: str) -> list[tuple[float, str]]:
    """Return (seconds, status) for each change of the node's condition."""
    results: list[tuple[float, str]] = []
    for entry in simulation.recorder.entries:
        event = entry.event
        if isinstance(event, EventRecorded) and event.regarding_kind == "Node" and event.reason.startswith("NodeHas"):
            results.append((entry.at_us / 1e6, event.reason))
    return results


def test_the_condition_stays_for_the_transition_period_and_does_not_oscillate() -> None:
    simulation = cluster(SOFT, make_pod("a").obj())
    for amount in ("9Gi", "4Gi") * 5:
        use(simulation, "a", memory=amount)
        simulation.execute(commands.Advance(20))
    simulation.execute(commands.Advance(600))
    assert changes(simulation, "MemoryPressure") == [
        (10, "NodeHasInsufficientMemory"),
        (480, "NodeHasSufficientMemory"),
    ]


def test_the_transition_period_can_be_set() -> None:
    simulation = cluster({**SOFT, "evictionPressureTransitionPeriod": "30s"}, make_pod("a").obj())
    use(simulation, "a", memory="9Gi")
    simulation.execute(commands.Advance(10))
    use(simulation, "a", memory="4Gi")
    simulation.execute(commands.Advance(100))
    assert changes(simulation, "MemoryPressure")[1] == (40, "NodeHasSufficientMemory")


@pytest.mark.parametrize(("reclaim", "expected"), [("0", ["a"]), ("500Mi", ["a", "b"]), ("5%", ["a", "b"])])
def test_the_minimum_reclaim_is_won_back_once_the_threshold_was_met(reclaim: str, expected: list[str]) -> None:
    simulation = cluster({**HARD, "evictionMinimumReclaim": {"memory.available": reclaim}}, *map(plain, "abc"))
    simulation.execute(commands.Usage(node="n1", memory="8631Mi"))
    for name in "abc":
        use(simulation, name, memory="400Mi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == expected


def plain(name: str) -> Manifest:
    return make_pod(name).obj()


def test_the_minimum_reclaim_alone_evicts_no_pod() -> None:
    simulation = cluster({**HARD, "evictionMinimumReclaim": {"memory.available": "500Mi"}}, plain("a"))
    use(simulation, "a", memory="9500Mi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == []


DISK = {"evictionHard": {"nodefs.available": "2Gi"}}


def test_dead_containers_and_unused_images_go_before_pods() -> None:
    node = machine(ephemeral_storage="20Gi").image("registry.k8s.io/pause:3.10", MI).image("old:1", 3 * GI)
    simulation = cluster(DISK, plain("a"), plain("done"), node=node)
    use(simulation, "done", writable_layer="4Gi")
    done = simulation.api.pod("default/done")
    assert done is not None
    simulation.execute(commands.Apply(({**done.manifest, "status": {**done.status, "phase": "Succeeded"}},)))
    use(simulation, "a", ephemeral_storage="12Gi")
    simulation.execute(commands.Advance(10))
    reclaimed = [(event.what, event.names, event.freed) for event in events(simulation, NodeResourcesReclaimed)]
    assert reclaimed == [("dead containers", ("default/done",), 4 * GI), ("unused images", ("old:1",), 3 * GI)]
    assert evicted(simulation) == []
    assert condition(simulation, "DiskPressure") == "True"
    use(simulation, "a", ephemeral_storage="19Gi")
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["a"]
    stored = simulation.api.get("Node", "n1")
    assert isinstance(stored, Node)
    assert [names for names, _ in stored.images] == [("registry.k8s.io/pause:3.10",)]


def test_memory_comes_before_disk() -> None:
    both = {"evictionHard": {"nodefs.available": "2Gi", "memory.available": "500Mi"}}
    simulation = cluster(both, plain("a"), plain("b"), node=machine(ephemeral_storage="20Gi"))
    use(simulation, "a", ephemeral_storage="19Gi")
    use(simulation, "b", memory="9900Mi")
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["b"]
    simulation.execute(commands.Advance(1))
    assert evicted(simulation) == ["b", "a"]


def test_processes_have_their_own_condition() -> None:
    simulation = cluster({"evictionHard": {"pid.available": "10%"}}, plain("a"), plain("b"))
    use(simulation, "a", pids="30000")
    simulation.execute(commands.Advance(10))
    assert condition(simulation, "PIDPressure") == "True"
    assert evicted(simulation) == ["a"]
    simulation.execute(commands.Advance(1))
    pod = simulation.api.pod("default/a")
    assert pod is not None
    assert pod.status["message"] == (
        "The node was low on resource: pids. Threshold quantity: 3276, available: 2768."
    ), "process numbers and inodes have no share per container"


def test_a_node_whose_pods_use_nothing_is_skipped() -> None:
    simulation = cluster(None, plain("a"))
    simulation.execute(commands.Advance(60))
    assert events(simulation, PressureObserved) == []
    use(simulation, "a", memory="1Gi")
    simulation.execute(commands.Advance(60))
    (event,) = events(simulation, PressureObserved)
    assert event.signals[0] == ("memory.available", 9 * GI, 10 * GI)


def test_an_unreachable_kubelet_evicts_no_pod_until_it_is_back() -> None:
    simulation = cluster(HARD, make_pod("a").toleration("", None).obj())
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    use(simulation, "a", memory="9900Mi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == []
    simulation.execute(commands.NodeCondition("n1", "Ready", "True"))
    simulation.execute(commands.Advance(10))
    assert evicted(simulation) == ["a"]


def test_deleting_the_node_ends_its_kubelet() -> None:
    simulation = cluster(HARD, plain("a"))
    use(simulation, "a", memory="9900Mi")
    simulation.execute(commands.Delete("Node", "n1"))
    simulation.execute(commands.Advance(30))
    assert evicted(simulation) == []
    simulation.execute(commands.Apply((machine().obj(),)))
    use(simulation, "a", memory="10Gi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == ["a"]


@pytest.mark.parametrize(
    "command",
    [
        commands.Usage(memory="1Gi"),
        commands.Usage(pod="default/a", node="n1", memory="1Gi"),
        commands.Usage(pod="default/a", memory="much"),
        commands.Usage(pod="default/a", cpu="-1"),
        commands.Usage(pod="default/nobody", memory="1Gi"),
        commands.KubeletConfigure("n9", None),
    ],
)
def test_a_wrong_command_is_refused(command: commands.Command) -> None:
    with pytest.raises(Rejected):
        cluster(HARD, plain("a")).execute(command)


def test_usage_changes_only_the_named_values() -> None:
    simulation = cluster(None, plain("a"))
    use(simulation, "a", memory="1Gi", pids="5")
    use(simulation, "a", memory="2Gi")
    pod = simulation.api.pod("default/a")
    assert pod is not None
    assert pod.annotations == {"sandbox/usage-memory": "2Gi", "sandbox/usage-pids": "5"}


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_a_copy_in_the_middle_continues_identically(how: str) -> None:
    simulation = cluster({**SOFT, "evictionMaxPodGracePeriod": 20}, *map(plain, "abc"))
    for name in "abc":
        use(simulation, name, memory="3200Mi")
    simulation.execute(commands.Advance(105))
    copied = copy.deepcopy(simulation) if how == "deepcopy" else pickle.loads(pickle.dumps(simulation))
    for each in (simulation, copied):
        each.execute(commands.Advance(500))
    assert evicted(simulation)
    assert trace_digest(simulation) == trace_digest(copied)


def test_the_commands_have_a_json_form() -> None:
    for command in (
        commands.Usage(pod="default/a", memory="1Gi"),
        commands.KubeletConfigure("n1", HARD),
        commands.NodeCondition("n1", "Ready", "False"),
        commands.Evict("default/a"),
        commands.Drain("n1", on=False),
    ):
        assert commands.from_json(json.loads(json.dumps(commands.to_json(command)))) == command
        assert command.summary


# --- quality of service ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (make_pod("p"), "BestEffort"),
        (make_pod("p").request(cpu="0"), "BestEffort"),
        (make_pod("p").request({"example.com/gpu": "1"}), "BestEffort"),
        (make_pod("p").request(cpu="1"), "Burstable"),
        (make_pod("p").limit(memory="1Gi"), "Burstable"),
        (make_pod("p").limit(cpu="1", memory="1Gi"), "Guaranteed"),
        (make_pod("p").limit(cpu="1", memory="1Gi").request(cpu="500m"), "Burstable"),
        (make_pod("p").limit(cpu="1", memory="1Gi").container("second"), "Burstable"),
        (make_pod("p").spec(resources={"limits": {"cpu": "1", "memory": "1Gi"}}), "Burstable"),
        (
            make_pod("p").spec(
                resources={"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
            ),
            "Guaranteed",
        ),
    ],
)
def test_the_quality_of_service_class(builder: PodBuilder, expected: str) -> None:
    assert qos_class(builder.obj()["spec"]) == expected


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (make_pod("p").limit(cpu="1", memory="1Gi"), -997),
        (make_pod("p"), 1000),
        (make_pod("p").cpu("1"), 999),
        (make_pod("p").memory("1Gi"), 900),
        (make_pod("p").memory("10Gi"), 3),
        (make_pod("p").memory("4Gi"), 600),
        (make_pod("p").priority(2_000_001_000), -997),
    ],
    ids=[
        "Guaranteed",
        "BestEffort",
        "Burstable without a memory request",
        "Burstable with a tenth of the node",
        "Burstable with the whole node",
        "Burstable with two fifths",
        "critical for its node",
    ],
)
def test_the_oom_score_table(builder: PodBuilder, expected: int) -> None:
    pod = Pod(builder.obj())
    assert oom_score_adj(pod, pod.containers[0], 10 * GI) == expected


SHARED_BY_THE_POD: dict[str, Any] = {"requests": {"memory": "4Gi"}, "limits": {"memory": "5Gi"}}


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (make_pod("p").memory("2Gi").init_container("s", {"memory": "1Gi"}, sidecar=True), {"main": 800, "s": 800}),
        (make_pod("p").memory("1Gi").init_container("s", {"memory": "2Gi"}, sidecar=True), {"main": 900, "s": 800}),
        (make_pod("p").memory("2Gi").spec(resources=SHARED_BY_THE_POD), {"main": 600}),
        (
            make_pod("p").memory("2Gi").container("second").spec(resources=SHARED_BY_THE_POD),
            {"main": 700, "second": 900},
        ),
        (
            make_pod("p")
            .memory("1Gi")
            .init_container("s", {"memory": "0"}, sidecar=True)
            .spec(resources=SHARED_BY_THE_POD),
            {"main": 750, "s": 750},
        ),
    ],
    ids=[
        "a sidecar counts at least the smallest request of the others",
        "a sidecar that requests more counts its own request",
        "the only container has all of the pod's request",
        "containers share what only the pod requests",
        "sidecars have their share too",
    ],
)
def test_the_oom_score_of_sidecars_and_pod_level_requests(builder: PodBuilder, expected: dict[str, int]) -> None:
    rows = oom_scores(Pod(builder.obj()), 10 * GI)
    assert {name: adjust for name, _, _, adjust, _ in rows} == expected


def test_the_effective_oom_score_adds_the_share_of_memory_that_is_used() -> None:
    pod = Pod(using("p", memory="2Gi").memory("1Gi").obj())
    assert oom_scores(pod, 10 * GI) == [("main", "Burstable", 200, 900, 1100)]


def full_disks(signal: str) -> Simulation:
    """Fill a separate disk with a finished pod's writable layer and an unused image, so that ``signal`` is low."""
    node = machine(ephemeral_storage="100Gi").image("old:1", 10 * GI).annotation("sandbox/imagefs", "50Gi")
    done = make_pod("done").spec(restartPolicy="Never").annotation("sandbox/duration", "5").obj()
    simulation = cluster({"evictionHard": {signal: "30%"}}, plain("busy"), done, node=node)
    simulation.execute(commands.Advance(6))
    use(simulation, "done", writable_layer="15Gi")
    use(simulation, "busy", ephemeral_storage="80Gi", writable_layer="15Gi")
    simulation.execute(commands.Advance(6))
    return simulation


def test_the_nodes_own_disk_is_not_helped_by_freeing_one_of_the_images() -> None:
    simulation = full_disks("nodefs.available")
    assert events(simulation, NodeResourcesReclaimed) == []
    assert evicted(simulation) == ["busy"]


def test_a_disk_of_images_is_freed_of_containers_and_of_images_before_anybody_goes() -> None:
    simulation = full_disks("imagefs.available")
    assert [event.what for event in events(simulation, NodeResourcesReclaimed)] == ["dead containers", "unused images"]
    assert evicted(simulation) == []


def test_static_pods_and_their_mirrors_are_never_evicted() -> None:
    mirror = make_pod("mirror").node("n1").annotation("kubernetes.io/config.mirror", "0a1b")
    static = make_pod("static").node("n1").annotation("kubernetes.io/config.source", "file")
    simulation = cluster(HARD, mirror.obj(), static.obj(), make_pod("z").obj())
    for name in ("mirror", "static"):
        use(simulation, name, memory="5Gi")
    simulation.execute(commands.Advance(60))
    assert evicted(simulation) == ["z"], "it uses nothing, but the others are critical"
    rows = events(simulation, EvictionRanked)[-1].rows
    assert {row[0]: row[-1] for row in rows if "critical" in row[-1]}.keys() == {"default/mirror", "default/static"}
