"""Random histories of pods with volumes, whose API objects change between any two stages of a cycle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.topology import BETA_ZONE, ZONE
from scheduler_engine.plugins.volume_references import MIGRATED_PLUGINS
from scheduler_engine.testing import make_node, make_pod
from tests.engine.random_clusters import AZURE_DISK, DRIVER, csi_node, storage_class, volume_of

Data = dict[str, Any]

NODES = tuple(f"n{number}" for number in range(1, 9))
VOLUMES = tuple(f"pv-{number:02}" for number in range(16))
CLAIMS = tuple(f"claim-{number:02}" for number in range(14))
PODS = tuple(f"pod-{number}" for number in range(12))
CLASSES = ("wait", "local", "zoned", "ebs", "at-once")
EBS, GCE = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
SOURCES: tuple[Data, ...] = (
    {},
    {},
    {"csi": None, "gcePersistentDisk": {"pdName": "in-tree"}},
    {"csi": None, "awsElasticBlockStore": {"volumeID": "aws://a/vol-7"}},
    {"csi": None, "awsElasticBlockStore": {"volumeID": "aws://a/what"}},
    {"csi": None, "portworxVolume": {"volumeID": "px"}},
    {"csi": None, "local": {"path": "/disk"}},
)
DISKS: tuple[Data, ...] = (
    {"gcePersistentDisk": {"pdName": "shared", "readOnly": True}},
    {"gcePersistentDisk": {"pdName": "shared"}},
    {"awsElasticBlockStore": {"volumeID": "vol-1"}},
    {"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": True}},
    {"awsElasticBlockStore": {"volumeID": "vol-2"}},
    {"azureDisk": {"diskName": "d", "diskURI": AZURE_DISK, "kind": "Managed"}},
    {"portworxVolume": {"volumeID": "px"}},
    {"rbd": {"monitors": ["m1", "m2"], "image": "i"}},
    {"rbd": {"monitors": ["m2"], "image": "i", "pool": "p"}},
    {"iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2026-01.example:a", "lun": 0}},
    {"emptyDir": {}},
)


def _node(pick: Random) -> Data:
    builder = make_node(pick.choice(NODES)).capacity(cpu="8", pods="20")
    if pick.randint(0, 4):
        builder.zone(pick.choice("abc"))
    if pick.randint(0, 4) == 0:
        builder.label(BETA_ZONE, pick.choice("ab"))
    if pick.randint(0, 2) == 0:
        builder.label("disk", pick.choice(["1", "7", "x"]))
    return builder.obj()


def _csi_node(pick: Random) -> Data:
    drivers = pick.sample([DRIVER, DRIVER, EBS, GCE, "pxd.portworx.com"], pick.randint(0, 3))
    made = csi_node(pick.choice(NODES), {driver: pick.randint(0, 3) for driver in drivers})
    plugins = pick.sample(["kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/portworx-volume"], 2)
    if pick.randint(0, 2):
        made["metadata"]["annotations"] = {MIGRATED_PLUGINS: ",".join(plugins[: pick.randint(0, 2)])}
    return made


def _expression(pick: Random) -> Data:
    return pick.choice(
        [
            {"key": ZONE, "operator": "In", "values": pick.sample("abc", pick.randint(1, 2))},
            {"key": ZONE, "operator": "In", "values": pick.sample("abc", pick.randint(1, 2))},
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [pick.choice(NODES)]},
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [pick.choice(NODES)]},
            {"key": ZONE, "operator": "NotIn", "values": [pick.choice("abc")]},
            {"key": "disk", "operator": "Gt", "values": ["3"]},
            {"key": "disk", "operator": "Exists"},
            {"key": "disk", "operator": "DoesNotExist"},
        ]
    )


def _volume(pick: Random) -> Data:
    labels = {ZONE: pick.choice(["a", "b", "a__b"])} if pick.randint(0, 2) == 0 else {}
    if pick.randint(0, 3) == 0:
        labels["tier"] = "gold"
    fields: Data = {
        "storageClassName": pick.choice(CLASSES),
        "capacity": {"storage": f"{pick.randint(1, 4)}Gi"},
        "accessModes": pick.choice([["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOncePod"]]),
        **pick.choice(SOURCES),
    }
    if pick.randint(0, 4) == 0:
        fields["claimRef"] = {"name": pick.choice(CLAIMS), "namespace": "default"}
    if pick.randint(0, 3):
        terms = [{"matchExpressions": [_expression(pick)]} for _ in range(pick.choice([1, 1, 1, 2]))]
        if pick.randint(0, 5) == 0:
            terms[0]["matchExpressions"].append(_expression(pick))
        fields["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return volume_of(pick.choice(VOLUMES), "", labels, **fields)


def _claim(pick: Random) -> Data:
    bound = pick.randint(0, 2) == 0
    spec: Data = {
        "storageClassName": pick.choice(CLASSES),
        "accessModes": [pick.choice(["ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"])],
        "resources": {"requests": {"storage": f"{pick.randint(1, 4)}Gi"}},
    }
    if pick.randint(0, 7) == 0:
        spec["selector"] = {"matchLabels": {"tier": "gold"}}
    metadata: Data = {"name": pick.choice(CLAIMS), "namespace": "default", "annotations": {}}
    if bound:
        spec["volumeName"] = pick.choice(VOLUMES)
        metadata["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
    elif pick.randint(0, 5) == 0:
        metadata["annotations"]["volume.kubernetes.io/selected-node"] = pick.choice(NODES)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _attachment(pick: Random) -> Data:
    volume, node = pick.choice(VOLUMES), pick.choice(NODES)
    spec = {"attacher": pick.choice([DRIVER, EBS]), "nodeName": node, "source": {"persistentVolumeName": volume}}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment"}
    return {**kind, "metadata": {"name": f"attached-{pick.randint(0, 3)}"}, "spec": spec}


def _capacity(pick: Random) -> Data:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"room-{pick.randint(0, 2)}", "namespace": "default"},
        "storageClassName": pick.choice(["wait", "zoned"]),
        "nodeTopology": {"matchLabels": {ZONE: pick.choice("abc")}},
        "capacity": f"{pick.randint(0, 5)}Gi",
    }


def _pod(pick: Random) -> Data:
    builder = make_pod(pick.choice(PODS)).cpu(pick.choice(["100m", "1", "3"])).priority(pick.randint(0, 3))
    for name in pick.sample(CLAIMS, pick.choice([0, 1, 1, 1, 2, 3])):
        builder.claim(name)
    for number in range(pick.choice([0, 0, 0, 1, 2])):
        disk = {"name": f"disk-{number}", **pick.choice(DISKS)}
        builder.spec(volumes=[*builder.manifest["spec"].get("volumes", ()), disk])
    if pick.randint(0, 5) == 0:
        builder.node(pick.choice(NODES))
    return builder.obj()


MADE: tuple[Callable[[Random], Data], ...] = (_node, _csi_node, _volume, _claim, _attachment, _capacity)
KINDS: dict[str, tuple[str, ...]] = {
    "Node": NODES,
    "CSINode": NODES,
    "PersistentVolume": VOLUMES,
    "PersistentVolumeClaim": tuple(f"default/{name}" for name in CLAIMS),
    "VolumeAttachment": tuple(f"attached-{number}" for number in range(4)),
    "StorageClass": CLASSES,
    "Pod": tuple(f"default/{name}" for name in PODS),
}
CLASSES_MADE: tuple[Data, ...] = (
    storage_class("wait", DRIVER),
    storage_class("local", "kubernetes.io/no-provisioner"),
    storage_class("zoned", DRIVER, allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]),
    storage_class("ebs", "kubernetes.io/aws-ebs"),
    storage_class("at-once", DRIVER, volumeBindingMode="Immediate"),
)
DRIVERS: tuple[Data, ...] = (
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"storageCapacity": True},
    },
)


def _changed(pick: Random) -> commands.Command:
    """Change, create or delete an object."""
    what = pick.randint(0, 9)
    if what < 5:
        return commands.Apply((pick.choice(MADE)(pick),))
    if what < 7:
        kind = pick.choice([*KINDS])
        return commands.Delete(kind, pick.choice(KINDS[kind]))
    if what == 7:
        return commands.Apply((pick.choice(CLASSES_MADE),))
    labels = {"metadata": {"labels": {ZONE: pick.choice(["a", "b", "c", None])}}}
    if what == 8:
        return commands.Patch("PersistentVolume", pick.choice(VOLUMES), labels)
    return commands.Patch("Node", pick.choice(NODES), labels)


def volumes(seed: int) -> list[commands.Command]:
    """Return the commands for nodes, storage and running pods, then pods and changes between their stages."""
    pick = Random(seed)
    steps: list[commands.Command] = [commands.Apply((*CLASSES_MADE, *DRIVERS[: pick.randint(0, 1)]))]
    for made, number in ((_node, 12), (_csi_node, 8), (_volume, 16), (_claim, 18), (_capacity, 2), (_attachment, 1)):
        steps += [commands.Apply((made(pick),)) for _ in range(number)]
    steps.append(commands.Run(20))
    for _ in range(pick.randint(6, 14)):
        steps.append(commands.Apply((_pod(pick),)))
        for _ in range(pick.randint(0, 3)):
            steps += [commands.Stage()] * pick.randint(0, 5)
            steps.append(_changed(pick))
        steps.append(pick.choice([commands.Run(20), commands.PodCycle(), commands.Advance(seconds=2.0)]))
    return [*steps, commands.Advance(seconds=40.0), commands.Run(20)]
