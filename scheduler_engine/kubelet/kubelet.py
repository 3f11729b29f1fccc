"""The kubelets, as far as the rest of the cluster sees them: bound pods start and end.

Source: seed 002 §9 (graceful termination of victims), §10 and §11; upstream ``pkg/kubelet``. They learn of pods and
nodes through a watch and write status to the API server. The kubelet of an unreachable node does nothing; due actions
wait until it is back. Durations and resource usage are simulated (``api/simulated.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.objects import Node, Pod, timestamp
from scheduler_engine.api.simulated import DURATION, READY, START_DELAY, seconds_us
from scheduler_engine.apiserver import lifecycle
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, all_of
from scheduler_engine.config.kubelet import default_configuration
from scheduler_engine.kubelet.accepted import Accepted
from scheduler_engine.kubelet.admission import Refusal, Victims, admit
from scheduler_engine.kubelet.eviction import EvictionManager
from scheduler_engine.kubelet.node import NodeAgent, concerns_agent, ended_conditions, is_silent
from scheduler_engine.sharing import Table
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import EventRecorded, PodRejected

JOB_DURATION_US = 10 * SECOND_US
"""How long a pod of a Job runs by default."""
SUCCESS = 0
"""The exit code of every container here."""


@dataclass(slots=True)
class MakingRoom:
    """A critical pod, by key and uid, for which ``victims`` (key, uid) end on its node, one after the other.

    ``ending``: uid of the current victim; ``behind``: uid → key of pods that came to the node in the meantime.
    """

    key: str
    uid: str
    victims: list[tuple[str, str]]
    ending: str = ""
    behind: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Kubelet:
    """The kubelets of all nodes together.

    ``timers``: uid of a pod → (what comes next: start, complete or stop; number of the timer, 0 = it fell due while
    the kubelet was silent); ``running``: nodes whose kubelets run; ``agents``: node → the agent for the node itself, as
    soon as there is anything for it to do; ``rooms``: node → the critical pod for which others are ending there;
    ``accepted``: the pods that are already on each node.
    """

    WANTS: ClassVar[Wants] = all_of("Node", "Pod")

    api: ApiServer
    timeline: Timeline
    watch: Watch
    timers: Table[str, tuple[str, int]] = field(default_factory=Table)
    running: Table[str, None] = field(default_factory=Table)
    agents: dict[str, NodeAgent] = field(default_factory=dict)
    rooms: dict[str, MakingRoom] = field(default_factory=dict)
    accepted: Accepted = field(default_factory=Accepted)

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Node":
            self._node_changed(event)
        elif event.kind == "Pod":
            self._pod_changed(event)
        return True

    def _node_changed(self, event: WatchEvent) -> None:
        name = event.key
        node = self.api.get("Node", name)
        if not isinstance(node, Node):
            self.rooms.pop(name, None)
            self.running.pop(name, None)
            self.accepted.forget(name)
            agent = self.agents.pop(name, None)
            if agent is not None:
                agent.stop()
            return
        self.running[name] = None
        if name in self.agents or concerns_agent(node):
            self._agent(name).node_changed(node)
        before = event.old if isinstance(event.old, Node) else None
        if before is None or before.ready_status != node.ready_status:
            for pod in self.api.pods_on(name):
                self._sync(pod, node)

    def _agent(self, node: str) -> NodeAgent:
        if node not in self.agents:
            self.agents[node] = NodeAgent(self.api, self.timeline, node, EvictionManager(default_configuration()))
        return self.agents[node]

    def _pod_changed(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if isinstance(old, Pod) and (new is None or new.uid != old.uid):
            self._forget(old.uid)
        for item in (old, new):
            if isinstance(item, Pod) and item.node_name in self.rooms:
                self._make_room(item.node_name)
        pod = self.api.pod(new.key) if new is not None else None
        node = self.api.get("Node", pod.node_name) if pod is not None and pod.node_name else None
        if pod is None or not isinstance(node, Node):
            return
        if node.name in self.running and concerns_agent(pod):
            self._agent(node.name).wake(pod)
        self._sync(pod, node)

    def _sync(self, pod: Pod, node: Node) -> None:
        """Do a pod's next action, or set a timer for it."""
        if is_silent(node):
            return
        if pod.terminating and pod.finished:
            self._forget(pod.uid)
            self.api.remove("Pod", pod.key)
        elif pod.terminating:
            self._soon(pod, "stop", (pod.metadata.get("deletionGracePeriodSeconds") or 0) * SECOND_US)
        elif pod.finished:
            self._forget(pod.uid)
        elif pod.phase == "Running":
            self._report_readiness(pod, node)
            duration_us = duration_of(pod)
            if duration_us is not None:
                self._soon(pod, "complete", duration_us)
        elif pod.start_time_us is not None or self._admits(pod, node):
            delay_us = seconds_us(pod.annotations, START_DELAY, 0)
            if delay_us:
                if pod.start_time_us is None:
                    self._write(pod, startTime=timestamp(self.timeline.now_us))
                self._soon(pod, "start", delay_us)
            else:
                self._start(pod, node)

    # --- actions on a pod ---

    def _admits(self, pod: Pod, node: Node) -> bool:
        """Return True if the kubelet accepts a new pod; else the pod fails, or waits until others have ended.

        While others end for one, the kubelet checks no other new pod.
        """
        room = self.rooms.get(node.name)
        if room is not None:
            room.behind.update({pod.uid: pod.key} if pod.uid != room.uid else {})
            return False
        there = self.accepted.beside(pod, node, self.api.pod_index.unfinished_on.get(node.name, {}))
        answer = admit(pod, node, there, self.api.rules)
        if isinstance(answer, Refusal):
            self._reject(pod, node, answer)
        elif isinstance(answer, Victims):
            victims = [(victim.key, victim.uid) for victim in answer.pods]
            self.rooms[node.name] = MakingRoom(pod.key, pod.uid, victims)
            self._make_room(node.name)
        return answer is None

    def _make_room(self, node: str) -> None:
        """End the next victim after the previous one has ended; after the last, handle the waiting pods."""
        room = self.rooms[node]
        while room.victims:
            key, uid = room.victims[0]
            victim = self.api.pod(key)
            if victim is not None and victim.uid == uid and not victim.finished:
                if room.ending != uid:
                    room.ending = uid
                    self._agent(node).preempt(victim)
                return
            room.victims.pop(0)
        del self.rooms[node]
        for uid, key in {room.uid: room.key, **room.behind}.items():
            pod, held = self.api.pod(key), self.api.get("Node", node)
            if pod is not None and pod.uid == uid and isinstance(held, Node):
                self._sync(pod, held)

    def _reject(self, pod: Pod, node: Node, refusal: Refusal) -> None:
        self.api.recorder.add(PodRejected(node.name, pod.key, refusal.reason, refusal.message))
        self.api.recorder.add(EventRecorded("Pod", pod.key, "Warning", refusal.reason, refusal.message))
        self._write(pod, phase="Failed", reason=refusal.reason, message=refusal.status_message)

    def _start(self, pod: Pod, node: Node) -> None:
        started = pod.status.get("startTime") or timestamp(self.timeline.now_us)
        self._write(pod, phase="Running", startTime=started, conditions=self._readiness(pod, node))

    def _report_readiness(self, pod: Pod, node: Node) -> None:
        self._write(pod, conditions=self._readiness(pod, node))

    def _readiness(self, pod: Pod, node: Node) -> list[dict[str, Any]]:
        """Return the pod's conditions with the current Ready."""
        node_ready = node.ready_status == "True"
        status = "True" if pod.annotations.get(READY) != "false" and node_ready else "False"
        if pod.condition_status("Ready") == status:
            return pod.conditions
        reason = "ContainersNotReady" if status == "False" and node_ready else ""
        return condition_set(pod.conditions, self.timeline.now_us, "Ready", status, reason)

    def _soon(self, pod: Pod, what: str, delay_us: int) -> None:
        """Set the timer for the next action, unless it is set."""
        held = self.timers.get(pod.uid)
        if held is not None and held[0] == what:
            if not held[1]:
                self.due(what, pod.key, pod.uid)
            return
        self._forget(pod.uid)
        self.timers[pod.uid] = what, self.timeline.after(delay_us, self.due, what, pod.key, pod.uid)

    def due(self, what: str, pod_key: str, uid: str) -> None:
        """Start a pod, complete it or end it: its time has come."""
        self.timers.pop(uid, None)
        pod = self.api.pod(pod_key)
        node = self.api.get("Node", pod.node_name) if pod is not None else None
        if pod is None or pod.uid != uid:
            return
        if isinstance(node, Node) and is_silent(node):
            self.timers[uid] = what, 0
            return
        if what == "stop":
            self._stop(pod)
        elif pod.finished or not isinstance(node, Node):
            return
        elif what == "start":
            self._start(pod, node)
        else:
            self._write(pod, phase="Succeeded", conditions=ended_conditions(pod, self.timeline.now_us, "PodCompleted"))

    def _stop(self, pod: Pod) -> None:
        """Stop a pod. If finalizers hold it, it stays, finished; its containers stopped when asked to."""
        if lifecycle.held_back(pod.manifest) and not pod.finished:
            self._write(pod, phase="Succeeded", conditions=ended_conditions(pod, self.timeline.now_us, "PodCompleted"))
        self.api.remove("Pod", pod.key)

    def _forget(self, uid: str) -> None:
        held = self.timers.pop(uid, None)
        if held is not None:
            self.timeline.cancel(held[1])

    def _write(self, pod: Pod, **status: Any) -> None:
        observed = {"observedGeneration": pod.metadata.get("generation")}
        self.api.patch("Pod", pod.key, {"status": {**observed, **status}})


def starts_again(container: Mapping[str, Any], policy: str) -> bool:
    """Return True if a container is restarted after it has succeeded. ``policy``: that of its pod.

    Source: upstream ``pkg/api/v1/pod/util.go`` (ContainerShouldRestart).
    """
    own = container.get("restartPolicy")
    for rule in container.get("restartPolicyRules") or () if own else ():
        codes = rule.get("exitCodes") or {}
        if (SUCCESS in (codes.get("values") or ())) == (codes.get("operator") == "In"):
            return True
    return (own or policy) == "Always"


def duration_of(pod: Pod) -> int | None:
    """Return how long a pod runs until it succeeds, in microseconds; None = until someone ends it."""
    if any(starts_again(item, pod.spec.get("restartPolicy", "Always")) for item in pod.containers or ({},)):
        return None
    owner = pod.controller_ref
    if DURATION not in pod.annotations and (owner is None or owner.get("kind") != "Job"):
        return None
    return seconds_us(pod.annotations, DURATION, JOB_DURATION_US)
