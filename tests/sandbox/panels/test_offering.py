"""Completions in the editors from the cluster."""

from __future__ import annotations

from typing import Any

from sandbox.panels import World
from sandbox.panels.facts.offering import MOST_KEYS, MOST_NAMES, MOST_VALUES, TABLES, offers
from scheduler_engine.api.cel.devices import compile_selector
from scheduler_engine.api.devices import ResourceSlice
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


def test_devices_offer_expressions_that_they_satisfy_and_the_full_names_of_attributes() -> None:
    attributes = {"model": {"string": "t4"}, "ecc": {"bool": False}, "cores": {"int": 8}}
    devices = [
        {"name": "a", "attributes": attributes, "capacity": {"memory": {"value": "16Gi"}}},
        {"name": "b", "attributes": {"example.org/firmware": {"version": "1.2.0"}, "ecc": {"bool": True}}},
    ]
    offered = {"metadata": {"name": "s"}, "spec": {"driver": "gpu.example.com", "devices": devices}}
    known = offers(world(ResourceSlice=[offered], DeviceClass=[node("gpu")], ResourceClaim=[node("mine")]))
    assert known["deviceExpressions"] == [
        '!device.attributes["gpu.example.com"].ecc',
        'device.attributes["example.org"].firmware.compareTo(semver("1.2.0")) >= 0',
        'device.attributes["gpu.example.com"].cores >= 8',
        'device.attributes["gpu.example.com"].ecc',
        'device.attributes["gpu.example.com"].model == "t4"',
        'device.capacity["gpu.example.com"].memory.compareTo(quantity("16Gi")) >= 0',
        'device.driver == "gpu.example.com"',
    ]
    assert known["deviceAttributes"] == [
        "example.org/firmware",
        *(f"gpu.example.com/{name}" for name in ("cores", "ecc", "model")),
    ]
    assert (known["deviceClasses"], known["deviceClaims"], known["claimTemplates"]) == (["gpu"], ["mine"], [])
    for expression in known["deviceExpressions"]:
        selector = compile_selector(expression)
        assert True in [selector.judge(device.value)[0] for device in ResourceSlice(offered).devices], expression
