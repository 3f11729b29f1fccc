"""Why an attempt refused or scored a node, and what preemption found there, in words, for a terminal.

The facts of the plugins that decided are compared with the trace. If they differ, as when a fault answered for a
plugin, only that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts, abandoned
from scheduler_engine.framework.interface import PluginError, QueuedPodInfo
from scheduler_engine.framework.status import error
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.expectations.queues import lane_of, place_of, queued
from scheduler_engine.scheduler.explaining import (
    choice_facts,
    dry_run_facts,
    filter_facts,
    ineligible_facts,
    pre_bind_facts,
    pre_filter_facts,
    reserve_facts,
    score_facts,
)
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import PluginsRan, Verdict
from scheduler_engine.words import say

SUCCESS = "Success"
REPRIEVE = "reprieve"
OTHERWISE = say("decision.otherwise")


def refusal(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Explain a node's refusal, with the arithmetic; nothing if it was not refused, or its plugin gives no facts."""
    facts = refusal_facts(simulation, attempt, node)
    if facts is None:
        return []
    if not agrees(facts, attempt.verdict(node)):
        return [OTHERWISE]
    return [wording.sentence(facts), *_aligned(wording.lines(facts))]


def refusal_facts(simulation: Simulation, attempt: Attempt, node: str) -> Facts | None:
    """Return the facts of the plugin that refused a node; None if none did, or if it gives no facts."""
    verdict = attempt.verdict(node)
    scheduler = _scheduler_of(simulation, attempt) if verdict is not None and verdict[0] else None
    if verdict is None or scheduler is None:
        return None
    if attempt.filter is None:
        return pre_filter_facts(scheduler, attempt.cycle, verdict[0])
    return filter_facts(scheduler, attempt.cycle, node, verdict[0])


def agrees(facts: Facts, verdict: Verdict | None) -> bool:
    """Return True if the plugin said what its facts conclude."""
    concluded = (SUCCESS, ()) if facts.status is None else (facts.status.code.value, facts.status.reasons)
    return verdict is not None and concluded == verdict[1:]


