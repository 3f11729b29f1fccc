"""Rules for a container's environment. Source: upstream ``apis/core/validation`` and ``apis/core/pods``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import Errors, Rule, invalid, not_supported, present, required, texts

Data = Mapping[str, Any]

POD_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
OTHER_FIELDS = ("spec.restartPolicy", "spec.schedulerName", "status.phase", "metadata.annotations", "metadata.labels")
RESOURCE_FIELDS = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)

_variable = texts(names.environment_variable)
_config_key = texts(names.config_key)
_subdomain = texts(names.generated(names.subdomain))


def environment(container: Data, path: str) -> Errors:
    for index, variable in enumerate(container.get("env") or ()):
        place = f"{path}.env[{index}]"
        if not variable["name"]:
            yield required(f"{place}.name")
        else:
            yield from _variable(variable["name"], f"{place}.name")
        if variable.get("valueFrom") is not None:
            yield from _value_from(variable, f"{place}.valueFrom")
    for index, source in enumerate(container.get("envFrom") or ()):
        yield from _env_from(source, f"{path}.envFrom[{index}]", f"{path}.envFrom")


def _value_from(variable: Data, path: str) -> Errors:
    source = variable["valueFrom"]
    kinds: tuple[tuple[str, Rule], ...] = (
        ("fieldRef", field_reference(POD_FIELDS)),
        ("resourceFieldRef", resource_reference),
        ("configMapKeyRef", _key_reference),
        ("secretKeyRef", _key_reference),
    )
    yield from present(source, path, kinds)
    given = [kind for kind, _ in kinds if source.get(kind) is not None]
    if not given:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield invalid(path, "", text)
    elif variable.get("value"):
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def field_reference(allowed: Sequence[str]) -> Rule:
    """A ``fieldRef`` to one of the ``allowed`` fields of the pod."""

    def rule(reference: Data, path: str) -> Errors:
        field = reference.get("fieldPath") or ""
        if not reference.get("apiVersion"):
            yield required(f"{path}.apiVersion")
        elif not field:
            yield required(f"{path}.fieldPath")
        elif reference["apiVersion"] != "v1":
            text = f"error converting fieldPath: unsupported pod version: {reference['apiVersion']}"
            yield invalid(f"{path}.fieldPath", field, text)
        else:
            base, bracket, rest = field.partition("['")
            if bracket and rest.endswith("']") and base in ("metadata.annotations", "metadata.labels"):
                key = rest[:-2]
                yield from texts(names.qualified_name)(key.lower() if base == "metadata.annotations" else key, path)
            elif field not in (*POD_FIELDS, *OTHER_FIELDS):
                yield invalid(
                    f"{path}.fieldPath", field, f"error converting fieldPath: field label not supported: {field}"
                )
            elif field not in allowed:
                yield not_supported(f"{path}.fieldPath", field, allowed)

    return rule


def resource_reference(reference: Data, path: str) -> Errors:
    resource = reference["resource"]
    if not resource:
        yield required(f"{path}.resource")
    elif resource not in RESOURCE_FIELDS and not resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield not_supported(f"{path}.resource", resource, RESOURCE_FIELDS)


def _key_reference(reference: Data, path: str) -> Errors:
    if not reference.get("name"):
        yield required(f"{path}.name")
    else:
        yield from _subdomain(reference["name"], f"{path}.name")
    if not reference["key"]:
        yield required(f"{path}.key")
    else:
        yield from _config_key(reference["key"], f"{path}.key")


def _env_from(source: Data, path: str, list_path: str) -> Errors:
    if source.get("prefix"):
        yield from _variable(source["prefix"], f"{path}.prefix")
    given = [kind for kind in ("configMapRef", "secretRef") if source.get(kind) is not None]
    for kind in given:
        name = source[kind].get("name") or ""
        if not name:
            yield required(f"{path}.{kind}.name")
        else:
            yield from _subdomain(name, f"{path}.{kind}.name")
    if not given:
        yield invalid(list_path, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(given) > 1:
        yield invalid(list_path, "", "may not have more than one field specified at a time")
