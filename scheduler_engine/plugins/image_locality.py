"""ImageLocality: nodes with the pod's images score higher, and more so for large and common images.

Source: upstream ``plugins/imagelocality/image_locality.go``.
"""

from __future__ import annotations

from collections.abc import Hashable

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Facts, Keys, Size, Things, cut, fact
from scheduler_engine.framework.interface import MAX_NODE_SCORE, Plugin
from scheduler_engine.framework.node_info import ImageStateSummary, NodeInfo
from scheduler_engine.plugins.score_facts import as_it_is

MEBIBYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEBIBYTE
MAX_CONTAINER_THRESHOLD = 1000 * MEBIBYTE


class ImageLocality(Plugin):
    """The node's own summary, as of its last change, says how common an image is; results are cached per number of
    nodes.
    """

    name = "ImageLocality"

    def sign(self, pod: Pod) -> Hashable:
        """Include the number of nodes, which the score depends on."""
        return self._names(pod), _highest(pod), len(self.handle.snapshot.list())

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        images = node_info.image_states
        if not images:
            return 0
        total_nodes = len(self.handle.snapshot.list())
        held = 0
        for name in self._names(pod):
            image = images.get(normalized_image_name(name))
            if image is not None:
                held += _share(image, total_nodes)
        highest = _highest(pod)
        return MAX_NODE_SCORE * (_bounded(held, highest) - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)

    def _names(self, pod: Pod) -> tuple[str, ...]:
        """Return the images that count: those of containers and, by the rule ``scores_image_volumes``, of volumes."""
        names = tuple(container.get("image") or "" for container in (*pod.init_containers, *pod.containers))
        if not self.handle.rules.scores_image_volumes:
            return names
        volumes = (volume.get("image") for volume in pod.spec.get("volumes") or ())
        return (*names, *(image.get("reference") or "" for image in volumes if image is not None))

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: dict[str, int]) -> Facts:
        nodes = len(self.handle.snapshot.list())
        images, score = _images(self._names(pod), node_info, nodes), self.score(state, pod, node_info)
        shown = [
            fact("images.not-here", False, image=name)
            if image is None
            else fact(
                "images.here",
                True,
                image=name,
                size=Size(image.size),
                holders=image.num_nodes,
                nodes=nodes,
                share=Size(share),
                all=Things("node", nodes),
            )
            for name, image, share in images
        ]
        here, total = sum(image is not None for _, image, _ in images), sum(share for _, _, share in images)
        key = "images.has-some" if here else "images.has-none" if node_info.image_states else "images.nothing-reported"
        says = fact(key, bool(here), node=node_info.name, pod=Keys((pod.key,)), here=here, count=len(images))
        highest, containers = _highest(pod), len(pod.init_containers) + len(pod.containers)
        kept = _bounded(total, highest)
        (remark,) = cut(MAX_NODE_SCORE * (kept - MIN_THRESHOLD) % (highest - MIN_THRESHOLD))
        shown.append(
            fact(
                "images.raw",
                total=Size(total),
                kept=Size(kept),
                lowest=Size(MIN_THRESHOLD),
                highest=Size(highest),
                each=Size(MAX_CONTAINER_THRESHOLD),
                containers=Things("container", containers),
                raw=score,
                cut=remark,
            )
        )
        return as_it_is(says, shown, score)


def _share(image: ImageStateSummary, nodes: int) -> int:
    """Return the bytes of an image that count: more, if it is commoner."""
    return int(float(image.size) * (image.num_nodes / nodes))


def _highest(pod: Pod) -> int:
    """Return the upper threshold; image volumes do not raise it."""
    return MAX_CONTAINER_THRESHOLD * (len(pod.init_containers) + len(pod.containers))


def _images(names: tuple[str, ...], node_info: NodeInfo, nodes: int) -> list[tuple[str, ImageStateSummary | None, int]]:
    """Return each image, the node's data on it, and the bytes that count."""
    images = []
    for name in map(normalized_image_name, names):
        image = node_info.image_states.get(name)
        images.append((name, image, 0 if image is None else _share(image, nodes)))
    return images


def _bounded(held: int, highest: int) -> int:
    """Limit to the lower and upper thresholds."""
    if held < MIN_THRESHOLD:
        return MIN_THRESHOLD
    return held if held < highest else highest
