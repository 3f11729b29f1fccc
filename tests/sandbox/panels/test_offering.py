"""What the editors offer of the cluster."""

from __future__ import annotations

from typing import Any

from sandbox.panels import World
from sandbox.panels.facts.offering import MOST_KEYS, MOST_NAMES, MOST_VALUES, TABLES, offers
from tests.sandbox import traces


def world(**objects: list[dict[str, Any]]) -> World:
    made = World()
    for kind, manifests in objects.items():
        made.objects[kind] = {manifest["metadata"]["name"]: manifest for manifest in manifests}
    return made


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def test_names_labels_and_taints_are_those_of_the_cluster() -> None:
    found = offers(World.fold(traces.web_at_filter().entries))
    assert set(found) == set(TABLES)
    assert "node-a1" in found["nodes"]
    assert "eu-a" in found["nodeLabels"]["topology.kubernetes.io/zone"]  # type: ignore[call-overload]
    assert found["nodeFields"] == {"metadata.name": found["nodes"]}
    assert {"cpu", "memory"} <= set(found["resources"])


def test_an_empty_cluster_offers_what_is_always_there() -> None:
    found = offers(World())
    assert found["namespaces"] == ["default"]
    assert found["priorityClasses"] == ["system-cluster-critical", "system-node-critical"]
    assert found["nodes"] == []
    assert list(found["resources"]) == ["cpu", "ephemeral-storage", "memory", "pods"]


def test_taints_are_keys_with_their_values() -> None:
    tainted = node("a") | {"spec": {"taints": [{"key": "dedicated", "value": "gpu"}, {"key": "spot"}]}}
    assert offers(world(Node=[tainted]))["taints"] == {"dedicated": ["gpu"], "spot": []}


def test_of_much_only_so_much_is_offered_as_one_can_choose_from() -> None:
    many = [node(f"n{number:04}", rack=f"r{number}", **{f"k{number}": "x"}) for number in range(MOST_NAMES + 1)]
    found = offers(world(Node=many))
    labels = found["nodeLabels"]
    assert isinstance(labels, dict)
    assert len(found["nodes"]) == MOST_NAMES
    assert len(labels) == MOST_KEYS
    assert len(labels["rack"]) == MOST_VALUES
