"""The other run that a sandbox is compared with: a branch, other settings, another seed, another node for a pod.

Both runs end at the same moment: the present, or an earlier one. Only a branch ends where it was left.
"""

from __future__ import annotations

import copy
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.commands import to_text
from sandbox.storage.records import Plan
from sandbox.words.say import say
from sandbox.worker import simulations
from sandbox.worker.earlier import simulation_at
from sandbox.worker.errors import UnknownName
from sandbox.worker.live import Live
from sandbox.worker.progress import of_run
from sandbox.worker.so_far import SoFar
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import NothingToDo, OverBudget, Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev

NOW, BEFORE, DEFAULT = "now", "before", "default"
CONFIGURATIONS = (NOW, BEFORE, DEFAULT)
"""The second run has the present configuration from its start, that from before its last change, or the default one."""


@dataclass(frozen=True, slots=True)
class Other:
    """The second run. ``texts``: the commands of a branch or of another sandbox, None = those of the sandbox.

    ``plan``: what another sandbox starts from. ``configuration``: "" or one of ``CONFIGURATIONS``. ``seed``: None =
    that of the sandbox. ``kubernetes``: the version from the start, "" = those of the sandbox.
    ``cycle``: the number of an attempt, 0 = none; its pod is bound to ``node`` instead. ``later``:
    no other run, but this one at present, to compare a past moment with.
    """

    texts: tuple[str, ...] | None = None
    configuration: str = ""
    seed: int | None = None
    cycle: int = 0
    node: str = ""
    later: bool = False
    kubernetes: str = ""
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """The second run at its end. ``refused``: why the cluster refused commands that the first run accepted.

    ``texts``: the commands that were executed from its start, and ``ends``: the number of entries after each of them.
    """

    simulation: Simulation
    refused: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """What a run starts from, and the texts of all its commands.

    ``ends_us``: when it ends at the earliest, in simulated microseconds; None = with its last command.
    """

    plan: Plan
    texts: tuple[str, ...]
    ends_us: int | None = None

    def play(self, seed: int | None = None, full: bool = True, live: Live | None = None) -> Replayed:
        """Play the run to its end. ``seed``: instead of its own. ``live``: reports the progress, if there is one.

        Raises ``OverBudget``.
        """
        plan = self.plan if seed is None else replace(self.plan, seed=seed)
        simulation = simulations.new_simulation(plan, full)
        if live is not None:
            live.so_far = partial(_so_far, simulation)
        return _played(simulation, self.texts, self.ends_us)


def own_course(live: Live, at: Moment | None) -> Course:
    """Return the sandbox's own run, up to a moment, None = the present."""
    texts, ends_us = _until(live, at)
    return Course(live.plan, tuple(texts), ends_us)


def course(live: Live, other: Other, at: Moment | None) -> Course:
    """Return another run that does not begin in the middle. Raises ``Rejected`` if there is no such run."""
    texts, ends_us = _until(live, at) if other.texts is None else ([*other.texts], None)
    changes = [*filter(configures, texts)]
    if other.configuration in (NOW, BEFORE) and not changes:
        raise Rejected(say("differences.not-configured"))
    plan = other.plan or live.plan
    if other.configuration == DEFAULT:
        plan = replace(plan, configuration="null")
    elif other.configuration == NOW:
        plan = replace(plan, configuration=json.dumps(json.loads(changes[-1]).get("configuration")))
    if other.seed is not None:
        plan = replace(plan, seed=other.seed)
    if other.kubernetes:
        plan = replace(plan, kubernetes=other.kubernetes, feature_gates="{}")
        texts = [text for text in texts if json.loads(text)["kind"] != "kubernetes"]
    return Course(plan, tuple(_configured(texts, other.configuration)), ends_us)


def replay(live: Live, other: Other, at: Moment | None) -> Replayed:
    """Play the other run from its start. Raises ``OverBudget``, or ``Rejected`` if there is no such run."""
    if other.later:
        return Replayed(live.simulation)
    return _instead(live, other, at) if other.cycle else course(live, other, at).play(live=live)


def _so_far(simulation: Simulation) -> SoFar:
    return SoFar(say("progress.other-run", so_far=of_run(simulation)))


def _until(live: Live, at: Moment | None) -> tuple[list[str], int | None]:
    """Return the commands of the sandbox up to a moment, and when the moment is if it is within a command, else None.

    Another run may write other entries of the trace until then. So a command that lets time pass lets only as much pass
    as here. In the same run it ends after as many entries, perhaps in the middle of an instant.
    """
    if live.at(at) is live.world:
        return [*live.texts(0, live.n)], None
    whole, ended = live.log_until(at)
    texts = live.texts_until(at)
    if ended is None:
        return texts, None
    now_us = simulation_at(live, at).now_us
    command = json.loads(ended)
    if command["kind"] in ("advance", "run"):
        world = live.world
        texts[-1] = _stretch(now_us - world.entries[world.starts[whole + 1]].at_us, command["until"])
    return texts, now_us


