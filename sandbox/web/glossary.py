"""The terms of the page: what each means (``words/en/glossary.yaml``), and the tab that shows it."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """``tab``: '' = it is always on the page."""

    name: str
    key: str
    tab: str = ""


TERMS = (
    Term("activeQ", "glossary.active-queue"),
    Term("affinity", "glossary.affinity", "filter"),
    Term("assumed pod", "glossary.assumed", "cache"),
    Term("backoffQ", "glossary.backoff-queue"),
    Term("binding cycle", "glossary.binding-cycle"),
    Term("candidate", "glossary.candidate", "preemption"),
    Term("extension point", "glossary.extension-point", "configuration"),
    Term("filter", "glossary.filter", "filter"),
    Term("gated pod", "glossary.gated"),
    Term("generation", "glossary.generation", "cache"),
    Term("lease", "glossary.lease", "leader"),
    Term("nodeTree", "glossary.node-tree", "cache"),
    Term("nominated node", "glossary.nominated", "preemption"),
    Term("normalize", "glossary.normalize", "scores"),
    Term("percentageOfNodesToScore", "glossary.percentage", "filter"),
    Term("Permit", "glossary.permit"),
    Term("PodDisruptionBudget", "glossary.budget", "workloads"),
    Term("preemption", "glossary.preemption", "preemption"),
    Term("priority", "glossary.priority", "workloads"),
    Term("queueing hint", "glossary.hint"),
    Term("reprieve", "glossary.reprieve", "preemption"),
    Term("scheduling cycle", "glossary.scheduling-cycle"),
    Term("score", "glossary.score", "scores"),
    Term("skew", "glossary.skew", "filter"),
    Term("snapshot", "glossary.snapshot", "cache"),
    Term("start index", "glossary.start-index", "filter"),
    Term("taint and toleration", "glossary.taint", "filter"),
    Term("unschedulable pods", "glossary.unschedulable"),
    Term("victim", "glossary.victim", "preemption"),
    Term("weight", "glossary.weight", "scores"),
)
