"""What whole clusters of the Add drawer show when they run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.configurations import PRESETS
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import VERSIONS


def nodes_of_pods(slug: str, version: str) -> dict[str, str]:
    """Return pod → node, after everything in a preset is scheduled."""
    text = next(preset.text for preset in CLUSTERS if preset.slug == slug)
    simulation = Simulation(seed=42, kubernetes=version)
    simulation.execute(commands.Apply(tuple(yaml.safe_load_all(text))))
    simulation.execute(commands.Run())
    return {pod.name: pod.node_name for pod in simulation.api.pods()}


@pytest.mark.parametrize("version", VERSIONS)
def test_of_two_gpu_models_pods_take_what_they_claim_until_none_is_left(version: str) -> None:
    nodes = nodes_of_pods("two-gpu-models", version)
    assert [nodes["train-1"], nodes["train-2"]] == ["new-c1", "new-c1"]
    assert [nodes["report-1"], nodes["report-2"], nodes["report-3"]] == ["old-b1", "old-b1", ""]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_shared_nic_gathers_its_pods_on_one_node_until_it_is_full(version: str) -> None:
    nodes = nodes_of_pods("shared-nic", version)
    assert nodes["router-1"] == nodes["router-2"] != ""
    assert nodes["router-3"] == ""


def test_the_document_has_the_preset_with_an_extender() -> None:
    [preset] = [preset for preset in PRESETS if preset.slug == "extender"]
    assert f"```yaml\n{preset.text}```\n" in (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()
