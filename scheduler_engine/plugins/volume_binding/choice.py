"""The volumes that one claim could take, in order of preference: sorted once per cycle, then asked for each node."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.plugins.volume_binding.matching import Candidate, bar, bound_to, flaw


class Choice:
    """``reserved``: volumes reserved for the claim, by name. ``suitable``: the others that it could take, the smallest
    first, by name if they are equal. It never changes, so copies share it.

    ``by_label``: (label, value) → ranks in ``suitable`` of volumes that need just this label; ``special``: the ranks of
    all others. None: nobody has asked yet.
    """

    __slots__ = ("by_label", "reserved", "special", "suitable")

    def __init__(self, claim: KubeObject, size: int, candidates: Iterable[Candidate]) -> None:
        """``size``: the claim's request in nano-bytes. ``candidates``: by name."""
        self.reserved: list[Candidate] = []
        self.suitable: list[Candidate] = []
        selects = claim.spec.get("selector") is not None
        judged: dict[Hashable, bool] = {}
        for item in candidates:
            if item.capacity < size:
                continue
            if item.shape is None:
                if bound_to(item.volume, claim) and not bar(item, claim, size):
                    self.reserved.append(item)
                continue
            suits = None if selects else judged.get(item.shape)
            if suits is None:
                suits = judged[item.shape] = not bar(item, claim, size) and not flaw(item.volume, claim)
            if suits:
                self.suitable.append(item)
        self.suitable.sort(key=_capacity)
        self.by_label: dict[tuple[str, str], list[int]] | None = None
        self.special: list[int] = []

    def on(self, labels: Mapping[str, str], taken: Container[str]) -> Candidate | None:
        """Return the volume for the claim on a node with these labels. ``taken``: names of volumes for other claims.

        If the node cannot reach the reserved volume, return None.
        """
        for item in self.reserved:
            if item.volume.name not in taken:
                return item if item.reachable_from(labels) else None
        by_label = self._by_label()
        ranks = [rank for label in labels.items() for rank in by_label.get(label, ())]
        for rank in sorted((*ranks, *self.special)):
            item = self.suitable[rank]
            if item.volume.name not in taken and item.reachable_from(labels):
                return item
        return None

    def _by_label(self) -> dict[tuple[str, str], list[int]]:
        if self.by_label is None:
            self.by_label = {}
            for rank, item in enumerate(self.suitable):
                if item.needs is None:
                    self.special.append(rank)
                else:
                    for value in dict.fromkeys(item.needs.values):
                        self.by_label.setdefault((item.needs.key, value), []).append(rank)
        return self.by_label

    def __deepcopy__(self, memo: dict[int, object]) -> Choice:
        return self


def _capacity(item: Candidate) -> int:
    return item.capacity
