"""The simulated cluster: API server, schedulers, controllers and kubelets on one clock, and the order of events.

The whole object is plain data: ``copy.deepcopy`` and ``pickle`` give a cluster that continues identically, even in the
middle of a cycle. Source: design of the sandbox; seed 000–004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine import commands, own_plugins
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.validation import check_update
from scheduler_engine.apiserver.admission import system_priority_classes
from scheduler_engine.apiserver.apply import applied_over
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer, identity
from scheduler_engine.config import load_configuration
from scheduler_engine.config.types import Configuration
from scheduler_engine.controllers.daemonset import DaemonSetController
from scheduler_engine.controllers.deployment import DeploymentController
from scheduler_engine.controllers.disruption import DisruptionController
from scheduler_engine.controllers.drain import Drainer
from scheduler_engine.controllers.ephemeral_volume import EphemeralVolumeController
from scheduler_engine.controllers.garbage_collector import GarbageCollector
from scheduler_engine.controllers.job import JobController
from scheduler_engine.controllers.namespace import NamespaceController
from scheduler_engine.controllers.node_lifecycle import NodeLifecycleController
from scheduler_engine.controllers.persistent_volume import PersistentVolumeController
from scheduler_engine.controllers.pod_gc import PodGarbageCollector
from scheduler_engine.controllers.pod_group import PodGroupController
from scheduler_engine.controllers.provisioner import Provisioner
from scheduler_engine.controllers.replicaset import ReplicaSetController, ReplicationManager
from scheduler_engine.controllers.resource_claim import ResourceClaimController
from scheduler_engine.controllers.sizes import size_problem
from scheduler_engine.controllers.statefulset import StatefulSetController
from scheduler_engine.controllers.taint_eviction import TaintEvictionController
from scheduler_engine.controllers.workload import WorkloadController
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.kubelet import Kubelet
from scheduler_engine.replicas import Replicas
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import ObjectApplied, Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

POD_LEVEL_STATUS = ("resources", "allocatedResources")
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
WORKLOAD_CONTROLLERS = (
    ReplicaSetController,
    ReplicationManager,
    StatefulSetController,
    DaemonSetController,
    JobController,
    DeploymentController,
)
"""Replica sets before their deployments, which read their status."""


class Ended(Exception):
    """A command has reached its planned end."""


class Cluster:
    """``seed`` decides draws among equal nodes; ``configuration`` is a KubeSchedulerConfiguration as a mapping, None =
    default. ``full``: record every verdict and score; ``queue_rules``: ``v1.34`` or ``design-doc`` (as in seed 000).
    ``allow_privileged``: accept privileged containers. ``priority_numbers``: a pod may set only a number. ``rules``:
    those of the version of Kubernetes. ``plugins``: somebody's own, which a configuration may name. ``extenders``:
    the way to extenders. ``until``: stop the
    running command after this many of its trace entries, 0 = do not stop. ``is_new``: the running command was never
    accepted before. ``workers``: everybody who reads watch events, in their turns. A stage of a scheduler makes work
    for others only by writing.
    """

    def __init__(
        self,
        seed: int,
        configuration: Mapping[str, Any] | None,
        full: bool,
        queue_rules: str,
        allow_privileged: bool = True,
        priority_numbers: bool = True,
        rules: Rules = DEFAULT_RULES,
        plugins: Sequence[type[Plugin]] = (),
        extenders: ExtenderCalls = NO_CALLS,
    ) -> None:
        """Raises Rejected when the configuration or a plugin is wrong."""
        self.seed, self.allow_privileged, self.rules = seed, allow_privileged, rules
        self.plugins = own_plugins.checked(plugins)
        self.extenders = extenders.rewound()
        self.recorder = Recorder(full)
        self.timeline = Timeline(self.recorder)
        self.api = ApiServer(self.recorder, priority_numbers=priority_numbers, rules=rules)
        loaded = self._loaded(configuration, rules)
        self.replicas = Replicas(self.api, self.timeline, self.recorder, seed, loaded, queue_rules, rules)
        self.kubelet = Kubelet(self.api, self.timeline, self.api.watch(Kubelet.WANTS))
        self.drainer = Drainer(self.api, self.timeline, self.api.watch(Drainer.WANTS))
        self.controllers = (
            NodeLifecycleController(self.api, self.timeline, self.api.watch(NodeLifecycleController.WANTS)),
            TaintEvictionController(self.api, self.timeline, self.api.watch(TaintEvictionController.WANTS)),
            PersistentVolumeController(self.api, self.api.watch(PersistentVolumeController.WANTS)),
            Provisioner(self.api, self.timeline, self.api.watch(Provisioner.WANTS)),
            EphemeralVolumeController(self.api, self.api.watch(EphemeralVolumeController.WANTS)),
            ResourceClaimController(self.api, self.api.watch(ResourceClaimController.WANTS)),
            GarbageCollector(self.api, self.api.watch(GarbageCollector.WANTS)),
            NamespaceController(self.api, self.api.watch(NamespaceController.WANTS)),
            PodGarbageCollector(self.api, self.timeline, self.api.watch(PodGarbageCollector.WANTS)),
            *(
                controller(self.api, self.timeline, self.api.watch(controller.WANTS))
                for controller in WORKLOAD_CONTROLLERS
            ),
            DisruptionController(self.api, self.timeline, self.api.watch(DisruptionController.WANTS)),
            PodGroupController(self.api, self.timeline, self.api.watch(PodGroupController.WANTS)),
            self.drainer,
        )
        self.workers = (self.replicas, self.kubelet, *self.controllers)
        self.delivers = True
        for turn, worker in enumerate((self.kubelet, *self.controllers), 1):
            worker.watch.turn = turn
        for name in NAMESPACES:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.api.create(set_defaults(namespace))
        for manifest in system_priority_classes():
            self.api.put(set_defaults(manifest))
        self.until, self.is_new = 0, False
        self.deliver()
        self.recorder.rest()

    @property
    def now_us(self) -> int:
        """Return the simulated time in microseconds."""
        return self.recorder.now_us

    @property
    def scheduler(self) -> Scheduler:
        """Return the one that leads; of several the first; if none does, the last that did, which is gone."""
        return self.replicas.scheduler

    def patience_us(self) -> int:
        """Return how much time one command may let pass now."""
        most_us, longest_us = self.replicas.patience_us(), commands.MAX_ADVANCE_SECONDS * SECOND_US
        return longest_us if most_us is None else min(most_us, longest_us)

    def is_replaced_later(self, key: str) -> bool:
        """Return True if a pod is being deleted and its controller makes another one only once it is gone."""
        pod = self.api.pod(key)
        reference = pod.controller_ref if pod is not None and pod.terminating else None
        if pod is None or reference is None:
            return False
        owner = self.api.get(reference["kind"], f"{pod.namespace}/{reference['name']}")
        if owner is None or owner.uid != reference["uid"] or owner.terminating:
            return False
        return any(
            controller.replaces_later(owner, pod)
            for controller in self.controllers
            if isinstance(controller, WorkloadController) and owner.kind == controller.KIND
        )

    def configure(self, configuration: Mapping[str, Any] | str | None, rules: Rules) -> None:
        """Let the API server and all schedulers follow ``rules``, and the schedulers use this configuration.

        Raises Rejected when the configuration is wrong under these rules; then nothing has changed.
        """
        loaded = self._loaded(configuration, rules)
        changed = rules != self.rules
        if changed:
            self._look_again()
        self.rules = self.api.rules = rules
        self.replicas.configure(loaded, rules)
        if changed and not rules.resizes_pod_level:
            self._forget_pod_level_statuses()

    def _forget_pod_level_statuses(self) -> None:
        """Remove the resources of whole pods from their status, as kubelets do that cannot resize them."""
        for pod in self.api.list("Pod"):
            if any(field in pod.status for field in POD_LEVEL_STATUS):
                self.api.patch("Pod", pod.key, {"status": dict.fromkeys(POD_LEVEL_STATUS)})

    def _look_again(self) -> None:
        """Let all controllers of workloads check their objects when events are handed out next, as after a restart."""
        for controller in self.controllers:
            if isinstance(controller, WorkloadController):
                for owner in self.api.list(controller.KIND):
                    controller.enqueue(owner.key)

    def _loaded(self, source: Mapping[str, Any] | str | None, rules: Rules) -> Configuration:
        """Load a configuration for which all plugins can be created. Raises Rejected."""
        loaded = load_configuration(source, rules, self.plugins, self.extenders)
        if self.plugins:
            own_plugins.try_out(loaded, self.api, rules)
        return loaded

    # --- progress ---

    def deliver(self) -> None:
        """Ask everybody for work, then hand out watch events, unless a command is only tried. Raises OverBudget."""
        if self.delivers:
            self.ask_everybody()
            self.hand_out()

    def ask_everybody(self) -> None:
        """Ask each worker for work when events are handed out next, even if there is none for it to read."""
        self.api.watches.due.update(dict.fromkeys(range(len(self.workers))))

    def hand_out(self) -> None:
        """Hand out watch events until all are read, always to the first worker with one. Raises OverBudget."""
        workers, due = self.workers, self.api.watches.due
        while due:
            # What a worker writes may make an earlier one due.
            turn = min(due)
            if workers[turn].work():
                self.recorder.effort.count_step()
            else:
                del due[turn]

    def rest(self) -> None:
        """Note that the engine is between two steps. Raises Ended if the present command ends here."""
        self.recorder.rest()
        if self.until and self.recorder.effort.entries >= self.until:
            raise Ended

    def step(self, only_busy: bool = False) -> bool:
        """Run one stage, and its immediate effects; return False if there is nothing to do.

        ``only_busy``: only of a running cycle, no new pod.
        """
        worked = self.replicas.step(only_busy)
        if worked:
            self.recorder.effort.count_step()
        if self.api.watches.due:
            self.hand_out()
        if worked:
            self.rest()
        return worked

    def settle(self, cycles: int | None = None) -> bool:
        """Run until nothing can happen at this instant; return False if that takes more than ``cycles`` cycles."""
        numbers = self.replicas.numbers
        limit = None if cycles is None else numbers.count + cycles
        while self.step():
            if limit is not None and numbers.count >= limit and not self.replicas.busy():
                return False
        return True

    def fire_next(self) -> None:
        """Fire the next timer, and run its immediate effects."""
        self.timeline.fire_next()
        self.deliver()
        self.rest()

    def fire_timers(self, until_us: int) -> None:
        """Let time pass up to ``until_us``, settling whenever something is due."""
        while (due := self.timeline.next_us()) is not None and due <= until_us:
            self.fire_next()
            self.settle()
        self.timeline.move_to(until_us)

    # --- writing objects ---

    def apply(self, manifest: Mapping[str, Any], document: int) -> None:
        """Create the object, or update it when it exists. Raises Rejected."""
        defaulted = set_defaults(manifest)
        kind, key = identity(defaulted)
        try:
            if self.api.get(kind, key) is None:
                self.create(manifest, defaulted, document)
                return
            old, new = applied_over(self.api, manifest)
            self.check_size(new, old, document)
            check_update(old.manifest, new, document, allow_privileged=self.allow_privileged, rules=self.rules)
            self.api.update(new)
            if self.api.get(kind, key) is not None:  # One that is being deleted goes with its last finalizer.
                self._remember(kind, key, manifest)
        except ApiError as problem:
            name = f"{kind} {key}"
            raise Rejected([FieldError("", problem.reason, problem.message, document, object_name=name)]) from problem

    def create(
        self,
        manifest: Mapping[str, Any],
        defaulted: Mapping[str, Any],
        document: int = 0,
        before: KubeObject | None = None,
    ) -> None:
        """Create ``manifest`` as written, with its defaults. ``before``: the object that it replaces.

        Raises ApiError or Rejected if it exists or is refused.
        """
        self.check_size(defaulted, before, document, stays=False)
        self.api.create(defaulted)
        self._remember(*identity(defaulted), manifest)

    def check_size(
        self, manifest: Mapping[str, Any], before: KubeObject | None, document: int = 0, stays: bool = True
    ) -> None:
        """Raise Rejected if a new command makes an owner want more pods than a sandbox may hold; old ones may.

        ``stays``: it updates ``before``, and does not replace it.
        """
        problem = size_problem(self.api, manifest, before, document, stays) if self.is_new else None
        if problem is not None:
            raise Rejected([problem])

    def _remember(self, kind: str, key: str, manifest: Mapping[str, Any]) -> None:
        """Note a manifest that somebody applied."""
        self.api.remember(kind, key, manifest)
        if self.recorder.full:
            self.recorder.add(ObjectApplied(kind, key, dict(manifest)))
