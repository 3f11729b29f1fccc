"""In-tree volumes as CSI drivers know them: handles and topology."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.plugins.csi_translation import Untranslatable, translated_affinity, volume_handle
from scheduler_engine.plugins.volume_references import IN_TREE_SOURCES

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
GCE = "kubernetes.io/gce-pd"
GCE_ZONE = "topology.gke.io/zone"

HANDLES: dict[str, tuple[str, dict[str, Any], dict[str, str], str]] = {
    "An EBS volume has its name as handle": ("awsElasticBlockStore", {"volumeID": "vol-1"}, {}, "vol-1"),
    "An EBS volume written with its zone is the same volume": (
        "awsElasticBlockStore",
        {"volumeID": "aws://us-east-1a/vol-1"},
        {},
        "vol-1",
    ),
    "A disk without a zone has an unspecified zone in its handle": (
        "gcePersistentDisk",
        {"pdName": "d"},
        {},
        "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
    ),
    "A disk has the zone of its labels in its handle": (
        "gcePersistentDisk",
        {"pdName": "d"},
        {ZONE: "za"},
        "projects/UNSPECIFIED/zones/za/disks/d",
    ),
    "The old zone label wins": (
        "gcePersistentDisk",
        {"pdName": "d"},
        {ZONE: "za", BETA_ZONE: "zb"},
        "projects/UNSPECIFIED/zones/zb/disks/d",
    ),
    "A disk in several zones has their region in its handle": (
        "gcePersistentDisk",
        {"pdName": "d"},
        {ZONE: "us-east1-b__us-east1-c"},
        "projects/UNSPECIFIED/regions/us-east1/disks/d",
    ),
    "A managed Azure disk has its address as handle, however its kind is written": (
        "azureDisk",
        {"diskURI": "u", "kind": "managed"},
        {},
        "u",
    ),
    "Others have their identifying field as handle": ("cinder", {"volumeID": "v"}, {ZONE: "za"}, "v"),
}


@pytest.mark.parametrize(("field", "fields", "labels", "expected"), HANDLES.values(), ids=HANDLES)
def test_handles(field: str, fields: dict[str, Any], labels: dict[str, str], expected: str) -> None:
    assert volume_handle(IN_TREE_SOURCES[field], fields, labels) == expected


BROKEN: dict[str, tuple[str, dict[str, Any], dict[str, str], str]] = {
    "An EBS volume's name begins with vol": (
        "awsElasticBlockStore",
        {"volumeID": "aws://za/disk"},
        {},
        r"Invalid format for AWS volume \(aws://za/disk\)",
    ),
    "Azure disks of other kinds were not migrated": (
        "azureDisk",
        {"diskURI": "u", "kind": "Shared"},
        {},
        r"^kind\(Shared\) is not supported in csi migration$",
    ),
    "Zones must name their region": ("gcePersistentDisk", {"pdName": "d"}, {ZONE: "za__zb"}, "unexpected format.*za$"),
    "The zones of one disk are in one region": (
        "gcePersistentDisk",
        {"pdName": "d"},
        {ZONE: "us-east1-b__eu-west1-c"},
        r"got: map\[eu-west1:{} us-east1:{}\]",
    ),
}


@pytest.mark.parametrize(("field", "fields", "labels", "text"), BROKEN.values(), ids=BROKEN)
def test_what_has_no_handle(field: str, fields: dict[str, Any], labels: dict[str, str], text: str) -> None:
    with pytest.raises(Untranslatable, match=text):
        volume_handle(IN_TREE_SOURCES[field], fields, labels)


def expression(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


TOPOLOGIES: dict[str, tuple[str, list[dict[str, Any]], dict[str, str], list[dict[str, Any]]]] = {
    "A zone in the node affinity becomes the driver's label": (
        GCE,
        [expression(ZONE, "za"), expression("disk", "ssd")],
        {},
        [expression(GCE_ZONE, "za"), expression("disk", "ssd")],
    ),
    "Zones in the volume's label are added": (
        GCE,
        [],
        {ZONE: "zb__za"},
        [expression(GCE_ZONE, "za", "zb")],
    ),
    "The node affinity's zones win over the label's": (
        GCE,
        [expression(ZONE, "za")],
        {ZONE: "zb"},
        [expression(GCE_ZONE, "za")],
    ),
    "An old region beside an old zone becomes a region": (
        GCE,
        [expression(BETA_ZONE, "za"), expression("failure-domain.beta.kubernetes.io/region", "r")],
        {},
        [expression(GCE_ZONE, "za"), expression("topology.kubernetes.io/region", "r")],
    ),
    "A plugin whose driver has no zone label keeps its topology": (
        "kubernetes.io/azure-disk",
        [expression(ZONE, "za")],
        {},
        [expression(ZONE, "za")],
    ),
}


@pytest.mark.parametrize(("plugin", "written", "labels", "expected"), TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_topology(
    plugin: str, written: list[dict[str, Any]], labels: dict[str, str], expected: list[dict[str, Any]]
) -> None:
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": written}]}}} if written else {}
    volume = KubeObject({"kind": "PersistentVolume", "metadata": {"name": "v", "labels": labels}, "spec": affinity})
    assert translated_affinity(volume, plugin) == {"nodeSelectorTerms": [{"matchExpressions": expected}]}


def test_a_volume_without_topology_is_for_any_node() -> None:
    volume = KubeObject({"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {}})
    assert translated_affinity(volume, GCE) is None
