"""What a plugin says about all topology domains at once: plain data, from the code and the state that decide.

A plugin may have these methods beside those of ``framework/facts.py``. ``state`` is that of a cycle after
PreFilter. None: at rest, with what PreFilter and PreScore would write now. ``nodes``: the cycle's snapshot, or the
cached nodes.

================ ==============================================================
explain_spread   (state, pod, nodes) → tuple[SpreadBoard, …]: one per constraint
explain_affinity (state, pod, nodes) → AffinityBoard
================ ==============================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scheduler_engine.framework.facts import Domain, Fact, Keys, Term


class SpreadDomain(NamedTuple):
    """One domain of a constraint.

    ``name`` None: of nodes without the label, which Score counts together for the built-in defaults. ``there``: how
    many pods count, ``pods``: which. ``skew``: with the incoming pod there, and ``ok``: the constraint allows it; None
    if Score judges. ``added``: what Score adds to the raw score of a node there, None if it adds nothing, or if Filter
    judges. ``counted`` False: no node of the domain counts.
    """

    name: str | None
    there: int
    pods: Keys
    nodes: Keys
    counted: bool
    skew: int | None = None
    ok: bool | None = None
    added: float | None = None


@dataclass(frozen=True, slots=True)
class SpreadBoard:
    """One spread constraint and its domains, in the order of the nodes.

    ``most`` is maxSkew, ``least`` minDomains. ``selector`` as Kubernetes writes it, with ``matchLabelKeys``; "" = it
    counts no pod. ``itself``: 1 if the incoming pod counts. ``left_out``: the nodes and pods that do not count, as in
    ``spread.left-out-by-label``. ``number``: its place in the pod's list, from 1. ``when``: whenUnsatisfiable.
    ``minimum``: of Filter, None if Score judges. ``default``: it comes from the configuration.
    ``assumed``: as if every node passed Filter, because PreScore has not run.
    """

    domain: Domain
    most: int
    least: int
    selector: str
    honors_affinity: bool
    honors_taints: bool
    itself: int
    domains: tuple[SpreadDomain, ...]
    left_out: tuple[Fact, ...]
    number: int = 0
    when: str = "DoNotSchedule"
    minimum: int | None = None
    default: bool = False
    assumed: bool = False


class AffinityDomain(NamedTuple):
    """One domain of a rule's topology key. ``pods``: whom the rule finds there; one that counts twice is listed twice.

    ``ok``: the rule allows the incoming pod there, None: it only scores. ``share``: what it adds to the raw score.
    """

    name: str
    pods: Keys
    ok: bool | None
    share: int = 0


@dataclass(frozen=True, slots=True)
class AffinityRule:
    """One term that concerns the incoming pod. ``domains``: where it finds pods, for ``near`` all of its key.

    ``kind``: ``near``, ``far``, ``likes`` and ``dislikes`` are terms of the incoming pod; ``keeps-off``, ``they-need``,
    ``they-like`` and ``they-dislike`` are terms of the existing pods in its domains. ``weight``: signed, 0 = required.
    ``unlabelled``: nodes without the key that this rule refuses. ``first``: nothing matches it, and the pod may be the
    first of its group.
    """

    kind: str
    key: str
    term: Term
    weight: int
    domains: tuple[AffinityDomain, ...]
    unlabelled: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class AffinityBoard:
    """All rules, required ones first. ``left_out``: pods that match a term and do not count, rules without effect."""

    rules: tuple[AffinityRule, ...] = ()
    left_out: tuple[Fact, ...] = ()