def _stretch(passed_us: int, entries: int) -> str:
    """Return a command that lets time pass, or settles if there is none, and writes at most so many entries."""
    if not passed_us:
        return to_text({"kind": "settle", "until": entries})
    return to_text({"kind": "advance", "seconds": passed_us / SECOND_US, "until": entries})


def _played(simulation: Simulation, texts: Iterable[str], ends_us: int | None) -> Replayed:
    """Execute commands, and let time pass up to ``ends_us``. Raises ``OverBudget``."""
    refused: list[str] = []
    done: list[tuple[str, int]] = []
    for text in chain(texts, _rest(simulation, ends_us)):
        try:
            simulations.execute(simulation, text)
        except OverBudget:
            raise
        except NothingToDo:
            continue
        except Rejected as problem:
            refused.append(str(problem))
        else:
            done.append((text, len(simulation.recorder.entries)))
    executed, ends = (text for text, _ in done), (end for _, end in done)
    return Replayed(simulation, tuple(refused), tuple(executed), tuple(ends))


def _rest(simulation: Simulation, ends_us: int | None) -> Iterator[str]:
    """Yield the command that lets the rest of the time pass, if any is left when the others are done."""
    if ends_us is not None and simulation.now_us < ends_us:
        yield to_text({"kind": "advance", "seconds": (ends_us - simulation.now_us) / SECOND_US})


def _instead(live: Live, other: Other, at: Moment | None) -> Replayed:
    """Play the sandbox's commands, and bind the pod of an attempt to another node just before the attempt.

    Raises ``Rejected`` if there is no such attempt or node, or if the pod cannot be bound.
    """
    world = live.world
    started = next((entry for entry in live.at(at).entries if _starts(entry, other.cycle)), None)
    if started is None or not isinstance(started.event, ev.CycleStarted):
        raise UnknownName("cycle", say("differences.no-cycle", cycle=other.cycle))
    moment = moment_before(world, started.n)
    simulation = copy.deepcopy(simulation_at(live, moment))
    live.so_far = partial(_so_far, simulation)
    whole, ended = live.log_until(moment)
    if simulation.api.get("Node", other.node) is None:
        raise UnknownName("node", say("differences.no-node", node=other.node))
    try:
        pod = simulation.api.existing("Pod", started.event.pod)
        simulation.api.bind(pod.key, pod.uid, other.node)
    except ApiError as problem:
        raise Rejected(str(problem)) from problem
    simulation.deliver()
    ends = next((entry.n for entry in world.entries if _ends(entry, other.cycle)), len(world.entries))
    after = world.moment_of(world.rest_at(ends))
    texts, ends_us = _until(live, at)
    rest = [
        text for number, text in enumerate(texts[whole:], whole + 1) if number > after.command or not _steps_once(text)
    ]
    if ended is not None and not _steps_once(live.text_of(whole + 1)):
        begun_us = world.entries[world.starts[whole + 1]].at_us
        # The other run does not make the attempt, so its entries do not count for where the command ends.
        entries = after.entries if after.command == whole + 1 else moment.entries
        rest[:1] = _remainder(rest[0], simulation.now_us - begun_us, entries)
    return _played(simulation, rest, ends_us)


def _starts(entry: ev.Entry, cycle: int) -> bool:
    return isinstance(entry.event, ev.CycleStarted) and entry.event.cycle == cycle


def _ends(entry: ev.Entry, cycle: int) -> bool:
    return isinstance(entry.event, ev.CycleFinished) and entry.event.cycle == cycle


def moment_before(world: World, n: int) -> Moment:
    """Return the last moment before entry ``n`` at which the engine was between two steps."""
    return world.moment_of(rest_before(world.rests, n))


def rest_before(rests: Sequence[tuple[int, int]], n: int) -> int:
    """Return the number of entries at the last rest before entry ``n``. ``rests`` as in ``Recorder``."""
    return rests[bisect_left(rests, n, key=lambda rest: rest[0]) - 1][0]


def _steps_once(text: str) -> bool:
    """Return True for a step of one pod, which belongs to the attempt that the other run does not make."""
    return json.loads(text)["kind"] in ("stage", "pod")


def _remainder(text: str, passed_us: int, entries: int) -> list[str]:
    """Return what is left of a command of which ``passed_us`` have passed, and ``entries`` of its trace; or nothing."""
    command = json.loads(text)
    for name, passed in (("seconds", passed_us / SECOND_US), ("until", entries)):
        if command.get(name):
            command[name] -= passed
            if command[name] <= 0:
                return []
    return [to_text(command)]


def _configured(texts: Sequence[str], configuration: str) -> list[str]:
    """Return the commands without the changes of the configuration that the second run does not make."""
    changes = [index for index, text in enumerate(texts) if configures(text)]
    left_out = {NOW: changes, BEFORE: changes[-1:], DEFAULT: changes}.get(configuration, [])
    return [text for index, text in enumerate(texts) if index not in left_out]


def configures(text: str) -> bool:
    return bool(json.loads(text)["kind"] == "configure")
