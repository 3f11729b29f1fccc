"""Commands, the configuration, and what the API server stored."""

from __future__ import annotations

from typing import Any

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class CommandGiven(Event):
    """A person (or a script) gave ``command``, one of ``scheduler_engine.commands``, in its recorded form.

    A tick of playing has 0 seconds, since the next ones may merge with it.
    """

    number: int
    command: Any

    @property
    def kind(self) -> str:
        return str(self.command.kind)

    @property
    def summary(self) -> str:
        """Return the command in one line."""
        return str(self.command.summary)


@record(frozen=True, slots=True)
class Configured(Event):
    """The scheduler's new configuration, at the start and after a change.

    ``configuration`` is the defaulted KubeSchedulerConfiguration; ``profiles`` are (scheduler name, ((extension point,
    ((plugin, weight), …)), …)): the effective plugins in running order, weight 0 everywhere but at ``score``.
    ``queue_rules``: ``v1.34`` or ``design-doc``. ``normalizing``: the score plugins that normalize their scores.
    ``registered``: (scheduler name, ((plugin, (event, …)), …)): the cluster events that each plugin registered for, as
    ``Node/Add``. ``kubernetes``: the version whose rules hold; ``feature_gates``: those that differ from its defaults.
    """

    LATER = ("kubernetes", "feature_gates")

    configuration: dict[str, Any]
    profiles: tuple[tuple[str, tuple[tuple[str, tuple[tuple[str, int], ...]], ...]], ...]
    queue_rules: str = "v1.34"
    normalizing: tuple[str, ...] = ()
    registered: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = ()
    kubernetes: str = "v1.34"
    feature_gates: tuple[tuple[str, bool], ...] = ()


@record(frozen=True, slots=True)
class AdmissionSwitched(Event):
    """An admission plugin of the API server was switched on or off."""

    plugin: str
    enabled: bool


@record(frozen=True, slots=True)
class ObjectAdded(Event):
    """The API server stored a new object; ``manifest`` is plain JSON (never mutated)."""

    kind: str
    key: str
    manifest: dict[str, Any]


@record(frozen=True, slots=True)
class ObjectApplied(Event):
    """Somebody applied ``manifest``, as it was written. The API server has already stored its own version."""

    kind: str
    key: str
    manifest: dict[str, Any]


@record(frozen=True, slots=True)
class ObjectModified(Event):
    kind: str
    key: str
    manifest: dict[str, Any]


@record(frozen=True, slots=True)
class ObjectDeleted(Event):
    kind: str
    key: str


@record(frozen=True, slots=True)
class EventRecorded(Event):
    """A Kubernetes Event object, as ``kubectl describe`` lists it. ``type`` is Normal or Warning.

    ``cause``: the cause, if the message does not say it: the taint that drives a pod away. ``uid`` is the pod's, if a
    scheduler records the event: another pod may have the name now. Others leave it empty.
    """

    regarding_kind: str
    regarding: str
    type: str
    reason: str
    message: str
    cause: str = ""
    uid: str = ""


@record(frozen=True, slots=True)
class RunEnded(Event):
    """A run ended although ``pods`` pods back off: their last attempts changed nothing, so only time could."""

    pods: int
