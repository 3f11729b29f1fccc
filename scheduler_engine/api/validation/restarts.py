"""Rules for a container's own restart policy, and for its rules by exit code.

Where they are switched off, only a sidecar has a policy. The API server drops both before it checks a pod, so it never
says so; the recordings of these rules alone do. Source: upstream ``apis/core/validation``
(validateContainerRestartPolicy, validateInitContainerRestartPolicy).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation.problems import (
    Errors,
    by_version,
    forbidden,
    not_supported,
    required,
    supported,
    too_long,
    too_many,
)

Data = Mapping[str, Any]

RULE, ALL_RULE, TEXTS = "kept_fields: Container.restartPolicy", "restarts_all_containers", "newer_texts: restart-rules"
RESTART, RESTART_ALL = "Restart", "RestartAllContainers"
MOST_RULES, MOST_EXIT_CODES = 20, 255

_policy = supported(("Always", "Never", "OnFailure"))
_only_sidecars = supported(("Always",))
_operator = supported(("In", "NotIn"))


def restart_policy(container: Data, path: str) -> Errors:
    """Check a regular container."""
    place, own = f"{path}.restartPolicy", _own_policy(container, path)
    given = container.get("restartPolicy") is not None
    older = (forbidden(place, "may not be set for non-init containers"),) if given else ()
    yield from by_version(older, (RULE, own))


def init_restart_policy(container: Data, path: str) -> Errors:
    """Check an init container or a sidecar. Rules without a policy are one error, whatever they are."""
    policy, own = container.get("restartPolicy"), list(_own_policy(container, path))
    if policy is None:
        own = own[:1]
    if policy == "Always":
        place, text = f"{path}.restartPolicyRules", "are not allowed for init containers with restart policy Always"
        strict = [forbidden(place, f"restartPolicyRules {text}")] if container.get("restartPolicyRules") else []
        own = list(by_version(strict, (ALL_RULE, own)))
    older = () if policy is None else _only_sidecars(policy, f"{path}.restartPolicy")
    yield from by_version(older, (RULE, own))


def _own_policy(container: Data, path: str) -> Errors:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is not None:
        yield from _policy(policy, f"{path}.restartPolicy")
    elif rules:
        yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    place = f"{path}.restartPolicyRules"
    yield from _not_more(len(rules), MOST_RULES, place)
    for index, rule in enumerate(rules):
        yield from _rule(rule, f"{place}[{index}]")


def _not_more(count: int, most: int, path: str) -> Errors:
    if count > most:
        yield from by_version((too_long(path, most),), (TEXTS, (too_many(path, count, most),)))


def _rule(rule: Data, path: str) -> Errors:
    action, codes = rule.get("action") or "", rule.get("exitCodes")
    if action != RESTART:
        one, both = (not_supported(f"{path}.action", action, known) for known in ((RESTART,), (RESTART, RESTART_ALL)))
        with_both = () if action == RESTART_ALL else by_version((one,), (TEXTS, (both,)))
        yield from by_version((one,), (ALL_RULE, with_both))
    if codes is None:
        yield required(f"{path}.exitCodes", "must be specified")
        return
    yield from _operator(codes.get("operator") or "", f"{path}.exitCodes.operator")
    yield from _not_more(len(codes.get("values") or ()), MOST_EXIT_CODES, f"{path}.exitCodes.values")


def restarts_all(spec: Data) -> bool:
    """Return True if a container of a pod's spec has what only ``restarts_all_containers`` allows."""
    init, regular = spec.get("initContainers") or (), spec.get("containers") or ()
    rules = (rule for item in (*regular, *init) for rule in item.get("restartPolicyRules") or ())
    if any(rule.get("action") == RESTART_ALL for rule in rules):
        return True
    return any(item.get("restartPolicy") == "Always" and item.get("restartPolicyRules") for item in init)