def dry_run_in_words(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Explain the dry run of preemption on a node, step by step, or why there was none; nothing without preemption."""
    tried = next((item for item in attempt.tried if item.node == node), None)
    scheduler = _scheduler_of(simulation, attempt) if attempt.post_filter is not None else None
    facts = dry_run_facts(scheduler, attempt.cycle, node) if scheduler is not None else None
    if facts is None:
        return []
    if tried is None:
        return [] if attempt.is_ineligible else [wording.sentence(facts.facts)]
    if not facts.agree_with(tried):
        return [OTHERWISE]
    texts = [wording.sentence(facts.facts)]
    for step in facts.steps:
        if step.action == REPRIEVE:
            texts += [
                f"  {wording.sentence(step.facts)}",
                *(f"  {text}" for text in _aligned(wording.lines(step.facts))),
            ]
    return texts if facts.victims else [*texts, *_aligned(wording.lines(facts.facts))]


def ineligible_in_words(simulation: Simulation, attempt: Attempt) -> list[str]:
    """Explain why the pod may not preempt others; nothing if it may."""
    scheduler = _scheduler_of(simulation, attempt) if attempt.is_ineligible else None
    facts = ineligible_facts(scheduler, attempt.cycle) if scheduler is not None else None
    return [] if facts is None else [wording.sentence(facts)]


def choice_in_words(simulation: Simulation, attempt: Attempt) -> Iterator[str]:
    """Yield a sentence for each criterion that compared the candidates for preemption."""
    scheduler = _scheduler_of(simulation, attempt) if attempt.rungs else None
    if scheduler is None:
        return
    rungs = [rung for rung in choice_facts(scheduler, attempt.cycle) if rung.facts.shown]
    recorded = [(rung.survivors, rung.fallen) for rung in attempt.rungs]
    if [(rung.survivors, rung.fallen) for rung in rungs[: len(recorded)]] != recorded:
        yield OTHERWISE
        return
    for rung in rungs:
        values = ", ".join(f"{line.label} {line.formula}".rstrip() for line in wording.lines(rung.facts))
        yield f"{wording.sentence(rung.facts)} ({values})"


AFTER_THE_CHOICE = (("Reserve", reserve_facts), ("PreBind", pre_bind_facts))


def reservation_in_words(simulation: Simulation, attempt: Attempt) -> Iterator[str]:
    """Yield what plugins reserved on the chosen node, and what they did before the binding."""
    for point, ask in AFTER_THE_CHOICE:
        entry = attempt.ran.get(point)
        scheduler = _binder_of(simulation, attempt) if entry is not None else None
        if entry is None or scheduler is None:
            continue
        event: PluginsRan = entry.event  # type: ignore[assignment]
        for verdict in event.verdicts:
            facts = ask(scheduler, attempt.cycle, verdict[0])
            if facts is None or not facts.shown:
                continue
            if not agrees(facts, verdict):
                yield f"{point}, {verdict[0]}: {OTHERWISE}"
                continue
            said = abandoned(facts) if attempt.abandoned else facts
            yield f"{point}, {verdict[0]}: {wording.sentence(said)}"
            yield from _aligned(wording.lines(facts))


def _binder_of(simulation: Simulation, attempt: Attempt) -> Scheduler | None:
    """Return the scheduler that has the attempt; if none has it any more, its state after the attempt's last stage."""
    scheduler = simulation.replicas.binder_of(attempt.cycle)
    if scheduler is None and simulation.history is not None:
        last = max(entry.n for entry in attempt.ran.values())
        scheduler = simulation.as_of(last).replicas.binder_of(attempt.cycle)
    return scheduler


def preemption_in_words(simulation: Simulation, attempt: Attempt, node: str = "") -> Iterator[str]:
    """Yield why the pod may not preempt or why a candidate won, and the dry runs on the nominated node and ``node``."""
    yield from ineligible_in_words(simulation, attempt)
    yield from choice_in_words(simulation, attempt)
    nominated = attempt.post_filter.nominated_node if attempt.post_filter is not None else ""
    for name in dict.fromkeys(item for item in (nominated, node) if item):
        yield from dry_run_in_words(simulation, attempt, name)


def scores_in_words(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    """Yield a sentence for each plugin that scored the node."""
    scores = attempt.scores(node)
    scheduler = _scheduler_of(simulation, attempt) if scores else None
    if scheduler is None:
        return
    for plugin, columns in scores.items():
        facts = score_facts(scheduler, attempt.cycle, node, plugin)
        if facts is None:
            continue
        same = facts.raw == columns.get("raw") and columns.get("normalized") in (None, facts.normalized)
        yield f"{plugin}: {wording.sentence(facts) if same else OTHERWISE}"


def without_attempt(simulation: Simulation, key: str) -> str:
    """Explain why there was no attempt for a pod."""
    if reason := nobodys(simulation).get(key):
        return reason
    pod, run = simulation.api.pod(key), RunView(simulation)
    if pod is not None and pod.node_name:
        return say("decision.came-with-node", pod=key, node=pod.node_name)
    info = queued(run, key)
    if info is not None and info.gating_plugin:
        return _gated(simulation, info, key)
    return say("decision.not-tried", pod=key, place=place_of(lane_of(run, key)))


def _gated(simulation: Simulation, info: QueuedPodInfo, key: str) -> str:
    """Say which plugin keeps a pod out of activeQ, and what it says of the pod now."""
    name, pod = info.gating_plugin, simulation.api.pod(key)
    framework = simulation.scheduler.profiles.get(pod.scheduler_name) if pod is not None else None
    plugins = framework.points["preEnqueue"] if framework is not None else ()
    try:
        said = [plugin.pre_enqueue(pod) for plugin in plugins if plugin.name == name and pod is not None]
    except PluginError as problem:
        said = [error(str(problem))]
    reasons = "; ".join(reason for status in said if status is not None for reason in status.reasons)
    return say("decision.gated-because" if reasons else "decision.gated", pod=key, plugin=name, reasons=reasons)


def nobodys(simulation: Simulation) -> dict[str, str]:
    """Return pod → a message, for the pods that wait for a scheduler that does not run here."""
    profiles = simulation.scheduler.profiles
    here = ", ".join(profiles)
    waiting = (pod for pod in simulation.api.pods() if not (pod.node_name or pod.finished or pod.terminating))
    return {
        pod.key: say("decision.nobodys", pod=pod.key, scheduler=pod.scheduler_name, profiles=here)
        for pod in waiting
        if pod.scheduler_name not in profiles
    }


def idle_jobs(simulation: Simulation) -> dict[str, str]:
    """Return Job → a message, for the Jobs that create no pod, because they are suspended or want none at a time."""
    messages = dict[str, str]()
    owners = {(pod.controller_ref or {}).get("uid") for pod in simulation.api.pods()}
    for job in simulation.api.list("Job"):
        field = "suspend: true" if job.spec.get("suspend") else "parallelism: 0"
        wants_none = job.spec.get("suspend") or job.spec.get("parallelism") == 0
        if wants_none and job.uid not in owners:
            messages[job.key] = say("decision.idle-job", job=job.key, field=field)
    return messages


def _scheduler_of(simulation: Simulation, attempt: Attempt) -> Scheduler | None:
    """Return the scheduler that made the attempt; if it has begun another one, its state before that."""
    scheduler = simulation.replicas.scheduler_of(attempt.cycle)
    if scheduler is None and simulation.history is not None:
        scheduler = simulation.as_of(attempt.last_table).replicas.scheduler_of(attempt.cycle)
    return scheduler


def _aligned(lines: tuple[wording.Line, ...]) -> Iterator[str]:
    width = max((len(line.label) for line in lines), default=0)
    for line in lines:
        yield f"  {line.label:{width}}  {line.formula}{f'  ({line.note})' if line.note else ''}"
