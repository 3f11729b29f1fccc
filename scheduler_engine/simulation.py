"""A simulation: API server, schedulers and kubelets on one simulated clock, driven by commands.

Same seed, configuration and commands give the same trace, byte for byte. The whole object is plain data:
``copy.deepcopy`` and ``pickle`` give a simulation that goes on identically, in the middle of a cycle, too. Source:
design of the sandbox; seed 000–004.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine import cluster_commands, commands, replica_commands
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.validation import check_update, validate
from scheduler_engine.apiserver.apply import applied_over
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer, identity
from scheduler_engine.config import load_configuration
from scheduler_engine.controllers.daemonset import DaemonSetController
from scheduler_engine.controllers.deployment import DeploymentController
from scheduler_engine.controllers.disruption import DisruptionController
from scheduler_engine.controllers.drain import Drainer
from scheduler_engine.controllers.ephemeral_volume import EphemeralVolumeController
from scheduler_engine.controllers.garbage_collector import GarbageCollector
from scheduler_engine.controllers.job import JobController
from scheduler_engine.controllers.node_lifecycle import NodeLifecycleController
from scheduler_engine.controllers.persistent_volume import PersistentVolumeController
from scheduler_engine.controllers.pod_gc import PodGarbageCollector
from scheduler_engine.controllers.provisioner import Provisioner
from scheduler_engine.controllers.replicaset import ReplicaSetController, ReplicationManager
from scheduler_engine.controllers.statefulset import StatefulSetController
from scheduler_engine.controllers.taint_eviction import TaintEvictionController
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework import faults
from scheduler_engine.kubelet import Kubelet
from scheduler_engine.replicas import Replicas
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import CommandGiven, Recorder

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

NOTHING_TO_STEP = "There is no pod to schedule now: nobody is ready to leave the queue. Add a pod, or let time pass."
NOBODY_LEADS = "No replica leads and runs now, so nobody schedules: let time pass, or restart or resume one."


class Simulation:
    """``seed`` decides draws among equal nodes; ``configuration`` is a KubeSchedulerConfiguration as a mapping, None =
    default.

    ``full``: record every verdict and score; ``queue_rules``: ``v1.34`` or ``design-doc`` (as seed 000 tells it).
    Raises Rejected when the configuration is wrong.
    """

    def __init__(
        self,
        seed: int = 42,
        configuration: Mapping[str, Any] | None = None,
        full: bool = True,
        queue_rules: str = "v1.34",
    ) -> None:
        self.seed = seed
        self.recorder = Recorder(full)
        self.timeline = Timeline(self.recorder)
        self.api = ApiServer(self.recorder)
        self.replicas = Replicas(
            self.api, self.timeline, self.recorder, seed, load_configuration(configuration), queue_rules
        )
        self.kubelet = Kubelet(self.api, self.timeline, self.api.watch())
        self.drainer = Drainer(self.api, self.timeline, self.api.watch())
        self.controllers = (
            NodeLifecycleController(self.api, self.timeline, self.api.watch()),
            TaintEvictionController(self.api, self.timeline, self.api.watch()),
            PersistentVolumeController(self.api, self.api.watch()),
            Provisioner(self.api, self.timeline, self.api.watch()),
            EphemeralVolumeController(self.api, self.api.watch()),
            GarbageCollector(self.api, self.api.watch()),
            PodGarbageCollector(self.api, self.timeline, self.api.watch()),
            *(controller(self.api, self.timeline, self.api.watch()) for controller in WORKLOAD_CONTROLLERS),
            DisruptionController(self.api, self.timeline, self.api.watch()),
            self.drainer,
        )
        for name in NAMESPACES:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.api.create(set_defaults(namespace))
        self.last_was_play = False
        self.deliver()

    @property
    def now_us(self) -> int:
        """The simulated time in microseconds."""
        return self.recorder.now_us

    @property
    def scheduler(self) -> Scheduler:
        """The one that leads; of several the first; when none does, the last that did, which is gone."""
        return self.replicas.scheduler

    def execute(self, command: commands.Command) -> None:
        """Carry out one command. Raises Rejected when it is refused: then nothing has changed."""
        commands.check_bounds(command)
        ticks_on = isinstance(command, commands.Advance) and command.play and self.last_was_play
        entries, number = len(self.recorder.entries), self.recorder.command
        if not ticks_on:
            self.recorder.command += 1
            self.recorder.add(CommandGiven(self.recorder.command, command.kind, commands.summary(command)))
        try:
            HANDLERS[command.kind](self, command)
        except Rejected:
            del self.recorder.entries[entries:]
            self.recorder.command = number
            raise
        self.last_was_play = isinstance(command, commands.Advance) and command.play

    # --- letting things happen ---

    def deliver(self) -> None:
        """Hand out watch events until everyone has seen everything."""
        workers = (self.replicas, self.kubelet, *self.controllers)
        while any(worker.work() for worker in workers):
            pass

    def step(self, only_busy: bool = False) -> bool:
        """One stage, and what follows from it at once; False when there is nothing to do.

        ``only_busy``: of a cycle that is under way, no new pod.
        """
        worked = self.replicas.step(only_busy)
        self.deliver()
        return worked

    def settle(self, cycles: int = commands.MAX_CYCLES) -> bool:
        """Until nothing can happen at this instant; False when ``cycles`` scheduling cycles were not enough."""
        limit = self.scheduler.cycle_count + cycles
        while self.step():
            if self.scheduler.cycle_count >= limit and not self.replicas.busy():
                return False
        return True

    def fire_timers(self, until_us: int) -> None:
        """Let time pass up to ``until_us``, settling whenever something is due."""
        while (due := self.timeline.next_us()) is not None and due <= until_us:
            self.timeline.fire_next()
            self.deliver()
            self.settle()
        self.timeline.move_to(until_us)

    # --- writing objects ---

    def apply(self, manifest: Mapping[str, Any], document: int) -> None:
        """Create the object, or update it when it exists. Raises Rejected."""
        defaulted = set_defaults(manifest)
        kind, key = identity(defaulted)
        try:
            if self.api.get(kind, key) is None:
                self.api.create(defaulted)
            else:
                old, new = applied_over(self.api, manifest)
                check_update(old.manifest, new, document)
                self.api.update(new)
            self.api.remember(kind, key, manifest)
        except ApiError as problem:
            name = f"{kind} {key}"
            raise Rejected([FieldError("", problem.reason, problem.message, document, object_name=name)]) from problem


# --- the handler table ------------------------------------------------------------------------------------------------


def _apply(simulation: Simulation, command: commands.Apply) -> None:
    errors = [error for number, item in enumerate(command.manifests) for error in validate(item, number)]
    if errors:
        raise Rejected(errors)
    checkpoint = simulation.api.checkpoint()
    try:
        for number, manifest in enumerate(command.manifests):
            simulation.apply(manifest, number)
    except Rejected:
        simulation.api.restore(checkpoint)
        raise
    simulation.deliver()


def _stage(simulation: Simulation, command: commands.Stage) -> None:
    _first_stage(simulation)


def _first_stage(simulation: Simulation) -> None:
    if not simulation.step():
        raise Rejected(NOTHING_TO_STEP if simulation.replicas.works() else NOBODY_LEADS)


def _pod(simulation: Simulation, command: commands.PodCycle) -> None:
    _first_stage(simulation)
    while simulation.step(only_busy=True):
        pass


def _settle(simulation: Simulation, command: commands.Settle) -> None:
    simulation.settle()


def _advance(simulation: Simulation, command: commands.Advance) -> None:
    most_us, delay_us = simulation.replicas.patience_us(), round(command.seconds * SECOND_US)
    if most_us is not None and delay_us > most_us:
        raise Rejected(f"seconds: at most {most_us // SECOND_US} at a time while replicas try for the lock this often")
    simulation.settle()
    simulation.fire_timers(simulation.now_us + delay_us)


def _run(simulation: Simulation, command: commands.Run) -> None:
    limit = simulation.scheduler.cycle_count + command.cycles
    most_us, start_us = simulation.replicas.patience_us(), simulation.now_us
    while simulation.settle(limit - simulation.scheduler.cycle_count):
        if not simulation.timeline.has_work() and not simulation.replicas.waits_for_time():
            return
        due = simulation.timeline.next_us()
        assert due is not None
        if most_us is not None and due - start_us > most_us:
            return
        simulation.timeline.fire_next()
        simulation.deliver()
        if simulation.scheduler.cycle_count >= limit:
            return


def _configure(simulation: Simulation, command: commands.Configure) -> None:
    simulation.replicas.configure(load_configuration(command.configuration))


def _fault(simulation: Simulation, command: commands.Fault) -> None:
    leader = next(iter(simulation.replicas.leaders()), None)
    if leader is None:
        raise Rejected(NOBODY_LEADS)
    scheduler = simulation.scheduler
    framework = scheduler.profiles.get(command.profile)
    if framework is None:
        raise Rejected(f'no profile serves the scheduler name "{command.profile}"')
    duration_us = round(command.seconds * SECOND_US)
    with simulation.recorder.doing(leader.name):
        problem = faults.inject(framework, command.point, command.plugin, command.answer, duration_us)
    if problem:
        raise Rejected(problem)
    if scheduler.cycle is not None and scheduler.cycle.framework is framework:
        faults.hurry(scheduler.cycle.state, framework)


def _allow(simulation: Simulation, command: commands.Allow) -> None:
    if not simulation.replicas.allow_waiting_pod(command.pod):
        raise Rejected(f"{command.pod} does not wait on Permit")


HANDLERS: dict[str, Callable[[Simulation, Any], None]] = {
    "apply": _apply,
    "stage": _stage,
    "pod": _pod,
    "settle": _settle,
    "advance": _advance,
    "run": _run,
    "configure": _configure,
    "fault": _fault,
    "allow": _allow,
    **cluster_commands.HANDLERS,
    **replica_commands.HANDLERS,
}
