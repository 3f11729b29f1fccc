"""``check``: play many scenarios, and print one line for each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import click

from scheduler_engine.cli import DIFFERENT, NAME, OK, UNUSABLE
from scheduler_engine.cli.files import FILE, Unusable, all_files, read, shown, write
from scheduler_engine.cli.formats import TEXT, echo_data, in_a_format
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import EXPECTS_NOTHING, played_through
from scheduler_engine.cli.version import versioned
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import figures, problems_of, read_lesson
from scheduler_engine.lesson.figure_file import KIND as FIGURE
from scheduler_engine.lesson.figure_file import read_figure
from scheduler_engine.lesson.format import KIND as LESSON
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario import read_scenario
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.why import idle_jobs, nobodys
from scheduler_engine.scenario.yaml_file import FILE_LIMITS, document_in

PASSED, FAILED, INVALID, OTHER = "passed", "failed", "invalid", "other"
STATUSES = {PASSED: OK, FAILED: DIFFERENT, INVALID: UNUSABLE, OTHER: OK}
"""Result of a file → exit status."""
WORDS = {PASSED: ("ok", "green"), FAILED: ("FAIL", "red"), INVALID: ("error", "red"), OTHER: ("skip", "yellow")}
OTHERS = re.compile(rb"^apiVersion: *(?!scheduler-sandbox/)[^\s#]", re.MULTILINE)
"""The beginning of an object that is neither a scenario nor a lesson: a manifest, or a configuration."""
NOT_A_SCENARIO = "not a scenario"
ELEMENTS = {FAILED: "failure", INVALID: "error"}
"""Result of a file → its element in JUnit's XML."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file, the title of its scenario or lesson, and what is wrong: expectations that fail, or errors of the file.

    ``result``: a key of ``STATUSES``; OTHER is a file in a folder that is neither a scenario nor a lesson.
    ``notes``: what nothing happens to at the end: Jobs without pods, pods of a scheduler that does not run.
    """

    file: str
    title: str
    result: str
    problems: list[str]
    expects_nothing: bool = False
    notes: list[str] = field(default_factory=list)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--junitxml",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the results to this file, as JUnit's XML.",
)
@in_a_format
@with_plugins
@versioned
def command(files: tuple[str, ...], junitxml: Path | None, output: str, version: Version, plugins: OwnPlugins) -> int:
    """Play scenarios and lessons, and check what they expect. A folder means all YAML files in it and below.

    Exit status 0: all is as expected; 1: an expectation fails; 2: a file is not a valid scenario or lesson.
    """
    results = list[Checked]()
    for checked in _check_all(files, version, plugins):
        results.append(checked)
        if output == TEXT:
            _tell(checked)
    if output != TEXT:
        echo_data(output, {"files": [asdict(checked) for checked in results]})
    if junitxml is not None:
        write(_junit(results), junitxml)
    return max((STATUSES[checked.result] for checked in results), default=OK)


def _check_all(files: Sequence[str], version: Version, own: OwnPlugins) -> Iterator[Checked]:
    for name in files:
        try:
            inside = all_files([name])
        except Unusable as problem:
            yield Checked(shown(name), "", INVALID, [problem.message])
            continue
        yield from (_checked(path, path != name, version, own) for path in inside)


def _checked(name: str, in_folder: bool, version: Version, own: OwnPlugins) -> Checked:
    try:
        text = read(name)
        if in_folder and OTHERS.search(text):
            return Checked(shown(name), NOT_A_SCENARIO, OTHER, [])
        return _played(text, shown(name), version, own)
    except (Unusable, Rejected) as problem:
        errors = problem.errors if isinstance(problem, Rejected) else [problem.message]
        return Checked(shown(name), "", INVALID, [*map(str, errors)])


def _played(text: bytes, name: str, version: Version, own: OwnPlugins) -> Checked:
    """Play a scenario, a lesson or a figure. Raises Rejected."""
    kind = document_in(text, name, FILE_LIMITS, "scenario").data.get("kind")
    if kind == LESSON:
        lesson = read_lesson(text, name, FILE_LIMITS, own).under(version.of)
        problems = problems_of(lesson)
        return Checked(name, lesson.title, FAILED if problems else PASSED, problems)
    if kind == FIGURE:
        figure = read_figure(text, name)
        there = replace(figure, written=version.of(figure.written))
        problems = [f"{there.written.where(path)}: {text}" for path, text in figures.problems_of(there)]
        return Checked(name, figure.written.title, FAILED if problems else PASSED, problems)
    scenario = version.of(read_scenario(text, name, FILE_LIMITS, own))
    points, end = played_through(scenario)
    failures = [f"{scenario.where(path)}: {text}" for path, text in points]
    notes = [*nobodys(end).values(), *idle_jobs(end).values()]
    result = FAILED if failures else PASSED
    return Checked(name, scenario.title, result, failures, scenario.expects_nothing, notes)


def _tell(checked: Checked) -> None:
    word, colour = WORDS[checked.result]
    note = f"  ({EXPECTS_NOTHING})" if checked.expects_nothing else ""
    click.echo(f"{click.style(word.ljust(5), fg=colour)}  {checked.file}  {checked.title}{note}".rstrip())
    for text in (line for problem in checked.problems for line in problem.splitlines()):
        print(f"       {text}", file=sys.stderr if checked.result == INVALID else sys.stdout)
    for text in checked.notes:
        click.echo(f"       {text}")


def _junit(results: Sequence[Checked]) -> str:
    """Return the results as JUnit's XML, in which each file is a test case."""
    counts = {result: str(sum(checked.result == result for checked in results)) for result in ELEMENTS}
    suite = ElementTree.Element(
        "testsuite", name=NAME, tests=str(len(results)), failures=counts[FAILED], errors=counts[INVALID]
    )
    for checked in results:
        case = ElementTree.SubElement(suite, "testcase", classname=checked.file, name=checked.title or checked.file)
        if checked.result == OTHER:
            ElementTree.SubElement(case, "skipped", message=checked.title)
        if checked.problems:
            first = checked.problems[0].partition("\n")[0]
            element = ElementTree.SubElement(case, ELEMENTS[checked.result], message=first)
            element.text = "\n".join(checked.problems)
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'
