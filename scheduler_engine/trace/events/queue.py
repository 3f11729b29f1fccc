"""The scheduling queue: moves, hints and nominations."""

from __future__ import annotations

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class PodMoved(Event):
    """A pod entered, left or changed queues.

    ``source``/``target`` are ``activeQ``, ``backoffQ``, ``errorBackoffQ``, ``unschedulablePods``, ``gated``,
    ``inFlight`` or ``""`` (outside). ``cause`` is Kubernetes' label (``PodAdd``, ``NodeAdd``,
    ``ScheduleAttemptFailure``, ``BackoffComplete``, ``UnschedulableTimeout``, ``PopFromBackoffQ``, ``Pop``,
    ``Scheduled``, ``PodDelete``, ``PodUpdate`` …). ``plugin``/``hint`` say which plugin's queueing hint decided and
    how (``Queue``/``QueueSkip``), if one was asked. The rest is the pod's QueuedPodInfo after the move;
    ``timestamp_us`` and ``backoff_until_us`` are simulated microseconds. ``uid`` is the pod's: one of the same name may
    be queued while a deleted one's attempt still runs. ``flushed_us``: when a pod in a backoff queue moves to activeQ
    if nothing takes it out before. ``order_us``: the time by which activeQ orders pods of one priority, before their
    keys; None: ``timestamp_us``, before their arrival.

    When PreBind begins a pod goes outside by ``Scheduled``. If its binding fails, it comes back from there by
    ``ScheduleAttemptFailure``.
    """

    LATER = ("order_us",)

    pod: str
    source: str
    target: str
    cause: str
    plugin: str = ""
    hint: str = ""
    priority: int = 0
    attempts: int = 0
    timestamp_us: int = 0
    backoff_until_us: int | None = None
    unschedulable_plugins: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    gating_plugin: str = ""
    uid: str = ""
    flushed_us: int | None = None
    order_us: int | None = None

    @property
    def in_place(self) -> bool:
        """Return True if the pod stayed in its queue: it was changed there, or is held back again."""
        return self.source == self.target


@record(frozen=True, slots=True)
class MoveRequested(Event):
    """``MoveAllToActiveOrBackoffQueue`` was called for ``cluster_event`` (e.g. ``NodeAdd``); ``in_flight`` pods
    noted it.
    """

    cluster_event: str
    object_key: str
    scheduling_cycle: int
    in_flight: tuple[str, ...]
    moved: tuple[str, ...]


@record(frozen=True, slots=True)
class EventNoted(Event):
    """The pod ``object_key`` is in flight and was itself changed or activated: the pods ``in_flight`` noted it, and no
    queue was searched.
    """

    cluster_event: str
    object_key: str
    in_flight: tuple[str, ...]


@record(frozen=True, slots=True)
class HintAnswered(Event):
    """A plugin was asked if ``cluster_event``, a change of the object ``about``, may help ``pod``.

    ``verdict``: Queue or QueueSkip. ``why``: key of a row in ``wording``, or the plugin's own text.
    """

    pod: str
    plugin: str
    cluster_event: str
    about: str
    verdict: str
    why: str


@record(frozen=True, slots=True)
class NominationChanged(Event):
    """The nominator now holds ``pod`` for ``node`` ("" = for no node)."""

    pod: str
    node: str
