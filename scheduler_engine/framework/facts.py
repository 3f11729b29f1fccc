"""What a plugin decided by: keys and numbers, given by the code that decided, and no words.

A plugin may have, beside ``filter`` and ``score``, methods that say what these looked at:

================== =================================================================================
method             signature
================== =================================================================================
explain_pre_filter (state, pod, nodes) → Facts, with the status with which ``pre_filter`` refused the pod
explain_filter     (state, pod, node_info) → Facts, with the status that ``filter`` gives
explain_score      (state, pod, node_info, raw: dict[node name, int]) → Facts, with the score of ``score``
explain_standing   (pod, nodes) → tuple[Fact, …]: how a pod that has its node stands among the others
================== =================================================================================

``explain_pre_filter`` is asked only of a plugin that refused the pod there. API objects may have changed since the
decision: it notes those that it reads (``noted_objects``), or what it found (``CycleState.notes``).

They are asked when somebody looks, with the state of that very cycle. Who words a fact finds a sentence by its key,
and writes each value by its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scheduler_engine.framework.status import Status


class Amount(NamedTuple):
    """``number`` in millicores of cpu, bytes of memory and storage, whole units of the rest."""

    resource: str
    number: int


class Keys(tuple[str, ...]):
    """Keys of objects, as ``namespace/name``; cluster-wide ones by their name."""


class Domain(NamedTuple):
    """A topology key."""

    key: str


class Place(NamedTuple):
    """One domain of a topology key; ``value`` None: the node has no such label."""

    key: str
    value: str | None


class LabelKey(NamedTuple):
    """The key of a label, to be written without its prefix."""

    key: str


class Label(NamedTuple):
    """A label as an object has it; ``value`` None: it has none."""

    key: str
    value: str | None


class Counts(NamedTuple):
    """``numbers``: ((name, how many), …); ``lowest`` is pointed out, None: none is. ``own`` is never cut off.

    ``nameless``: how a name "" is called, a row of ``values``.
    """

    numbers: tuple[tuple[str, int], ...]
    lowest: int | None = None
    own: str | None = None
    nameless: str = "empty"


class Things(NamedTuple):
    """A number of things of one kind, which is a row of the table ``things``."""

    kind: str
    number: int


class Size(NamedTuple):
    """Bytes, to be written in Mi, rounded."""

    number: int


class AnyOf(tuple[str, ...]):
    """Values one of which will do."""


class AllOf(tuple[str, ...]):
    """Requirements all of which must be met."""


class Parts(tuple["Fact", ...]):
    """Facts within a fact, in order."""


class Term(NamedTuple):
    """The pods that a term of pod affinity means.

    ``selector`` as Kubernetes writes it, "" = every pod, None = none. ``namespaces`` by name, and what a
    ``namespace_selector`` adds: "" = every namespace, None = there is none. ``number``: from 1, 0 = the only term.
    """

    selector: str | None
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    number: int = 0


class Sum(NamedTuple):
    """``terms`` are added up, each a product of numbers."""

    terms: tuple[tuple[int | float, ...], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was looked at. ``ok``: whether it speaks for the node, None = for neither side.

    ``key``: ``table.row``, by which it is worded; ``values``: what belongs into its places.
    """

    key: str
    values: Mapping[str, Value]
    ok: bool | None = None


def fact(key: str, ok: bool | None = None, /, **values: Value) -> Fact:
    return Fact(key, values, ok)


Written = Amount | Keys | Domain | Place | LabelKey | Label | Counts | Things | Size | AnyOf | AllOf | Term | Sum
Value = str | int | float | Written | Fact | Parts


def cut(*rests: int) -> list[Fact | str]:
    """A remark for each of the divisions that leave these rests: the first that leaves one speaks for all."""
    first = next((index for index, rest in enumerate(rests) if rest), None)
    return [fact("scores.cut") if index == first else "" for index in range(len(rests))]


@dataclass(frozen=True, slots=True)
class Facts:
    """What follows, ``says``, and what it follows from, in order.

    ``status``: of a filter, None = the node passes. ``raw`` and ``normalized``: of a score, None = not given.
    """

    says: Fact
    shown: tuple[Fact, ...] = ()
    status: Status | None = None
    raw: int | None = None
    normalized: int | None = None

    def of(self, *keys: str) -> list[Fact]:
        """Those of the facts shown whose key is one of ``keys``."""
        return [item for item in self.shown if item.key in keys]


@dataclass(frozen=True, slots=True)
class Room:
    """One resource of a node, as a cycle saw it: ``total`` allocatable, ``asked`` by the pod, and what each of the
    ``pods`` there asks for; ``nominated`` pods are counted as there, too. In millicores, bytes or whole units.
    """

    total: int
    asked: int
    pods: tuple[tuple[str, int], ...]
    nominated: tuple[tuple[str, int], ...] = ()
