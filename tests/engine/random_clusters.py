"""Random clusters in which every plugin has an effect, and configurations to run them with."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, REGION, ZONE, make_node, make_pod
from scheduler_engine.testing.builders import REQUIRED

Data = dict[str, Any]
DRIVER = "csi.example.com"
AZURE_DISK = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/disks/d"
APPS = ("web", "db", "cache")
KEYS = (HOSTNAME, ZONE, "rack")


def run(simulation: Simulation, steps: list[commands.Command]) -> None:
    """Execute the steps, and skip refused ones."""
    for step in steps:
        try:
            simulation.execute(step)
        except Rejected:
            continue


def nodes(pick: Random, name: str = "") -> Data:
    builder = make_node(name or pick.choice(["n1", "n2", "n3", "n4"]))
    builder.capacity(cpu=pick.choice(["1", "2", "4"]), memory=pick.choice(["1Gi", "3Gi"]))
    builder.capacity(pods=pick.choice(["3", "110", "110"]))
    builder.capacity({"ephemeral-storage": pick.choice(["5Gi", "20Gi"])})
    if pick.random() < 0.5:
        builder.capacity({"example.com/gpu": pick.choice(["1", "4"])})
    if pick.randint(0, 4):
        builder.zone(pick.choice(["a", "b"]))
    for key in pick.sample(["rack", "disk", REGION], pick.randint(0, 3)):
        builder.label(key, pick.choice(["x", "y", "7"]))
    if pick.randint(0, 3) == 0:
        effect = pick.choice(["NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"])
        builder.taint("dedicated", pick.choice(["", "gpu"]), effect)
    if pick.randint(0, 7) == 0:
        builder.cordoned()
    for image in pick.sample(APPS, pick.randint(0, 3)):
        builder.image(f"registry.example/{image}:1", pick.choice([50, 400, 1500]) << 20)
    return builder.obj()


def pods(pick: Random, number: int = 0, bound: int = 5) -> Data:
    """Return pods. One in ``bound`` has a ``nodeName``."""
    app = pick.choice(APPS)
    builder = (
        make_pod(f"{app}-{number or pick.randint(8, 20)}").label("app", app).label("tier", pick.choice(["1", "2"]))
    )
    builder.image(f"registry.example/{app}:1").priority(pick.choice([0, 0, 10, 10]))
    if pick.random() < 0.5:
        builder.cpu(pick.choice(["0", "300m", "1", "3"]))
    if pick.random() < 0.5:
        builder.memory(pick.choice(["100Mi", "700Mi", "2Gi"]))
    if pick.randint(1, bound) == 1:
        builder.node(pick.choice(["n1", "n2", "n5"]))
    for extra in pick.choices(EXTRAS, k=pick.randint(0, 3)):
        extra(pick, builder)
    return builder.obj()


def _selector(pick: Random) -> dict[str, str]:
    return pick.choice([{"app": "web"}, {"app": "db"}, {"tier": "1"}, {"app": "cache", "tier": "2"}])


def _amounts(pick: Random, pod: Any) -> None:
    pod.request({"example.com/gpu": "1"}).request({"ephemeral-storage": pick.choice(["1Gi", "6Gi"])})
    pod.limit({"example.com/gpu": "1"})


def _init(pick: Random, pod: Any) -> None:
    number = len(pod.manifest["spec"].get("initContainers", ()))
    requests = pick.choice([{"cpu": "100m"}, {"cpu": "2"}, {"memory": "300Mi"}, {"cpu": "1", "memory": "2Gi"}, {}])
    pod.init_container(f"init-{number}", requests, sidecar=pick.random() < 0.5)


def _whole_pod(pick: Random, pod: Any) -> None:
    requests = pick.choice([{"cpu": "3"}, {"memory": "2Gi"}, {"cpu": "3500m", "memory": "2500Mi"}])
    pod.spec(resources={"requests": requests})


def _runtime(pick: Random, pod: Any) -> None:
    pod.spec(runtimeClassName="sandboxed")


def _labels(pick: Random, pod: Any) -> None:
    if pick.random() < 0.5:
        pod.node_selector({"disk": pick.choice(["x", "y"])})
    operator, weight = pick.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]), pick.choice([0, 10, 33])
    values = {"Exists": [], "DoesNotExist": [], "Gt": ["5"], "Lt": ["9"]}.get(operator, ["x"])
    pod.node_affinity(pick.choice(["rack", "disk", ZONE]), values, operator, weight)
    if pick.randint(0, 2) == 0:
        _more_terms(pick, pod)


def _more_terms(pick: Random, pod: Any) -> None:
    """Add required terms: by name, empty, or comparing with an invalid number."""
    affinity = pod.manifest["spec"]["affinity"]["nodeAffinity"].setdefault(REQUIRED, {"nodeSelectorTerms": []})
    named = {"key": "metadata.name", "operator": pick.choice(["In", "NotIn"]), "values": ["n1"]}
    broken = [{"key": "disk", "operator": "Gt", "values": ["many"]}]
    affinity["nodeSelectorTerms"].append(pick.choice([{"matchFields": [named]}, {}, {"matchExpressions": broken}]))


def _tolerations(pick: Random, pod: Any) -> None:
    pod.toleration(
        pick.choice(["dedicated", "other"]),
        pick.choice([None, "gpu"]),
        pick.choice(["", "NoSchedule", "PreferNoSchedule"]),
    )
    if pick.random() < 0.5:
        pod.toleration(pick.choice(["node.kubernetes.io/unschedulable", ""]))


def _port(pick: Random, pod: Any) -> None:
    pod.host_port(pick.choice([80, 81]), pick.choice(["TCP", "TCP", "UDP"]), pick.choice(["", "10.0.0.1", "10.0.0.2"]))


def _spread(pick: Random, pod: Any) -> None:
    when = pick.choice(["DoNotSchedule", "ScheduleAnyway"])
    key = pick.choice(KEYS)
    if any(
        (item["topologyKey"], item["whenUnsatisfiable"]) == (key, when)
        for item in pod.manifest["spec"].get("topologySpreadConstraints", ())
    ):
        return
    more: Data = pick.choice(
        [{}, {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"}, {"matchLabelKeys": ["tier"]}]
    )
    if when == "DoNotSchedule" and pick.random() < 0.5:
        more = {**more, "minDomains": pick.randint(1, 3)}
    pod.spread(key, pick.choice([{"app": "web"}, {"app": "db"}]), pick.randint(1, 2), when, **more)


def _near(pick: Random, pod: Any) -> None:
    pod.affinity(pick.choice(KEYS), _selector(pick), pick.choice([0, 5, 40]))
    _namespaces(pick, pod.manifest["spec"]["affinity"]["podAffinity"])


def _far(pick: Random, pod: Any) -> None:
    pod.anti_affinity(pick.choice(KEYS), _selector(pick), pick.choice([0, 7, 60]))
    _namespaces(pick, pod.manifest["spec"]["affinity"]["podAntiAffinity"])


def _namespaces(pick: Random, side: Data) -> None:
    """Let one of the terms select pods of other namespaces."""
    term = pick.choice(pick.choice([*side.values()]))
    term.get("podAffinityTerm", term).update(pick.choice([{}, {}, {}, *MEANT]))


def _team(pick: Random, pod: Any) -> None:
    pod.manifest["metadata"]["namespace"] = pick.choice(["team-a", "team-b"])


def _claims(pick: Random, pod: Any) -> None:
    held = {item["name"] for item in pod.manifest["spec"].get("volumes", ())}
    for name in pick.sample(list(CLAIMS), pick.randint(1, 2)):
        if name not in held:
            pod.claim(name)


def _disk(pick: Random, pod: Any) -> None:
    disk = pick.choice(
        [
            {"gcePersistentDisk": {"pdName": "shared", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "shared"}},
            {"awsElasticBlockStore": {"volumeID": "vol-1"}},
            {"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": True}},
            {"azureDisk": {"diskName": "d", "diskURI": AZURE_DISK, "kind": "Managed"}},
            {"rbd": {"monitors": ["m1", "m2"], "image": "i"}},
            {"iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2026-01.example:a", "lun": 0}},
        ]
    )
    pod.spec(
        volumes=[
            *pod.manifest["spec"].get("volumes", ()),
            {"name": f"disk-{len(pod.manifest['spec'].get('volumes', ()))}", **disk},
        ]
    )


def _team_is(operator: str, *values: str) -> Data:
    return {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": operator, "values": [*values]}]}}


MEANT = (
    {"namespaces": ["team-a"]},
    {"namespaces": ["default", "team-b"]},
    {"namespaceSelector": {}},
    _team_is("In", "a"),
    _team_is("NotIn", "a"),
    _team_is("DoesNotExist"),
    {"namespaces": ["team-b"], **_team_is("In", "a", "c")},
)
LOCAL = (_amounts, _init, _init, _whole_pod, _runtime, _labels, _tolerations, _port, _claims, _disk)
EXTRAS = (*LOCAL, _spread, _spread, _near, _near, _far, _far, _team)
CLAIMS: dict[str, Data] = {
    "bound-a": {"volumeName": "pv-a"},
    "bound-labelled": {"volumeName": "pv-labelled"},
    "waits": {},
    "waits-large": {"gib": 20},
    "waits-here": {"storageClassName": "zoned"},
    "waits-local": {"storageClassName": "local"},
    "waits-local-large": {"storageClassName": "local", "gib": 3},
    "in-tree": {"volumeName": "pv-in-tree"},
    "waits-in-tree": {"storageClassName": "gp2"},
    "orphan": {"volumeName": "pv-gone"},
    "classless": {"storageClassName": "nowhere"},
    "alone": {"volumeName": "pv-alone", "accessModes": ["ReadWriteOncePod"]},
}


def claim_of(name: str, fields: Data) -> Data:
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


def volume_of(name: str, zone: str = "", labels: dict[str, str] | None = None, **fields: Any) -> Data:
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


def storage_class(name: str, provisioner: str, **more: Any) -> Data:
    mode = {"volumeBindingMode": "WaitForFirstConsumer"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        **mode,
        **more,
    }


def csi_node(name: str, limits: dict[str, int]) -> Data:
    """Return a CSINode. ``limits``: driver → most volumes."""
    drivers = [{"name": driver, "nodeID": name, "allocatable": {"count": most}} for driver, most in limits.items()]
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


def _attachment(volume: str, node: str) -> Data:
    spec = {"attacher": DRIVER, "nodeName": node, "source": {"persistentVolumeName": volume}}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment"}
    return {**kind, "metadata": {"name": f"{volume}-{node}"}, "spec": spec}


def namespace(name: str, **labels: str) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


SERVICE: Data = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]},
}
RUNTIME: Data = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "sandboxed"},
    "handler": "sandboxed",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
}
STORAGE: tuple[Data, ...] = (
    storage_class("wait", DRIVER),
    storage_class("zoned", DRIVER, allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]),
    storage_class("local", "kubernetes.io/no-provisioner"),
    storage_class("gp2", "kubernetes.io/aws-ebs"),
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"storageCapacity": True},
    },
    _capacity("a", 3),
    _capacity("b", 50),
    csi_node("n1", {DRIVER: 1, "pd.csi.storage.gke.io": 1, "disk.csi.azure.com": 0}),
    csi_node("n2", {DRIVER: 2, "ebs.csi.aws.com": 0}),
    volume_of("pv-a", "a"),
    volume_of("pv-labelled", labels={ZONE: "b__a", REGION: "x"}),
    volume_of("pv-alone", accessModes=["ReadWriteOncePod"]),
    volume_of("pv-free", "b"),
    volume_of("pv-in-tree", csi=None, gcePersistentDisk={"pdName": "in-tree"}),
    volume_of("pv-local", "a", storageClassName="local"),
    volume_of("pv-local-small", "a", storageClassName="local", capacity={"storage": "2Gi"}),
    volume_of("pv-local-tiny", storageClassName="local", capacity={"storage": "1Gi"}),
    volume_of("pv-attached"),
    _attachment("pv-attached", "n2"),
    *(claim_of(name, fields) for name, fields in CLAIMS.items()),
    SERVICE,
    RUNTIME,
)


def cluster(seed: int) -> list[commands.Command]:
    """Return the commands for storage, four nodes, three running pods and four waiting ones, then random changes."""
    pick = Random(seed)
    listed = [nodes(pick, name) for name in ("n1", "n2", "n3", "n4")]
    listed += [pods(pick, number, bound=1) for number in (1, 2, 3)]
    listed += [pods(pick, number, bound=9) for number in (4, 5, 6, 7)]
    first = [commands.Apply((item,)) for item in listed]
    after = [step(pick) for step in pick.choices(STEPS, k=pick.randint(0, 20))]
    cycles = [commands.PodCycle()] * pick.randint(0, 8)
    teams = commands.Apply((namespace("team-a", team="a"), namespace("team-b", team="b")))
    return [commands.Apply(STORAGE), teams, *first, *cycles, *after, commands.Run(20)]


def budget_of(pick: Random, name: str) -> Data:
    selector = {"matchLabels": pick.choice([{"app": "web"}, {"app": "db"}, {"tier": "1"}])}
    rule = pick.choice([{"minAvailable": pick.randint(0, 3)}, {"maxUnavailable": pick.randint(0, 2)}])
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    spec = {"selector": selector, **rule}
    status = {"disruptionsAllowed": pick.randint(0, 2), "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    return {**kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec, "status": status}


def crowded(seed: int) -> list[commands.Command]:
    """Return the commands for nodes full of pods of different priorities, budgets, and pods that preempt them."""
    pick = Random(seed)
    names = ("n1", "n2", "n3", "n4")[: pick.randint(1, 4)]
    full = [nodes(pick, name) for name in names]
    low = [
        _with_priority(pods(pick, number, bound=99), pick.randint(-2, 3)) for number in range(1, pick.randint(5, 16))
    ]
    for item in low:
        item["spec"]["nodeName"] = pick.choice(names)
    budgets = [budget_of(pick, name) for name in ("guard", "shield")[: pick.randint(0, 2)]]
    steps: list[commands.Command] = [commands.Apply(STORAGE)]
    for item in (*full, *low, *budgets):
        steps.append(commands.Apply((item,)))
        steps += [commands.Advance(1.0)] * (pick.randint(0, 3) == 0)
    for number in range(21, 21 + pick.randint(2, 5)):
        steps.append(commands.Apply((_with_priority(pods(pick, number, bound=99), pick.randint(2, 5)),)))
        steps += [commands.Stage()] * pick.randint(0, 9)
        steps += [step(pick) for step in pick.choices(STEPS, k=pick.randint(0, 2))]
    return [*steps, commands.Run(20)]


def _with_priority(pod: Data, priority: int) -> Data:
    pod["spec"]["priority"] = priority
    return pod


STEPS: tuple[Callable[[Random], commands.Command], ...] = (
    lambda pick: commands.Apply((pods(pick),)),
    lambda pick: commands.Apply((pods(pick),)),
    lambda pick: commands.Apply((nodes(pick),)),
    lambda pick: commands.Apply((namespace("team-a", team=pick.choice(["a", "c"])),)),
    lambda pick: commands.PodCycle(),
    lambda pick: commands.PodCycle(),
    lambda pick: commands.Stage(),
    lambda pick: commands.Run(20),
    lambda pick: commands.Advance(pick.choice([1.0, 7.0, 40.0])),
    lambda pick: commands.Delete("Pod", f"default/{pick.choice(APPS)}-{pick.randint(1, 4)}"),
    lambda pick: commands.Delete("Node", "n4"),
    lambda pick: commands.Delete("PersistentVolumeClaim", f"default/{pick.choice([*CLAIMS])}"),
    lambda pick: commands.Patch(
        "PersistentVolume", "pv-labelled", {"metadata": {"labels": {ZONE: pick.choice("abc")}}}
    ),
    lambda pick: commands.Apply((csi_node(pick.choice(["n1", "n2"]), {DRIVER: pick.randint(0, 3)}),)),
)


# --- configurations ---------------------------------------------------------------------------------------------------

RATIO = {
    "type": "RequestedToCapacityRatio",
    "resources": [{"name": "cpu", "weight": 3}, {"name": "memory"}, {"name": "example.com/gpu", "weight": 2}],
    "requestedToCapacityRatio": {
        "shape": [{"utilization": 0, "score": 2}, {"utilization": 30, "score": 9}, {"utilization": 100, "score": 0}]
    },
}
MOST = {"type": "MostAllocated", "resources": [{"name": "memory", "weight": 2}, {"name": "ephemeral-storage"}]}
ZONES = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]
ADDED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["7"]}]}]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 9, "preference": {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}}
    ],
}


def configuration(**arguments: dict[str, Any]) -> dict[str, Any]:
    """Return one profile with ``arguments`` (plugin → arguments)."""
    configs = [{"name": name, "args": args} for name, args in arguments.items()]
    profile = {"schedulerName": "default-scheduler", "pluginConfig": configs}
    version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


CONFIGURATIONS: tuple[dict[str, Any] | None, ...] = (
    None,
    configuration(
        NodeResourcesFit={"scoringStrategy": RATIO, "ignoredResources": ["example.com/gpu"]},
        NodeAffinity={"addedAffinity": ADDED},
        InterPodAffinity={"hardPodAffinityWeight": 13, "ignorePreferredTermsOfExistingPods": True},
        PodTopologySpread={"defaultingType": "List", "defaultConstraints": ZONES},
    ),
    configuration(
        NodeResourcesFit={"scoringStrategy": MOST, "ignoredResourceGroups": ["example.com"]},
        NodeResourcesBalancedAllocation={
            "resources": [
                {"name": "cpu"},
                {"name": "memory"},
                {"name": "ephemeral-storage"},
                {"name": "example.com/gpu"},
            ]
        },
    ),
)
