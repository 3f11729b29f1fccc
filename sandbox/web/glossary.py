"""The terms of the product: the key of the term in the word tables, the tab that shows it, and its name in the code.

The page's help and ``docs/glossary.md`` are generated from this table.
"""

from __future__ import annotations

from typing import NamedTuple

from sandbox.words.say import say


class Term(NamedTuple):
    """A term. ``tab`` is empty if no single tab shows it. ``code`` is empty for terms of Kubernetes."""

    key: str
    tab: str = ""
    code: str = ""

    @property
    def name(self) -> str:
        return say(f"terms.{self.key}")

    @property
    def meaning(self) -> str:
        return say(f"glossary.{self.key}")


TERMS = (
    Term("active-queue"),
    Term("affinity", "topology"),
    Term("assumed", "cache"),
    Term("attempt", code="sandbox.panels.model.state.Cycle"),
    Term("backoff-queue"),
    Term("binding-cycle"),
    Term("branch", code="sandbox.storage.models.Branch"),
    Term("candidate", "preemption"),
    Term("command", code="sandbox.storage.models.CommandRecord"),
    Term("embed", code="sandbox.panels.frames.Frame"),
    Term("expectation", "expectations", code="sandbox.storage.models.Expectation"),
    Term("extension-point", "configuration"),
    Term("fact", "filter", code="scheduler_engine.framework.facts.Fact"),
    Term("filter", "filter"),
    Term("gated"),
    Term("generation", "cache"),
    Term("ghost"),
    Term("head", code="sandbox.storage.records.Position"),
    Term("in-flight"),
    Term("lane"),
    Term("lease", "leader"),
    Term("lesson", code="scheduler_engine.lesson.Lesson"),
    Term("live-line", code="sandbox.web.consumers.WorkbenchConsumer"),
    Term("moment", code="sandbox.panels.model.moment.Moment"),
    Term("node-tree", "cache"),
    Term("nominated", "preemption"),
    Term("normalize", "scores"),
    Term("panel", code="sandbox.panels.Panel"),
    Term("part", code="scheduler_engine.lesson.Part"),
    Term("percentage", "filter"),
    Term("permit"),
    Term("budget", "workloads"),
    Term("prediction", code="sandbox.storage.models.Guess"),
    Term("preemption", "preemption"),
    Term("priority", "workloads"),
    Term("hint"),
    Term("replica", "leader", code="scheduler_engine.replica.Replica"),
    Term("reprieve", "preemption"),
    Term("room", code="sandbox.workshop.models.Workshop"),
    Term("sandbox", code="sandbox.storage.models.Sandbox"),
    Term("scenario", code="scheduler_engine.scenario.Scenario"),
    Term("scheduling-cycle"),
    Term("score", "scores"),
    Term("skew", "topology"),
    Term("snapshot", "cache"),
    Term("stage", code="scheduler_engine.framework.extension_points.STAGES"),
    Term("start-index", "filter"),
    Term("step", code="sandbox.panels.model.guide.Step"),
    Term("taint", "filter"),
    Term("trace", code="scheduler_engine.trace.events.Entry"),
    Term("unschedulable"),
    Term("victim", "preemption"),
    Term("weight", "scores"),
    Term("world", code="sandbox.panels.model.world.World"),
)
