"""The version of Kubernetes that a sandbox follows at its head."""

from __future__ import annotations

import json

from sandbox.storage.models import Sandbox
from sandbox.storage.records import last_command
from scheduler_engine.versions import Rules, rules_for


def rules_of(sandbox: Sandbox) -> Rules:
    """Return the rules at the head of a sandbox's log."""
    command = last_command(sandbox, "kubernetes")
    if command is None:
        return rules_for(sandbox.kubernetes, json.loads(sandbox.feature_gates))
    return rules_for(command["version"], command["feature_gates"])
