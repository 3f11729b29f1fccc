"""What the kubelets have seen and done, as the trace tells it: pressure, rankings, evictions, what was reclaimed, whom
they did not take.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.trace import events as ev


@dataclass(slots=True)
class Deed:
    """What a kubelet did to keep its node going; ``ranking`` is the order that led to an eviction.

    ``above``: it evicts although the signal is above its threshold again, to reclaim the minimum. ``removed``: what it
    removed in the same look so far, this deed included. ``enough``: no pod had to go after that. ``other_disk``: the
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
    """Node conditions that a kubelet ``began`` and ceased (``ended``) to report, soft thresholds whose grace period
    began (with its end) or was cut short (``calmed``).
    """

    node: str
    began: tuple[str, ...]
    ended: tuple[str, ...]
    waits: tuple[tuple[str, int], ...]
    calmed: tuple[str, ...]


@dataclass(slots=True)
class NodeHealth:
    """What one kubelet has told. ``collected``: finished pods whose containers it removed, key → uid."""

    uid: str = ""
    seen: ev.PressureObserved | None = None
    seen_us: int = 0
    ranking: ev.EvictionRanked | None = None
    ranked_us: int = 0
    deeds: list[Deed] = field(default_factory=list)
    collected: dict[str, str] = field(default_factory=dict)

    @property
    def relief(self) -> Deed | None:
        """The last removal, while it is the last thing that this kubelet did or saw, and no pod had to go after it."""
        removals = (deed for deed in reversed(self.deeds) if isinstance(deed.event, ev.NodeResourcesReclaimed))
        last = next(removals, None)
        return last if last is not None and last.enough and last.at_us >= max(self.seen_us, self.ranked_us) else None

    @property
    def victim(self) -> str:
        """The pod that the last ranking chose, "" when it chose none."""
        last = self.deeds[-1] if self.deeds else None
        if last is None or not isinstance(last.event, ev.PodEvicted):
            return ""
        if last.ranking is None or last.ranking is not self.ranking:
            return ""
        return last.event.pod


@dataclass
class Health:
    """Node → what its kubelet has told. A node that was made anew under the same name begins anew."""

    nodes: dict[str, NodeHealth] = field(default_factory=dict)

    def of(self, name: str, uid: str) -> NodeHealth:
        known = self.nodes.get(name)
        return known if known is not None and known.uid == uid else NodeHealth(uid)
