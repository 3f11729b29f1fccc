"""Rules for the annotations of a pod that Kubernetes reads. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.critical_pods import MIRROR
from scheduler_engine.api.simulated import wrong_annotations
from scheduler_engine.api.validation.paths import descending_path
from scheduler_engine.api.validation.problems import Errors, forbidden, invalid, quoted
from scheduler_engine.api.validation.walk import containers_with_paths

Data = Mapping[str, Any]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"

_LOCAL = "localhost/"
_SECCOMP_VALUES = {"RuntimeDefault": ("runtime/default", "docker/default"), "Unconfined": ("unconfined",)}
_APP_ARMOR_VALUES = {"RuntimeDefault": ("runtime/default",), "Unconfined": ("unconfined",)}


def known_annotations(annotations: Mapping[str, str], spec: Data, path: str) -> Errors:
    """Check annotations that Kubernetes reads."""
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR}]", annotations[MIRROR], text)
    if DELETION_COST in annotations and deletion_cost(annotations[DELETION_COST]) is None:
        yield invalid(f"{path}[{DELETION_COST}]", annotations[DELETION_COST], "must be a 32bit integer")
    for key, value in annotations.items():
        if key == SECCOMP_OF_POD or key.startswith(SECCOMP):
            yield from _seccomp_profile(value, f"{path}.{key}")
    names = {container["name"] for container, _ in containers_with_paths(spec, "")}
    for key, value in annotations.items():
        if key.startswith(APP_ARMOR):
            yield from _app_armor_profile(key.removeprefix(APP_ARMOR), value, f"{path}[{key}]", names)


def simulated_annotations(manifest: Data, kind: str) -> Errors:
    """Check the sandbox's own annotations, of an object and of the template of its pods."""
    template = (manifest.get("spec") or {}).get("template") or {}
    for data, owner, path in ((manifest, kind, "metadata"), (template, "Pod", "spec.template.metadata")):
        annotations = (data.get("metadata") or {}).get("annotations") or {}
        for name, problem in wrong_annotations(annotations, owner):
            yield invalid(f"{path}.annotations[{name}]", annotations[name], problem)


def deletion_cost(text: str) -> int | None:
    """Return a 32-bit integer without plus sign and leading zeros, None for any other text."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 10 or (digits[0] == "0" and text != "0"):
        return None
    return int(text) if -(2**31) <= int(text) < 2**31 else None


def _seccomp_profile(value: str, path: str) -> Errors:
    if value.startswith(_LOCAL):
        yield from descending_path(value.removeprefix(_LOCAL), path)
    elif not any(value in values for values in _SECCOMP_VALUES.values()):
        yield invalid(path, value, "must be a valid seccomp profile")


def _app_armor_profile(container: str, value: str, path: str, names: set[str]) -> Errors:
    if container not in names:
        yield invalid(path, container, "container not found")
    known = any(value in values for values in _APP_ARMOR_VALUES.values())
    if value and not known and not value.startswith(_LOCAL):
        yield invalid(path, value, f"invalid AppArmor profile name: {quoted(value)}")


def changed_annotations(before: Mapping[str, str], after: Mapping[str, str], path: str) -> Errors:
    """Check the annotations of a pod that may not change."""
    for prefix, named in ((APP_ARMOR, "AppArmor annotations"), (MIRROR, "mirror pod annotation")):
        for key in before:
            if key.startswith(prefix) and after.get(key) != before[key] and (prefix != MIRROR or key == MIRROR):
                yield forbidden(f"{path}[{key}]", f"may not remove or update {named}")
        for key in after:
            if key.startswith(prefix) and key not in before and (prefix != MIRROR or key == MIRROR):
                yield forbidden(f"{path}[{key}]", f"may not add {named}")


def annotations_match_fields(annotations: Mapping[str, str], spec: Data, path: str) -> Errors:
    """Check that a profile is the same as an annotation and as a field (of a new pod)."""
    whole = spec.get("securityContext") or {}
    if SECCOMP_OF_POD in annotations:
        yield from _seccomp_match(annotations[SECCOMP_OF_POD], whole, f"{path}.securityContext")
    for container, place in containers_with_paths(spec, path):
        if SECCOMP + container["name"] in annotations:
            own = container.get("securityContext") or {}
            yield from _seccomp_match(annotations[SECCOMP + container["name"]], own, f"{place}.securityContext")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for container, place in containers_with_paths(spec, path):
        own = container.get("securityContext") or {}
        profile = own.get("appArmorProfile") or whole.get("appArmorProfile")
        if profile is not None and APP_ARMOR + container["name"] in annotations:
            value = annotations[APP_ARMOR + container["name"]]
            yield from _match(value, profile, f"{place}.securityContext.appArmorProfile", "apparmor", _APP_ARMOR_VALUES)


def _seccomp_match(value: str, context: Data, path: str) -> Errors:
    if context.get("seccompProfile") is not None:
        yield from _match(value, context["seccompProfile"], f"{path}.seccompProfile", "seccomp", _SECCOMP_VALUES)


def _match(value: str, profile: Data, path: str, sort: str, values: Mapping[str, tuple[str, ...]]) -> Errors:
    kind = profile["type"]
    wrong = value not in values[kind] if kind in values else kind == "Localhost" and not value.startswith(_LOCAL)
    if wrong:
        yield forbidden(f"{path}.type", f"{sort} type in annotation and field must match")
    elif kind == "Localhost" and value.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        yield forbidden(f"{path}.localhostProfile", f"{sort} profile in annotation and field must match")
