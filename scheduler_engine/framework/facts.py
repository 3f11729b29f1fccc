"""The reasons for a plugin's decision: keys and numbers, without words, from the code that decided.

Besides ``filter`` and ``score``, a plugin may have methods that say what these looked at:

================== =================================================================================
method             signature
================== =================================================================================
explain_pre_filter (state, pod, nodes) → Facts, with the status with which ``pre_filter`` refused the pod
explain_filter     (state, pod, node_info) → Facts, with the status that ``filter`` gives
explain_score      (state, pod, node_info, raw: dict[node name, int]) → Facts, with the score of ``score``
explain_reserve    (state, pod, node_name) → Facts, with the status that ``reserve`` gives; likewise explain_pre_bind
explain_standing   (pod, nodes) → tuple[Fact, …]: how a pod on a node compares with the others
explain_dry_run    (state, node_info) → DryRunFacts, why a node is a candidate for preemption, or why not
explain_search     (state, pod, node_info) → SearchFacts | None: each step of a search for devices; None: no search
explain_ineligible (state) → Facts | None: why the pod may not preempt, so that no node was tried; None: it may
explain_room       (state, pod, node_info, resource) → DryRunRoom: what the dry run on a node reckoned with
explain_violations (state, node_info) → pod → the PodDisruptionBudgets that its eviction would violate, by their keys
explain_choice     (state) → tuple[RungFacts, …]: why one of the candidates won
================== =================================================================================

``framework/boards.py`` has the methods that say something about all domains at once.

``explain_pre_filter`` is called only if the plugin refused the pod there. API objects may have changed since the
decision: the plugin notes the objects it reads (``noted_objects``) or its findings (``CycleState.notes``).

They are called on demand, with the state of that same cycle. The wording takes a sentence by the fact's key and
formats each value by its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.status import Status
from scheduler_engine.trace.events import PreemptionNodeTried


class Amount(NamedTuple):
    """``number`` in millicores of cpu, bytes of memory and storage, whole units otherwise."""

    resource: str
    number: int


class Keys(tuple[str, ...]):
    """Keys of objects, as ``namespace/name``; cluster-wide ones by their name."""


class Domain(NamedTuple):
    """The topology key of a constraint, written without its prefix unless ``whole``: another key ends alike.

    If another constraint has the same key, ``selector`` tells them apart, else ``number``: its place, from 1.
    """

    key: str
    whole: bool = False
    selector: str = ""
    number: int = 0

    @property
    def is_ambiguous(self) -> bool:
        """Return True if the end of the key does not identify the constraint."""
        return self != Domain(self.key)


class Place(NamedTuple):
    """One domain of a topology key, ``whole`` as in Domain; ``value`` None: the node lacks the label."""

    key: str
    value: str | None
    whole: bool = False


class LabelKey(NamedTuple):
    """The key of a label, written without its prefix unless ``whole``: another label has the same name."""

    key: str
    whole: bool = False

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]


def reads_alike(key: str, others: Iterable[str]) -> bool:
    """Return True if another topology key among ``others`` has the same short name: then ``key`` is written in full."""
    return any(other != key and _short(other) == _short(key) for other in others)


def _short(key: str) -> str:
    return "node" if key == HOSTNAME else LabelKey(key).name


def constraint_domains(constraints: Sequence[tuple[str, str, int]]) -> tuple[Domain, ...]:
    """Return the topology keys of constraints that are shown together, so that no two read alike.

    A constraint is (topology key, selector, its place in the list, from 1).
    """
    keys = [key for key, _, _ in constraints]
    domains = []
    for key, selector, number in constraints:
        domain = Domain(key, reads_alike(key, keys))
        selectors = [other for other_key, other, _ in constraints if other_key == key]
        if len(selectors) == 1:
            domains.append(domain)
        elif all(selectors) and selectors.count(selector) == 1:
            domains.append(domain._replace(selector=selector))
        else:
            domains.append(domain._replace(number=number))
    return tuple(domains)


class Label(NamedTuple):
    """A label of an object; ``value`` None: it has none."""

    key: str
    value: str | None


class Counts(NamedTuple):
    """``numbers``: ((name, how many), …); ``lowest`` is highlighted, None: none is. ``own`` is never cut off.

    ``nameless``: what to call a name "", a row of ``values``.
    """

    numbers: tuple[tuple[str, int], ...]
    lowest: int | None = None
    own: str | None = None
    nameless: str = "empty"


class Things(NamedTuple):
    """A number of things of one kind; the kind is a row of the table ``things``."""

    kind: str
    number: int


class Size(NamedTuple):
    """Bytes, written in Mi, rounded."""

    number: int


class AnyOf(tuple[str, ...]):
    """Values, any one of which is enough."""


class AllOf(tuple[str, ...]):
    """Requirements that must all be met."""


class Parts(tuple["Fact", ...]):
    """Facts inside a fact, in order."""


class Term(NamedTuple):
    """The pods that a term of pod affinity selects.

    ``selector`` as Kubernetes writes it, "" = every pod, None = none. ``namespaces`` by name, plus those of a
    ``namespace_selector``: "" = every namespace, None = no selector. ``number``: from 1, 0 = the only term.
    """

    selector: str | None
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    number: int = 0


class Sum(NamedTuple):
    """A sum of ``terms``, each a product of numbers."""

    terms: tuple[tuple[int | float, ...], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a plugin looked at. ``ok``: True speaks for the node, None is neutral.

    ``key``: ``table.row``, selects the wording; ``values``: fill its placeholders.
    """

    key: str
    values: Mapping[str, Value]
    ok: bool | None = None


