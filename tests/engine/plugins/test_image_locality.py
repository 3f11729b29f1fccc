"""ImageLocality: images that nodes already have."""

from __future__ import annotations

import pytest

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.node_info import ImageStateSummary
from scheduler_engine.plugins.image_locality import MEBIBYTE, ImageLocality
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, node_info, pod_of


def score(pod: PodBuilder, images: dict[str, tuple[int, int]], nodes: int = 2) -> int:
    """Return the score. ``images``: name → (size in MiB, number of nodes that have it)."""
    infos = [node_info(make_node(f"n{number}")) for number in range(nodes)]
    infos[0].image_states = {
        name: ImageStateSummary(size * MEBIBYTE, holders) for name, (size, holders) in images.items()
    }
    return ImageLocality({}, World(*infos).handle).score(CycleState(), pod_of(pod), infos[0])


WEB = make_pod("p").image("web:1")


@pytest.mark.parametrize(
    ("pod", "images", "expected"),
    [
        pytest.param(WEB, {}, 0, id="a node without images scores 0"),
        pytest.param(WEB, {"db:1": (500, 2)}, 0, id="other images do not count"),
        pytest.param(WEB, {"web:1": (23, 2)}, 0, id="23 MiB score 0"),
        pytest.param(WEB, {"web:1": (1000, 2)}, 100, id="1000 MiB on all nodes score 100"),
        pytest.param(WEB, {"web:1": (5000, 2)}, 100, id="more than that scores no more"),
        pytest.param(WEB, {"web:1": (1000, 1)}, 48, id="an image on half of the nodes counts half"),
        pytest.param(
            make_pod("p").image("web:1").container("b", image="db:1"),
            {"web:1": (1000, 2)},
            49,
            id="the maximum grows with every container",
        ),
        pytest.param(
            make_pod("p").image("web:1").spec(initContainers=[{"name": "i", "image": "init:1"}]),
            {"init:1": (1000, 2)},
            49,
            id="init containers count like others",
        ),
        pytest.param(
            make_pod("p").spec(containers=[]), {"web:1": (1000, 2)}, 0, id="a pod without containers scores 0"
        ),
        pytest.param(make_pod("p").image("web"), {"web:latest": (1000, 2)}, 100, id="no tag means latest"),
    ],
)
def test_score(pod: PodBuilder, images: dict[str, tuple[int, int]], expected: int) -> None:
    assert score(pod, images) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("web", "web:latest", id="a name without a tag gets latest"),
        pytest.param("web:2", "web:2", id="a tag stays"),
        pytest.param("reg:5000/web", "reg:5000/web:latest", id="the port of a registry is not a tag"),
        pytest.param("web@sha256:abc", "web@sha256:abc", id="a digest stays"),
    ],
)
def test_normalized_image_name(name: str, expected: str) -> None:
    assert normalized_image_name(name) == expected
