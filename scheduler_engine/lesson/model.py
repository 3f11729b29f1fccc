"""What a lesson is, once it has been read."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.scenario.model import Scenario
from scheduler_engine.shapes import Data

Steps = tuple[Data, ...]
"""Commands in their JSON form, with what stands beside them, as in ``then`` of a scenario."""


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose; it is right when ``holds`` holds afterwards."""

    text: str
    holds: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What a learner is asked of ``pod`` (``namespace/name``), and the engine answers: ``kind`` is one of
    ``predictions.KINDS``.

    ``ask``: in words, "" = the kind's own. ``tempting``: answers that many give, and that are wrong. ``at``: the stage
    of the pod's attempt that ends the question, or the ``attempt``; "" = the steps of the part do. ``offered``: the
    choices when it was asked, None = those at its end.
    """

    kind: str
    pod: str = ""
    node: str = ""
    ask: str = ""
    options: tuple[Option, ...] = ()
    tempting: tuple[str, ...] = ()
    at: str = ""
    offered: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """What a task asks for: in words, and as expectations that must all hold."""

    say: str
    holds: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class WrongWay:
    """``says`` is among the words that somebody reads who does this."""

    do: Steps
    says: str


@dataclass(frozen=True, slots=True)
class Task:
    """``right``: ways to do it, of which the first is how the lesson goes on."""

    text: str
    check: tuple[Item, ...]
    hints: tuple[str, ...]
    right: tuple[Steps, ...]
    wrong: tuple[WrongWay, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """What is opened or chosen when a part begins; "" = nothing."""

    tab: str = ""
    pod: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A text (Markdown), alone or with a button (``do``), a question, or a task.

    ``foresee``: the question is asked before ``do``, which answers it; otherwise it is about what is there already.
    ``then``: Markdown for afterwards. ``expect``: what holds at the end of the part.
    """

    text: str
    title: str = ""
    look: Look = Look()
    question: Question | None = None
    foresee: bool = False
    task: Task | None = None
    do: Steps = ()
    say: str = ""
    then: str = ""
    expect: tuple[Data, ...] = ()

    @property
    def way(self) -> Steps:
        """How the lesson itself goes through this part."""
        return self.task.right[0] if self.task else self.do


@dataclass(frozen=True, slots=True)
class Lesson:
    """``scenario`` is what it opens with, and where it stands in its file. ``after``: names of lessons that lead to it.

    ``belief`` and ``truth``: of an entry of the gallery of misconceptions. ``par``: what a good solution of a challenge
    costs, None for what is none.
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

    @property
    def title(self) -> str:
        return self.scenario.title

    @property
    def group(self) -> str:
        """The chapter."""
        return self.scenario.group

    @property
    def about(self) -> str:
        return self.scenario.about

    def where(self, path: str) -> str:
        """As ``Scenario.where``."""
        return self.scenario.where(path)
