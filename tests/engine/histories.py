"""Random commands over a small cluster in which everything that the scheduler knows can happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.framework.faults import ANSWERS
from scheduler_engine.testing import (
    HOSTNAME,
    ZONE,
    Builder,
    PodBuilder,
    make_budget,
    make_node,
    make_pod,
    make_priority_class,
)

Manifest = dict[str, Any]
Change = Callable[[Manifest], Manifest]

GPU = "example.com/gpu"
SIZES = {"n1": "1", "n2": "2", "n3": "4", "n4": "4", "n5": "2"}
ZONES = {"n1": "a", "n2": "a", "n3": "b", "n4": "b"}
NODE_NAMES = st.sampled_from(sorted(SIZES))
POD_NAMES = ["web-1", "web-2", "web-3", "api-1", "api-2", "db-1", "db-2", "big-1"]
PROFILE_NAMES = st.sampled_from(["default-scheduler", "default-scheduler", "second"])


def some_node(name: str, grown: bool = False) -> Manifest:
    """A node of a size that goes with its name: of two manifests for one node, ``grown`` has more."""
    builder = make_node(name).capacity({GPU: "1"}, cpu="6" if grown else SIZES[name], pods="12" if grown else "6")
    if name in ZONES:
        builder.zone(ZONES[name])
    return builder.image("registry.example/app:1", 500_000_000).obj()


def tainted(node: Manifest, effect: str) -> Manifest:
    return {**node, "spec": {**node.get("spec", {}), "taints": [{"key": "dedicated", "effect": effect}]}}


def moved(node: Manifest, zone: str) -> Manifest:
    labels = {**node["metadata"]["labels"], ZONE: zone}
    return {**node, "metadata": {**node["metadata"], "labels": labels}}


NODES = st.one_of(
    st.builds(some_node, NODE_NAMES),
    st.builds(some_node, NODE_NAMES),
    st.builds(some_node, NODE_NAMES, st.booleans()),
    st.builds(tainted, st.builds(some_node, NODE_NAMES), st.sampled_from(["NoSchedule", "PreferNoSchedule"])),
    st.builds(moved, st.builds(some_node, NODE_NAMES), st.sampled_from(["a", "b", "c"])),
)

FEATURES: dict[str, Callable[[PodBuilder, str], PodBuilder]] = {
    "spreads hard": lambda pod, app: pod.spread(ZONE, {"app": app}, minDomains=2),
    "spreads softly": lambda pod, app: pod.spread(HOSTNAME, {"app": app}, when="ScheduleAnyway"),
    "wants company": lambda pod, app: pod.affinity(ZONE, {"app": "web"}),
    "likes company": lambda pod, app: pod.affinity(HOSTNAME, {"app": "api"}, 10),
    "wants to be alone": lambda pod, app: pod.anti_affinity(HOSTNAME, {"app": app}),
    "shuns a zone": lambda pod, app: pod.anti_affinity(ZONE, {"app": "db"}, 50),
    "wants a zone": lambda pod, app: pod.node_affinity(ZONE, ["a"]),
    "wants a node": lambda pod, app: pod.node_affinity("metadata.name", ["n3", "n9"], "In", 5),
    "is bound to a label": lambda pod, app: pod.node_selector({HOSTNAME: "n2"}),
    "tolerates": lambda pod, app: pod.toleration("dedicated"),
    "takes a port": lambda pod, app: pod.host_port(8080),
    "takes a GPU": lambda pod, app: pod.request({GPU: "1"}).limit({GPU: "1"}),
    "has a sidecar": lambda pod, app: pod.init_container("side", {"cpu": "300m"}, sidecar=True),
    "mounts a late claim": lambda pod, app: pod.claim("late"),
    "mounts an early claim": lambda pod, app: pod.claim("early"),
    "mounts a claim nobody made": lambda pod, app: pod.claim("missing"),
    "is gated": lambda pod, app: pod.gate("example.com/quota"),
    "never preempts": lambda pod, app: pod.never_preempts(),
    "goes at once": lambda pod, app: pod.grace_period(0),
    "goes slowly": lambda pod, app: pod.grace_period(50),
    "is nominated": lambda pod, app: pod.nominated("n3"),
    "goes to another scheduler": lambda pod, app: pod.scheduler("second"),
    "goes to nobody's scheduler": lambda pod, app: pod.scheduler("nobody"),
    "has a class": lambda pod, app: pod.priority_class("high"),
    "has overhead": lambda pod, app: pod.spec(runtimeClassName="boxed"),
}


@st.composite
def pods(draw: st.DrawFn) -> Manifest:
    name = draw(st.sampled_from(POD_NAMES))
    app = name.rpartition("-")[0]
    builder = make_pod(name).label("app", app).image("registry.example/app:1")
    builder.cpu(draw(st.sampled_from(["500m", "1", "2", "3", "8"])))
    features = draw(st.lists(st.sampled_from(sorted(FEATURES)), max_size=3, unique=True))
    if "has a class" not in features:
        builder.priority(draw(st.sampled_from([0, 0, 10, 100])))
    for feature in features:
        builder = FEATURES[feature](builder, app)
    return builder.obj()


@st.composite
def pods_by_hand(draw: st.DrawFn) -> Manifest:
    """A pod that comes with its node, which may not exist."""
    manifest = draw(pods())
    manifest["spec"].pop("schedulingGates", None)
    return {**manifest, "spec": {**manifest["spec"], "nodeName": draw(st.sampled_from(["n1", "n2", "n3", "n9"]))}}


def storage_class(name: str, mode: str, provisioner: str) -> Manifest:
    manifest = Builder("storage.k8s.io/v1", "StorageClass", name).obj()
    return {**manifest, "provisioner": provisioner, "volumeBindingMode": mode}


def claim(name: str, class_name: str) -> Manifest:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name, "resources": resources}
    return Builder("v1", "PersistentVolumeClaim", name, "default").spec(**spec).obj()


def volume(name: str, class_name: str, node: str) -> Manifest:
    terms = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}]
    builder = Builder("v1", "PersistentVolume", name).spec(
        capacity={"storage": "2Gi"}, accessModes=["ReadWriteOnce"], storageClassName=class_name
    )
    return builder.spec(
        local={"path": "/data"}, nodeAffinity={"required": {"nodeSelectorTerms": terms}}
    ).obj()


def runtime_class() -> Manifest:
    manifest = Builder("node.k8s.io/v1", "RuntimeClass", "boxed").obj()
    return {**manifest, "handler": "boxed", "overhead": {"podFixed": {"cpu": "250m"}}}


OTHERS = st.one_of(
    st.builds(make_budget, st.just("b"), st.sampled_from([{"app": "web"}, {"app": "db"}]), minAvailable=st.just(1)),
    st.builds(make_priority_class, st.just("high"), st.just(1000)),
    st.builds(make_priority_class, st.just("usual"), st.just(5), default=st.just(True)),
    st.just(runtime_class()),
    st.just(storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")),
    st.just(storage_class("cloud", "WaitForFirstConsumer", "csi.example.com")),
    st.just(storage_class("fast", "Immediate", "csi.example.com")),
    st.builds(claim, st.just("late"), st.sampled_from(["local", "cloud"])),
    st.builds(claim, st.just("early"), st.sampled_from(["fast", "nobody"])),
    st.builds(volume, st.sampled_from(["v1", "v2"]), st.sampled_from(["local", "fast"]), st.sampled_from(["n1", "n3"])),
    st.just(Builder("v1", "Namespace", "other").obj()),
    st.just(Builder("v1", "Service", "web", "default").spec(selector={"app": "web"}, ports=[{"port": 80}]).obj()),
)
REFUSED: st.SearchStrategy[Any] = st.sampled_from(
    [
        make_pod("lost", "nowhere").obj(),
        make_pod("poor").priority_class("nobody-knows-it").obj(),
        make_pod("two words").obj(),
        {"apiVersion": "v1", "kind": "Surprise", "metadata": {"name": "x"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": "x"},
        "no mapping",
    ]
)

CHANGES: dict[str, Change] = {
    "labels": lambda item: _with(item, "metadata", labels={"app": "db"}),
    "no labels": lambda item: _with(item, "metadata", labels={}),
    "tolerations": lambda item: _with(
        item, "spec", tolerations=[*item["spec"].get("tolerations", ()), {"key": "dedicated", "operator": "Exists"}]
    ),
    "gates": lambda item: _with(item, "spec", schedulingGates=[]),
    "success": lambda item: _with(item, "status", phase="Succeeded"),
    "failure": lambda item: _with(item, "status", phase="Failed"),
    "nomination": lambda item: _with(item, "status", nominatedNodeName="n2"),
    "no nomination": lambda item: _with(item, "status", nominatedNodeName=""),
}
"""What a person may change in a pod that exists."""


def _with(manifest: Manifest, part: str, **fields: Any) -> Manifest:
    return {**manifest, part: {**manifest.get(part, {}), **fields}}


def _profiles(*profiles: Manifest, **fields: Any) -> Manifest:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**head, "profiles": list(profiles), **fields}


def _without(**points: list[str]) -> Manifest:
    return {point: {"disabled": [{"name": name} for name in names]} for point, names in points.items()}


MOST_ALLOCATED = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
BOTH = {"schedulerName": "default-scheduler"}
CONFIGURATIONS = st.sampled_from(
    [
        None,
        _profiles({"pluginConfig": [MOST_ALLOCATED]}),
        _profiles(BOTH, {"schedulerName": "second", "plugins": _without(score=["*"], postFilter=["*"])}),
        _profiles({**BOTH, "plugins": _without(preEnqueue=["SchedulingGates"])}, {"schedulerName": "second"}),
        _profiles({"schedulerName": "second"}),
        _profiles({"plugins": _without(score=["*"], preScore=["*"])}, podInitialBackoffSeconds=3),
        _profiles({"plugins": _without(multiPoint=["InterPodAffinity", "VolumeBinding"])}, podMaxBackoffSeconds=2),
    ]
)

PLUGINS = [
    *("NodeResourcesFit", "NodeAffinity", "NodePorts", "InterPodAffinity", "PodTopologySpread", "TaintToleration"),
    *("VolumeBinding", "NodeName", "ImageLocality", "DefaultBinder", "SchedulingGates", "Nobody"),
]
FAULTS = st.sampled_from([(point, answer) for point, answers in ANSWERS.items() for answer in answers])


def fault(plugin: str, how: tuple[str, str], seconds: float, profile: str) -> Command:
    point, answer = how
    if point in ("bind", "reserve"):
        plugin = {"bind": "DefaultBinder", "reserve": "VolumeBinding"}[point]
    return commands.Fault(plugin, point, answer, seconds, profile)


def _apply(*manifests: Any) -> Command:
    return commands.Apply(manifests)


WRITES: st.SearchStrategy[Command] = st.one_of(
    st.builds(_apply, pods()),
    st.builds(_apply, pods(), pods()),
    st.builds(_apply, NODES),
    st.builds(_apply, NODES, NODES),
    st.builds(_apply, OTHERS),
    st.builds(_apply, OTHERS, pods()),
    st.builds(commands.Cordon, NODE_NAMES, st.booleans()),
)
BY_HAND: st.SearchStrategy[Command] = st.builds(_apply, pods_by_hand())
MISTAKES: st.SearchStrategy[Command] = st.one_of(
    st.builds(_apply, pods(), REFUSED),
    st.builds(_apply, NODES, OTHERS, REFUSED),
    st.builds(commands.Delete, st.sampled_from(["Pod", "Node", "Surprise"]), st.sampled_from(["x", "default/x"])),
    st.builds(commands.Allow, st.just("default/x")),
    st.just(commands.Configure({"apiVersion": "v2", "kind": "KubeSchedulerConfiguration"})),
    st.builds(commands.Advance, st.sampled_from([0, -1, float("nan"), 1e9])),
    st.just(commands.Cordon("n9")),
    st.just(commands.Run(0)),
)
STEPS: st.SearchStrategy[Command] = st.sampled_from([commands.Stage()] * 3 + [commands.PodCycle()])
LONGER: st.SearchStrategy[Command] = st.one_of(
    st.just(commands.Settle()), st.just(commands.Run()), st.builds(commands.Run, st.integers(1, 3))
)
TIME: st.SearchStrategy[Command] = st.builds(
    commands.Advance, st.sampled_from([0.25, 1, 1, 3, 7, 31, 301]), st.booleans()
)
FAULTY: st.SearchStrategy[Command] = st.builds(
    fault, st.sampled_from(PLUGINS), FAULTS, st.sampled_from([0, 0.5, 5, 60]), PROFILE_NAMES
)
