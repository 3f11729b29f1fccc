"""Validation of the arguments of plugins that are not part of Kubernetes. They are checked when a profile is built.

Source: kubernetes-sigs/scheduler-plugins ``apis/config/validation/validation_pluginargs.go``.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.validation.problems import invalid
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import Rules


def coscheduling(path: str, args: dict[str, Any], rules: Rules) -> list[FieldError]:
    """Return the errors; upstream gives the name of an argument as its ``path``."""
    errors: list[FieldError] = []
    for name in ("permitWaitingTimeSeconds", "podGroupBackoffSeconds"):
        if args[name] < 0:
            errors.append(invalid(name, args[name], "must be greater than 0"))
    percentage = args["podGroupRejectPercentage"]
    if not 0 <= percentage <= 100:
        errors.append(invalid("podGroupRejectPercentage", percentage, "must be between 0 and 100"))
    return errors
