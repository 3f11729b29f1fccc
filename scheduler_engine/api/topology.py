"""Labels that locate a node or a volume. Source: upstream ``api/core/v1/well_known_labels.go``."""

from __future__ import annotations

from collections.abc import Mapping

HOSTNAME = "kubernetes.io/hostname"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"

ZONE_LABELS = (BETA_ZONE, ZONE)
REGION_LABELS = (BETA_REGION, REGION)
"""Labels for a place; the first one present counts."""

OUT_OF_BETA = {BETA_ZONE: ZONE, BETA_REGION: REGION}
"""Old label → its replacement."""
VOLUME_LABELS = {**OUT_OF_BETA, ZONE: ZONE, REGION: REGION}
"""Labels that place a volume → the node label to use if the node lacks the former."""


def zone_key(labels: Mapping[str, str]) -> str:
    """Return ``region:\\0:zone`` of a node with these labels; "" if they have neither (upstream ``GetZoneKey``)."""
    region, zone = _first_label(labels, REGION_LABELS), _first_label(labels, ZONE_LABELS)
    return f"{region}:\0:{zone}" if region or zone else ""


def _first_label(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if name in labels), "")
