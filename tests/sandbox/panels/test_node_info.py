"""The inspector on a NodeInfo and the CycleState, and the dump of cache and queue."""

from __future__ import annotations

from typing import Any

from sandbox.panels import View, World
from sandbox.panels.cache.dump import dump
from sandbox.panels.inspector.panel import stats
from sandbox.panels.sentence.panel import stats as sentence
from scheduler_engine import commands
from scheduler_engine.framework.state_text import MOST, state_text
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

BIG = 500_000_000


def apply(simulation: Simulation, *manifests: dict[str, Any]) -> None:
    simulation.execute(commands.Apply(manifests))


def two_nodes() -> Simulation:
    simulation = Simulation()
    apply(
        simulation,
        make_node("n1").capacity({"example.com/gpu": "2"}, cpu="4", memory="8Gi", pods="10").image("app:1", BIG).obj(),
        make_node("n2").capacity(cpu="1", memory="1Gi", pods="10").image("app:1", BIG).obj(),
    )
    return simulation


def world(simulation: Simulation) -> World:
    return World.fold(simulation.recorder.entries)


def rows(simulation: Simulation, node: str) -> dict[str, str]:
    return texts_of(stats(world(simulation), View(node=node))["node_info"])


def texts_of(data: dict[str, Any]) -> dict[str, str]:
    return {term: text for term, text, _ in data["rows"]}


def test_a_node_info_has_all_its_aggregates() -> None:
    simulation = two_nodes()
    pod = make_pod("web-1").label("app", "web").request({"cpu": "500m", "example.com/gpu": "1"}).host_port(8080)
    apply(simulation, pod.limit({"example.com/gpu": "1"}).anti_affinity("kubernetes.io/hostname", {"app": "web"}).obj())
    assert rows(simulation, "n1")["Pods"] == "none"
    while not world(simulation).cache.assumed:
        simulation.execute(commands.Stage())
    assert rows(simulation, "n1")["Pods"] == "web-1 (assumed)"
    simulation.execute(commands.Settle())
    table = rows(simulation, "n1")
    assert table == {
        "Pods": "web-1",
        "PodsWithAffinity": "web-1",
        "PodsWithRequiredAntiAffinity": "web-1",
        "UsedPorts": "0.0.0.0:8080/TCP",
        "Requested": "cpu 500m, gpu 1",
        "NonZeroRequested": "cpu 500m, memory 200Mi",
        "Allocatable": "cpu 4000m, memory 8Gi, gpu 2, 10 pods",
        "ImageStates": "app:1, 476.8Mi, on 2 nodes",
        "PVCRefCounts": "none",
        "Generation": table["Generation"],
    }
    generation = simulation.scheduler.cache.nodes["n1"].generation
    assert table["Generation"] == f"{generation}; the last snapshot has 1"


def test_a_node_that_came_since_the_snapshot_has_no_copy_in_it() -> None:
    assert rows(two_nodes(), "n1")["Generation"] == "1; the last snapshot has no copy"


def test_an_expired_pod_is_shown_as_missing_in_the_cache() -> None:
    simulation = two_nodes()
    simulation.execute(commands.AssumedTtl(1))
    simulation.execute(commands.Fault("DefaultBinder", "bind", "late", seconds=60))
    apply(simulation, make_pod("web-1").cpu("2").obj())
    simulation.execute(commands.Settle())
    assert stats(world(simulation), View(node="n1"))["node_info"]["differs"] == ""
    simulation.execute(commands.Advance(5))
    words = sentence(world(simulation), View())
    assert words["key"] == "default/web-1"
    assert "the cache no longer counts it on n1" in words["text"]
    data = stats(world(simulation), View(node="n1"))["node_info"]
    assert data["differs"] == "The cache does not count web-1 here."
    assert texts_of(data)["Requested"] == "none"
    uid = simulation.api.pods()[0].uid
    assert f"Cache mismatch missedPods=[{uid} (default/web-1)] redundantPods=[]" in dump(world(simulation))


def test_the_inspector_lists_what_plugins_keep_in_the_cycle_state() -> None:
    simulation = two_nodes()
    apply(simulation, make_pod("web-1").cpu("2").host_port(80).obj())
    simulation.execute(commands.Settle())
    state_rows = dict(stats(world(simulation), View(pod="default/web-1"))["cycle_state"])
    assert state_rows["PreFilterNodeResourcesFit"].startswith("milli_cpu 2000, memory 0")
    assert state_rows["PreFilterNodePorts"] == "0.0.0.0, TCP, 80"
    assert not any(key.startswith("framework/") for key in state_rows)
    assert "PreFilterInterPodAffinity" not in state_rows, "a plugin that returns Skip stores nothing"


def test_long_and_deep_values_are_cut_off() -> None:
    assert len(state_text(["x" * 30] * 1000)) == MOST + 1
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    assert state_text(deep) == "…"
    assert state_text({("zone", "a"): [1, None], "none": {}}) == "zone a (1, none), none ()"
    assert state_text(()) == "nothing"


def test_a_dump_is_what_a_scheduler_logs() -> None:
    simulation = two_nodes()
    apply(simulation, make_pod("web-1").cpu("2").obj())
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Node", "n1"))
    apply(simulation, make_pod("web-2").cpu("9").obj(), make_pod("gated").gate("example.com/wait").obj())
    simulation.execute(commands.Settle())
    apply(simulation, make_pod("web-3").cpu("1").priority(7).obj())
    text = dump(world(simulation))
    web = next(pod for pod in simulation.api.pods() if pod.name == "web-1")
    asked = "MilliCPU:2000 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]"
    resources = "MilliCPU:4000 Memory:8589934592 EphemeralStorage:0 AllowedPodNumber:10 "
    lines = (
        "Node name: n1",
        "Deleted: true",
        f"Requested Resources: &{{{asked}}}",
        f"Allocatable Resources:&{{{resources}ScalarResources:map[example.com/gpu:2]}}",
        "Scheduled Pods(number: 1):",
        f"name: web-1, namespace: default, uid: {web.uid}, phase: {web.phase}, nominated node: ",
    )
    assert "\n".join(lines) in text
    assert "Dump of scheduling queue\nactiveQ:1; backoffQ:0; unschedulablePods:2\nname: web-3" in text
    assert "Cache mismatch missedNodes=[] redundantNodes=[n1]" in text
    assert text.endswith("Pods match\n")
