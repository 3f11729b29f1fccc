"""What kubelets observed and did, folded from the trace: pressure, rankings, evictions, removals, rejections."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.trace import events as ev


@dataclass(slots=True)
class Deed:
    """One action of a kubelet to protect its node. ``ranking``: the order that led to an eviction.

    ``above``: it evicts although the signal is above its threshold again, to reclaim the minimum. ``removed``: what it
    removed so far in the same look, this deed included. ``enough``: no pod had to go after that. ``other_disk``:
    containers and images are on another disk than the one that is short.
    """

    at_us: int
    event: ev.PodEvicted | ev.NodeResourcesReclaimed | ev.PodRejected
    ranking: ev.EvictionRanked | None = None
    above: bool = False
    removed: tuple[ev.NodeResourcesReclaimed, ...] = ()
    enough: bool = False
    other_disk: bool = False


@dataclass(frozen=True, slots=True)
class Pressure:
    """A change of pressure: node conditions that a kubelet ``began`` or ceased (``ended``) to report; soft thresholds
    whose grace period began (``waits``: until when, in simulated microseconds) or was cut short (``calmed``).
    """

    node: str
    began: tuple[str, ...]
    ended: tuple[str, ...]
    waits: tuple[tuple[str, int], ...]
    calmed: tuple[str, ...]


@dataclass(slots=True)
class NodeHealth:
    """What one kubelet reported. ``collected``: finished pods whose containers it removed, key → uid."""

    uid: str = ""
    observation: ev.PressureObserved | None = None
    observed_us: int = 0
    ranking: ev.EvictionRanked | None = None
    ranked_us: int = 0
    deeds: list[Deed] = field(default_factory=list)
    collected: dict[str, str] = field(default_factory=dict)

    @property
    def relief(self) -> Deed | None:
        """Return the last removal if this kubelet did and saw nothing since, and no pod had to go after it."""
        removals = (deed for deed in reversed(self.deeds) if isinstance(deed.event, ev.NodeResourcesReclaimed))
        last, seen_us = next(removals, None), max(self.observed_us, self.ranked_us)
        return last if last is not None and last.enough and last.at_us >= seen_us else None

    @property
    def victim(self) -> str:
        """Return the pod that the last ranking chose, "" if it chose none."""
        last = self.deeds[-1] if self.deeds else None
        if last is None or last.ranking is None or last.ranking is not self.ranking:
            return ""
        return last.event.pod if isinstance(last.event, ev.PodEvicted) else ""


@dataclass
class Health:
    """Node → what its kubelet reported. A node created again under the same name starts empty."""

    nodes: dict[str, NodeHealth] = field(default_factory=dict)

    def of(self, name: str, uid: str) -> NodeHealth:
        """Return the health of a node; an empty one if the uid differs."""
        health = self.nodes.get(name)
        return health if health is not None and health.uid == uid else NodeHealth(uid)
