"""The nodes that have each container image. Source: seed 001 (imageStates); upstream ``backend/cache/cache.go``."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import Node
from scheduler_engine.framework.node_info import ImageStateSummary, NodeInfo


@dataclass(slots=True)
class ImageState:
    """``summary`` is shared by the NodeInfos of all ``nodes`` that have the image."""

    summary: ImageStateSummary
    nodes: dict[str, None] = field(default_factory=dict)


class ImageStates:
    """Image name → state. The size comes from the first node seen with the image; an image on no node is forgotten."""

    __slots__ = ("states",)

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}

    def add(self, node: Node, info: NodeInfo) -> None:
        """Add ``node`` and give its NodeInfo the summaries of its images."""
        info.image_states = {}
        for names, size in node.images:
            for name in names:
                state = self.states.setdefault(name, ImageState(ImageStateSummary(size, 0)))
                state.nodes[node.name] = None
                state.summary.num_nodes = len(state.nodes)
                info.image_states[name] = state.summary

    def remove(self, node: Node | None) -> None:
        """Remove ``node`` from the images it lists; do nothing for None (a ghost)."""
        if node is None:
            return
        for names, _ in node.images:
            for name in names:
                state = self.states.get(name)
                if state is None:
                    continue
                state.nodes.pop(node.name, None)
                state.summary.num_nodes = len(state.nodes)
                if not state.nodes:
                    del self.states[name]

    def check(self, info: NodeInfo) -> None:
        """Raise AssertionError if the node's summaries are not the shared ones, or are out of date."""
        for name, summary in info.image_states.items():
            assert self.states[name].summary is summary
            assert summary.num_nodes == len(self.states[name].nodes)
            assert info.name in self.states[name].nodes
