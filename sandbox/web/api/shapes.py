"""The bodies of requests and answers. The OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import ConfigDict, RootModel

from sandbox.storage.models import LONGEST_TITLE
from sandbox.storage.records import QUEUE_RULES
from sandbox.web.second_run import LONGEST_NAME, MOST_SEED
from sandbox.words.say import say
from sandbox.worker.jobs.exporting import EXPECT, FORM_NAMES, NONE
from sandbox.worker.other_run import CONFIGURATIONS
from sandbox.worker.seeds import CHOICES
from scheduler_engine.commands import COMMANDS, MAX_ADVANCE_SECONDS
from scheduler_engine.commands import Command as Row
from scheduler_engine.scenario.facts import FACTS
from scheduler_engine.shapes import Fields, Text
from scheduler_engine.versions import DEFAULT, VERSIONS

Rules = Literal[QUEUE_RULES]  # type: ignore[valid-type]
Version = Literal[VERSIONS]  # type: ignore[valid-type]
MOST_COMMANDS, MOST_EXPECTATIONS = 100, 50
EXPECTATION = {"type": "object", "minProperties": 1, "example": {"pod": "default/web", "pending": False}}
ExportForm = Literal[FORM_NAMES]  # type: ignore[valid-type]
Expect = Literal[EXPECT]  # type: ignore[valid-type]

Configuration = Literal["", *CONFIGURATIONS]  # type: ignore[valid-type]


class Strict(Schema):
    """A body in which an unknown field is an error, and so is a value of another type, such as a number as a text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewSandbox(Strict):
    """A scenario or a lesson of this site, the file of one, or your own commands."""

    scenario: str = Field("", description=say("api.scenario"))
    file: str = Field("", description=say("api.file"))
    lesson: str = Field("", description=say("api.lesson-to-open"))
    lesson_file: str = Field("", description=say("api.lesson-file"))
    title: str = Field("", max_length=LONGEST_TITLE)
    seed: int = Field(42, ge=0, le=2**31 - 1, description=say("api.seed"))
    queue_rules: Rules = QUEUE_RULES[0]
    kubernetes: Version = DEFAULT
    feature_gates: dict[str, bool] = Field(default={}, description=say("api.feature-gates"))
    priority_numbers: bool = Field(False, description=say("api.priority-numbers"))
    configuration: dict[str, Any] | None = Field(None, description=say("api.configuration"))
    commands: list[dict[str, Any]] = Field(default=[], description=say("api.commands"), max_length=1000)


class Created(Schema):
    """``api``: the sandbox's address in this API. ``edit`` and ``watch``: its pages, which grant that access."""

    id: str
    api: str
    edit: str
    watch: str


def _name(kind: str) -> str:
    """Return the name of a command's schema, such as ``RolloutRestartCommand``."""
    return "".join(part.capitalize() for part in kind.split("-")) + "Command"


def _shape(command: type[Row]) -> dict[str, Any]:
    kind, shape = Text(values=(command.kind,)), command.shape
    return Fields({"kind": kind, **shape.fields}, ("kind", *shape.required), shape.about).schema()


class Command(RootModel[dict[str, Any]]):
    """A command as in a log: ``{"kind": "advance", "seconds": 5}``. Each kind has its own fields."""


def command_schemas() -> dict[str, Any]:
    """Return the schemas of ``Command`` and of each kind, by their names in the OpenAPI document."""
    references = {kind: f"#/components/schemas/{_name(kind)}" for kind in COMMANDS}
    either = {
        "description": Command.__doc__,
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "kind", "mapping": references},
    }
    return {"Command": either, **{_name(kind): _shape(command) for kind, command in COMMANDS.items()}}


class Batch(Strict):
    """Commands to execute one after the other, all or none."""

    commands: list[Command] = Field(min_length=1, max_length=MOST_COMMANDS)


Expectations = Annotated[
    list[dict[str, Any]],
    Field(min_length=1, max_length=MOST_EXPECTATIONS, json_schema_extra={"items": EXPECTATION}),
]
"""As in a scenario: ``{"pod": "default/web", "node": "n1"}``."""


