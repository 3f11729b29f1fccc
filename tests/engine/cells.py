"""Compare, for every cell of every table of a simulation, what a plugin's facts imply with what it decided.

By hand, as long as you like: ``python -m tests.engine.cells --cells 200000``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from scheduler_engine import wording
from scheduler_engine.api.labels import Requirement
from scheduler_engine.framework.facts import Fact, Facts, Parts, RungFacts
from scheduler_engine.framework.runtime import refusal_by
from scheduler_engine.preemption.criteria import CRITERIA
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.explaining import (
    choice_facts,
    dry_run_facts,
    filter_facts,
    pre_bind_facts,
    pre_filter_facts,
    reserve_facts,
    score_facts,
    search_for_devices,
)
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import DEFAULT, VERSIONS
from tests.engine.device_histories import devices
from tests.engine.random_clusters import CONFIGURATIONS, cluster, crowded, run


def plain(value: Any) -> Any:
    """Return a value as plain JSON data."""
    if isinstance(value, Fact):
        return {"key": value.key, "values": plain(value.values), "ok": value.ok}
    if isinstance(value, Mapping):
        return {name: plain(held) for name, held in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(held) for name, held in value._asdict().items()}
    if isinstance(value, Requirement):
        return {"key": value.key, "operator": value.operator, "values": [*value.values]}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


DEVICES = "DynamicResources"
ASKED_ABOUT = (
    ev.PreFilterRan,
    ev.FilterRan,
    ev.NormalizeRan,
    ev.PreemptionNodeTried,
    ev.PreemptionCriterionApplied,
    ev.PluginsRan,
)


@dataclass
class Cells:
    """``wrong``: sentences; ``silent``: plugin and point → cells without facts; ``keys``: of the facts."""

    count: int = 0
    wrong: list[str] = field(default_factory=list)
    silent: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)

    def filtered(self, scheduler: Scheduler, cycle: Cycle, table: ev.FilterRan) -> None:
        also = {node: {name: (code, reasons) for name, code, reasons in said} for node, said in table.also}
        for node, failed, code, reasons, _ in table.looked_at:
            recorded = {**also.get(node, {}), failed: (code, reasons)}
            for plugin in table.plugins:
                if plugin in table.skipped:
                    continue
                facts = filter_facts(scheduler, cycle.number, node, plugin)
                if not self._gives_facts(facts, f"{plugin} filter"):
                    continue
                assert facts is not None
                status = facts.status
                concluded = ("Success", ()) if status is None else (status.code.value, status.reasons)
                if concluded != recorded.get(plugin, ("Success", ())):
                    wanted = recorded.get(plugin)
                    self.wrong.append(f"{cycle.pod.key} on {node}, {plugin}: {concluded}, not {wanted}: {facts}")

            if DEVICES in table.plugins and DEVICES not in table.skipped:
                self._searched(scheduler, cycle, node, recorded.get(DEVICES, ("Success", ())))

    def _searched(self, scheduler: Scheduler, cycle: Cycle, node: str, recorded: tuple[str, tuple[str, ...]]) -> None:
        """Compare the steps of a search for devices with what it found."""
        search = search_for_devices(scheduler, cycle.number, node)
        if search is None:
            return
        for said in (*search.needs, *(step.said for step in search.steps)):
            self._gives_facts(replace(search.facts, shown=(said,)), "search")
        status = search.facts.status
        concluded = ("Success", ()) if status is None else (status.code.value, status.reasons)
        held = search.steps[-1].held if search.steps else ()
        if concluded != recorded or (search.got and not search.more and held != search.got):
            self.wrong.append(f"{cycle.pod.key} on {node}: {concluded}, not {recorded}; {held}, not {search.got}")

    def scored(self, scheduler: Scheduler, cycle: Cycle) -> None:
        for plugin, raws in cycle.raw.items():
            for node, raw in raws.items():
                facts = score_facts(scheduler, cycle.number, node, plugin)
                if not self._gives_facts(facts, f"{plugin} score"):
                    continue
                assert facts is not None
                normalized = cycle.normalized[plugin][node]
                if (facts.raw, facts.normalized) != (raw, normalized):
                    self.wrong.append(f"{cycle.pod.key} on {node}, {plugin}: {facts}, not {raw} → {normalized}")

    def _gives_facts(self, facts: Facts | None, what: str) -> bool:
        self.count += 1
        if facts is None:
            self.silent[what] += 1
            return False
        wording.lines(facts)
        if not wording.sentence(facts).strip():
            self.wrong.append(f"{what}: no sentence for {facts.says}")
        for item in (facts.says, *facts.shown):
            self._count(item)
            plain(item)
        return True

    def _count(self, fact: Fact) -> None:
        self.keys[fact.key] += 1
        for value in fact.values.values():
            for item in value if isinstance(value, Parts) else [value]:
                if isinstance(item, Fact):
                    self._count(item)

    def pre_filtered(self, scheduler: Scheduler, cycle: Cycle, event: ev.PreFilterRan) -> None:
        for plugin, code, reasons in event.verdicts:
            if code not in ("Success", "Skip"):
                facts = pre_filter_facts(scheduler, cycle.number, plugin)
                if self._gives_facts(facts, f"{plugin} preFilter"):
                    assert facts is not None
                    status = facts.status
                    if status is None or (status.code.value, status.reasons) != (code, reasons):
                        self.wrong.append(f"{cycle.pod.key}, {plugin}: {facts}, not {code} {reasons}")

    def tried(self, scheduler: Scheduler, cycle: Cycle, event: ev.PreemptionNodeTried) -> None:
        facts = dry_run_facts(scheduler, cycle.number, event.node)
        if facts is None:
            self.count += 1
            self.silent["dry run"] += 1
            return
        self._gives_facts(facts.facts, "dry run")
        steps = []
        for step in facts.steps:
            self._gives_facts(step.facts, f"dry run, {step.action}")
            reason = _refusal(step.checked)
            if step.action == "remove":
                values = step.facts.says.values
                reason = f"priority {values['priority']} is below {values['own']}"
            steps.append((step.action, step.pod, step.ok, reason))
        rejected = facts.facts.status.message if facts.facts.status is not None else ""
        concluded = (tuple(steps), facts.victims, len(facts.violations), rejected)
        if concluded != (event.steps, event.victims, event.pdb_violations, event.rejected):
            self.wrong.append(f"{cycle.pod.key} on {event.node}: {concluded}, not {event}")

    def climbed(self, scheduler: Scheduler, cycle: Cycle, rungs: Sequence[ev.PreemptionCriterionApplied]) -> None:
        facts = [rung for rung in choice_facts(scheduler, cycle.number) if rung.facts.shown]
        for rung in facts:
            self._gives_facts(rung.facts, "rung")
        drawn = [rung for rung in facts if rung.criterion.key == "preemption.first-by-name"]
        concluded = [_compared(rung) for rung in facts if rung not in drawn]
        recorded = [(rung.values, rung.survivors, rung.fallen) for rung in rungs]
        if concluded != recorded:
            self.wrong.append(f"{cycle.pod.key}: {concluded}, not {recorded}")
        winner = facts[-1].survivors if facts else ()
        if cycle.post_filter and cycle.post_filter[0] and (cycle.post_filter[0].nominated_node,) != winner:
            self.wrong.append(f"{cycle.pod.key}: {winner}, not {cycle.post_filter[0]}")

    def ran(self, scheduler: Scheduler, cycle: Cycle, event: ev.PluginsRan) -> None:
        """Compare Reserve and PreBind with their verdicts, and the volumes with what the plugin assumed or wrote."""
        ask = {"Reserve": reserve_facts, "PreBind": pre_bind_facts}.get(event.extension_point)
        for plugin, code, reasons in event.verdicts if ask is not None else ():
            asked = cycle.framework.plugins[plugin]
            if ask is None or not hasattr(asked, "explain_reserve"):
                continue
            if scheduler.cycle_numbered(cycle.number) is None:
                continue  # Two binding cycles have ended since; the scheduler keeps one.
            facts = ask(scheduler, cycle.number, plugin)
            if self._gives_facts(facts, f"{plugin} {event.extension_point}"):
                assert facts is not None
                status = facts.status
                concluded = ("Success", ()) if status is None else (status.code.value, status.reasons)
                taken = {item.values.get("claim"): item.values.get("volume") for item in facts.shown}
                if concluded != (code, reasons) or not _took(scheduler, cycle, facts, taken):
                    self.wrong.append(f"{cycle.pod.key}, {plugin}: {facts}, not {event}")

    def ask(self, scheduler: Scheduler, cycle: Cycle, events: Sequence[ev.Event]) -> None:
        for event in events:
            if isinstance(event, ev.FilterRan):
                self.filtered(scheduler, cycle, event)
            elif isinstance(event, ev.PreFilterRan):
                self.pre_filtered(scheduler, cycle, event)
            elif isinstance(event, ev.NormalizeRan):
                self.scored(scheduler, cycle)
            elif isinstance(event, ev.PreemptionNodeTried):
                self.tried(scheduler, cycle, event)
            elif isinstance(event, ev.PluginsRan):
                self.ran(scheduler, cycle, event)
        rungs = [event for event in events if isinstance(event, ev.PreemptionCriterionApplied)]
        if rungs:
            self.climbed(scheduler, cycle, rungs)


def _took(scheduler: Scheduler, cycle: Cycle, facts: Facts, taken: Mapping[str, Any]) -> bool:
    """Return True if the facts name the volumes that the plugin assumed for the pod's claims."""
    if facts.says.key.removeprefix("volumes.") not in RESERVED:
        return True
    chosen = cycle.state.data["VolumeBinding"].pod_volumes[cycle.host]
    volumes = {item.claim.name: item.volume.name for item in chosen.static_bindings}
    volumes |= dict.fromkeys(item.name for item in chosen.provisions)
    return {claim: volume for claim, volume in taken.items() if claim in volumes} == volumes


