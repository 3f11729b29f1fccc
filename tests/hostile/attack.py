"""Visitors and strangers on one real server: ``python -m tests.hostile.attack`` measures how the visitors fare.

First the visitors alone, then the same visitors with the strangers. Failures are printed as sentences at the end, and
the exit status is 1. To protect the machine, a server that exceeds ``--cap`` is killed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.hostile.acts import ACTS
from tests.hostile.site import MEGABYTE, ROOT, Sample, Site, end_in_order, prepare
from tests.hostile.visitors import Click, Crowd, gather, percentile, statuses

ROWS = 30
"""Most rows of the table of samples. Each is the worst of its samples."""
SLOWER = 2
"""How many times longer than without strangers an answer may take, for 95 visitors of 100."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Seconds and counts. ``bound`` and ``cap``, in bytes: the memory limit, and where the server is killed.

    ``addresses``: how many addresses visitors have; one is a class behind one router. ``patience``: how long the
    server may continue strangers' work after they have gone. ``late``: how long a page may lack an update.
    """

    visitors: int = 40
    addresses: int = 1
    patience: int = 60
    late: int = 2
    quiet: int = 60
    seconds: int = 60
    strangers: int = 6
    each: float = 15
    bound: int = 2 << 30
    cap: int = 4 << 30
    seed: int = 1
    only: tuple[str, ...] = ()
    judge_speed: bool = True


@dataclass
class Report:
    plan: Plan
    quiet: list[Click] = field(default_factory=list)
    attacked: list[Click] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    acts: dict[str, dict[str, Any]] = field(default_factory=dict)
    reconnects: int = 0
    behind: int = 0
    overrun: int = 0
    died: bool = False
    calm: bool = True
    ended: bool = True

    @property
    def largest(self) -> int:
        return max([self.overrun, *(sample.size for sample in self.samples)])


def run(plan: Plan, directory: Path, environment: dict[str, str]) -> Report:
    """Run one server, from its start to SIGTERM."""
    report = Report(plan)
    site = Site(directory, environment, plan.cap)
    site.start()
    try:
        with site.watched():
            asyncio.run(_visit(plan, site, report))
            report.died = not site.alive()
            # Strangers' work ends, or is given up, some time after they have gone.
            report.calm = report.died or site.calms_down(plan.patience)
            report.died = not site.alive()
            report.samples, report.overrun = site.samples, site.overrun
        report.ended = report.died or site.stop()
    finally:
        site.end()
    return report


async def _visit(plan: Plan, site: Site, report: Report) -> None:
    places = [f"127.0.8.{1 + number}" for number in range(plan.addresses)] if plan.addresses > 1 else ["127.0.0.1"]
    crowd = await gather(plan.visitors, site.port, places, plan.seed)
    try:
        # Take every path through the server once before measuring.
        await crowd.play(min(plan.quiet, 5))
        report.quiet = await crowd.play(plan.quiet)
        strangers = await _strangers(plan, site.port)
        try:
            report.attacked = await _while_it_lives(site, crowd, plan.seconds)
            if site.alive():
                report.acts = json.loads((await strangers.communicate())[0])
        finally:
            if strangers.returncode is None:
                strangers.kill()
                await strangers.communicate()
        if site.alive():
            report.behind = await _left_behind(crowd, plan.late)
        report.reconnects = crowd.reconnects
    finally:
        await crowd.leave()


async def _strangers(plan: Plan, port: int) -> asyncio.subprocess.Process:
    only = [f"--only={name}" for name in plan.only]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.hostile.strangers", str(port), f"--seconds={plan.seconds}", *only),
        *(f"--people={plan.strangers}", f"--each={plan.each}", f"--seed={plan.seed}"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )


async def _left_behind(crowd: Crowd, seconds: int) -> int:
    """Return how many pages still do not show the present state after ``seconds``."""
    end = time.monotonic() + seconds
    while (behind := await crowd.behind()) and time.monotonic() < end:
        await asyncio.sleep(1)
    return behind


async def _while_it_lives(site: Site, crowd: Crowd, seconds: int) -> list[Click]:
    before = len(crowd.clicks)
    playing = asyncio.create_task(crowd.play(seconds))
    while not playing.done() and site.alive():
        await asyncio.wait([playing], timeout=0.5)
    playing.cancel()
    await asyncio.wait([playing])
    return crowd.clicks[before:]


def failures(report: Report) -> list[str]:
    """Return the failures as sentences; none if all is well."""
    plan, codes = report.plan, statuses(report.attacked)
    wrong = [f"{act}: {text}" for act, row in report.acts.items() for text in row["wrong"]]
    wordless = sum(click.status == 503 and len(click.detail.split()) < 4 for click in report.attacked)
    quiet, attacked = speeds(report.quiet), speeds(report.attacked)
    slow = plan.judge_speed and any(attacked[name] > SLOWER * quiet[name] for name in ("answered p95", "shown p95"))
    checks: Iterable[tuple[object, str]] = (
        (report.died, f"the server ended under attack{' at its cap' if report.overrun else ''}"),
        (codes.get("5xx"), f"visitors were answered 5xx {codes.get('5xx')} times"),
        (wordless, f"visitors were answered 503 without words {wordless} times"),
        (codes.get("broken"), f"{codes.get('broken')} clicks of visitors had no answer within 30 s"),
        (report.largest > plan.bound, f"memory reached {report.largest // MEGABYTE} MB"),
        (slow, f"visitors waited more than {SLOWER} times as long as in quiet: {quiet} became {attacked}"),
        (report.behind, f"{report.behind} visitors' pages stayed behind"),
        (not report.calm, f"the server was still at work {plan.patience} s after the strangers had gone"),
        (not report.ended, "SIGTERM did not end the server and all it had started"),
        (not report.died and not report.acts, "the strangers broke down"),
    )
    return [text for failed, text in checks if failed] + wrong


def speeds(clicks: list[Click]) -> dict[str, int]:
    """Return the milliseconds from the click to the answer, and to the changed panels."""
    done = [click for click in clicks if click.status]
    answered, shown = [click.answered for click in done], [click.shown for click in done if click.shown is not None]
    rows = (("answered", answered), ("shown", shown))
    return {f"{name} p{share}": round(1000 * percentile(row, share)) for name, row in rows for share in (50, 95, 100)}


def tell(report: Report) -> None:
    """Print the figures as tables."""
    for name, clicks in (("quiet", report.quiet), ("under attack", report.attacked)):
        late = sum(click.late for click in clicks)
        print(f"visitors, {name}: {len(clicks)} clicks {statuses(clicks)}, {late} late; ms: {speeds(clicks)}")
    print(f"live lines opened again {report.reconnects}, pages behind at the end {report.behind}")
    print(f"\n{'second':>7} {'MB':>6} {'processes':>9} {'files':>6} {'p95 ms':>7} {'5xx':>4} {'503':>4}")
    for row in _rows(report):
        print("{:>7.0f} {:>6} {:>9} {:>6} {:>7} {:>4} {:>4}".format(*row))
    print(f"\nlargest {report.largest // MEGABYTE} MB\n")
    for name, act in report.acts.items():
        print(f"{act['times']:>4} × {name:<44} {dict(sorted(act['answers'].items()))}")
    for text in failures(report):
        print(f"FAILED: {text}")


def _rows(report: Report) -> list[tuple[float | int, ...]]:
    """Return second, MB, processes, files, visitors' p95 in ms, 5xx and 503: the worst of each equal time slice."""
    if not report.samples:
        return []
    begin, end = report.samples[0].at, report.samples[-1].at
    step = max((end - begin) / ROWS, 2)
    rows: list[tuple[float | int, ...]] = []
    for place in range(int((end - begin) / step) + 1):
        since, until = begin + place * step, begin + (place + 1) * step
        samples = [sample for sample in report.samples if since <= sample.at < until]
        clicks = [click for click in (*report.quiet, *report.attacked) if since <= click.at < until]
        if samples:
            size = max(sample.size for sample in samples) // MEGABYTE
            most = (max(sample.processes for sample in samples), max(sample.files for sample in samples))
            codes = statuses(clicks)
            waited = round(1000 * percentile((click.answered for click in clicks), 95))
            rows.append((since - begin, size, *most, waited, codes.get("5xx", 0), codes.get("503 busy", 0)))
    return rows


