"""The table of commands: the content of a row, and what follows from its fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from scheduler_engine.errors import FieldError
from scheduler_engine.shapes import Anything, Either, Fields, Flag, ListOf, MapOf, Nothing, Number, Shape, Text
from scheduler_engine.words import say

CHANGE, OBJECTS, REMOVAL = "change", "objects", "removal"
"""What a challenge charges: the command; only the objects that it changes; the command unless it removes something."""


class Field(NamedTuple):
    """A field of a command. ``types``: Python's types for its JSON; ``needed``: it has no default."""

    types: tuple[type, ...]
    shape: Shape
    needed: bool

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value of the right type, or ""."""
        shape = self.shape
        if isinstance(shape, Text) and shape.values and value not in shape.values:
            named = [word for word in shape.values if word]
            if "" in shape.values:
                return say("refusals.or-nothing", word=named[0])
            return say("refusals.must-be", what=", ".join(named))
        if isinstance(shape, Number) and not shape.allows(value):
            if shape.most is None:
                return say("refusals.at-least", least=shape.least)
            return say("refusals.from-to", least=shape.least, most=shape.most)
        return ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command; each kind is a subclass, added by ``command``, whose arguments are the class variables.

    ``kind``: its name in JSON, and the key of its line for people in ``words/en/commands.yaml``. ``steps``: it only
    lets the sandbox continue, and costs nothing. ``charge``: its cost otherwise. ``traced``: other events of
    the trace report its outcome. ``rows``: name of a field → the field. ``shape``: all fields, and what it does.
    """

    kind: ClassVar[str]
    steps: ClassVar[bool]
    charge: ClassVar[str]
    traced: ClassVar[bool]
    rows: ClassVar[dict[str, Field]]
    shape: ClassVar[Fields]

    @property
    def summary(self) -> str:
        """Return a line that says what the command does, and to what."""
        text = say(f"commands.{self.kind}", command=self)
        return say("command-parts.ended-early", summary=text) if getattr(self, "until", 0) else text

    def check(self) -> None:
        """Raise Rejected for errors that concern several fields."""

    def recorded(self) -> Command:
        """Return the command in the form that the trace holds."""
        return self


COMMANDS: dict[str, type[Command]] = {}
"""Kind of a command → its class, in the order of the documentation."""
SPELLED: dict[str, str] = {}
"""Field of a command → its name in Kubernetes or on the page. Other fields have the same name there."""


def any_of(names: Iterable[str]) -> str:
    """Return ``a list or null``."""
    return say("types.or").join(names)


def wrong_field(name: str, problem: str) -> FieldError:
    """Return an error for a field of a command, under the name that people know."""
    return FieldError(SPELLED.get(name, name), "FieldValueInvalid", problem)


@dataclass(frozen=True, slots=True)
class Spelled:
    """The name of a field for people, if it is not the name in camel case."""

    name: str


class _Type(NamedTuple):
    """``json``: Python's types for its JSON; ``shape``, and ``called`` in the errors of scenarios."""

    json: tuple[type, ...]
    shape: Shape
    called: str


TYPES: dict[Any, _Type] = {
    str: _Type((str,), Text(), say("types.text")),
    bool: _Type((bool,), Flag(), say("types.truth")),
    int: _Type((int,), Number(whole=True), say("types.whole-number")),
    float: _Type((int, float), Number(), say("types.number")),
    dict: _Type((dict,), MapOf(Anything()), say("types.mapping")),
    tuple: _Type((list, tuple), ListOf(Anything()), say("types.list")),
    NoneType: _Type((NoneType,), Nothing(), say("types.empty")),
}
"""Type of a field → its description."""
C = TypeVar("C", bound=Command)


@dataclass_transform(frozen_default=True)
def command(
    kind: str, *, steps: bool = False, charge: str = CHANGE, traced: bool = False
) -> Callable[[type[C]], type[C]]:
    """Add a class to the table of commands; the arguments are as in ``Command``.

    The class becomes a frozen dataclass. A field's type may be annotated with a narrower ``Shape`` and ``Spelled``.
    """

    def add(described: type[C]) -> type[C]:
        cls = dataclass(frozen=True, slots=True)(described)
        cls.kind, cls.steps, cls.charge, cls.traced = kind, steps, charge, traced
        hints = get_type_hints(cls, include_extras=True)
        cls.rows = {item.name: _field(item.name, hints[item.name], item.default is MISSING) for item in fields(cls)}
        needed = tuple(name for name, row in cls.rows.items() if row.needed)
        about = " ".join((cls.__doc__ or "").partition("\n\n")[0].split()).replace("``", "")
        cls.shape = Fields({name: row.shape for name, row in cls.rows.items()}, needed, about)
        COMMANDS[kind] = cls
        return cls

    return add


def _field(name: str, hint: Any, needed: bool) -> Field:
    base, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    spelled = next((extra.name for extra in extras if isinstance(extra, Spelled)), None)
    spelled = spelled or re.sub("_([a-z])", lambda match: match[1].upper(), name)
    if spelled != name:
        SPELLED[name] = spelled
    parts = get_args(base) if get_origin(base) is UnionType else (base,)
    types = [TYPES[get_origin(part) or part] for part in parts]
    if len(types) == 1:
        shape = types[0].shape
    else:
        shape = Either(
            tuple(one.shape for one in types), say("refusals.must-be", what=any_of(one.called for one in types))
        )
    narrower = (extra for extra in extras if not isinstance(extra, Spelled))
    return Field(sum((one.json for one in types), ()), next(narrower, shape), needed)