class Wait(Strict):
    """Expectations to wait for, as in a scenario, and for how many simulated seconds at most."""

    until: Expectations
    seconds: float = Field(300, gt=0, le=MAX_ADVANCE_SECONDS)


class Check(Strict):
    """Expectations to check, as in a scenario. ``at``: a past moment, as in the page's address."""

    expectations: Expectations
    at: str = ""


class Fact(Strict):
    """A fact to collect: what it is about, and ``at``: a past moment, as in the page's address."""

    fact: Literal[tuple(FACTS)]  # type: ignore[valid-type]
    pod: str | None = None
    node: str | None = None
    plugin: str | None = None
    attempt: int | None = Field(None, ge=1)
    cycle: int | None = Field(None, ge=1)
    at: str = ""


Key = Annotated[int, Field(ge=0, le=999_999_999_999)]


class Move(Strict):
    """Move to the state after command ``to``, where 0 is the start, or to the moment ``at``. Later commands stay until
    a new one is executed.
    """

    to: int | None = Field(None, ge=0, examples=[3])
    at: str = Field("", description=say("api.moment"))


class Branch(Schema):
    """A timeline that the sandbox left. ``after``: the command before it. ``count``: how many commands it has.
    ``first``: its first command, ``about`` in words. ``created``: when the sandbox left it.
    """

    branch: int
    after: int
    count: int
    first: dict[str, Any]
    about: str
    who: str
    created: datetime


class Fork(Strict):
    """``at``: the moment to copy, "" = the present. ``anew``: let this version of the engine decide every command, even
    if an earlier one decided it differently.
    """

    at: str = Field("", description=say("api.moment"))
    anew: bool = False


class State(Schema):
    """The state of a sandbox. ``head``: commands in force; ``length``: stored commands, including those after ``head``.
    ``kubernetes``: the version whose rules hold now, with ``feature_gates`` that differ from its defaults.
    ``seconds`` are simulated. ``queue``: lane → pods, in the order in which they would leave. ``stopped``: why this
    version of the engine does not get to ``head``; the rest is then the state before the command it names. Else empty.
    """

    title: str
    seed: int
    queue_rules: str
    kubernetes: str
    feature_gates: dict[str, bool]
    head: int
    length: int
    seconds: float
    nodes: int
    pods: int
    bound: int
    cycle: int
    queue: dict[str, list[str]]
    stopped: str


class Judged(Schema):
    """An expectation and whether it holds. ``differs``: what is different, in words."""

    expectation: dict[str, Any]
    holds: bool
    differs: list[str]


class Waited(Schema):
    """The state after waiting. ``met``: all expectations hold now."""

    met: bool
    until: list[Judged]
    state: State


class Kept(Schema):
    key: int
    expectation: dict[str, Any]


class Collected(Kept):
    """An expectation of the sandbox. ``key``: 0 for one of its scenario. ``command``: the command that it follows;
    ``moment``: its moment, "" = not reached. ``place``: where that is, seen from the present: ``here``, ``behind``,
    ``ahead``, or ``undone``. ``wrong``: what differs at its own moment; ``differs``: what differs now, null = unknown.
    """

    command: int
    moment: str
    place: str
    who: str
    wrong: list[str]
    differs: list[str] | None


class Applied(Schema):
    """The state after a change, and the API server's warnings."""

    state: State
    warnings: list[FieldProblem]


class FieldProblem(Schema):
    """An invalid field. ``document``, ``line`` and ``column`` count from 1 in the text of the request."""

    path: str
    type: str
    message: str
    object: str
    document: int
    line: int | None
    column: int | None


class Problem(Schema):
    """An error. Nothing was changed."""

    message: str
    errors: list[FieldProblem]


class Unread(Schema):
    """The change was made. Its state cannot be read now, for the reason in ``message``: ask for the state later."""

    message: str


class Log(Schema):
    """The log of a sandbox, and what it starts from. ``python -m scheduler_engine replay`` reads it."""

    engine: str
    seed: int
    configuration: dict[str, Any] | None
    queue_rules: str
    kubernetes: str
    feature_gates: dict[str, bool]
    priority_numbers: bool
    commands: list[dict[str, Any]]


