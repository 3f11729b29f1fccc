"""Volumes on many nodes at once: the fast path and the plain path decide and explain the same, whatever changes."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from scheduler_engine import commands
from scheduler_engine.apiserver.change_log import ChangeLog
from scheduler_engine.apiserver.connection import Connection
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.derived import Readers, Reading
from scheduler_engine.framework.facts import Facts
from scheduler_engine.replay import trace_digest
from scheduler_engine.scheduler import explaining
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.histories import some
from tests.engine.paths import differs, plainly, together
from tests.engine.random_clusters import DRIVER, claim_of, configuration, csi_node, storage_class, volume_of
from tests.engine.volume_histories import volumes

PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


@pytest.mark.parametrize("tens", some(range(8), 3))
def test_pods_with_volumes_are_scheduled_the_same(tens: int) -> None:
    seeds = range(10 * tens, 10 * tens + 10)
    assert [seed for seed in seeds if differs(seed, full=tens == 0, history=volumes)[0]] == []


@pytest.mark.parametrize("seed", some(range(12), 5))
def test_facts_about_volumes_are_the_same(seed: int) -> None:
    with together():
        fast = [*_explained(seed)]
    with plainly():
        plain = [*_explained(seed)]
    assert any(facts for _, facts in plain)
    assert fast == plain


def _explained(seed: int) -> Iterator[tuple[int, list[Facts | None]]]:
    """Yield, after each command, the facts about the latest cycle."""
    simulation = Simulation(seed=seed, full=False)
    for number, step in enumerate(volumes(seed)):
        try:
            simulation.execute(step)
        except Rejected:
            continue
        cycle = simulation.scheduler.latest
        if cycle is not None:
            yield number, [*_facts_about(simulation, cycle)]


def _facts_about(simulation: Simulation, cycle: Cycle) -> Iterator[Facts | None]:
    scheduler, number = simulation.scheduler, cycle.number
    for plugin in PLUGINS:
        yield explaining.pre_filter_facts(scheduler, number, plugin)
        yield explaining.reserve_facts(scheduler, number, plugin)
        yield explaining.pre_bind_facts(scheduler, number, plugin)
    judged = cycle.search.visited if cycle.search is not None else ()
    for info, status in judged:
        for plugin in PLUGINS[: PLUGINS.index(status.plugin) + 1] if status is not None else PLUGINS:
            yield explaining.filter_facts(scheduler, number, info.name, plugin)


# --- nothing kept is stale -------------------------------------------------------------------------------------------

ZONE = "topology.kubernetes.io/zone"
NAMES = tuple(f"n{number}" for number in range(6))
LIMITS_CHANGE = {"MutableCSINodeAllocatableCount": True}
CHANGES: dict[str, tuple[commands.Command, ...]] = {
    "a CSINode allows less": tuple(commands.Apply((csi_node(name, {DRIVER: 1}),)) for name in NAMES[:3]),
    "a CSINode is gone": (commands.Delete("CSINode", "n0"),),
    "the claim of a running pod is gone": (commands.Delete("PersistentVolumeClaim", "default/held"),),
    "a node is attached a volume": (
        commands.Apply(
            (
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "VolumeAttachment",
                    "metadata": {"name": "attached"},
                    "spec": {"attacher": DRIVER, "nodeName": "n4", "source": {"persistentVolumeName": "pv-held"}},
                },
            )
        ),
    ),
    "a volume gets another zone": (
        commands.Patch("PersistentVolume", "pv-own", {"metadata": {"labels": {ZONE: "b"}}}),
    ),
    "a node gets another zone": (commands.Patch("Node", "n1", {"metadata": {"labels": {ZONE: "b"}}}),),
    "a free volume is gone": (commands.Delete("PersistentVolume", "pv-local"),),
    "a smaller free volume comes": (
        commands.Apply((volume_of("pv-smaller", "a", storageClassName="local", capacity={"storage": "2Gi"}),)),
    ),
    "the class is gone": (commands.Delete("StorageClass", "local"),),
}


def _storage() -> list[commands.Command]:
    """Return a cluster in which n0 has no room for another volume, and n1 for one."""
    limits = [csi_node(name, {DRIVER: 2 if name == "n0" else 3}) for name in NAMES]
    claims = [claim_of("held", {"volumeName": "pv-held"}), claim_of("held-too", {"volumeName": "pv-held-too"})]
    claims += [claim_of("own", {"volumeName": "pv-own"}), claim_of("local", {"storageClassName": "local"})]
    made = [volume_of(name) for name in ("pv-held", "pv-held-too")] + [volume_of("pv-own", labels={ZONE: "a__b"})]
    made.append(volume_of("pv-local", "a", storageClassName="local"))
    classes = [storage_class("wait", DRIVER), storage_class("local", "kubernetes.io/no-provisioner")]
    nodes = [make_node(name).zone("ab"[number % 2]).obj() for number, name in enumerate(NAMES)]
    running = make_pod("running").claim("held").claim("held-too").node("n0").obj()
    return [commands.Apply((*nodes, *limits, *classes, *made, *claims)), commands.Apply((running,)), commands.Run(20)]


def _outcome(changes: tuple[commands.Command, ...], stages: int) -> str:
    """Play a first pod, then one during whose cycle the objects change after a number of stages."""
    simulation = Simulation(full=False, feature_gates=LIMITS_CHANGE)
    first, second = (make_pod(name).claim("own").claim("local").obj() for name in ("first", "second"))
    deleted = commands.Delete("Pod", "default/first")
    steps = [*_storage(), commands.Apply((first,)), *[commands.Stage()] * 4, deleted, commands.Run(20)]
    steps += [commands.Apply((second,)), *[commands.Stage()] * stages, *changes, commands.Run(20)]
    for step in steps:
        try:
            simulation.execute(step)
        except Rejected:
            assert step in (*changes, commands.Stage())
    return trace_digest(simulation)


@pytest.mark.parametrize("stages", range(7))
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_two_stages_counts(change: str, stages: int) -> None:
    with together():
        fast = _outcome(CHANGES[change], stages)
    with plainly():
        plain = _outcome(CHANGES[change], stages)
    assert fast == plain


# --- the log of changed objects --------------------------------------------------------------------------------------


def _server() -> Simulation:
    simulation = Simulation(feature_gates=LIMITS_CHANGE)
    simulation.execute(commands.Apply((csi_node("n1", {DRIVER: 1}), csi_node("n2", {DRIVER: 1}))))
    return simulation


def test_readers_are_stale_after_a_change_of_what_they_read() -> None:
    simulation, readers = _server(), Readers(("CSINode",))
    assert readers.stale(simulation.api) is None
    for name in ("n1", "n2", "n3"):
        reading = Reading(simulation.api)
        reading.get("CSINode", name)
        readers.note(name, reading.read)
    reading = Reading(simulation.api)
    assert len([*reading.list("CSINode")]) == 2
    readers.note("all", reading.read)
    assert readers.stale(simulation.api) == []
    simulation.execute(commands.Apply((csi_node("n2", {DRIVER: 2}),)))
    assert readers.stale(simulation.api) == ["n2", "all"]
    simulation.execute(commands.Apply((csi_node("n3", {DRIVER: 2}),)))
    simulation.execute(commands.Delete("CSINode", "n1"))
    assert readers.stale(simulation.api) == ["n3", "n1"]


def test_a_refused_apply_leaves_nothing_kept_that_is_wrong() -> None:
    simulation, readers = _server(), Readers(("CSINode",))
    readers.stale(simulation.api)
    readers.note("n1", [("CSINode", "n1")])
    missing = make_pod("p", namespace="nowhere").obj()
    with pytest.raises(Rejected):
        simulation.execute(commands.Apply((csi_node("n1", {DRIVER: 9}), missing)))
    before, _ = simulation.api.changed_since("CSINode", -1)
    assert readers.stale(simulation.api) == ["n1"]
    simulation.execute(commands.Apply((csi_node("n1", {DRIVER: 5}),)))
    assert simulation.api.changed_since("CSINode", before) == (before + 1, ["n1"])


def test_a_connection_that_is_cut_sees_no_changes_until_it_continues() -> None:
    simulation = _server()
    connection, (start, _) = Connection(simulation.api), simulation.api.changed_since("CSINode", -1)
    connection.freeze()
    simulation.execute(commands.Apply((csi_node("n1", {DRIVER: 2}),)))
    assert connection.changed_since("CSINode", start) == (start, ())
    assert connection.changed_since("Pod", -1) == (0, None)
    assert connection.as_now(("CSINode",))["CSINode"]["n1"] is connection.get("CSINode", "n1")
    connection.thaw()
    assert connection.changed_since("CSINode", start) == (start + 1, ["n1"])


def test_objects_as_they_were_do_not_change() -> None:
    simulation = _server()
    held = simulation.api.as_now(("CSINode", "Pod"))
    before = simulation.api.get("CSINode", "n1")
    simulation.execute(commands.Apply((csi_node("n1", {DRIVER: 2}),)))
    simulation.execute(commands.Delete("CSINode", "n2"))
    assert (held["CSINode"]["n1"], [*held["CSINode"]], [*held["Pod"]]) == (before, ["n1", "n2"], [])
    assert simulation.api.get("CSINode", "n1") is not before


def test_the_log_forgets_old_changes_and_says_so() -> None:
    log = ChangeLog()
    for _ in range(200):
        log.note("CSINode", "n1", 1)
    assert (log.position("CSINode"), log.since("CSINode", 0, 200)) == (200, None)
    assert log.since("CSINode", 198, 200) == ["n1", "n1"]
    copied = copy.deepcopy(log)
    assert (copied.position("CSINode"), copied.since("CSINode", 199, 200), copied.since("CSINode", 200, 200)) == (
        200,
        None,
        (),
    )


# --- what Filter leaves for later ------------------------------------------------------------------------------------


def test_facts_show_the_objects_that_filter_saw() -> None:
    """A CSINode is deleted after Filter has refused its node; another one has changed just before."""
    shown = []
    for path in (together, plainly):
        with path():
            simulation = Simulation(full=False)
            pod = commands.Apply((make_pod("p").claim("own").obj(),))
            label = commands.Patch("CSINode", "n5", {"metadata": {"labels": {"a": "b"}}})
            deleted = commands.Delete("CSINode", "n0")
            for step in (*_storage(), pod, label, *[commands.Stage()] * 4, deleted):
                simulation.execute(step)
            cycle = simulation.scheduler.latest
            assert cycle is not None
            shown.append(explaining.filter_facts(simulation.scheduler, cycle.number, "n0", "NodeVolumeLimits"))
    assert shown[0] == shown[1]
    assert [facts is not None and facts.status is not None for facts in shown] == [True, True]


def test_a_volume_that_is_assumed_for_another_claim_is_not_taken() -> None:
    """The first pod waits on Permit: only the scheduler knows that its claim gets the smaller volume."""
    chosen = []
    for path in (together, plainly):
        with path():
            simulation = Simulation(full=False)
            more = [
                claim_of("local-too", {"storageClassName": "local"}),
                volume_of("pv-larger", "a", storageClassName="local", capacity={"storage": "9Gi"}),
            ]
            pods = [make_pod(name).claim(name).obj() for name in ("local", "local-too")]
            wait = commands.Fault("VolumeBinding", "permit", "wait", seconds=30)
            for step in (*_storage(), commands.Apply((*more,)), wait, commands.Apply((*pods,)), commands.Settle()):
                simulation.execute(step)
            chosen.append(simulation.api.get("PersistentVolume", "pv-larger"))
    assert [volume is not None and volume.spec["claimRef"]["name"] for volume in chosen] == ["local-too", "local-too"]


def test_volumes_are_written_without_reserve() -> None:
    left_out = configuration()
    left_out["profiles"][0]["plugins"] = {"reserve": {"disabled": [{"name": "VolumeBinding"}]}}
    assert [seed for seed in some(range(12), 4) if differs(seed, False, volumes, (left_out,))[0]] == []
