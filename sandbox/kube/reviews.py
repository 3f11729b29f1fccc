"""``kubectl auth can-i``: what a link may do. Source: upstream ``pkg/registry/authorization``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.kube import protobuf
from sandbox.kube.resources import REVIEWS
from sandbox.kube.statuses import UNRECOGNIZED, Refused

PATHS = tuple(f"apis/{group}/v1/{kind.lower()}s" for group, kind in REVIEWS)
READS = ("get", "list", "watch")


def answer(method: str, path: str, kind: str, body: bytes, can_edit: bool) -> dict[str, Any] | None:
    """Return the answer to a review of the sender's own rights, None if the request is none. Raises ``Refused``."""
    if method != "POST" or path.strip("/") not in PATHS:
        return None
    try:
        review = protobuf.decode(body) if kind == protobuf.MEDIA_TYPE else json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise Refused(400, UNRECOGNIZED) from problem
    spec = review.get("spec") if isinstance(review, Mapping) else None
    if not isinstance(spec, Mapping):
        raise Refused(400, "spec: Required value")
    if path.strip("/") == PATHS[1]:
        verbs = ["*"] if can_edit else [*READS]
        rule = {"verbs": verbs, "apiGroups": ["*"], "resources": ["*"]}
        paths = {"verbs": ["get"], "nonResourceURLs": ["*"]}
        return {**review, "status": {"resourceRules": [rule], "nonResourceRules": [paths], "incomplete": False}}
    attributes = spec.get("resourceAttributes") or spec.get("nonResourceAttributes") or {}
    verb = attributes.get("verb", "") if isinstance(attributes, Mapping) else None
    if not isinstance(verb, str):
        raise Refused(400, "spec.resourceAttributes.verb: must be a string")
    return {**review, "status": {"allowed": can_edit or verb in READS}}
