"""The nodes that have each container image. Source: seed 001 (imageStates); upstream ``backend/cache/cache.go``."""

from __future__ import annotations

from scheduler_engine.api.objects import Node
from scheduler_engine.framework.node_info import ImageStateSummary, NodeInfo
from scheduler_engine.sharing import Groups, Table


class ImageStates:
    """``nodes``: image name → the nodes that have it; an image on no node is forgotten. ``states``: image name → its
    summary in the NodeInfos of these nodes. The size comes from the first node seen with the image.
    """

    __slots__ = ("nodes", "states")

    def __init__(self) -> None:
        self.states: Table[str, ImageStateSummary] = Table()
        self.nodes: Groups[str, str, None] = Groups()

    def add(self, node: Node, info: NodeInfo) -> None:
        """Add ``node`` and give its NodeInfo the summaries of its images."""
        info.image_states = {}
        for names, size in node.images:
            for name in names:
                self.nodes.change(name)[node.name] = None
                info.image_states[name] = self.states.setdefault(name, ImageStateSummary(size, 0))

    def remove(self, node: Node | None) -> None:
        """Remove ``node`` from the images it lists; do nothing for None (a ghost)."""
        if node is None:
            return
        for names, _ in node.images:
            for name in names:
                if node.name in self.nodes.get(name, ()):
                    self.nodes.take(name, node.name)
                if name not in self.nodes:
                    self.states.pop(name, None)

    def current(self, info: NodeInfo) -> dict[str, ImageStateSummary]:
        """Return the node's images with the present number of nodes.

        A ghost may have one that was forgotten: it is on no node, even if another node has brought it back.
        """
        return {
            name: ImageStateSummary(state.size, len(self.nodes[name]) if self.states.get(name) is state else 0)
            for name, state in info.image_states.items()
        }

    def check(self, info: NodeInfo) -> None:
        """Raise AssertionError if the node's images are not the listed ones."""
        assert self.states.keys() == self.nodes.keys()
        for name, summary in info.image_states.items():
            assert self.states[name] is summary
            assert info.name in self.nodes[name]
