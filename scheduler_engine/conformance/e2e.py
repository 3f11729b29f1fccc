"""Run recorded end-to-end timelines: commands in, placements, queues, nominations, events and conditions out."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod, merge, timestamp
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer, identity
from scheduler_engine.config import load_configuration
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.versions import rules_of
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import CycleFinished, EventRecorded, Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

LANES = ("activeQ", "backoffQ", "errorBackoffQ", "unschedulablePods")
STEPS = 20_000


@dataclass(slots=True)
class Store(ApiServer):
    """The recordings' API store: a bound pod runs at once, and has a start time once the scheduler rests.

    ``starting``: keys of the pods without one, in order of binding.
    """

    starting: list[str] = field(default_factory=list)

    def bind(self, pod_key: str, uid: str, node_name: str) -> None:
        pod = self.pod(pod_key)
        if pod is None or pod.uid != uid or pod.node_name:
            ApiServer.bind(self, pod_key, uid, node_name)
            return
        self.put(merge(pod.manifest, {"spec": {"nodeName": node_name}, "status": {"phase": "Running"}}))
        self.starting.append(pod_key)

    def start(self) -> None:
        """Start the pods bound since the last rest."""
        for key in self.starting:
            pod = self.pod(key)
            if pod is not None and pod.node_name:
                self.put(merge(pod.manifest, running(pod.node_name, self.recorder.now_us)))
        self.starting.clear()


def running(node_name: str, now_us: int) -> dict[str, Any]:
    return {"spec": {"nodeName": node_name}, "status": {"phase": "Running", "startTime": timestamp(now_us)}}


def run(case: dict[str, Any], *, full: bool = False) -> list[str]:
    """Return differences of one recorded timeline, [] if it passes. ``full``: with tables in the trace."""
    timeline = Run(Recorder(full=full), rules_of(case))
    lines: list[str] = []
    for index, (command, expected) in enumerate(zip(case["commands"], case["results"], strict=True)):
        actual = timeline.obey(command)
        expected = {**expected, "events": sorted(expected["events"])}
        name = f"command {index} {command['cmd']}"
        lines += [f"{name}: {line}" for line in differences(expected, actual)]
    return lines


@dataclass(slots=True)
class Run:
    """One scheduler over one store. The clock ticks a microsecond a step, so that no two queue timestamps are equal."""

    recorder: Recorder = field(default_factory=lambda: Recorder(full=False))
    rules: Rules = DEFAULT_RULES
    timeline: Timeline = field(init=False)
    store: Store = field(init=False)
    scheduler: Scheduler = field(init=False)

    def __post_init__(self) -> None:
        self.timeline = Timeline(self.recorder)
        self.store = Store(self.recorder, rules=self.rules)
        configuration = load_configuration(None, self.rules)
        self.scheduler = Scheduler(self.store, self.timeline, self.recorder, Random(0), configuration, rules=self.rules)
        labels = {"kubernetes.io/metadata.name": "default"}
        self.store.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}})
        self.deliver()

    def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        self.timeline.move_to(round(command["t"] * SECOND_US))
        start = len(self.recorder.entries)
        try:
            self._change(command)
        except ApiError as refusal:
            return {"error": refusal.message, **self._results(start), **self.state()}
        self.settle()
        phases = self._let_victims_go()
        result = {**self._results(start), **self.state()}
        return {**result, "phases": phases} if phases else result

    def _change(self, command: dict[str, Any]) -> None:
        kind = command["cmd"]
        if kind == "advance":
            self.scheduler.queue.flush_backoff_q_completed()
            self.scheduler.queue.flush_unschedulable_pods_leftover()
        elif kind == "delete":
            namespace = command.get("namespace")
            key = f"{namespace}/{command['name']}" if namespace else command["name"]
            self.store.remove(command["kind"], key)
        else:
            for manifest in command.get("objects") or [command["object"]]:
                self._put(manifest, kind == "update")

    def _put(self, manifest: dict[str, Any], update: bool) -> None:
        kind, key = identity(manifest)
        old = self.store.get(kind, key)
        if isinstance(old, Pod) and update:
            kept: dict[str, Any] = {"spec": {}, "status": {}}
            if old.node_name:
                kept["spec"] = {"nodeName": old.node_name, **(manifest.get("spec") or {})}
            kept["status"] = manifest.get("status") or old.status
            manifest = merge(manifest, kept)
        elif update and old is None:
            self.store.patch(kind, key, {})
        elif kind == "Pod" and manifest["spec"].get("nodeName"):
            manifest = merge(manifest, running(manifest["spec"]["nodeName"], self.recorder.now_us))
        self.store.put(manifest)
        self.deliver()

    def deliver(self) -> None:
        while self.scheduler.work():
            self._tick()

    def settle(self) -> None:
        """Run the scheduler until it rests."""
        self.deliver()
        for _ in range(STEPS):
            if not self.scheduler.step():
                self.store.start()
                self.deliver()
                return
            self._tick()
            self.deliver()
        raise ValueError(f"the scheduler did not come to rest in {STEPS} steps")

    def _tick(self) -> None:
        self.recorder.now_us += 1

    def _let_victims_go(self) -> list[dict[str, Any]]:
        """Remove terminating pods one at a time, in order of name, with a rest after each."""
        phases: list[dict[str, Any]] = []
        while leaving := sorted(
            pod.key for pod in self.store.list("Pod") if isinstance(pod, Pod) and pod.node_name and pod.terminating
        ):
            phases.append({**self.state(), "thenRemoved": leaving[0]})
            self.store.remove("Pod", leaving[0])
            self.settle()
        return phases

    # --- comparison ---

    def _results(self, start: int) -> dict[str, Any]:
        """Return bindings, victims and events of one command."""
        events, bindings, victims = set(), [], []
        for entry in self.recorder.entries[start:]:
            event = entry.event
            if isinstance(event, EventRecorded):
                events.add((event.regarding, event.type, event.reason, event.message))
                if event.reason == "Preempted":
                    victims.append(event.regarding)
            elif isinstance(event, CycleFinished) and event.outcome == "bound":
                bindings.append(f"{event.pod} -> {event.node}")
        return {
            "bindings": sorted(bindings),
            "deletedByScheduler": sorted(victims),
            "events": [list(event) for event in sorted(events)],
        }

    def state(self) -> dict[str, Any]:
        lanes = self.scheduler.queue.lanes()
        queues = {}
        for lane in LANES:
            queues[lane] = [_queued(info) for info in lanes[lane]]
        queues["unschedulablePods"] += [_queued(info) for info in lanes["gated"]]
        queues["unschedulablePods"].sort(key=lambda pod: str(pod["pod"]))
        nominator = {
            node: sorted(ref.key for ref in refs.values())
            for node, refs in self.scheduler.queue.nominator.nominated_pods.items()
        }
        pods = [_stored(pod) for pod in sorted(self.store.list("Pod"), key=lambda pod: pod.key)]
        state: dict[str, Any] = {"pods": pods, "queues": queues}
        return {**state, "nominator": nominator} if nominator else state


def _queued(info: QueuedPodInfo) -> dict[str, Any]:
    shown: dict[str, Any] = {"pod": info.pod.key}
    if info.unschedulable_plugins:
        shown["unschedulablePlugins"] = sorted(info.unschedulable_plugins)
    if info.pending_plugins:
        shown["pendingPlugins"] = sorted(info.pending_plugins)
    if info.gating_plugin:
        shown["gatingPlugin"] = info.gating_plugin
    return shown


def _stored(pod: KubeObject) -> dict[str, Any]:
    assert isinstance(pod, Pod)
    shown: dict[str, Any] = {"pod": pod.key}
    if pod.node_name:
        shown["node"] = pod.node_name
    else:
        if pod.nominated_node_name:
            shown["nominatedNodeName"] = pod.nominated_node_name
        condition = next((item for item in pod.conditions if item["type"] == "PodScheduled"), None)
        if condition is not None:
            shown["condition"] = {name: condition[name] for name in ("status", "reason", "message")}
    if pod.terminating:
        shown["terminating"] = True
    return shown
