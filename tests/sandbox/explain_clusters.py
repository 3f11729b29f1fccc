"""Clusters in which every plugin has something to say, and the comparison of all explanations with the trace."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sandbox.panels.explain import EXPLANATIONS, Explanation, explain_filter, explain_score
from sandbox.panels.state import Cycle
from sandbox.panels.world import World
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, REGION, ZONE, make_node, make_pod

Data = dict[str, Any]
DRIVER = "csi.example.com"
APPS = ("web", "db", "cache")
KEYS = (HOSTNAME, ZONE, "rack")


def world_of(simulation: Simulation) -> World:
    return World.fold(simulation.recorder.entries)


def run(simulation: Simulation, steps: list[commands.Command]) -> None:
    """Execute what is not refused."""
    for step in steps:
        try:
            simulation.execute(step)
        except Rejected:
            continue


def differences(world: World) -> list[str]:
    """Every verdict and score whose arithmetic comes to something else than the scheduler recorded."""
    found: list[str] = []
    for cycle in world.cycles:
        found += _filter_differences(world, cycle)
        found += _score_differences(world, cycle)
    return found


def counted(world: World) -> dict[str, int]:
    """How many refusals and scores of each plugin the trace has."""
    total: dict[str, int] = {}
    for cycle in world.cycles:
        failed = [row[1] for row in cycle.filter.rows if row[1]] if cycle.filter else []
        failed += [verdict[0] for _, verdicts in cycle.filter.also for verdict in verdicts] if cycle.filter else []
        scores = [plugin for plugin, rows in cycle.score.raw for _ in rows] if cycle.score else []
        for name in (*(f"{plugin} filter" for plugin in failed), *(f"{plugin} score" for plugin in scores)):
            total[name] = total.get(name, 0) + 1
    return total


def _filter_differences(world: World, cycle: Cycle) -> list[str]:
    found = []
    for node, failed, code, reasons, _ in cycle.filter.rows if cycle.filter else ():
        assert cycle.filter is not None
        recorded = {failed: (code, reasons)} if failed else {}
        for plugin, other_code, other_reasons in dict(cycle.filter.also).get(node, ()):
            recorded.setdefault(plugin, (other_code, other_reasons))
        for plugin in cycle.filter.plugins:
            if plugin in cycle.filter.skipped:
                continue
            told = explain_filter(world, cycle, node, plugin)
            if (told.code, told.reasons) != recorded.get(plugin, ("Success", ())) or _corrected(told):
                found.append(
                    f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {told}, not {recorded.get(plugin)}"
                )
    return found


def _score_differences(world: World, cycle: Cycle) -> list[str]:
    found = []
    for plugin, rows in cycle.score.raw if cycle.score else ():
        normalized = dict(dict(cycle.normalized.normalized)[plugin]) if cycle.normalized else {}
        for node, raw in rows:
            told = explain_score(world, cycle, node, plugin)
            if told.raw != raw or told.normalized != normalized.get(node, told.normalized) or _corrected(told):
                said = f"{raw} → {normalized.get(node)}"
                found.append(f"cycle {cycle.number} {cycle.pod} on {node}, {plugin}: {told}, not {said}")
    return found


def _corrected(told: Explanation) -> bool:
    return (not told.lines and told.sentence.startswith("The scheduler")) or any(
        item.label == "Recorded" for item in told.lines
    )


# --- random clusters -------------------------------------------------------------------------------------------------


@st.composite
def nodes(draw: st.DrawFn, name: str = "") -> Data:
    builder = make_node(name or draw(st.sampled_from(["n1", "n2", "n3", "n4"])))
    builder.capacity(cpu=draw(st.sampled_from(["1", "2", "4"])), memory=draw(st.sampled_from(["1Gi", "3Gi"])))
    builder.capacity(pods=draw(st.sampled_from(["3", "110", "110"])))
    builder.capacity({"ephemeral-storage": draw(st.sampled_from(["5Gi", "20Gi"]))})
    if draw(st.booleans()):
        builder.capacity({"example.com/gpu": draw(st.sampled_from(["1", "4"]))})
    if draw(st.integers(0, 4)):
        builder.zone(draw(st.sampled_from(["a", "b"])))
    for key in draw(st.lists(st.sampled_from(["rack", "disk", REGION]), unique=True)):
        builder.label(key, draw(st.sampled_from(["x", "y", "7"])))
    if draw(st.integers(0, 3)) == 0:
        effect = draw(st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"]))
        builder.taint("dedicated", draw(st.sampled_from(["", "gpu"])), effect)
    if draw(st.integers(0, 7)) == 0:
        builder.cordoned()
    for image in draw(st.lists(st.sampled_from(APPS), unique=True)):
        builder.image(f"registry.example/{image}:1", draw(st.sampled_from([50, 400, 1500])) << 20)
    return builder.obj()


@st.composite
def pods(draw: st.DrawFn, number: int = 0, bound: int = 5) -> Data:
    """One in ``bound`` comes with a node."""
    app = draw(st.sampled_from(APPS))
    builder = (
        make_pod(f"{app}-{number or draw(st.integers(8, 20))}")
        .label("app", app)
        .label("tier", draw(st.sampled_from(["1", "2"])))
    )
    builder.image(f"registry.example/{app}:1").priority(draw(st.sampled_from([0, 0, 10, 10])))
    if draw(st.booleans()):
        builder.cpu(draw(st.sampled_from(["0", "300m", "1", "3"])))
    if draw(st.booleans()):
        builder.memory(draw(st.sampled_from(["100Mi", "700Mi", "2Gi"])))
    if draw(st.integers(1, bound)) == 1:
        builder.node(draw(st.sampled_from(["n1", "n2", "n5"])))
    for extra in draw(st.lists(st.sampled_from(EXTRAS), max_size=3)):
        extra(draw, builder)
    return builder.obj()


def _selector(draw: st.DrawFn) -> dict[str, str]:
    return draw(st.sampled_from([{"app": "web"}, {"app": "db"}, {"tier": "1"}, {"app": "cache", "tier": "2"}]))


def _amounts(draw: st.DrawFn, pod: Any) -> None:
    pod.request({"example.com/gpu": "1"}).request({"ephemeral-storage": draw(st.sampled_from(["1Gi", "6Gi"]))})
    pod.limit({"example.com/gpu": "1"})


def _init(draw: st.DrawFn, pod: Any) -> None:
    pod.init_container("warm-up", {"cpu": draw(st.sampled_from(["100m", "2"]))}, sidecar=draw(st.booleans()))


def _labels(draw: st.DrawFn, pod: Any) -> None:
    if draw(st.booleans()):
        pod.node_selector({"disk": draw(st.sampled_from(["x", "y"]))})
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "Gt"]))
    values = {"Exists": [], "Gt": ["5"]}.get(operator, ["x"])
    pod.node_affinity(
        draw(st.sampled_from(["rack", "disk", ZONE])), values, operator, draw(st.sampled_from([0, 10, 33]))
    )


def _tolerations(draw: st.DrawFn, pod: Any) -> None:
    pod.toleration(
        "dedicated", draw(st.sampled_from([None, "gpu"])), draw(st.sampled_from(["", "NoSchedule", "PreferNoSchedule"]))
    )
    if draw(st.booleans()):
        pod.toleration("node.kubernetes.io/unschedulable")


def _port(draw: st.DrawFn, pod: Any) -> None:
    pod.host_port(draw(st.sampled_from([80, 81])), host_ip=draw(st.sampled_from(["", "10.0.0.1", "10.0.0.2"])))


def _spread(draw: st.DrawFn, pod: Any) -> None:
    when = draw(st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]))
    key = draw(st.sampled_from(KEYS))
    if any(
        (item["topologyKey"], item["whenUnsatisfiable"]) == (key, when)
        for item in pod.manifest["spec"].get("topologySpreadConstraints", ())
    ):
        return
    more: Data = draw(
        st.sampled_from(
            [{}, {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"}, {"matchLabelKeys": ["tier"]}]
        )
    )
    if when == "DoNotSchedule" and draw(st.booleans()):
        more = {**more, "minDomains": draw(st.integers(1, 3))}
    pod.spread(key, draw(st.sampled_from([{"app": "web"}, {"app": "db"}])), draw(st.integers(1, 2)), when, **more)


def _near(draw: st.DrawFn, pod: Any) -> None:
    pod.affinity(draw(st.sampled_from(KEYS)), _selector(draw), draw(st.sampled_from([0, 5, 40])))


def _far(draw: st.DrawFn, pod: Any) -> None:
    pod.anti_affinity(draw(st.sampled_from(KEYS)), _selector(draw), draw(st.sampled_from([0, 7, 60])))


def _claim(draw: st.DrawFn, pod: Any) -> None:
    name = draw(st.sampled_from(list(CLAIMS)))
    if not any(item["name"] == name for item in pod.manifest["spec"].get("volumes", ())):
        pod.claim(name)


def _disk(draw: st.DrawFn, pod: Any) -> None:
    disk = draw(
        st.sampled_from(
            [
                {"gcePersistentDisk": {"pdName": "shared", "readOnly": True}},
                {"gcePersistentDisk": {"pdName": "shared"}},
                {"awsElasticBlockStore": {"volumeID": "vol-1"}},
                {"rbd": {"monitors": ["m1", "m2"], "image": "i"}},
                {"iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2026-01.example:a", "lun": 0}},
            ]
        )
    )
    pod.spec(
        volumes=[
            *pod.manifest["spec"].get("volumes", ()),
            {"name": f"disk-{len(pod.manifest['spec'].get('volumes', ()))}", **disk},
        ]
    )


EXTRAS = (_amounts, _init, _labels, _tolerations, _port, _spread, _spread, _near, _far, _claim, _claim, _disk)
CLAIMS: dict[str, Data] = {
    "bound-a": {"volumeName": "pv-a"},
    "bound-labelled": {"volumeName": "pv-labelled"},
    "waits": {},
    "waits-large": {"gib": 20},
    "waits-here": {"storageClassName": "zoned"},
    "waits-no-maker": {"storageClassName": "local"},
    "alone": {"volumeName": "pv-alone", "accessModes": ["ReadWriteOncePod"]},
    "lost-volume": {"volumeName": "pv-gone"},
}


def _persistent_claim(name: str, fields: Data) -> Data:
    gib = fields.get("gib", 1)
    spec = {
        "storageClassName": "wait",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{gib}Gi"}},
    }
    spec |= {key: value for key, value in fields.items() if key != "gib"}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in fields else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": spec,
        "status": {"phase": "Bound" if annotations else "Pending"},
    }


def _volume(name: str, zone: str = "", labels: dict[str, str] | None = None, **fields: Any) -> Data:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}} if zone else {}
    spec = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "wait"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {**spec, "csi": {"driver": DRIVER, "volumeHandle": name}, **affinity, **fields},
        "status": {"phase": "Available"},
    }


def _class(name: str, provisioner: str, **more: Any) -> Data:
    mode = {"volumeBindingMode": "WaitForFirstConsumer"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        **mode,
        **more,
    }


def _csi_node(name: str, count: int) -> Data:
    drivers = [{"name": DRIVER, "nodeID": name, "allocatable": {"count": count}}]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def _capacity(zone: str, gib: int) -> Data:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"room-{zone}", "namespace": "default"},
        "storageClassName": "wait",
        "nodeTopology": {"matchLabels": {ZONE: zone}},
        "capacity": f"{gib}Gi",
    }


SERVICE: Data = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]},
}
STORAGE: tuple[Data, ...] = (
    _class("wait", DRIVER),
    _class("zoned", DRIVER, allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]),
    _class("local", "kubernetes.io/no-provisioner"),
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"storageCapacity": True},
    },
    _capacity("a", 3),
    _capacity("b", 50),
    _csi_node("n1", 1),
    _csi_node("n2", 2),
    _volume("pv-a", "a"),
    _volume("pv-labelled", labels={ZONE: "b__a", REGION: "x"}),
    _volume("pv-alone", accessModes=["ReadWriteOncePod"]),
    _volume("pv-free", "b"),
    _volume("pv-local", "a", storageClassName="local"),
    *(_persistent_claim(name, fields) for name, fields in CLAIMS.items()),
    SERVICE,
)


@st.composite
def clusters(draw: st.DrawFn) -> list[commands.Command]:
    """Storage, three or four nodes, some running pods, and then what may happen."""
    listed = [draw(nodes(name)) for name in ("n1", "n2", "n3", "n4")]
    listed += [draw(pods(number, bound)) for number, bound in ((1, 1), (2, 1), (3, 1), (4, 9), (5, 9), (6, 9), (7, 9))]
    first = [commands.Apply((item,)) for item in listed]
    after = [*[commands.PodCycle()] * draw(st.integers(0, 8)), *draw(st.lists(STEPS, max_size=20)), commands.Run(20)]
    return [commands.Apply(STORAGE), *first, *after]


STEPS = st.one_of(
    st.builds(lambda item: commands.Apply((item,)), pods()),
    st.builds(lambda item: commands.Apply((item,)), pods()),
    st.builds(lambda item: commands.Apply((item,)), nodes()),
    st.just(commands.PodCycle()),
    st.just(commands.Stage()),
    st.just(commands.Run(20)),
    st.builds(commands.Advance, st.sampled_from([1.0, 7.0, 40.0])),
    st.builds(
        commands.Delete,
        st.just("Pod"),
        st.sampled_from([f"default/{app}-{number}" for app in APPS for number in (1, 4)]),
    ),
    st.builds(commands.Delete, st.just("Node"), st.just("n4")),
)
ALL_FILTERS = [plugin for plugin, (explained, _) in EXPLANATIONS.items() if explained is not None]
ALL_SCORES = [plugin for plugin, (_, explained) in EXPLANATIONS.items() if explained is not None]
