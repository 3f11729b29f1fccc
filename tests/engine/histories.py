"""Random commands over a small cluster in which everything the scheduler handles can happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import settings
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
from scheduler_engine.versions import VERSIONS, known_gates

THOROUGH = settings.get_current_profile_name() == "thorough"
EXAMPLES = settings().max_examples if THOROUGH else 12
"""Number of histories that take a large part of a second each."""
Manifest = dict[str, Any]
Change = Callable[[Manifest], Manifest]

GPU = "example.com/gpu"
SIZES = {"n1": "1", "n2": "2", "n3": "2", "n4": "3", "n5": "1"}
ZONES = {"n1": "a", "n2": "a", "n3": "b", "n4": "b"}
NODE_NAMES = st.sampled_from(sorted(SIZES))
POD_NAMES = [f"{app}-{number}" for app in ("web", "api", "db", "big") for number in range(4)]
PROFILE_NAMES = st.sampled_from(["default-scheduler"] * 5 + ["second"])


def some(cases: Sequence[Any], few: int) -> Sequence[Any]:
    """Return the first ``few`` cases; in ``make thorough`` all of them."""
    return cases if THOROUGH else cases[:few]


def some_node(name: str, grown: bool = False) -> Manifest:
    """Return a node whose size follows from its name. Of two manifests for one node, ``grown`` has more."""
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
    st.builds(tainted, st.builds(some_node, NODE_NAMES), st.just("NoExecute")),
    st.builds(moved, st.builds(some_node, NODE_NAMES), st.sampled_from(["a", "b", "c"])),
)

SCRATCH = {
    "name": "scratch",
    "ephemeral": {
        "volumeClaimTemplate": {
            "spec": {
                "storageClassName": "cloud",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            }
        }
    },
}
FEATURES: dict[str, Callable[[PodBuilder, str], PodBuilder]] = {
    "spreads hard": lambda pod, app: pod.spread(ZONE, {"app": app}, minDomains=2),
    "spreads softly": lambda pod, app: pod.spread(HOSTNAME, {"app": app}, when="ScheduleAnyway"),
    "requires affinity": lambda pod, app: pod.affinity(ZONE, {"app": "web"}),
    "prefers affinity": lambda pod, app: pod.affinity(HOSTNAME, {"app": "api"}, 10),
    "requires anti-affinity": lambda pod, app: pod.anti_affinity(HOSTNAME, {"app": app}),
    "avoids a zone": lambda pod, app: pod.anti_affinity(ZONE, {"app": "db"}, 50),
    "requires a zone": lambda pod, app: pod.node_affinity(ZONE, ["a"]),
    "requires a node": lambda pod, app: pod.node_affinity("metadata.name", ["n3", "n9"], "In", 5),
    "is bound to a label": lambda pod, app: pod.node_selector({HOSTNAME: "n2"}),
    "tolerates": lambda pod, app: pod.toleration("dedicated"),
    "takes a port": lambda pod, app: pod.host_port(8080),
    "takes a GPU": lambda pod, app: pod.request({GPU: "1"}).limit({GPU: "1"}),
    "has a sidecar": lambda pod, app: pod.init_container("side", {"cpu": "300m"}, sidecar=True),
    "mounts a late claim": lambda pod, app: pod.claim("late"),
    "mounts an early claim": lambda pod, app: pod.claim("early"),
    "mounts a missing claim": lambda pod, app: pod.claim("missing"),
    "brings its own claim": lambda pod, app: pod.spec(volumes=[SCRATCH]),
    "is gated": lambda pod, app: pod.gate("example.com/quota"),
    "never preempts": lambda pod, app: pod.priority_class("quiet"),
    "ends at once": lambda pod, app: pod.grace_period(0),
    "ends slowly": lambda pod, app: pod.grace_period(50),
    "tolerates for a while": lambda pod, app: pod.toleration("dedicated", None, "NoExecute", 20),
    "starts slowly": lambda pod, app: pod.annotation("sandbox/start-delay", "2"),
    "never becomes ready": lambda pod, app: pod.annotation("sandbox/ready", "false"),
    "completes": lambda pod, app: pod.spec(restartPolicy="Never").annotation("sandbox/duration", "4"),
    "uses much": lambda pod, app: pod.annotation("sandbox/usage-memory", "5Gi"),
    "is nominated": lambda pod, app: pod.nominated("n3"),
    "uses another scheduler": lambda pod, app: pod.scheduler("second"),
    "uses a missing scheduler": lambda pod, app: pod.scheduler("nobody"),
    "has a class": lambda pod, app: pod.priority_class("high"),
    "has overhead": lambda pod, app: pod.spec(runtimeClassName="boxed"),
}


@st.composite
def pods(draw: st.DrawFn) -> Manifest:
    name = draw(st.sampled_from(POD_NAMES))
    app = name.rpartition("-")[0]
    builder = make_pod(name).label("app", app).image("registry.example/app:1")
    builder.cpu(draw(st.sampled_from(["250m", "500m", "500m", "1", "2", "5"])))
    features = draw(st.lists(st.sampled_from(sorted(FEATURES)), max_size=2, unique=True))
    if not {"has a class", "never preempts"} & {*features}:
        builder.priority(draw(st.sampled_from([0, 0, 10, 100, 100])))
    for feature in features:
        builder = FEATURES[feature](builder, app)
    return builder.obj()


@st.composite
def pods_by_hand(draw: st.DrawFn) -> Manifest:
    """Draw a pod with a ``nodeName``, which may not exist."""
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
    return builder.spec(local={"path": "/data"}, nodeAffinity={"required": {"nodeSelectorTerms": terms}}).obj()


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
"""Changes that a person may make to an existing pod."""


def _with(manifest: Manifest, part: str, **fields: Any) -> Manifest:
    return {**manifest, part: {**manifest.get(part, {}), **fields}}


def _profiles(*profiles: Manifest, **fields: Any) -> Manifest:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**head, "profiles": list(profiles), **fields}


def _without(**points: list[str]) -> Manifest:
    return {point: {"disabled": [{"name": name} for name in names]} for point, names in points.items()}


MOST_ALLOCATED = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
BOTH = {"schedulerName": "default-scheduler"}
Version = tuple[str, dict[str, bool]]
"""A version of Kubernetes, and its feature gates that somebody has set."""


def _gates(kubernetes: str) -> st.SearchStrategy[dict[str, bool]]:
    open_gates = [name for name, (_, locked) in known_gates(kubernetes).items() if not locked]
    return st.fixed_dictionaries({}, optional={name: st.booleans() for name in open_gates})


KUBERNETES: st.SearchStrategy[Version] = st.sampled_from(VERSIONS).flatmap(
    lambda version: st.tuples(st.just(version), _gates(version))
)
CONFIGURATIONS = st.sampled_from(
    [
        *(None, None, None),
        _profiles({"pluginConfig": [MOST_ALLOCATED]}),
        _profiles(BOTH, {"schedulerName": "second", "plugins": _without(score=["*"], postFilter=["*"])}),
        _profiles({**BOTH, "plugins": _without(preEnqueue=["SchedulingGates"])}, {"schedulerName": "second"}),
        _profiles({"schedulerName": "second"}),
        _profiles({"plugins": _without(score=["*"], preScore=["*"])}, podInitialBackoffSeconds=3),
        _profiles({"plugins": _without(multiPoint=["InterPodAffinity", "VolumeBinding"])}, podMaxBackoffSeconds=2),
    ]
)

UPGRADES: st.SearchStrategy[Command] = KUBERNETES.map(lambda version: commands.Kubernetes(*version))

PLUGINS = {
    "preEnqueue": ["SchedulingGates", "DefaultPreemption"],
    "preFilter": ["NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"],
    "filter": ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeResourcesFit", "PodTopologySpread"],
    "postFilter": ["DefaultPreemption"],
    "preScore": ["TaintToleration", "NodeResourcesFit", "InterPodAffinity"],
    "score": ["TaintToleration", "ImageLocality", "PodTopologySpread"],
    "normalizeScore": ["TaintToleration", "PodTopologySpread"],
    "reserve": ["VolumeBinding"],
    "permit": ["NodeResourcesFit", "NodeName", "VolumeBinding", "SchedulingGates", "Nobody"],
    "preBind": ["VolumeBinding"],
    "bind": ["DefaultBinder"],
    "postBind": ["DefaultBinder", "NodeName"],
}
POINTS = [(point, answer) for point, answers in ANSWERS.items() for answer in answers]
WAITS = [("permit", "wait")] * 4 + [("preBind", "wait"), ("bind", "wait"), ("bind", "error"), ("preBind", "deny")]


@st.composite
def faults(draw: st.DrawFn) -> Command:
    point, answer = draw(st.sampled_from([*POINTS, *WAITS]))
    plugin = draw(st.sampled_from(PLUGINS[point]))
    return commands.Fault(plugin, point, answer, draw(st.sampled_from([0, 0.5, 5, 60])), draw(PROFILE_NAMES))


def _apply(*manifests: Any) -> Command:
    return commands.Apply(manifests)


START = _apply(
    *(some_node(name) for name in ("n1", "n2", "n3")),
    runtime_class(),
    make_priority_class("high", 1000),
    make_priority_class("quiet", 100, "Never"),
    storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
    storage_class("cloud", "WaitForFirstConsumer", "csi.example.com"),
    storage_class("fast", "Immediate", "csi.example.com"),
    claim("late", "cloud"),
    claim("early", "fast"),
    *(make_pod(f"old-{number}").label("app", "old").cpu("750m").grace_period(5 * number).obj() for number in range(5)),
)
NEW_PODS: st.SearchStrategy[Command] = st.lists(
    pods(), min_size=1, max_size=6, unique_by=lambda item: item["metadata"]["name"]
).map(lambda items: _apply(*items))
VIPS: st.SearchStrategy[Command] = st.builds(
    lambda number, cpu, priority: _apply(
        make_pod(f"vip-{number}").label("app", "vip").cpu(cpu).priority(priority).obj()
    ),
    st.integers(0, 3),
    st.sampled_from(["1", "2"]),
    st.sampled_from([500, 1000]),
)
"""Pods that preempt others."""

WRITES: st.SearchStrategy[Command] = st.one_of(
    st.builds(_apply, NODES),
    st.builds(_apply, NODES, NODES),
    st.builds(_apply, OTHERS),
    st.builds(_apply, OTHERS, pods()),
    st.builds(commands.Cordon, NODE_NAMES, st.booleans()),
    st.builds(_apply, pods_by_hand()),
)
KUBELETS = st.sampled_from(
    [
        None,
        {"evictionHard": {"memory.available": "1Gi"}, "evictionMinimumReclaim": {"memory.available": "2Gi"}},
        {
            "evictionSoft": {"memory.available": "4Gi"},
            "evictionSoftGracePeriod": {"memory.available": "20s"},
            "evictionMaxPodGracePeriod": 7,
            "evictionPressureTransitionPeriod": "30s",
        },
    ]
)
POD_KEYS = st.sampled_from(POD_NAMES).map(lambda name: f"default/{name}")
NODE_CONDITIONS = st.sampled_from(
    [
        *(("Ready", status) for status in ("True", "True", "False", "Unknown")),
        *((kind, status) for kind in ("DiskPressure", "MemoryPressure") for status in ("True", "False")),
    ]
)
TROUBLE: st.SearchStrategy[Command] = st.one_of(
    st.builds(lambda node, what: commands.NodeCondition(node, *what), NODE_NAMES, NODE_CONDITIONS),
    st.builds(lambda pod, amount: commands.Usage(pod, memory=amount), POD_KEYS, st.sampled_from(["0", "3Gi", "8Gi"])),
    st.builds(lambda node, amount: commands.Usage("", node, memory=amount), NODE_NAMES, st.sampled_from(["0", "6Gi"])),
    st.builds(commands.KubeletConfigure, NODE_NAMES, KUBELETS),
    st.builds(commands.Evict, POD_KEYS),
    st.builds(commands.Evict, POD_KEYS),
    st.builds(commands.Drain, NODE_NAMES, *[st.booleans()] * 4),
)


REPLICA_NAMES = st.sampled_from(["kube-scheduler-1", "kube-scheduler-1", "kube-scheduler-2", "kube-scheduler-3"])
REPLICAS: st.SearchStrategy[Command] = st.builds(
    commands.Replicas,
    st.integers(1, 3),
    st.sampled_from([True, True, False]),
    st.sampled_from(["leases", "endpoints", "configmaps"]),
    st.sampled_from([None, "12s"]),
    release_on_cancel=st.booleans(),
)
MISHAPS: st.SearchStrategy[Command] = st.builds(
    commands.Replica,
    REPLICA_NAMES,
    st.sampled_from([*commands.REPLICA_ACTIONS, "partition", "partition", "pause"]),
    st.sampled_from([600, -600, 3]),
    st.sampled_from([1, "1/3", 10]),
)
"""Faults of scheduler replicas."""


def workload(kind: str, replicas: int) -> Manifest:
    template = make_pod("x").label("app", "web").cpu("500m").obj()
    builder = Builder("apps/v1", kind, "web", "default").spec(
        selector={"matchLabels": {"app": "web"}},
        template={"metadata": {"labels": {"app": "web"}}, "spec": template["spec"]},
    )
    return builder.obj() if kind == "DaemonSet" else builder.spec(replicas=replicas).obj()


AROUND: st.SearchStrategy[Command] = st.one_of(
    st.builds(workload, st.sampled_from(["Deployment", "ReplicaSet", "DaemonSet"]), st.integers(0, 3)).map(_apply),
    st.builds(
        commands.Scale,
        st.sampled_from(["Deployment", "ReplicaSet"]),
        st.just("default/web"),
        st.integers(0, 4),
    ),
    st.builds(commands.RolloutRestart, st.sampled_from(["Deployment", "DaemonSet"]), st.just("default/web")),
    st.builds(
        commands.Delete,
        st.sampled_from(["Deployment", "ReplicaSet", "DaemonSet"]),
        st.just("default/web"),
        st.sampled_from(["Background", "Foreground", "Orphan"]),
    ),
    st.builds(commands.Evict, st.sampled_from(POD_NAMES[:6]).map(lambda name: f"default/{name}")),
    st.builds(commands.Drain, NODE_NAMES, *[st.booleans()] * 4),
    st.builds(
        commands.NodeCondition,
        NODE_NAMES,
        st.sampled_from(["Ready", "MemoryPressure"]),
        st.sampled_from(["True", "False", "Unknown"]),
    ),
    st.builds(
        commands.Taint,
        NODE_NAMES,
        st.just("maintenance"),
        st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        on=st.booleans(),
    ),
    st.builds(commands.Usage, node=NODE_NAMES, memory=st.sampled_from(["1Gi", "7900Mi"])),
    st.builds(commands.KubeletConfigure, NODE_NAMES),
)
"""Other activity in a cluster: controllers create pods, evict them, and taint nodes."""

MISTAKES: st.SearchStrategy[Command] = st.one_of(
    st.builds(_apply, pods(), REFUSED),
    st.builds(_apply, NODES, OTHERS, REFUSED),
    st.builds(commands.Delete, st.sampled_from(["Pod", "Node", "Surprise"]), st.sampled_from(["x", "default/x"])),
    st.builds(commands.Allow, st.just("default/x")),
    st.just(commands.Configure({"apiVersion": "v2", "kind": "KubeSchedulerConfiguration"})),
    st.builds(commands.Advance, st.sampled_from([0, -1, float("nan"), 1e9])),
    st.just(commands.Cordon("n9")),
    st.just(commands.Taint("n1", "maintenance", "Never")),
    st.just(commands.NodeCondition("n1", "Ready", "Perhaps")),
    st.just(commands.Usage("", "", memory="1Gi")),
    st.just(commands.KubeletConfigure("n1", {"evictionHard": {"memory": "1Gi"}})),
    st.just(commands.Drain("n9")),
    st.just(commands.Replicas(3, lease_duration="10s")),
    st.just(commands.Replicas(3, lock="stone")),
    st.just(commands.Replica("kube-scheduler-9", "kill")),
    st.just(commands.Replica("kube-scheduler-1", "rate", rate=0)),
    st.just(commands.Run(0)),
)
STEPS: st.SearchStrategy[Command] = st.sampled_from([commands.Stage(), commands.Stage(), commands.PodCycle()])
LONGER: st.SearchStrategy[Command] = st.one_of(
    st.builds(commands.Advance, st.sampled_from([0.25, 1, 3, 7, 31, 301]), st.booleans()),
    st.just(commands.Settle()),
    st.builds(commands.Run, st.sampled_from([1, 2, 1000])),
)
