"""``explain``: show from the trace why a pod is where it is, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import click

from scheduler_engine.answers.explained import explained as in_data
from scheduler_engine.answers.rerolling import reroll
from scheduler_engine.api.objects import Pod
from scheduler_engine.cli import OK
from scheduler_engine.cli.extenders import with_extenders
from scheduler_engine.cli.files import FILE, Unusable
from scheduler_engine.cli.fixing import fixed, fixes_in_data
from scheduler_engine.cli.formats import TEXT, echo_data, in_a_format
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import simulation_of
from scheduler_engine.cli.version import by_rules, version_data, versioned
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario.attempts import Attempt, RunView, unchecked
from scheduler_engine.scenario.decision import decision
from scheduler_engine.scenario.expectations.attempts import how_chosen
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.why import (
    choice_in_words,
    dry_run_in_words,
    idle_jobs,
    ineligible_in_words,
    refusal,
    reservation_in_words,
    scores_in_words,
    without_attempt,
)
from scheduler_engine.simulation import Simulation
from scheduler_engine.wording.entries import line
from scheduler_engine.words import say

COLUMNS = ("raw", "normalized", "weighted")


@click.command()
@click.argument("scenario", metavar="FILE", type=FILE)
@click.option("--pod", required=True, metavar="NAME", help="The pod: its name, or namespace/name.")
@click.option("--node", default="", metavar="NAME", help="Also explain this node: every score, or why it was refused.")
@click.option(
    "--attempt",
    type=int,
    default=None,
    metavar="N",
    help="Explain this attempt, counted from 1. Default: the last one.",
)
@click.option(
    "--cycle",
    type=int,
    default=None,
    metavar="N",
    help="Explain the attempt in this scheduling cycle, if several attempts have the same number.",
)
@click.option(
    "--seeds",
    type=click.IntRange(0, 100_000),
    default=0,
    metavar="N",
    help="Draw among equal nodes again under N other seeds.",
)
@click.option("--fix", is_flag=True, help="Show what would let a pending pod run: the smallest changes.")
@in_a_format
@with_plugins
@with_extenders
@versioned
def command(
    scenario: str,
    pod: str,
    node: str,
    attempt: int | None,
    cycle: int | None,
    seeds: int,
    fix: bool,
    output: str,
    version: Version,
    plugins: OwnPlugins,
) -> int:
    """Explain why a pod is where it is, and why it is not on another node."""
    if output != TEXT and seeds:
        raise Unusable("use --seeds without --output")
    if fix and (node or seeds or attempt is not None or cycle is not None):
        raise Unusable("use --fix without --node, --attempt, --cycle and --seeds")
    if fix and plugins.extenders.transports:
        raise Unusable(say("refusals.fixes-with-extenders"))
    if attempt is not None and cycle is not None:
        raise Unusable("use --attempt or --cycle, not both")
    simulation = simulation_of(scenario, version, plugins)
    key = _key(simulation, pod)
    if fix:
        _show_fixes(simulation, key, output)
        return OK
    run = RunView(simulation)
    is_last = attempt is None and cycle is None
    chosen = run.attempt(key) if is_last else _chosen(run, key, attempt, cycle)
    # A node that was deleted later is explained as the attempt knew it.
    if node and simulation.api.get("Node", node) is None and (chosen is None or chosen.verdict(node) is None):
        raise Unusable(f'nodes "{node}" not found')
    if output != TEXT:
        echo_data(output, in_data(simulation, key, chosen, [node] if node else []))
        return OK
    if chosen is None:
        raise Unusable(without_attempt(simulation, key))
    for text in explained(simulation, chosen, node, seeds):
        click.echo(text)
    click.echo(by_rules(chosen.rules))
    return OK


def _show_fixes(simulation: Simulation, key: str, output: str) -> None:
    if output != TEXT:
        echo_data(output, {**version_data(simulation.rules), **fixes_in_data(simulation, key)})
        return
    for text in fixed(simulation, key):
        click.echo(text)
    click.echo(by_rules(simulation.rules))


def _chosen(run: RunView, key: str, number: int | None, cycle: int | None) -> Attempt:
    """Return the attempt with this number or in this cycle. Raises Unusable when there is none, or more than one."""
    listed = run.meant(key, number, cycle)
    if len(listed) == 1:
        return listed[0]
    if not listed:
        raise Unusable(f"{key}: there is no attempt " + (f"{number}" if cycle is None else f"in cycle {cycle}"))
    pod = run.simulation.api.pod(key)
    lines = [f"  --cycle {item.cycle}{_whose(item, pod)}" for item in listed]
    raise Unusable("\n".join([f"{key}: there are {len(listed)} attempts {number}; choose one:", *lines]))


def _whose(attempt: Attempt, pod: Pod | None) -> str:
    """Return the scheduler that made an attempt, if it has a name, and if the attempt was for a deleted pod."""
    by = f" by {attempt.replica}" if attempt.replica else ""
    return f"{by}, for a deleted pod" if pod is not None and pod.uid != attempt.uid else by


def _key(simulation: Simulation, name: str) -> str:
    """Return a pod's key. Raises Unusable when there is no such pod, or more than one."""
    known = dict.fromkeys([*(pod.key for pod in simulation.api.pods()), *RunView(simulation).attempts])
    keys = [key for key in known if name in (key, key.partition("/")[2])]
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise Unusable(f"{name}: which one? {', '.join(keys)}")
    idle = [text for key, text in idle_jobs(simulation).items() if name in (key, key.partition("/")[2])]
    raise Unusable("\n".join([f'pods "{name}" not found', *idle]))


