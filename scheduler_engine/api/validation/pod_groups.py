"""Rules for the PodGroups of Coscheduling: those of its CustomResourceDefinition, with the texts of its schema.

Source: kubernetes-sigs/scheduler-plugins ``manifests/coscheduling/crd.yaml``; upstream
``apiextensions-apiserver/pkg/apiserver/validation`` and ``pkg/registry/customresource/validator.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import Errors, invalid

Data = Mapping[str, Any]

AMOUNT = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_AMOUNT = re.compile(AMOUNT, re.ASCII)


def pod_group_rules(group: Data) -> Errors:
    yield from metadata_rules(group, names.subdomain, namespaced=True)
    yield from _spec_rules(group.get("spec") or {})


def _spec_rules(spec: Data) -> Errors:
    number = spec.get("minMember")
    if number is not None and number < 1:
        path = "spec.minMember"
        yield invalid(path, number, f"{path} in body should be greater than or equal to 1")
    for name, amount in (spec.get("minResources") or {}).items():
        path = f"spec.minResources.{name}"
        if isinstance(amount, str) and not _AMOUNT.fullmatch(amount):
            yield invalid(path, amount, f"{path} in body should match '{AMOUNT}'")
        if isinstance(amount, float) and not amount.is_integer():
            # The schema says twice that it is a whole number or a text, so a fraction breaks three rules.
            yield invalid(path, "number", f'{path} in body must be of type integer,string: "number"')
            yield invalid("<nil>", "", f'"{path}" must validate at least one schema (anyOf)')
            yield invalid(path, "number", f'{path} in body must be of type integer: "number"')


def pod_group_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from pod_group_rules(new)