RESERVED = ("reserved", "provisioned", "reserved-and-provisioned")


def _refusal(checked: tuple[tuple[str, Facts], ...]) -> str:
    """Return the message of the filter that refused, "" if all passed."""
    plugin, facts = checked[-1] if checked else ("", None)
    return "" if facts is None or facts.status is None else refusal_by(plugin, facts.status).message


def _compared(rung: RungFacts) -> tuple[Any, ...]:
    """Return the values as the trace writes them, the survivors and the fallen."""
    criterion = next(item for item in CRITERIA if item.key == rung.criterion.key)
    values = tuple((item.values["node"], criterion.text(item.values["number"])) for item in rung.facts.shown)
    return values, rung.survivors, rung.fallen


@contextmanager
def watching(*, late: bool) -> Iterator[Cells]:
    """Ask every scheduler's plugins about each cycle: after each stage or, if ``late``, when the next cycle begins.

    By then the pod may be bound, and objects that plugins read may have changed or gone.
    """
    cells, run_stage, pop = Cells(), Scheduler._run_stage, Scheduler._pop
    pending: dict[Scheduler, tuple[Cycle, list[ev.Event]]] = {}

    def watched(scheduler: Scheduler, cycle: Cycle) -> None:
        begun = len(scheduler.recorder.entries)
        run_stage(scheduler, cycle)
        events = [entry.event for entry in scheduler.recorder.entries[begun:] if isinstance(entry.event, ASKED_ABOUT)]
        if not late:
            cells.ask(scheduler, cycle, events)
        elif events:
            known = pending.get(scheduler)
            pending[scheduler] = (cycle, [*known[1], *events] if known is not None and known[0] is cycle else events)

    def popping(scheduler: Scheduler) -> bool:
        if scheduler in pending:
            cells.ask(scheduler, *pending.pop(scheduler))
        return pop(scheduler)

    Scheduler._run_stage, Scheduler._pop = watched, popping  # type: ignore[method-assign]
    try:
        yield cells
    finally:
        Scheduler._run_stage, Scheduler._pop = run_stage, pop  # type: ignore[method-assign]


def played(cells: Cells, seed: int, kubernetes: str = DEFAULT) -> None:
    """Play random histories, one with preemption, one with devices, with the next configuration."""
    for history in (cluster, crowded, devices):
        simulation = Simulation(configuration=CONFIGURATIONS[seed % len(CONFIGURATIONS)], kubernetes=kubernetes)
        run(simulation, history(seed))
        if cells.wrong:
            cells.wrong[-1] += f" (seed {seed}, {history.__name__})"
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--late", action="store_true", help="ask when the next cycle begins")
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 30))
    arguments = parser.parse_args()
    seed = arguments.seed
    with watching(late=arguments.late) as cells:
        while cells.count < arguments.cells and not cells.wrong:
            played(cells, seed, VERSIONS[seed // len(CONFIGURATIONS) % len(VERSIONS)])
            seed += 1
    print(f"seeds {arguments.seed} to {seed - 1}: {cells.count} cells, {len(cells.wrong)} wrong")
    print("without facts:", dict(cells.silent) or "none")
    print("rows that nothing said:", sorted({*wording.ROWS} - {*cells.keys}))
    for text in cells.wrong[:5]:
        print(text)
    return 1 if cells.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