def fact(key: str, ok: bool | None = None, /, **values: Value) -> Fact:
    return Fact(key, values, ok)


Written = Amount | Keys | Domain | Place | LabelKey | Label | Counts | Things | Size | AnyOf | AllOf | Term | Sum
Value = str | int | float | Written | Fact | Parts


def cut(*rests: int) -> list[Fact | str]:
    """Return a remark for the first division that leaves a rest: it speaks for all."""
    first = next((index for index, rest in enumerate(rests) if rest), None)
    return [fact("scores.cut") if index == first else "" for index in range(len(rests))]


@dataclass(frozen=True, slots=True)
class Facts:
    """The conclusion, ``says``, and what it follows from, in order.

    ``status``: of a filter, None = the node passes. ``raw`` and ``normalized``: of a score, None = not given.
    """

    says: Fact
    shown: tuple[Fact, ...] = ()
    status: Status | None = None
    raw: int | None = None
    normalized: int | None = None

    def of(self, *keys: str) -> list[Fact]:
        """Return the shown facts whose key is one of ``keys``."""
        return [item for item in self.shown if item.key in keys]


def abandoned(facts: Facts) -> Facts:
    """Return the facts of an attempt whose scheduler has stopped: they describe the last moment before that."""
    return replace(facts, says=fact("attempt.abandoned", facts.says.ok, then=facts.says))


@dataclass(frozen=True, slots=True)
class DryRunStep:
    """One step of a dry run; ``action``, ``pod``, ``ok`` and ``reason`` as in ``PreemptionNodeTried``.

    ``facts``: its result, and what it follows from. ``checked``: (plugin, facts of a filter that ran in this step).
    """

    action: str
    pod: str
    ok: bool
    reason: str
    facts: Facts
    checked: tuple[tuple[str, Facts], ...] = ()


@dataclass(frozen=True, slots=True)
class DryRunFacts:
    """Why a node is a candidate for preemption, or why not: ``facts`` is the conclusion, with its status.

    ``violations``: key of a victim → keys of the budgets that its eviction violates.
    """

    facts: Facts
    victims: tuple[str, ...] = ()
    violations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    steps: tuple[DryRunStep, ...] = ()

    def agree_with(self, tried: PreemptionNodeTried) -> bool:
        """Return True if the trace recorded the same dry run. A lean trace has no steps."""
        rejected = self.facts.status.message if self.facts.status is not None else ""
        steps = tuple((step.action, step.pod, step.ok, step.reason) for step in self.steps)
        return (self.victims, rejected) == (tried.victims, tried.rejected) and tried.steps in ((), steps)


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A device that a search tried for a request. ``device``: its place in ``SearchFacts.devices``; ``outcome`` and
    ``said``: what came of it; ``held``: the places of the devices that the search has after this step.
    """

    device: int
    outcome: str
    said: Fact
    held: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """How a search for devices went on a node. ``facts``: the verdict of Filter; ``needs``: what the claims want.

    ``devices``: those that the node can use, as ``pool/device``; ``used``: places of those that other claims have;
    ``steps``: the first ones; ``more``: number of the others; ``got``: places of the devices that the claims would get.
    """

    facts: Facts
    needs: tuple[Fact, ...]
    devices: tuple[str, ...]
    used: frozenset[int]
    steps: tuple[SearchStep, ...]
    more: int
    got: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RungFacts:
    """One criterion that compared candidates. ``facts``: the result, then the value of each candidate, ok: it stays.

    ``criterion``: the criterion's own fact. A criterion that was not needed has no values.
    """

    criterion: Fact
    facts: Facts
    survivors: tuple[str, ...] = ()
    fallen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DryRunRoom:
    """One resource of a node, as a dry run saw it: ``total`` allocatable, ``asked`` by the pod, and the request of each
    of its ``pods``; ``nominated`` pods count as there, too. In millicores, bytes or whole units.
    """

    total: int
    asked: int
    pods: tuple[tuple[str, int], ...]
    nominated: tuple[tuple[str, int], ...] = ()
