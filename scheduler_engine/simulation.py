"""A simulation: API server, schedulers and kubelets on one simulated clock, driven by commands.

Same seed, configuration and commands give the same trace, byte for byte. The whole object is plain data:
``copy.deepcopy`` and ``pickle`` give a simulation that goes on identically, in the middle of a cycle, too. Source:
design of the sandbox; seed 000–004.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine import cluster_commands, commands, replica_commands, time_commands
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
from scheduler_engine.effort import Effort
from scheduler_engine.errors import FieldError, OverBudget, Rejected
from scheduler_engine.framework import faults
from scheduler_engine.history import History
from scheduler_engine.kubelet import Kubelet
from scheduler_engine.overrun import explain
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


class Ended(Exception):
    """A command has come as far as it was to come."""


class Simulation:
    """``seed`` decides draws among equal nodes; ``configuration`` is a KubeSchedulerConfiguration as a mapping, None =
    default.

    ``full``: record every verdict and score; ``queue_rules``: ``v1.34`` or ``design-doc`` (as seed 000 tells it).
    ``undoes``: commands are kept, so that one that is over budget can be undone. Without, a simulation that has raised
    ``OverBudget`` is in the middle of nowhere, and whoever executes throws it away. Raises Rejected when the
    configuration is wrong.
    """

    def __init__(
        self,
        seed: int = 42,
        configuration: Mapping[str, Any] | None = None,
        full: bool = True,
        queue_rules: str = "v1.34",
        undoes: bool = True,
    ) -> None:
        self.seed = seed
        self.history = History(seed, configuration, full, queue_rules) if undoes else None
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
        self.played_us, self.room_us, self.until = 0, 0, 0
        self.deliver()
        self.recorder.rest()

    @property
    def now_us(self) -> int:
        """The simulated time in microseconds."""
        return self.recorder.now_us

    @property
    def scheduler(self) -> Scheduler:
        """The one that leads; of several the first; when none does, the last that did, which is gone."""
        return self.replicas.scheduler

    def execute(self, command: commands.Command) -> None:
        """Carry out one command. Raises Rejected when it is refused: then nothing has changed (but see ``undoes``).

        To undo what is over budget everything is made anew: who holds a part of the simulation holds an old one then.
        """
        commands.check_bounds(command)
        merged = self.merged(command)
        room_us = self.room_us if merged else self._room_for(command)
        recorder = self.recorder
        entries, number, effort = len(recorder.entries), recorder.command, recorder.effort.copy()
        if merged is None:
            recorder.command += 1
            recorder.effort = Effort()
            recorder.add(CommandGiven(recorder.command, command.kind, commands.summary(command)))
        self.until = getattr(command, "until", 0)
        try:
            HANDLERS[command.kind](self, command)
        except Ended:
            pass
        except OverBudget as over:
            own = (entry for entry in self.recorder.entries if entry.command == number + (merged is None))
            told = explain(command.kind, str(over), own)
            self._undo()
            raise OverBudget(told) from over
        except Rejected:
            recorder.forget_from(entries)
            recorder.command, recorder.effort = number, effort
            raise
        recorder.rest()
        self.until = 0
        self._note(command, merged, room_us)

    def merged(self, command: commands.Command) -> commands.Advance | None:
        """The command that ``command`` and the last one are together, when both are ticks of playing.

        None: it stands for itself. Ticks merge as long as one command may let so much time pass and bring about so
        much; whether one after the other or merged, the trace is the same.
        """
        if not isinstance(command, commands.Advance) or not command.play or command.until or not self.played_us:
            return None
        delay_us = commands.time_us(command)
        if delay_us > self.room_us or not self.recorder.effort.small():
            return None
        return commands.Advance((self.played_us + delay_us) / SECOND_US, play=True)

    def _room_for(self, command: commands.Command) -> int:
        """How much time the command may let pass in all. Raises Rejected when it is more than it may."""
        if not isinstance(command, commands.Advance):
            return 0
        most_us = self.patience_us()
        if commands.time_us(command) > most_us:
            most = most_us // SECOND_US
            raise Rejected(f"seconds: at most {most} at a time while replicas try for the lock this often")
        return most_us

    def patience_us(self) -> int:
        """How much time one command may let pass now."""
        most_us, longest_us = self.replicas.patience_us(), commands.MAX_ADVANCE_SECONDS * SECOND_US
        return longest_us if most_us is None else min(most_us, longest_us)

    def _note(self, command: commands.Command, merged: commands.Advance | None, room_us: int) -> None:
        """The command is done; ``room_us`` is what it might have let pass."""
        self.played_us, self.room_us = 0, 0
        if isinstance(command, commands.Advance) and command.play and not command.until:
            self.played_us = commands.time_us(merged or command)
            self.room_us = room_us - commands.time_us(command)
        if self.history is not None:
            self.history.note(merged or command, in_place_of_last=merged is not None)

    def _undo(self) -> None:
        """Everything as before the command under way: made anew from the commands so far."""
        history = self.history
        if history is None:
            return
        anew = Simulation(history.seed, history.configuration, history.full, history.queue_rules)
        for command in history.commands:
            anew.execute(command)
        self.__dict__ = anew.__dict__

    # --- letting things happen ---

    def deliver(self) -> None:
        """Hand out watch events until everyone has seen everything. Raises OverBudget."""
        workers = (self.replicas, self.kubelet, *self.controllers)
        while any(worker.work() for worker in workers):
            self.recorder.effort.count_step()

    def rest(self) -> None:
        """The engine stands between two steps. Raises Ended where the present command is to end."""
        self.recorder.rest()
        if self.until and self.recorder.effort.entries >= self.until:
            raise Ended

    def step(self, only_busy: bool = False) -> bool:
        """One stage, and what follows from it at once; False when there is nothing to do.

        ``only_busy``: of a cycle that is under way, no new pod.
        """
        worked = self.replicas.step(only_busy)
        if worked:
            self.recorder.effort.count_step()
        self.deliver()
        if worked:
            self.rest()
        return worked

    def settle(self, cycles: int | None = None) -> bool:
        """Until nothing can happen at this instant; False when ``cycles`` scheduling cycles were not enough."""
        limit = None if cycles is None else self.scheduler.cycle_count + cycles
        while self.step():
            if limit is not None and self.scheduler.cycle_count >= limit and not self.replicas.busy():
                return False
        return True

    def fire_next(self) -> None:
        """The next timer, and what follows from it at once."""
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


def _configure(simulation: Simulation, command: commands.Configure) -> None:
    simulation.replicas.configure(load_configuration(command.configuration))


def _fault(simulation: Simulation, command: commands.Fault) -> None:
    leader = next(iter(simulation.replicas.leaders()), None)
    if leader is None:
        raise Rejected(time_commands.NOBODY_LEADS)
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
    "configure": _configure,
    "fault": _fault,
    "allow": _allow,
    **time_commands.HANDLERS,
    **cluster_commands.HANDLERS,
    **replica_commands.HANDLERS,
}