def explained(simulation: Simulation, attempt: Attempt, node: str, seeds: int = 0) -> Iterator[str]:
    """Yield what is known about an attempt, and about ``node`` if it is not "". ``seeds``: how often to draw again."""
    pod = simulation.api.pod(attempt.pod)
    where = f"on {pod.node_name}" if pod and pod.node_name else "without a node" if pod else "gone"
    if pod is not None and pod.uid != attempt.uid:
        yield click.style(f"This attempt was for a deleted pod. Another pod is now called {attempt.pod}.", bold=True)
    else:
        yield click.style(f"{attempt.pod} is {where}.", bold=True)
    yield from decision(attempt, [node] if node else [])
    yield from (f"  {line(event)}" for event in attempt.asked)
    if attempt.selected is not None:
        lead = f", by {attempt.margin}" if attempt.margin else ""
        yield f"{attempt.selected.node} was chosen: {how_chosen(attempt.selected, attempt)}{lead}."
        yield from (f"  {text}" for text in _drawn(simulation, attempt, seeds))
        yield from (f"  {text}" for text in reservation_in_words(simulation, attempt))
    yield from ineligible_in_words(simulation, attempt)
    if attempt.post_filter is not None and attempt.post_filter.nominated_node:
        yield f"preemption nominated it to {attempt.post_filter.nominated_node}."
        yield from (f"  {text}" for text in choice_in_words(simulation, attempt))
    if node:
        yield ""
        yield from _of_node(simulation, attempt, node)


def _drawn(simulation: Simulation, attempt: Attempt, seeds: int) -> Iterator[str]:
    """Yield the odds of a node that was drawn, and how often each equal node wins under other seeds."""
    if attempt.selected is None or attempt.selected.how != "draw":
        return
    rerolled = reroll(simulation, attempt.cycle, seeds)
    assert rerolled is not None
    yield say("reroll.drawn", node=rerolled.node, equal=len(rerolled.tied))
    if rerolled.margin is not None:
        yield say("reroll.runner-up", node=rerolled.runner_up, margin=rerolled.margin)
    if seeds:
        wins = ", ".join(f"{name} {count}" for name, count in rerolled.wins.items())
        yield say("reroll.wins", count=seeds, wins=wins)


def _of_node(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    verdict = attempt.verdict(node)
    if verdict is None and attempt.is_lean:
        yield f"{node}: the trace is lean, so it does not say what Filter answered."
        yield from (f"  {text}" for text in dry_run_in_words(simulation, attempt, node))
    elif verdict is None:
        yield f"{node}: {unchecked(attempt, node)}."
    elif verdict[0]:
        early = " before any node was checked" if attempt.filter is None else ""
        yield f"{node}: {verdict[0]} refused it{early}: {'; '.join(verdict[2])}"
        yield from (f"  {text}" for text in refusal(simulation, attempt, node))
        yield from (f"  {text}" for text in dry_run_in_words(simulation, attempt, node))
    else:
        yield f"{node}: it passes every filter."
    scores = attempt.scores(node)
    if not scores:
        return
    width = max(map(len, scores))
    yield f"  {'':{width}}" + "".join(f"{column:>12}" for column in COLUMNS)
    for plugin, row in scores.items():
        yield f"  {plugin:{width}}" + "".join(f"{row.get(column, ''):>12}" for column in COLUMNS)
    yield f"  {'total':{width}}" + f"{attempt.totals.get(node, ''):>{12 * len(COLUMNS)}}"
    yield from (f"  {text}" for text in scores_in_words(simulation, attempt, node))
