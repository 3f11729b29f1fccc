"""The model of a lesson, once read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from scheduler_engine.errors import FieldError
from scheduler_engine.lesson.figures import Figure
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.scenario.yaml_file import at_lines
from scheduler_engine.shapes import Data
from scheduler_engine.versions import VERSIONS, releases_text
from scheduler_engine.words import say

Steps = tuple[Data, ...]
"""Commands in their JSON form, with the keys beside them, as in ``then`` of a scenario."""


@dataclass(frozen=True, slots=True)
class Option:
    """A possible answer; it is right if ``holds`` holds afterwards."""

    text: str
    holds: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a learner about ``pod`` (``namespace/name``), which the engine answers: ``kind`` is one of
    ``predictions.KINDS``.

    ``ask``: in words, "" = the default. ``tempting``: common wrong answers. ``reveals``: the slug of the misconception
    that the first of them shows, "" = none. ``at``: the stage of the pod's attempt that ends the question, or the
    ``attempt``; "" = the steps of the part do. ``offered``: the choices when it was asked, None = those at its end.
    """

    kind: str
    pod: str = ""
    node: str = ""
    ask: str = ""
    options: tuple[Option, ...] = ()
    tempting: tuple[str, ...] = ()
    reveals: str = ""
    at: str = ""
    offered: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A goal of a task: in words, and as expectations that must all hold."""

    say: str
    holds: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class WrongWay:
    """``says`` is part of the text that a learner who does this reads."""

    do: Steps
    says: str


@dataclass(frozen=True, slots=True)
class Task:
    """``right``: correct solutions, of which the first is how the lesson continues."""

    text: str
    check: tuple[Item, ...]
    hints: tuple[str, ...]
    right: tuple[Steps, ...]
    wrong: tuple[WrongWay, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """What to open or choose when a part begins; "" = nothing."""

    tab: str = ""
    pod: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A text (Markdown), alone or with a button (``do``), a question, or a task; perhaps with a figure below the text.

    ``predicts``: the question comes before ``do``, which answers it; otherwise it concerns the present state.
    ``then``: Markdown for afterwards. ``expect``: what holds at the end of the part.
    """

    text: str
    title: str = ""
    look: Look = Look()
    question: Question | None = None
    predicts: bool = False
    task: Task | None = None
    do: Steps = ()
    say: str = ""
    then: str = ""
    expect: tuple[Data, ...] = ()
    figure: Figure | None = None

    def under(self, change: Callable[[Scenario], Scenario]) -> Part:
        """Return the part with the scenario of its figure changed."""
        return replace(self, figure=replace(self.figure, written=change(self.figure.written))) if self.figure else self

    @property
    def way(self) -> Steps:
        """Return the lesson's own way through this part."""
        return self.task.right[0] if self.task else self.do


@dataclass(frozen=True, slots=True)
class Lesson:
    """``scenario`` is its starting point, with its place in the file. ``after``: names of lessons that lead to it.

    ``belief`` and ``truth``: of an entry in the gallery of misconceptions. ``par``: the cost of a good solution of a
    challenge, None for other lessons. ``differs``: version of Kubernetes under which the lesson does not hold → what
    differs there, in a sentence.
    """

    slug: str
    scenario: Scenario
    parts: tuple[Part, ...]
    minutes: int = 5
    rows: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    belief: str = ""
    truth: str = ""
    par: int | None = None
    know: tuple[str, ...] = ()
    differs: Mapping[str, str] = field(default_factory=dict)

    def under(self, change: Callable[[Scenario], Scenario]) -> Lesson:
        """Return the lesson with its scenario changed, and those of its figures."""
        return replace(self, scenario=change(self.scenario), parts=tuple(part.under(change) for part in self.parts))

    @property
    def title(self) -> str:
        return self.scenario.title

    @property
    def group(self) -> str:
        """Return the chapter."""
        return self.scenario.group

    @property
    def about(self) -> str:
        return self.scenario.about

    def versions(self) -> Iterator[str]:
        """Yield for which versions of Kubernetes the lesson holds, and what differs under the others, in sentences."""
        held = (version for version in VERSIONS if version not in self.differs)
        yield say("lesson-versions.holds", versions=releases_text(held))
        for text in dict.fromkeys(self.differs.values()):
            others = (version for version in VERSIONS if self.differs.get(version) == text)
            yield say("lesson-versions.differs", versions=releases_text(others), text=text)

    def error(self, path: str, text: str) -> FieldError:
        """Return an error at a path, with its line if the lesson was read from a file."""
        origin = self.scenario.origin
        wrong = FieldError(path, "FieldValueInvalid", text)
        return at_lines([wrong], origin.root, origin.name)[0] if origin else wrong

    def line_of(self, path: str) -> int:
        """Return the line of a path in the file, 0 without one."""
        origin = self.scenario.origin
        return origin.place(path).line if origin else 0
