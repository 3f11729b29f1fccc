"""Labels that say where a node stands or a volume lies. Source: upstream ``api/core/v1/well_known_labels.go``."""

from __future__ import annotations

HOSTNAME = "kubernetes.io/hostname"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"

OUT_OF_BETA = {BETA_ZONE: ZONE, BETA_REGION: REGION}
"""Old label → the one that took its place."""
VOLUME_LABELS = {**OUT_OF_BETA, ZONE: ZONE, REGION: REGION}
"""Labels that place a volume → the label of a node that answers when it lacks the former."""
