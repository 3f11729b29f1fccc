"""The version of Kubernetes that a sandbox follows at its head."""

from __future__ import annotations

import json

from sandbox.storage.models import Sandbox
from sandbox.storage.records import log_of
from scheduler_engine.versions import Rules, rules_for

FOLLOWS = '{"kind":"kubernetes"'


def rules_of(sandbox: Sandbox) -> Rules:
    """Return the rules at the head of a sandbox's log."""
    records = log_of(sandbox.pk).filter(n__lte=sandbox.head, command__startswith=FOLLOWS)
    last = records.order_by("-n").values_list("command", flat=True).first()
    if last is None:
        return rules_for(sandbox.kubernetes, json.loads(sandbox.feature_gates))
    command = json.loads(last)
    return rules_for(command["version"], command["feature_gates"])
