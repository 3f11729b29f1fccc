"""In-tree volumes as their replacement CSI drivers know them: their handles and topology.

Source: upstream ``csi-translation-lib/plugins``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.topology import BETA_REGION, BETA_ZONE, REGION, ZONE
from scheduler_engine.plugins.volume_references import InTreeSource, in_tree_source, migrated_on

ZONES_SEPARATOR = "__"
UNSPECIFIED = "UNSPECIFIED"

ZONE_KEYS = {
    "kubernetes.io/aws-ebs": "topology.ebs.csi.aws.com/zone",
    "kubernetes.io/cinder": "topology.cinder.csi.openstack.org/zone",
    "kubernetes.io/gce-pd": "topology.gke.io/zone",
}
"""In-tree plugin → the node label for the zone in its CSI driver; volumes of other plugins keep their topology."""

Fields = Mapping[str, Any]
Labels = Mapping[str, str]


class Untranslatable(ValueError):
    """The CSI driver cannot identify the volume; the text comes from upstream."""


def csi_identity(
    source: Fields, labels: Labels, csi_node: KubeObject | None, everywhere: Sequence[str]
) -> tuple[str, str] | None:
    """Return driver and handle of an in-tree volume (as ``volume_handle``) whose plugin the node's CSI driver replaced.

    None for any other volume. ``everywhere`` as in ``migrated_on``. Raises Untranslatable.
    """
    source_and_fields = in_tree_source(source)
    if source_and_fields is None or not migrated_on(source_and_fields[0].plugin, csi_node, everywhere):
        return None
    known, fields = source_and_fields
    return known.driver, volume_handle(known, fields, labels)


def volume_handle(source: InTreeSource, fields: Fields, labels: Labels) -> str:
    """Return the CSI driver's handle of a volume; ``labels`` of its PersistentVolume, none for an inline volume.

    Raises Untranslatable.
    """
    translate = HANDLES.get(source.plugin)
    return translate(fields, labels) if translate is not None else str(fields.get(source.handle) or "")


def _ebs_handle(fields: Fields, labels: Labels) -> str:
    """Return ``vol-1`` also for ``aws://zone/vol-1``."""
    written = str(fields.get("volumeID") or "")
    if not written.startswith("aws://"):
        return written
    bare = urlsplit(written).path.strip("/")
    if not re.fullmatch("vol-[^/]*", bare):
        raise Untranslatable(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({written})"
        )
    return bare


def _azure_disk_handle(fields: Fields, labels: Labels) -> str:
    """Return the handle of a managed disk; other kinds, even the API server's default, are not migrated."""
    kind = fields.get("kind")
    if kind is not None and kind.lower() != "managed":
        raise Untranslatable(f"kind({kind}) is not supported in csi migration")
    return str(fields.get("diskURI") or "")


def _gce_handle(fields: Fields, labels: Labels) -> str:
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE) or UNSPECIFIED).split(ZONES_SEPARATOR)
    place = f"zones/{zones[0]}" if len(zones) == 1 else f"regions/{_gce_region(zones)}"
    return f"projects/{UNSPECIFIED}/{place}/disks/{fields.get('pdName') or ''}"


def _gce_region(zones: list[str]) -> str:
    regions: dict[str, None] = {}
    for zone in zones:
        if zone.count("-") != 2:
            expected = "zone in unexpected format, expected: {locale}-{region}-{zone}"
            raise Untranslatable(f"failed to get region from zones: {expected}, got: {zone}")
        regions[zone.rpartition("-")[0]] = None
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        problem = f"multiple or no regions gotten from zones, got: map[{listed}]"
        raise Untranslatable(f"failed to get region from zones: {problem}")
    return next(iter(regions))


HANDLES: dict[str, Callable[[Fields, Labels], str]] = {
    "kubernetes.io/aws-ebs": _ebs_handle,
    "kubernetes.io/azure-disk": _azure_disk_handle,
    "kubernetes.io/gce-pd": _gce_handle,
}
"""In-tree plugin → its CSI driver's handle, unless that is simply the field that identifies the volume."""


def translated_affinity(volume: KubeObject, plugin: str) -> dict[str, Any] | None:
    """Return the node selector of a PersistentVolume of ``plugin`` with the zone label of its CSI driver.

    Zones in the node affinity win over those in the volume's labels. None: any node will do.
    """
    required: dict[str, Any] | None = (volume.spec.get("nodeAffinity") or {}).get("required")
    if plugin not in ZONE_KEYS:
        return required
    terms = [dict(term) for term in (required or {}).get("nodeSelectorTerms") or ()]
    values: dict[str, list[str]] = {}
    for term in terms:
        for expression in term.get("matchExpressions") or ():
            values.setdefault(expression["key"], []).extend(expression.get("values") or ())
    zone = next((key for place in (values, volume.labels) for key in (ZONE, BETA_ZONE) if key in place), ZONE)
    renamed = {key: new for key, new in ((zone, ZONE_KEYS[plugin]), (BETA_REGION, REGION)) if values.get(key)}
    if zone != BETA_ZONE:
        renamed.pop(BETA_REGION, None)
    labelled = {name.strip() for name in volume.labels.get(zone, "").split(ZONES_SEPARATOR)} - {""}
    added: list[dict[str, Any]] = []
    if labelled and zone not in renamed:
        added = [{"key": ZONE_KEYS[plugin], "operator": "In", "values": sorted(labelled)}]
        terms = terms or [{}]
    for term in terms:
        kept = [{**item, "key": renamed.get(item["key"], item["key"])} for item in term.get("matchExpressions") or ()]
        term["matchExpressions"] = kept + added
    return {"nodeSelectorTerms": terms} if terms or required is not None else None
