"""The terms of the product: the key of the explanation, the tab that shows the thing, and its name in the code.

The page's help and ``docs/glossary.md`` are generated from this table.
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """A term. ``tab`` is empty if no single tab shows it. ``code`` is empty for terms of Kubernetes."""

    name: str
    key: str
    tab: str = ""
    code: str = ""


TERMS = (
    Term("activeQ", "glossary.active-queue"),
    Term("affinity", "glossary.affinity", "filter"),
    Term("assumed pod", "glossary.assumed", "cache"),
    Term("attempt", "glossary.attempt", code="sandbox.panels.model.state.Cycle"),
    Term("backoffQ", "glossary.backoff-queue"),
    Term("binding cycle", "glossary.binding-cycle"),
    Term("branch", "glossary.branch", code="sandbox.storage.models.Branch"),
    Term("candidate", "glossary.candidate", "preemption"),
    Term("command", "glossary.command", code="sandbox.storage.models.CommandRecord"),
    Term("embed", "glossary.embed", code="sandbox.panels.frames.Frame"),
    Term("expectation", "glossary.expectation", "expectations", code="sandbox.storage.models.Expectation"),
    Term("extension point", "glossary.extension-point", "configuration"),
    Term("fact", "glossary.fact", "filter", code="scheduler_engine.framework.facts.Fact"),
    Term("filter", "glossary.filter", "filter"),
    Term("gated pod", "glossary.gated"),
    Term("generation", "glossary.generation", "cache"),
    Term("ghost", "glossary.ghost"),
    Term("head", "glossary.head", code="sandbox.storage.records.Position"),
    Term("in flight", "glossary.in-flight"),
    Term("lane", "glossary.lane"),
    Term("lease", "glossary.lease", "leader"),
    Term("lesson", "glossary.lesson", code="scheduler_engine.lesson.Lesson"),
    Term("live line", "glossary.live-line", code="sandbox.web.consumers.WorkbenchConsumer"),
    Term("moment", "glossary.moment", code="sandbox.panels.model.moment.Moment"),
    Term("nodeTree", "glossary.node-tree", "cache"),
    Term("nominated node", "glossary.nominated", "preemption"),
    Term("normalize", "glossary.normalize", "scores"),
    Term("panel", "glossary.panel", code="sandbox.panels.Panel"),
    Term("part", "glossary.part", code="scheduler_engine.lesson.Part"),
    Term("percentageOfNodesToScore", "glossary.percentage", "filter"),
    Term("Permit", "glossary.permit"),
    Term("PodDisruptionBudget", "glossary.budget", "workloads"),
    Term("prediction", "glossary.prediction", code="sandbox.storage.models.Guess"),
    Term("preemption", "glossary.preemption", "preemption"),
    Term("priority", "glossary.priority", "workloads"),
    Term("queueing hint", "glossary.hint"),
    Term("replica", "glossary.replica", "leader", code="scheduler_engine.replica.Replica"),
    Term("reprieve", "glossary.reprieve", "preemption"),
    Term("room", "glossary.room", code="sandbox.workshop.models.Workshop"),
    Term("sandbox", "glossary.sandbox", code="sandbox.storage.models.Sandbox"),
    Term("scenario", "glossary.scenario", code="scheduler_engine.scenario.Scenario"),
    Term("scheduling cycle", "glossary.scheduling-cycle"),
    Term("score", "glossary.score", "scores"),
    Term("skew", "glossary.skew", "filter"),
    Term("snapshot", "glossary.snapshot", "cache"),
    Term("stage", "glossary.stage", code="scheduler_engine.framework.extension_points.STAGES"),
    Term("start index", "glossary.start-index", "filter"),
    Term("step", "glossary.step", code="sandbox.panels.model.guide.Step"),
    Term("taint and toleration", "glossary.taint", "filter"),
    Term("trace", "glossary.trace", code="scheduler_engine.trace.events.Entry"),
    Term("unschedulable pods", "glossary.unschedulable"),
    Term("victim", "glossary.victim", "preemption"),
    Term("weight", "glossary.weight", "scores"),
    Term("world", "glossary.world", code="sandbox.panels.model.world.World"),
)
