"""Completions in the editors from the cluster."""

from __future__ import annotations

from typing import Any

from sandbox.panels import World
from sandbox.panels.facts.offering import MOST_KEYS, MOST_NAMES, MOST_VALUES, TABLES, offers
from tests.sandbox import traces


def world(**objects: list[dict[str, Any]]) -> World:
    result = World()
    for kind, manifests in objects.items():
        result.objects[kind] = {manifest["metadata"]["name"]: manifest for manifest in manifests}
    return result


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def test_names_labels_and_taints_are_those_of_the_cluster() -> None:
    completions = offers(World.fold(traces.web_at_filter().entries))
    assert set(completions) == set(TABLES)
    assert "node-a1" in completions["nodes"]
    assert "eu-a" in completions["nodeLabels"]["topology.kubernetes.io/zone"]  # type: ignore[call-overload]
    assert completions["nodeFields"] == {"metadata.name": completions["nodes"]}
    assert {"cpu", "memory"} <= set(completions["resources"])


def test_an_empty_cluster_offers_the_constants() -> None:
    completions = offers(World())
    assert completions["namespaces"] == ["default"]
    assert completions["priorityClasses"] == ["system-cluster-critical", "system-node-critical"]
    assert completions["nodes"] == []
    assert list(completions["resources"]) == ["cpu", "ephemeral-storage", "memory", "pods"]


def test_taints_are_keys_with_their_values() -> None:
    tainted = node("a") | {"spec": {"taints": [{"key": "dedicated", "value": "gpu"}, {"key": "spot"}]}}
    assert offers(world(Node=[tainted]))["taints"] == {"dedicated": ["gpu"], "spot": []}


def test_long_completions_are_limited() -> None:
    many = [node(f"n{number:04}", rack=f"r{number}", **{f"k{number}": "x"}) for number in range(MOST_NAMES + 1)]
    completions = offers(world(Node=many))
    labels = completions["nodeLabels"]
    assert isinstance(labels, dict)
    assert len(completions["nodes"]) == MOST_NAMES
    assert len(labels) == MOST_KEYS
    assert len(labels["rack"]) == MOST_VALUES
