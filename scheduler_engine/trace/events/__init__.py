"""The trace: frozen, past-tense events that name things by key and hold numbers, never live objects.

Every event becomes one ``Entry`` (number, simulated time in microseconds, number of the command that caused it).
Pods are named ``namespace/name``, nodes by name. A *verdict* is ``(plugin, code, reasons)`` with ``code`` one of the
names of :class:`scheduler_engine.framework.status.Code`. Tables stay tuples, so that one stage is one event however
many nodes it visited. ``wording/entries.py`` gives each event one line.
"""

from scheduler_engine.trace.events.base import Event, Verdict
from scheduler_engine.trace.events.cache import (
    AssumedPodsExpire,
    CacheNodeChanged,
    CachePodChanged,
    NodeTreeChanged,
    SnapshotTaken,
)
from scheduler_engine.trace.events.cluster import (
    AdmissionSwitched,
    CommandGiven,
    Configured,
    EventRecorded,
    ObjectAdded,
    ObjectApplied,
    ObjectDeleted,
    ObjectModified,
    RunEnded,
)
from scheduler_engine.trace.events.cycle import (
    CycleFinished,
    CycleStarted,
    CycleStateWritten,
    FaultSet,
    FaultStruck,
    FilterRan,
    HostSelected,
    NormalizeRan,
    PermitWait,
    PluginsRan,
    PodUnschedulable,
    PostFilterRan,
    PreemptionCriterionApplied,
    PreemptionLimited,
    PreemptionNodeTried,
    PreFilterRan,
    PreScoreRan,
    ScoreRan,
    StageFinished,
)
from scheduler_engine.trace.events.election import ElectorTried, LockChanged, ReplicaChanged, ReplicasConfigured
from scheduler_engine.trace.events.eviction import (
    DrainChanged,
    EvictionAnswered,
    EvictionRanked,
    NodeResourcesReclaimed,
    PodEvicted,
    PodRejected,
    PressureObserved,
    TaintEvictionPlanned,
)
from scheduler_engine.trace.events.queue import EventNoted, HintAnswered, MoveRequested, NominationChanged, PodMoved
from scheduler_engine.trace.events.recorder import Doing, Entry, Recorder

__all__ = [
    "AdmissionSwitched",
    "AssumedPodsExpire",
    "CacheNodeChanged",
    "CachePodChanged",
    "CommandGiven",
    "Configured",
    "CycleFinished",
    "CycleStarted",
    "CycleStateWritten",
    "Doing",
    "DrainChanged",
    "ElectorTried",
    "Entry",
    "Event",
    "EventNoted",
    "EventRecorded",
    "EvictionAnswered",
    "EvictionRanked",
    "FaultSet",
    "FaultStruck",
    "FilterRan",
    "HintAnswered",
    "HostSelected",
    "LockChanged",
    "MoveRequested",
    "NodeResourcesReclaimed",
    "NodeTreeChanged",
    "NominationChanged",
    "NormalizeRan",
    "ObjectAdded",
    "ObjectApplied",
    "ObjectDeleted",
    "ObjectModified",
    "PermitWait",
    "PluginsRan",
    "PodEvicted",
    "PodMoved",
    "PodRejected",
    "PodUnschedulable",
    "PostFilterRan",
    "PreFilterRan",
    "PreScoreRan",
    "PreemptionCriterionApplied",
    "PreemptionLimited",
    "PreemptionNodeTried",
    "PressureObserved",
    "Recorder",
    "ReplicaChanged",
    "ReplicasConfigured",
    "RunEnded",
    "ScoreRan",
    "SnapshotTaken",
    "StageFinished",
    "TaintEvictionPlanned",
    "Verdict",
]
