"""Which in-tree plugins have moved to CSI drivers on which nodes, as an array by slot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.columns import Columns, grown
from scheduler_engine.framework.derived import Readers
from scheduler_engine.framework.interface import NodeInfoLister, ObjectReader
from scheduler_engine.plugins.volume_references import MIGRATED_PLUGINS


class CsiNodes:
    """``codes``: slot → place in ``kinds``, which has a CSINode for each text of the annotation, and None.

    Nodes with the same code have moved the same plugins, whatever else is in their CSINodes.
    """

    __slots__ = ("codes", "kinds", "places", "position", "readers")

    def __init__(self) -> None:
        self.codes: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self.kinds: list[KubeObject | None] = []
        self.places: dict[str | None, int] = {}
        self.position = 0
        self.readers = Readers(("CSINode",))

    def update(self, snapshot: NodeInfoLister, objects: ObjectReader) -> None:
        """Look again at nodes that are new or whose CSINodes have changed."""
        slots = snapshot.slots
        changed = slots.replacements.since(self.position) if self.position else None
        stale = self.readers.stale(objects)
        everything = stale is None or changed is None
        again = range(len(slots.infos)) if everything else (*(stale or ()), *(changed or ()))
        for slot in dict.fromkeys(again):
            assert isinstance(slot, int)
            name = slots.infos[slot].name
            csi_node = objects.get("CSINode", name)
            self.readers.forget(slot)
            self.readers.note(slot, (("CSINode", name),))
            self.codes = grown(self.codes, slot + 1)
            self.codes[slot] = self._place_of(csi_node)
        self.position = slots.replacements.position

    def _place_of(self, csi_node: KubeObject | None) -> int:
        text = None if csi_node is None else csi_node.annotations.get(MIGRATED_PLUGINS, "")
        place = self.places.setdefault(text, len(self.kinds))
        if place == len(self.kinds):
            self.kinds.append(csi_node)
        return place


def csi_nodes(columns: Columns, snapshot: NodeInfoLister, objects: ObjectReader) -> CsiNodes:
    """Return them as they are now."""
    kept: CsiNodes = columns.other(CsiNodes, CsiNodes, snapshot.slots)
    kept.update(snapshot, objects)
    return kept
