"""Which nodes have which container image. Source: seed 001 (imageStates); upstream ``backend/cache/cache.go``."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import Node
from scheduler_engine.framework.node_info import ImageStateSummary, NodeInfo


@dataclass(slots=True)
class ImageState:
    """``summary`` is shared with the NodeInfos of all ``nodes`` that have the image."""

    summary: ImageStateSummary
    nodes: dict[str, None] = field(default_factory=dict)


class ImageStates:
    """Image name → state. The size is that of the first node seen with the image; one that no node has is forgotten."""

    __slots__ = ("states",)

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}

    def add(self, node: Node, info: NodeInfo) -> None:
        """Count ``node`` in and give its NodeInfo the summaries of its images."""
        info.image_states = {}
        for names, size in node.images:
            for name in names:
                state = self.states.setdefault(name, ImageState(ImageStateSummary(size, 0)))
                state.nodes[node.name] = None
                state.summary.num_nodes = len(state.nodes)
                info.image_states[name] = state.summary

    def remove(self, node: Node | None) -> None:
        """Count ``node`` out of the images it lists; None (a ghost) changes nothing."""
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
        """Raise AssertionError when the node's summaries are not the shared ones, or not up to date."""
        for name, summary in info.image_states.items():
            assert self.states[name].summary is summary
            assert summary.num_nodes == len(self.states[name].nodes)
            assert info.name in self.states[name].nodes
