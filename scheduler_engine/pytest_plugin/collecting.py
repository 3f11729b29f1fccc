"""A scenario file as a test: it passes if all its expectations hold, each at its point."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.pytest_plugin.updating import rewrite
from scheduler_engine.pytest_plugin.variants import chosen_for
from scheduler_engine.replay import trace_lines
from scheduler_engine.scenario import Failure, Point, Rejected, Scenario, load_scenario, run
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.decision import decision
from scheduler_engine.scenario.failing import attempt_about, reasons
from scheduler_engine.scenario.playing import END, START
from scheduler_engine.scenario.yaml_text import one_line
from scheduler_engine.shapes import did_you_mean

UPDATED = "scenario_updated"
"""The user property that says what was rewritten."""
EXPECTS_NOTHING = "scenario_expects_nothing"
"""The user property of a scenario that cannot fail: its file."""
ENDS = {START: "the setup", END: "everything"}
"""Path of a point that does not follow a step → what it follows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What does not hold at a point, and the attempts that led there, as text."""

    title: str
    failure: Failure
    decision: tuple[str, ...]


class Unmet(Exception):
    """An expectation of a scenario does not hold."""

    def __init__(self, differences: list[Difference]) -> None:
        super().__init__(f"{len(differences)} differences")
        self.differences = differences


class ScenarioFile(pytest.File):
    """One file with one scenario."""

    def collect(self) -> Iterator[ScenarioItem]:
        chosen = chosen_for(self)
        try:
            scenario = load_scenario(self.path, chosen.plugins)
        except Rejected as refusal:
            raise self.CollectError("\n".join(map(str, refusal.errors))) from None
        except OSError as problem:
            raise self.CollectError(f"{self.path.name}: {problem.strerror}") from None
        markers = [pytest.mark.scenario, *(_marker(self, scenario, index) for index in range(len(scenario.tags)))]
        for variant in chosen.variants:
            name = f"{scenario.slug}[{variant.id}]" if variant.id else scenario.slug
            item = ScenarioItem.from_parent(self, name=name, scenario=variant.of(scenario), names=chosen.names)
            for marker in markers:
                item.add_marker(marker)
            yield item


def _marker(file: ScenarioFile, scenario: Scenario, index: int) -> pytest.MarkDecorator:
    """Return a tag as a marker. Raises CollectError if markers are strict, and the settings do not list it."""
    tag = scenario.tags[index]
    with warnings.catch_warnings():
        # A tag in a file needs no declaration, unless markers are strict.
        warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)
        try:
            marker: pytest.MarkDecorator = getattr(pytest.mark, tag)
        except pytest.fail.Exception:
            known = [line.partition(":")[0].partition("(")[0] for line in file.config.getini("markers")]
            raise file.CollectError(
                f"{scenario.where(f'tags[{index}]')}: the setting markers does not list {tag!r}"
                + did_you_mean(tag, known)
            ) from None
    return marker


class ScenarioItem(pytest.Item):
    """A scenario, played in one way. ``names``: the expectations that count."""

    def __init__(self, scenario: Scenario, names: frozenset[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.scenario, self.names = scenario, names

    def runtest(self) -> None:
        """Play it. Raises Unmet, or Rejected when a step is refused."""
        if not self.scenario.expects_any(self.names):
            self.user_properties.append((EXPECTS_NOTHING, self.scenario.where("")))
        differences: list[Difference] = []
        last: Point | None = None
        for point in run(self.scenario):
            last = point
            differences += [_difference(point, failure) for failure in self._left(point)]
        folder: Path | None = self.config.getoption("--scenario-trace")
        if folder is not None and last is not None:
            lines = "".join(f"{line}\n" for line in trace_lines(last.simulation))
            _write_new(folder / self._trace_name(), lines)
        if differences:
            raise Unmet(differences)

    @property
    def _variant(self) -> str:
        """Return the way in which it is played, in square brackets, "" if there is only one."""
        return self.name.removeprefix(self.scenario.slug)

    def _trace_name(self) -> Path:
        """Return a path that no other test of the run has: that of its file, with the way in which it was played."""
        file = self.nodeid.partition("::")[0]
        inside = Path(*(part for part in Path(file).parts if part not in ("..", "/")))
        return inside.with_name(f"{inside.name}{self._variant}.jsonl")

    def _left(self, point: Point) -> Iterator[Failure]:
        """Yield the failures of a point, without those whose expectation is rewritten."""
        view = RunView(point.simulation)
        rewritten: set[str] = set()
        for failure in point.failures:
            if failure.path in rewritten or not self.names & failure.expectation.keys():
                continue
            if self.config.getoption("--update-scenarios") and rewrite(self.path, self.scenario, failure, view):
                rewritten.add(failure.path)
                self.user_properties.append((UPDATED, f"{self.scenario.where(failure.path)}: {failure.text}"))
            else:
                yield failure

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, Unmet):
            return "\n".join(self._report(error.differences))
        if isinstance(error, Rejected):
            return "\n".join(map(str, error.errors))
        return super().repr_failure(excinfo, style)

    def _report(self, differences: list[Difference]) -> Iterator[str]:
        yield f"{self.scenario.title}: {_number(len({item.failure.path for item in differences}))}"
        shown: tuple[str, ...] = ()
        for path, same in groupby(differences, lambda item: item.failure.path):
            item, *others = same
            yield ""
            yield self.scenario.where(path)
            yield f"  after     {item.title}"
            yield f"  expected  {one_line(item.failure.expectation)}"
            yield f"  found     {item.failure.text}"
            yield from (f"            {other.failure.text}" for other in others)
            if item.decision and item.decision != shown:
                yield ""
                yield from (f"  {line}" for line in item.decision)
            shown = item.decision or shown

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}{self._variant}: {self.scenario.title}"


def _write_new(path: Path, text: str) -> None:
    """Write a file that did not exist. A test that runs again in the same run has a number in its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        numbered = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            with numbered.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return


def _difference(point: Point, failure: Failure) -> Difference:
    """Add the attempt of the expectation; this must happen now, because the run continues."""
    view, node = RunView(point.simulation), failure.expectation.get("node")
    attempt = attempt_about(view, failure.expectation)
    table = decision(attempt, [node] if isinstance(node, str) else []) if attempt else []
    table += [f"  {text}" for text in reasons(view, failure.expectation)]
    return Difference(_title(point), failure, tuple(table))


def _title(point: Point) -> str:
    if point.step is None:
        return ENDS[point.path]
    return f"{point.title}: {point.step['kind']}"


def _number(number: int) -> str:
    return "1 expectation does not hold" if number == 1 else f"{number} expectations do not hold"
