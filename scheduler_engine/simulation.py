"""A simulation: API server, schedulers and kubelets on one simulated clock, driven by commands.

Same seed, configuration and commands give the same trace, byte for byte. The whole object is plain data:
``copy.deepcopy`` and ``pickle`` give a simulation that continues identically, even in the middle of a cycle. Source:
design of the sandbox; seed 000–004.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scheduler_engine import cluster_commands, commands, replica_commands, time_commands
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import for_update, validate
from scheduler_engine.cluster import Cluster, Ended
from scheduler_engine.effort import Effort
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.framework import faults
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.history import History
from scheduler_engine.overrun import explain
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import CommandGiven
from scheduler_engine.versions import DEFAULT, Rules, check_needs, rules_for
from scheduler_engine.words import say


class Simulation(Cluster):
    """``seed`` decides draws among equal nodes; ``configuration`` is a KubeSchedulerConfiguration as a mapping, None =
    default.

    ``full``: record every verdict and score; ``queue_rules``: ``v1.34`` or ``design-doc`` (as in seed 000).
    ``undoes``: keep commands, so that one that is over budget can be undone. Otherwise, a simulation that has raised
    ``OverBudget`` is in an undefined state, and the caller must discard it. ``allow_privileged``: the flag of the API
    server, set in every kubeadm cluster. ``priority_numbers``: a pod may set its priority as a number, without a class,
    which no cluster allows. ``kubernetes``: the version whose rules hold (``v1.34``); ``feature_gates``: name → on,
    where they differ from its defaults. ``plugins``: your own, subclasses of ``plugin_api.Plugin``. As in
    kube-scheduler, each does nothing until a profile enables it. ``extenders``: the way to the extenders that a
    configuration may name; without one they are refused. Raises Rejected when the configuration, the version, a
    gate or a plugin is wrong.
    """

    def __init__(
        self,
        seed: int = 42,
        configuration: Mapping[str, Any] | None = None,
        full: bool = True,
        queue_rules: str = "v1.34",
        undoes: bool = True,
        allow_privileged: bool = True,
        priority_numbers: bool = True,
        kubernetes: str = DEFAULT,
        feature_gates: Mapping[str, bool] | None = None,
        plugins: Sequence[type[Plugin]] = (),
        extenders: ExtenderCalls = NO_CALLS,
    ) -> None:
        settings = (seed, configuration, full, queue_rules, allow_privileged, priority_numbers)
        rules = rules_for(kubernetes, feature_gates)
        super().__init__(*settings, rules, plugins, extenders)
        self.history = History(*settings, rules, self.plugins) if undoes else None
        self.played_us, self.room_us = 0, 0

    def execute(self, command: commands.Command, is_new: bool = False) -> None:
        """Execute one command. Raises Rejected when it is refused: then nothing has changed (but see ``undoes``).

        ``is_new``: somebody gives it now. Then owners of more pods than a sandbox may hold are refused, and feature
        gates without those that they need. Replays accept both, because earlier versions did.

        To undo a command over budget, everything is rebuilt: references to parts of the simulation are then outdated.
        """
        commands.check_bounds(command)
        merged = self.merged(command)
        room_us = self.room_us if merged else self._room_for(command)
        recorder = self.recorder
        entries, number, effort = len(recorder.entries), recorder.command, recorder.effort.copy()
        rests = len(recorder.rests)
        if merged is None:
            # Only now: a tick of playing that continues has reached no end.
            recorder.rest()
            recorder.command += 1
            recorder.effort = Effort()
            recorder.add(CommandGiven(recorder.command, command.recorded()))
        self.until, self.is_new = getattr(command, "until", 0), is_new
        self.ask_everybody()
        try:
            HANDLERS[command.kind](self, command)
        except Ended:
            pass
        except OverBudget as over:
            own = (entry for entry in self.recorder.entries if entry.command == number + (merged is None))
            text = explain(command.kind, str(over), own)
            self._undo()
            raise OverBudget(text) from over
        except Rejected:
            recorder.forget_from(entries, rests)
            recorder.command, recorder.effort = number, effort
            raise
        self.until = 0
        self._note(command, merged, room_us)

    @contextmanager
    def tried(self, wanted: Iterable[commands.Command]) -> Iterator[None]:
        """Let commands about objects write to the API server, as a dry run does. At the end this is undone.

        Inside, nobody else has read what they wrote: controllers have not answered it. It costs as much as the writes,
        and as a list of the pods. Raises Rejected or OverBudget, with everything undone.
        """
        recorder, api, checkpoint = self.recorder, self.api, self.api.checkpoint()
        effort, due = recorder.effort, dict(api.watches.due)
        recorder.effort, self.delivers, self.is_new = Effort(), False, True
        try:
            for command in wanted:
                commands.check_bounds(command)
                HANDLERS[command.kind](self, command)
            yield
        finally:
            api.restore(checkpoint)
            recorder.effort, self.delivers, api.watches.due = effort, True, due

    def merged(self, command: commands.Command) -> commands.Advance | None:
        """Return the merger of ``command`` and the last one, if both are ticks of playing.

        None: it is separate. Ticks merge while their time and work fit into one command; separate or merged, the trace
        is the same.
        """
        if not isinstance(command, commands.Advance) or not command.play or command.until or not self.played_us:
            return None
        delay_us = commands.time_us(command)
        if delay_us > self.room_us or not self.recorder.effort.small():
            return None
        return commands.Advance((self.played_us + delay_us) / SECOND_US, play=True)

    def _room_for(self, command: commands.Command) -> int:
        """Return how much time the command may let pass in all. Raises Rejected when it would exceed that."""
        if not isinstance(command, commands.Advance):
            return 0
        most_us = self.patience_us()
        if commands.time_us(command) > most_us:
            most = most_us // SECOND_US
            raise Rejected([commands.wrong_field("seconds", say("replicas.tries-too-often", most=most))])
        return most_us

    def _note(self, command: commands.Command, merged: commands.Advance | None, room_us: int) -> None:
        """Note a finished command; ``room_us`` is its time limit."""
        self.played_us, self.room_us = 0, 0
        if isinstance(command, commands.Advance) and command.play and not command.until:
            self.played_us = commands.time_us(merged or command)
            self.room_us = room_us - commands.time_us(command)
        if self.history is not None:
            self.history.note(merged or command, in_place_of_last=merged is not None)

    def _undo(self) -> None:
        """Undo the running command: rebuild everything from the earlier commands."""
        history = self.history
        if history is None:
            return
        self.__dict__ = _replay(history, history.commands, self.extenders).__dict__

    def as_of(self, entries: int) -> Simulation:
        """Replay the commands to the first point between two steps at which the trace has at least ``entries`` entries.

        Only for a simulation that keeps its commands (``undoes``).
        """
        assert self.history is not None
        recorded = self.recorder.entries
        number = recorded[entries - 1].command if entries else 0
        begun = bisect_left(recorded, number, key=lambda entry: entry.command)
        rebuilt = _replay(self.history, self.history.commands[: max(0, number - 1)], self.extenders)
        if number:
            command = self.history.commands[number - 1]
            rebuilt.execute(commands.ended_early(command, entries - begun))
        return rebuilt


def _replay(history: History, log: Iterable[commands.Command], extenders: ExtenderCalls) -> Simulation:
    simulation = Simulation(
        history.seed,
        history.configuration,
        history.full,
        history.queue_rules,
        allow_privileged=history.allow_privileged,
        priority_numbers=history.priority_numbers,
        kubernetes=history.rules.kubernetes,
        feature_gates=dict(history.rules.feature_gates),
        plugins=history.plugins,
        extenders=extenders,
    )
    for command in log:
        simulation.execute(command)
    return simulation


# --- the handler table ------------------------------------------------------------------------------------------------


def _apply(simulation: Simulation, command: commands.Apply) -> None:
    checked = (
        validate(item, number, simulation.allow_privileged, rules_about(simulation, item))
        for number, item in enumerate(command.manifests)
    )
    errors = [error for found in checked for error in found]
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


def rules_about(simulation: Simulation, manifest: Any) -> Rules:
    """Return the rules for a manifest: what a stored object of its name uses stays allowed."""
    kind, metadata = (manifest.get(part) if isinstance(manifest, Mapping) else None for part in ("kind", "metadata"))
    if not isinstance(kind, str) or kind not in KINDS or not isinstance(metadata, Mapping):
        return simulation.rules
    namespace = f"{metadata.get('namespace') or 'default'}/" if KINDS[kind].namespaced else ""
    live = simulation.api.get(kind, f"{namespace}{metadata.get('name')}")
    return simulation.rules if live is None else for_update(simulation.rules, live.manifest)


def _configure(simulation: Simulation, command: commands.Configure) -> None:
    simulation.configure(command.configuration, simulation.rules)


def _check_needs(rules: Rules) -> None:
    try:
        check_needs(rules.kubernetes, dict(rules.feature_gates))
    except Rejected as refusal:
        raise Rejected([commands.wrong_field("feature_gates", str(refusal))]) from refusal


def _kubernetes(simulation: Simulation, command: commands.Kubernetes) -> None:
    rules = rules_for(command.version, command.feature_gates)
    if simulation.is_new:
        _check_needs(rules)
    simulation.configure(simulation.replicas.configuration.source, rules)
    simulation.deliver()


def _fault(simulation: Simulation, command: commands.Fault) -> None:
    leader = next(iter(simulation.replicas.leaders()), None)
    if leader is None:
        raise Rejected(say("refusals.nobody-leads"))
    scheduler = simulation.scheduler
    framework = scheduler.profiles.get(command.profile)
    if framework is None:
        raise Rejected(say("refusals.no-profile", name=command.profile))
    duration_us = round(command.seconds * SECOND_US)
    with simulation.recorder.doing(leader.name):
        problem = faults.inject(framework, command.point, command.plugin, command.answer, duration_us)
    if problem:
        raise Rejected(problem)
    if scheduler.cycle is not None and scheduler.cycle.framework is framework:
        faults.hurry(scheduler.cycle.state, framework)


def _allow(simulation: Simulation, command: commands.Allow) -> None:
    if not simulation.replicas.allow_waiting_pod(command.pod):
        raise Rejected(say("refusals.not-waiting", pod=command.pod))


def _assumed_ttl(simulation: Simulation, command: commands.AssumedTtl) -> None:
    if not simulation.rules.assumed_pods_may_expire:
        raise Rejected(say("refusals.assumed-pods-stay", version=simulation.rules.kubernetes))
    simulation.replicas.expire_assumed_pods_after(round(command.seconds * SECOND_US))


HANDLERS: dict[str, Callable[[Simulation, Any], None]] = {
    "apply": _apply,
    "configure": _configure,
    "kubernetes": _kubernetes,
    "fault": _fault,
    "allow": _allow,
    "assumed-ttl": _assumed_ttl,
    **time_commands.HANDLERS,
    **cluster_commands.HANDLERS,
    **replica_commands.HANDLERS,
}
