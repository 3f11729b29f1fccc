"""Hand-written traces for the panels: whole small stories of trace events, without the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.commands import COMMANDS
from scheduler_engine.trace import events as ev

SECOND = 1_000_000
GI = 1 << 30
FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
)
SKIPPED = ("NodePorts", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "DynamicResources")
WEIGHTS = (
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodeResourcesFit", 1),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
)
UU = "UnschedulableAndUnresolvable"
U = "Unschedulable"
CPU, MEMORY = "Insufficient cpu", "Insufficient memory"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
CORDONED = "node(s) were unschedulable"
GPU = "node(s) had untolerated taint {dedicated: gpu}"
SKEW = "node(s) didn't match pod topology spread constraints"
ANTI = "node(s) didn't match pod anti-affinity rules"


def node(name: str, zone: str = "", cpu: str = "4", memory: str = "8Gi", **more: Any) -> dict[str, Any]:
    """Return a Node manifest; ``taints`` as (key, value, effect), ``labels``, ``unschedulable``."""
    labels = {
        "kubernetes.io/hostname": name,
        **({"topology.kubernetes.io/zone": zone} if zone else {}),
        **more.get("labels", {}),
    }
    taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in more.get("taints", ())]
    room = {"cpu": cpu, "memory": memory, "pods": more.get("pods", "10"), **more.get("extended", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": more.get("unschedulable", False)},
        "status": {"capacity": room, "allocatable": room},
    }


def pod(
    name: str, cpu: str = "500m", memory: str = "512Mi", priority: int = 0, on: str = "", **spec: Any
) -> dict[str, Any]:
    """Return a Pod manifest in namespace default with label ``app``."""
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": spec.pop("uid", f"uid-{name}"),
        "labels": {"app": spec.pop("app", name.rpartition("-")[0] or name)},
    }
    if spec.pop("terminating", False):
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:40Z", "deletionGracePeriodSeconds": 30}
    requests = {"cpu": cpu, "memory": memory}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "priority": priority,
            "nodeName": on,
            "containers": [{"name": "main", "resources": {"requests": requests}}],
            **spec,
        },
        "status": {},
    }


@dataclass(frozen=True)
class Narrated:
    """A command of which a story needs only the text."""

    kind: str
    summary: str

    @property
    def steps(self) -> bool:
        return COMMANDS[self.kind].steps

    @property
    def traced(self) -> bool:
        return COMMANDS[self.kind].traced


@dataclass
class Story:
    """A recorder with the few verbs that the stories need."""

    recorder: ev.Recorder = field(default_factory=ev.Recorder)
    nodes: dict[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    cycle: int = 0
    generation: int = 100

    @property
    def entries(self) -> list[ev.Entry]:
        return self.recorder.entries

    def say(self, *events: ev.Event) -> None:
        for event in events:
            self.recorder.add(event)

    def at(self, seconds: float) -> Story:
        self.recorder.now_us = round(seconds * SECOND)
        return self

    def command(self, kind: str, words: str) -> None:
        self.recorder.command += 1
        self.say(ev.CommandGiven(self.recorder.command, Narrated(kind, words)))

    def add_node(self, manifest: dict[str, Any]) -> None:
        name = manifest["metadata"]["name"]
        self.nodes[name] = manifest["metadata"]["labels"].get("topology.kubernetes.io/zone", "")
        self.generation += 1
        self.say(ev.ObjectAdded("Node", name, manifest), ev.CacheNodeChanged(name, "added", self.generation))
        self.tree()

    def tree(self) -> None:
        zones: dict[str, list[str]] = {}
        for name, zone in self.nodes.items():
            zones.setdefault(f":\x00:{zone}" if zone else "", []).append(name)
        depth = max((len(names) for names in zones.values()), default=0)
        self.order = tuple(names[i] for i in range(depth) for names in zones.values() if len(names) > i)
        self.say(ev.NodeTreeChanged(tuple((key, tuple(names)) for key, names in zones.items()), self.order))

    def ghost(self, name: str) -> None:
        del self.nodes[name]
        self.generation += 1
        self.say(ev.ObjectDeleted("Node", name), ev.CacheNodeChanged(name, "ghost", self.generation))
        self.tree()

    def add_pod(self, manifest: dict[str, Any], lane: str = "", **move: Any) -> str:
        """Store the pod. A bound one goes to the cache, another to ``lane`` (default activeQ)."""
        key = f"default/{manifest['metadata']['name']}"
        self.say(ev.ObjectAdded("Pod", key, manifest))
        on = manifest["spec"]["nodeName"]
        if on:
            self.cached(key, on, "added")
        else:
            self.move(key, "", lane or "activeQ", "PodAdd", priority=manifest["spec"]["priority"], **move)
        return key

    def cached(self, key: str, node: str, what: str) -> None:
        self.generation += 1
        uid = f"uid-{key.rpartition('/')[2]}"
        self.say(ev.CachePodChanged(key, node, what, uid, ((node, self.generation),)))

    def move(self, key: str, source: str, target: str, cause: str, **more: Any) -> None:
        more.setdefault("timestamp_us", self.recorder.now_us)
        self.say(ev.PodMoved(key, source, target, cause, **more))

    def stage(self, key: str, name: str, note: str, following: str) -> None:
        self.say(ev.StageFinished(self.cycle, key, name, note, following))

    def pop(self, key: str, attempt: int = 1, priority: int = 0, nominated: str = "") -> None:
        self.cycle += 1
        self.say(ev.CycleStarted(self.cycle, key, "default-scheduler", attempt, nominated))
        self.move(key, "activeQ", "inFlight", "Pop", attempts=attempt, priority=priority)
        self.stage(key, "Pop", f"attempt {attempt}", "Snapshot")

    def snapshot(self, key: str, cloned: tuple[str, ...], stop: str = "", rebuilt: tuple[str, ...] = ()) -> None:
        known, rebuilt = len(self.order), rebuilt or ("nodeInfoList",)
        self.say(ev.SnapshotTaken(self.cycle, self.generation, cloned, stop, known, rebuilt, self.order))
        self.stage(key, "Snapshot", f"{len(cloned)} cloned", "PreFilter")

    def pre_filter(self, key: str) -> None:
        verdicts = tuple(
            (name, "Skip" if name in SKIPPED else "Success", ()) for name in FILTERS if name not in FILTERS[:3]
        )
        self.say(ev.PreFilterRan(self.cycle, verdicts, None))
        self.stage(key, "PreFilter", f"{len(SKIPPED)} skip", "Filter")

    def filter(self, key: str, refused: dict[str, tuple[Any, ...]], start: int = 0) -> tuple[str, ...]:
        """Filter. ``refused``: node → (plugin, code, reasons[, nominated pods]); every other node passes."""
        names = [*self.order[start:], *self.order[:start]]
        rows = []
        for name in names:
            plugin, code, reasons, nominated = (*refused[name], ())[:4] if name in refused else ("", "Success", (), ())
            rows.append((name, plugin, code, tuple(reasons), tuple(nominated)))
        feasible = tuple(name for name in names if name not in refused)
        total = len(self.order)
        self.say(ev.FilterRan(self.cycle, FILTERS, SKIPPED, tuple(rows), feasible, total, total, total, start, 0, ""))
        following = "PostFilter" if not feasible else ("SelectHost" if len(feasible) == 1 else "PreScore")
        self.stage(key, "Filter", f"{len(feasible)} of {total} fit", following)
        return feasible

    def unschedulable(self, key: str, refused: dict[str, tuple[Any, ...]], after: str = "") -> str:
        counts: dict[str, int] = {}
        for verdict in refused.values():
            for reason in verdict[2]:
                counts[reason] = counts.get(reason, 0) + 1
        parts = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        message = f"0/{len(self.order)} nodes are available: {parts}."
        plugins = tuple(sorted({verdict[0] for verdict in refused.values()}))
        self.say(ev.PodUnschedulable(self.cycle, key, message, plugins))
        return f"{message} {after}".strip()

    def fail(self, key: str, message: str, plugins: tuple[str, ...], attempts: int, priority: int = 0) -> None:
        self.move(
            key,
            "inFlight",
            "unschedulablePods",
            "ScheduleAttemptFailure",
            unschedulable_plugins=plugins,
            attempts=attempts,
            priority=priority,
        )
        self.say(
            ev.EventRecorded("Pod", key, "Warning", "FailedScheduling", message),
            ev.CycleFinished(self.cycle, key, "unschedulable", "", message),
        )

    def bind(self, key: str, name: str, manifest: dict[str, Any]) -> None:
        """Add the stages from Assume to PostBind."""
        self.cached(key, name, "assumed")
        self.stage(key, "Assume", name, "Reserve")
        for point, following in (
            ("Reserve", "Permit"),
            ("Permit", "PreBind"),
            ("PreBind", "Bind"),
            ("Bind", "PostBind"),
        ):
            verdicts: tuple[ev.Verdict, ...] = (("DefaultBinder", "Success", ()),) if point == "Bind" else ()
            self.say(ev.PluginsRan(self.cycle, point, name, verdicts))
            self.stage(key, point, "", following)
        bound = {**manifest, "spec": {**manifest["spec"], "nodeName": name}}
        self.say(ev.ObjectModified("Pod", key, bound))
        self.cached(key, name, "confirmed")
        self.stage(key, "PostBind", "", "")
        self.say(
            ev.EventRecorded("Pod", key, "Normal", "Scheduled", f"Successfully assigned {key} to {name}"),
            ev.CycleFinished(self.cycle, key, "bound", name, ""),
        )
        self.move(key, "inFlight", "", "Scheduled")

    def quick(self, manifest: dict[str, Any], name: str) -> None:
        """Add a whole attempt with one feasible node."""
        key = self.add_pod(manifest)
        self.pop(key, priority=manifest["spec"]["priority"])
        self.snapshot(key, (name,))
        self.pre_filter(key)
        self.filter(key, {other: ("NodeAffinity", UU, (AFFINITY,)) for other in self.order if other != name})
        self.say(ev.HostSelected(self.cycle, key, name, "only", (name,), None))
        self.stage(key, "SelectHost", name, "Assume")
        self.bind(key, name, manifest)


WEB = {
    "nodeSelector": {"disk": "ssd"},
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ],
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
}


def three_zones() -> Story:
    """Return eight nodes in three zones with pods of many apps, a ghost, a nomination and a terminating pod."""
    story = Story()
    story.command("apply", "open scenario Three zones, one GPU pool")
    ssd = {"labels": {"disk": "ssd"}}
    for manifest in (
        node("node-a1", "eu-a", **ssd),
        node("node-b1", "eu-b", **ssd),
        node("node-c1", "eu-c", **ssd),
        node("node-a2", "eu-a", **ssd),
        node("node-b2", "eu-b", "2", "4Gi", labels={"disk": "hdd"}),
        node("node-c2", "eu-c", **ssd),
        node("node-a3", "eu-a", "8", "16Gi", taints=[("dedicated", "gpu", "NoSchedule")], **ssd),
        node("node-b3", "eu-b", "8", "16Gi", **ssd),
        node("node-c3", "eu-c", **ssd),
    ):
        story.add_node(manifest)
    for manifest in (
        pod("cart-1", "600m", "1Gi", 500, "node-a1"),
        pod("web-1", "1500m", "2Gi", 1000, "node-b1"),
        pod("web-2", "1500m", "2Gi", 1000, "node-c1"),
        pod("api-1", "800m", "1Gi", 100, "node-a1"),
        pod("cache-1", "400m", "1536Mi", 100, "node-a1"),
        pod("batch-1", "1", "1Gi", 0, "node-a1"),
        pod("cart-3", "600m", "1Gi", 500, "node-a2"),
        pod("report-1", "500m", "1Gi", 0, "node-a2"),
        pod("batch-5", "1", "3Gi", 0, "node-a2"),
        pod("cart-2", "500m", "1Gi", 500, "node-c1"),
        pod("cart-4", "700m", "1Gi", 500, "node-c2"),
        pod("batch-3", "1", "2Gi", 0, "node-c2"),
        pod("web-0", "1500m", "2Gi", 1000, "node-a3"),
        pod("ml-1", "4", "8Gi", 200, "node-a3"),
        pod("search-1", "2", "5Gi", 2000, "node-b3"),
        pod("web-3", "1500m", "2Gi", 1000, "node-b3"),
        pod("cache-2", "400m", "1536Mi", 100, "node-b3"),
        pod("batch-4", "1", "1Gi", 0, "node-b3"),
        pod("batch-2", "500m", "512Mi", 0, "node-b2"),
        pod("batch-6", "500m", "1Gi", 0, "node-c3"),
    ):
        story.add_pod(manifest)
    story.at(0.5).quick(pod("api-3", "500m", "512Mi", 100), "node-b2")
    story.at(1.2).quick(pod("cart-7", "100m", "256Mi", 500), "node-b3")
    story.at(2).command("cordon", "cordon node-c2")
    cordoned = node("node-c2", "eu-c", labels={"disk": "ssd"}, unschedulable=True)
    story.generation += 1
    story.say(ev.ObjectModified("Node", "node-c2", cordoned))
    story.say(ev.CacheNodeChanged("node-c2", "updated", story.generation))
    return story


def waiting(story: Story) -> None:
    """Add pods in every lane but in flight."""
    story.at(7.6).command("delete", "remove node-c3")
    story.ghost("node-c3")
    story.say(ev.MoveRequested("NodeDelete", "node-c3", story.cycle, (), ()))
    for name, priority in (("payments-1", 10000), ("api-5", 100), ("batch-11", 0), ("batch-12", 0)):
        story.add_pod(pod(name, "3" if priority > 1000 else "500m", "2Gi", priority))
    story.at(8).add_pod(pod("api-6", priority=100), "backoffQ", attempts=1, backoff_until_us=9 * SECOND)
    story.at(10).move(
        "default/api-6", "backoffQ", "activeQ", "BackoffComplete", priority=100, attempts=1, timestamp_us=8 * SECOND
    )
    for name, priority, since, until in (
        ("search-2", 2000, 7.5, 15),
        ("cart-5", 500, 12, 14),
        ("batch-9", 0, 11, 15),
    ):
        cpu = "2" if name == "search-2" else "500m"
        story.add_pod(
            pod(name, cpu, "2Gi", priority),
            "backoffQ",
            attempts=4,
            timestamp_us=round(since * SECOND),
            backoff_until_us=round(until * SECOND),
        )
    story.say(ev.NominationChanged("default/search-2", "node-a2"))
    story.at(4).add_pod(
        pod("ml-2", "4", "8Gi", 200), "unschedulablePods", attempts=2, unschedulable_plugins=("NodeResourcesFit",)
    )
    story.at(1).add_pod(pod("report-2"), "unschedulablePods", attempts=1, unschedulable_plugins=("VolumeBinding",))
    story.add_pod(
        pod("migrate-1", schedulingGates=[{"name": "example.com/quota"}]), "gated", gating_plugin="SchedulingGates"
    )
    story.at(0.4).say(
        ev.ObjectModified("Pod", "default/batch-5", pod("batch-5", "1", "3Gi", 0, "node-a2", terminating=True))
    )


WEB_REFUSED: dict[str, tuple[Any, ...]] = {
    "node-a1": ("NodeResourcesFit", U, (CPU,)),
    "node-b1": ("PodTopologySpread", U, (SKEW,)),
    "node-c1": ("InterPodAffinity", U, (ANTI,)),
    "node-a2": ("NodeResourcesFit", U, (CPU, MEMORY), ("default/search-2",)),
    "node-b2": ("NodeAffinity", UU, (AFFINITY,)),
    "node-c2": ("NodeUnschedulable", UU, (CORDONED,)),
    "node-a3": ("TaintToleration", UU, (GPU,)),
    "node-b3": ("PodTopologySpread", U, (SKEW,)),
}


def web_at_filter() -> Story:
    """Return a story: web-4 in its third attempt has just been filtered, and none of 8 nodes fits."""
    story = three_zones()
    web = pod("web-4", "1500m", "2Gi", 1000, **WEB)
    key = story.at(2).add_pod(web)
    for attempt, when in ((1, 2.0), (2, 8.1)):
        story.at(when).command("pod", "schedule one pod")
        story.pop(key, attempt, 1000)
        story.snapshot(key, story.order[:2], story.order[2])
        story.pre_filter(key)
        story.filter(
            key, WEB_REFUSED | ({} if "node-c3" not in story.order else {"node-c3": ("NodeResourcesFit", U, (CPU,))})
        )
        story.fail(key, story.unschedulable(key, WEB_REFUSED), ("NodeResourcesFit", "PodTopologySpread"), attempt, 1000)
        if attempt == 1:
            waiting(story)
    story.at(11.6)
    api = pod("api-2", "500m", "512Mi", 100)
    other = story.add_pod(api)
    story.pop(other)
    story.snapshot(other, ("node-b1",), "node-a1")
    story.pre_filter(other)
    story.filter(other, {name: WEB_REFUSED["node-b2"] for name in story.order if name != "node-b1"})
    story.say(ev.HostSelected(story.cycle, other, "node-b1", "only", ("node-b1",), None))
    story.cached(other, "node-b1", "assumed")
    story.stage(other, "Assume", "node-b1", "Reserve")
    story.move(
        key,
        "unschedulablePods",
        "activeQ",
        "NodeUpdate",
        plugin="NodeResourcesFit",
        hint="Queue",
        priority=1000,
        attempts=2,
    )
    story.at(12.1).command("apply", "add payments-1")
    story.at(12.4).command("stage", "one stage")
    story.pop(key, 3, 1000)
    story.command("stage", "one stage")
    story.snapshot(key, ("node-b1", "node-a1"), "node-b3", ("havePodsWithAffinityNodeInfoList", "usedPVCSet"))
    story.command("stage", "one stage")
    story.pre_filter(key)
    story.command("stage", "one stage")
    story.filter(key, WEB_REFUSED)
    story.unschedulable(key, WEB_REFUSED)
    return story


RAW: dict[str, tuple[int, ...]] = {
    "node-b3": (0, 50, 36, 2, 10, 95, 12),
    "node-c1": (0, 50, 43, 0, 0, 93, 0),
    "node-b1": (0, 50, 56, 2, 0, 93, 12),
    "node-a1": (1, 50, 24, 2, 10, 93, 12),
    "node-b2": (0, 0, 37, 2, 0, 87, 12),
}
NORMAL: dict[str, tuple[int, ...]] = {
    "node-b3": (100, 100, 36, 0, 100, 95, 12),
    "node-c1": (100, 100, 43, 100, 0, 93, 0),
    "node-b1": (100, 100, 56, 0, 0, 93, 12),
    "node-a1": (0, 100, 24, 0, 100, 93, 12),
    "node-b2": (100, 0, 37, 0, 0, 87, 12),
}


def score(
    story: Story, key: str, raw: dict[str, tuple[int, ...]], normal: dict[str, tuple[int, ...]], winner: str, how: str
) -> None:
    """Add PreScore to SelectHost."""
    story.say(ev.PreScoreRan(story.cycle, tuple((name, "Success", ()) for name, _ in WEIGHTS)))
    story.stage(key, "PreScore", "0 skip", "Score")
    columns = tuple((name, tuple((who, raw[who][i]) for who in raw)) for i, (name, _) in enumerate(WEIGHTS))
    story.say(ev.ScoreRan(story.cycle, WEIGHTS, columns))
    story.stage(key, "Score", f"{len(WEIGHTS)} plugins", "NormalizeScore")
    normalized = tuple((name, tuple((who, normal[who][i]) for who in normal)) for i, (name, _) in enumerate(WEIGHTS))
    weighted = tuple(
        (name, tuple((who, normal[who][i] * weight) for who in normal)) for i, (name, weight) in enumerate(WEIGHTS)
    )
    totals = {
        who: sum(value * weight for value, (_, weight) in zip(normal[who], WEIGHTS, strict=True)) for who in normal
    }
    story.say(ev.NormalizeRan(story.cycle, normalized, weighted, tuple(totals.items())))
    story.stage(key, "NormalizeScore", "0 to 100", "SelectHost")
    ties = tuple(who for who, total in totals.items() if total == max(totals.values()))
    story.say(ev.HostSelected(story.cycle, key, winner, how, ties, totals[winner]))
    story.stage(key, "SelectHost", winner, "Assume")


def api_scored() -> Story:
    """Return a story: api-4 fits five nodes; node-b3 wins with 843, 7 ahead of node-c1."""
    story = three_zones()
    waiting(story)
    key = story.at(10.4).add_pod(pod("api-4", "500m", "1Gi", 100))
    story.command("pod", "schedule one pod")
    story.pop(key)
    story.snapshot(key, ("node-b3",), "node-a1")
    story.pre_filter(key)
    story.filter(key, {name: WEB_REFUSED[name] for name in ("node-a2", "node-c2", "node-a3")})
    score(story, key, RAW, NORMAL, "node-b3", "highest")
    return story


def tied() -> Story:
    """Return two equal nodes; the draw picks the second."""
    story = Story()
    story.command("apply", "add 2 nodes")
    for name in ("twin-1", "twin-2"):
        story.add_node(node(name))
    key = story.add_pod(pod("lone"))
    story.pop(key)
    story.snapshot(key, ("twin-2", "twin-1"))
    story.pre_filter(key)
    story.filter(key, {})
    same = dict.fromkeys(("twin-1", "twin-2"), (0, 0, 80, 0, 0, 100, 0))
    score(story, key, same, {name: (100, *row[1:]) for name, row in same.items()}, "twin-2", "draw")
    return story


PAYMENT_VICTIMS: dict[str, tuple[str, ...]] = {
    "node-a1": ("api-1", "batch-1"),
    "node-b1": ("api-2", "batch-7"),
    "node-c1": ("cart-2", "batch-10"),
    "node-a2": ("web-5",),
    "node-b3": ("api-4", "batch-4", "batch-12"),
}


def payments_preempts() -> Story:
    """Return a story: payments-1 fits nowhere; of five candidates node-b1 is chosen, and api-2 and batch-7 must go."""
    story = three_zones()
    web = "default/web-1"
    story.say(ev.ObjectDeleted("Pod", web))
    story.cached(web, "node-b1", "removed")
    for manifest in (
        pod("api-2", "600m", "512Mi", 100, "node-b1"),
        pod("batch-7", "900m", "512Mi", 0, "node-b1"),
        pod("batch-8", "300m", "512Mi", 0, "node-b1"),
        pod("cart-5", "500m", "1Gi", 500, "node-b1"),
        pod("web-5", "1500m", "2Gi", 1000, "node-a2"),
        pod("batch-10", "700m", "1Gi", 0, "node-c1"),
        pod("api-4", "500m", "1Gi", 100, "node-b3"),
        pod("batch-12", "1", "1Gi", 0, "node-b3"),
    ):
        story.add_pod(manifest)
    story.at(28).command("apply", "add payments-1")
    key = story.add_pod(pod("payments-1", "3", "2Gi", 10000))
    story.at(28.6).command("pod", "schedule one pod")
    story.pop(key, 1, 10000)
    story.snapshot(key, ("node-b1", "node-c1", "node-a2"), "node-b3")
    story.pre_filter(key)
    refused: dict[str, tuple[Any, ...]] = dict.fromkeys(story.order, ("NodeResourcesFit", U, (CPU,)))
    refused |= {
        "node-c2": WEB_REFUSED["node-c2"],
        "node-a3": WEB_REFUSED["node-a3"],
        "node-b2": ("NodeResourcesFit", UU, (CPU,)),
    }
    story.filter(key, refused)
    story.unschedulable(key, refused)
    dry_run(story)
    ladder(story)
    victims = ("default/api-2", "default/batch-7")
    story.say(ev.PostFilterRan(story.cycle, (("DefaultPreemption", "Success", ()),), "node-b1", victims, (), ()))
    story.stage(key, "PostFilter", "nominates node-b1", "")
    story.say(
        ev.NominationChanged(key, "node-b1"),
        ev.CycleFinished(story.cycle, key, "nominated", "node-b1", story.unschedulable(key, refused)),
    )
    story.move(
        key, "inFlight", "backoffQ", "ScheduleAttemptFailure", priority=10000, attempts=1, backoff_until_us=30 * SECOND
    )
    return story


def dry_run(story: Story) -> None:
    on_b1 = (("cart-5", True, ""), ("api-2", False, CPU), ("batch-7", False, CPU), ("batch-8", True, ""))
    for name in PAYMENT_VICTIMS:
        victims = tuple(f"default/{short}" for short in PAYMENT_VICTIMS[name])
        back = on_b1 if name == "node-b1" else tuple((short, False, CPU) for short in PAYMENT_VICTIMS[name])
        steps = [("remove", f"default/{short}", True, "") for short, _, _ in reversed(back)]
        steps.append(("fits", "", True, ""))
        steps += [("reprieve", f"default/{short}", kept, reason) for short, kept, reason in back]
        violating = ("default/cart-2",) if name == "node-c1" else ()
        story.say(ev.PreemptionNodeTried(story.cycle, name, tuple(steps), violating, victims, len(violating), ""))


def ladder(story: Story) -> None:
    """Compare: fewest violations, lowest highest priority, smallest sum, fewest victims, latest start."""
    big = 1 << 31
    rungs = (
        (
            "fewest PodDisruptionBudget violations",
            {"node-b1": "0", "node-a1": "0", "node-b3": "0", "node-a2": "0", "node-c1": "1"},
            ("node-c1",),
        ),
        (
            "lowest priority of the most important victim",
            {"node-b1": "100", "node-a1": "100", "node-b3": "100", "node-a2": "1000"},
            ("node-a2",),
        ),
        (
            "smallest sum of the victims' priorities",
            {"node-b1": str(100 + 2 * big), "node-a1": str(100 + 2 * big), "node-b3": str(100 + 3 * big)},
            ("node-b3",),
        ),
        ("fewest victims", {"node-b1": "2", "node-a1": "2"}, ()),
        ("latest start of the most important victims", {"node-b1": "00:11.8", "node-a1": "00:02.0"}, ("node-a1",)),
    )
    for criterion, values, fallen in rungs:
        survivors = tuple(name for name in values if name not in fallen)
        story.say(ev.PreemptionCriterionApplied(story.cycle, criterion, tuple(values.items()), survivors, fallen))


def empty() -> Story:
    return Story()


def hundred(count: int = 100) -> Story:
    """Return many nodes in three zones and a pod at Filter."""
    story = Story()
    story.command("apply", f"add {count} nodes")
    zones = ("eu-a", "eu-b", "eu-c")
    for index in range(count):
        name, zone = f"{zones[index % 3][-1]}{index // 3 + 1:02}", zones[index % 3]
        gpu = [("dedicated", "gpu", "NoSchedule")] if index % 11 == 0 else []
        big = ("8", "32Gi") if index % 4 == 0 else ("4", "16Gi")
        manifest = node(name, zone, *big, taints=gpu, labels={"disk": "ssd"})
        story.nodes[name] = zone
        story.generation += 1
        story.say(ev.ObjectAdded("Node", name, manifest), ev.CacheNodeChanged(name, "added", story.generation))
    story.tree()
    for index, name in enumerate(story.order):
        for copy in range(index % 5):
            story.add_pod(
                pod(f"{('batch', 'api', 'cache', 'web')[copy % 4]}-{index}{copy}", "900m", "2Gi", 100 * copy, name)
            )
    for number in range(30, 42):
        story.add_pod(pod(f"web-{number}", "1500m", "2Gi", 1000))
    story.at(41).command("stage", "one stage")
    key = story.add_pod(pod("web-29", "1500m", "2Gi", 1000, **WEB))
    story.pop(key, 1, 1000)
    story.snapshot(key, story.order[:1], story.order[1])
    story.pre_filter(key)
    refused: dict[str, tuple[Any, ...]] = {}
    for index, name in enumerate(story.order):
        if index % 11 == 0:
            refused[name] = ("TaintToleration", UU, (GPU,))
        elif index % 5 > 2:
            refused[name] = ("NodeResourcesFit", U, (CPU,))
        elif name.startswith("b"):
            refused[name] = ("PodTopologySpread", U, (SKEW,))
    story.filter(key, refused)
    return story


def long_names() -> Story:
    """Return names as long as Kubernetes allows, and a label value with markup."""
    story = Story()
    story.command("apply", "add long names")
    long = "ip-10-0-113-254-with-a-really-long-suffix.eu-central-1.compute.internal.example"
    story.add_node(
        node(
            long,
            "europe-central-availability-zone-number-one",
            taints=[("example.com/" + "t" * 40, "v" * 40, "NoSchedule")],
        )
    )
    story.add_node(node("<b>bold</b>", "eu-b"))
    key = story.add_pod(
        pod("a-deployment-with-a-rather-long-name-" + "x" * 40 + "-7c9f8d6b5-abcde", priority=1_000_000_000)
    )
    story.pop(key)
    story.snapshot(key, story.order)
    story.pre_filter(key)
    story.filter(
        key, dict.fromkeys(story.order, ("NodeResourcesFit", U, ("Insufficient example.com/very-special-device",)))
    )
    return story


STORIES = {
    "web_at_filter": web_at_filter,
    "api_scored": api_scored,
    "payments_preempts": payments_preempts,
    "tied": tied,
    "empty": empty,
    "hundred": hundred,
    "long_names": long_names,
}