def alone(plan: Plan, directory: Path, environment: dict[str, str]) -> bool:
    """Run each act on a separate server and print one line for each. Return True if any failed."""
    failed = False
    for name in ACTS:
        if not plan.only or any(part in name for part in plan.only):
            report = run(replace(plan, only=(name,), strangers=1), directory, environment)
            quiet, attacked = speeds(report.quiet), speeds(report.attacked)
            p95 = f"{quiet['answered p95']:>4} → {attacked['answered p95']:>5} ms"
            print(f"{name:<44} {p95} {report.largest // MEGABYTE:>5} MB {statuses(report.attacked)}")
            print(*(f"    {text[:220]}" for text in failures(report)), sep="\n", flush=True)
            failed = failed or bool(failures(report))
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("visitors", "addresses", "patience", "quiet", "seconds", "strangers", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan(), name))
    parser.add_argument("--each", type=float, default=Plan().each, help="seconds for one act at most")
    parser.add_argument("--bound", type=int, default=Plan().bound // MEGABYTE, help="MB that memory may reach")
    parser.add_argument("--cap", type=int, default=Plan().cap // MEGABYTE, help="MB above which the server is killed")
    parser.add_argument("--only", action="append", default=[], help="part of an act's name")
    parser.add_argument("--alone", action="store_true", help="each act by itself")
    end_in_order()
    fields = vars(parser.parse_args())
    sizes = {name: fields.pop(name) * MEGABYTE for name in ("bound", "cap")}
    by_itself, only = fields.pop("alone"), tuple(fields.pop("only"))
    plan = Plan(**fields, **sizes, only=only)
    with tempfile.TemporaryDirectory() as folder:
        environment = prepare(Path(folder))
        if by_itself:
            sys.exit(alone(plan, Path(folder), environment))
        report = run(plan, Path(folder), environment)
        tell(report)
        sys.exit(bool(failures(report)))


if __name__ == "__main__":
    main()
