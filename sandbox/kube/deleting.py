"""Requests that delete. Source: upstream ``apiserver/pkg/registry/rest/delete.go`` and ``registry/store.go``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.kube.bodies import Write, document
from sandbox.kube.plans import Command, Manifest, Planned, check_preconditions, held_manifest
from sandbox.kube.reading import Target, selected
from sandbox.kube.statuses import UNRECOGNIZED, Refused, not_allowed, success
from scheduler_engine.apiserver.lifecycle import BACKGROUND, ORPHAN, POLICIES
from scheduler_engine.simulation import Simulation


def delete(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    options = document(request) if request.body else {}
    if not isinstance(options, Mapping):
        raise Refused(400, UNRECOGNIZED)
    if not wanted.name:
        return _delete_all(simulation, request, wanted, options)
    old = held_manifest(simulation, wanted)
    check_preconditions(request.versions, old, options, wanted.resource)
    details = {"name": wanted.name, "kind": wanted.resource.plural, "uid": old["metadata"]["uid"]}
    if wanted.resource.group:
        details["group"] = wanted.resource.group

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        left = after.api.get(wanted.resource.kind, wanted.key)
        return 200, dict(left.manifest) if left is not None else success(details)

    return Planned((_deletion(request, wanted, options),), answer, options)


def _deletion(request: Write, wanted: Target, options: Manifest) -> Command:
    policy = request.query.get("propagationPolicy", options.get("propagationPolicy"))
    orphan = request.query.get("orphanDependents") == "true" or options.get("orphanDependents") is True
    policy = (ORPHAN if orphan else BACKGROUND) if policy is None else policy
    if not isinstance(policy, str) or policy not in POLICIES:
        raise Refused(422, f'invalid DeleteOptions: propagationPolicy: Unsupported value: "{policy}"')
    grace = request.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
    command: Command = {"kind": "delete", "object_kind": wanted.resource.kind, "key": wanted.key}
    if policy != BACKGROUND:
        command["propagation_policy"] = policy
    if grace is not None and wanted.resource.kind == "Pod":
        if not (isinstance(grace, int | str) and str(grace).isdecimal() and len(str(grace)) < 10):
            raise Refused(422, f'gracePeriodSeconds: Invalid value: "{grace}"')
        command["grace_period_seconds"] = int(grace)
    return command


def _delete_all(simulation: Simulation, request: Write, wanted: Target, options: Manifest) -> Planned:
    keeps, resource = selected(wanted, request.query, simulation.api.rules), wanted.resource
    if resource.kind == "Namespace":
        raise not_allowed()
    found = [
        Target(resource, held.namespace, held.name)
        for held in simulation.api.list(resource.kind, wanted.namespace or None)
        if keeps(held.manifest)
    ]
    empty = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": {}, "items": []}
    commands = tuple(_deletion(request, one, options) for one in found)
    return Planned(commands, lambda after: (200, empty), options)
