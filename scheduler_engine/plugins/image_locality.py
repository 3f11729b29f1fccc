"""ImageLocality: nodes that have the pod's images score higher, the more so the larger and commoner the images are.

Source: upstream ``plugins/imagelocality/image_locality.go``.
"""

from __future__ import annotations

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import MAX_NODE_SCORE, Plugin
from scheduler_engine.framework.node_info import NodeInfo

MEBIBYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEBIBYTE
MAX_CONTAINER_THRESHOLD = 1000 * MEBIBYTE


class ImageLocality(Plugin):
    """How common an image is stands in the node's own summary, as of its last change; results are kept per number
    of nodes.
    """

    name = "ImageLocality"

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        if not node_info.image_states:
            return 0
        containers = (*pod.init_containers, *pod.containers)
        total_nodes = len(self.handle.snapshot.list())
        held = 0
        for container in containers:
            image = node_info.image_states.get(normalized_image_name(container.get("image") or ""))
            if image is not None:
                held += int(float(image.size) * (image.num_nodes / total_nodes))
        highest = MAX_CONTAINER_THRESHOLD * len(containers)
        if held <= MIN_THRESHOLD:
            return 0
        held = min(held, highest)
        return MAX_NODE_SCORE * (held - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)