class Exporting(Schema):
    """Options of an export. ``from``: commands in the setup of a scenario; null: all before the first step.
    ``expect``: its expectations at the end. ``added``: manifests with all that the cluster added. ``kwok``: with nodes
    that KWOK simulates. ``at``: a past moment, as in the page's address.
    """

    setup: int | None = Field(None, alias="from", ge=0, le=999_999_999)
    expect: Expect = NONE
    added: bool = False
    kwok: bool = False
    at: str = ""


class Compared(Schema):
    """A run to compare with: a branch, another configuration, or another version of Kubernetes."""

    branch: str = Field("", description=say("api.branch"))
    configuration: Configuration = Field("", description=say("api.other-configuration"))
    kubernetes: Literal["", *VERSIONS] = Field("", description=say("api.other-version"))  # type: ignore[valid-type]
    at: str = Field("", description=say("api.moment"))


class Differences(Compared):
    """Also another seed, or another node for the pod of an attempt."""

    seed: int | None = Field(None, ge=0, le=MOST_SEED, description=say("api.other-seed"))
    cycle: int = Field(0, ge=0, description=say("api.cycle"))
    node: str = Field("", max_length=LONGEST_NAME, description=say("api.other-node"))


class ManySeeds(Compared):
    seeds: int = Field(CHOICES[0], ge=1, le=CHOICES[-1], description=say("api.seed-count"))


class Panel(Schema):
    id: str
    title: str


class Facts(Schema):
    """The content of a panel as plain data. Its names are those of the page, and may change with it."""

    panel: str
    head: int
    facts: dict[str, Any]


class Answer(Schema):
    """An answer from copies of the engine, in words. ``problem``: why there is none, "" if there is one."""

    head: int
    problem: str
    answer: dict[str, Any]


class Step(Schema):
    """How to make a change: a command of kubectl, or what to change, with the ``manifest`` as YAML, else ""."""

    text: str
    manifest: str


class Fix(Schema):
    """A set of changes after which the pod runs on ``node``. ``victims``: pods that preemption then deletes.
    ``commands``: for the call ``batch``.
    """

    sentence: str
    node: str
    victims: list[str]
    steps: list[Step]
    commands: list[Command]


class Fixes(Schema):
    """Fixes, the smallest first. ``tried``: combinations of changes. ``kubernetes``: by whose rules they hold.
    ``stopped``: as in the state.
    """

    pod: str
    kubernetes: str
    stopped: str
    tried: int
    fixes: list[Fix]


class FixesAnswer(Schema):
    """What would let a pod run. ``problem``: why there is nothing to fix, or nothing helps, "" if there are fixes."""

    head: int
    problem: str
    answer: Fixes


class Objects(Schema):
    """Objects of one kind. ``next``: pass it as ``after`` to get more; "" if these are all."""

    items: list[dict[str, Any]]
    next: str


class Hit(Schema):
    """Something that matches. ``text`` is searched first; ``note`` says more. ``leads``: the parameters of the page's
    address that show it.
    """

    kind: str
    text: str
    note: str
    leads: dict[str, Any]


class Hits(Schema):
    """What matches, the best first. ``more``: how many more there are."""

    hits: list[Hit]
    more: int


class Listed(Schema):
    name: str
    title: str
    about: str
    group: str
    kubernetes: str


class ListedScenario(Listed):
    """A scenario. ``steps``: the number of its steps. ``kubernetes``: the version whose rules it follows. ``level``:
    how much a reader should know, ``first-steps``, ``everyday`` or ``deep``. ``shows``: what a reader understands.
    """

    steps: int
    level: str
    shows: str


class ListedLesson(Listed):
    """A lesson, a misconception or a challenge. ``group``: its chapter. ``after``: names of lessons to take before.
    ``belief``: the misconception, else "". ``par``: the cost of a good solution of a challenge, else null. ``tasks``:
    the numbers, from 0, of the parts with a task.
    """

    shelf: str
    minutes: int
    after: list[str]
    belief: str
    par: int | None
    parts: int
    tasks: list[int]


Applied.model_rebuild()
