"""Rules for a container's environment. Source: upstream ``apis/core/validation`` and ``apis/core/pods``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.paths import no_backsteps
from scheduler_engine.api.validation.problems import (
    Errors,
    Rule,
    by_version,
    invalid,
    not_found,
    not_supported,
    present,
    required,
    texts,
)
from scheduler_engine.api.validation.walk import containers_with_paths

Data = Mapping[str, Any]

POD_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
OLD_FIELDS = {"spec.host": "spec.nodeName"}
OTHER_FIELDS = ("spec.restartPolicy", "spec.schedulerName", "status.phase", "metadata.annotations", "metadata.labels")
RESOURCE_FIELDS = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)

_variable = texts(names.environment_variable)
_config_key = texts(names.config_key)
_subdomain = texts(names.subdomain)
_subdomain_or_its_start = texts(names.generated(names.subdomain))

_SIZES = ("1", *(f"1{suffix}" for suffix in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
DIVISORS: dict[str, tuple[tuple[str, ...], str]] = {
    "cpu": (("1m", "1"), "cpu"),
    "memory": (_SIZES, "memory"),
    "ephemeral-storage": (_SIZES, "local ephemeral storage"),
    "hugepages-": (_SIZES, "hugepages"),
}
"""Resource of a ``resourceFieldRef`` → its allowed divisors, its name in the text."""


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
        ("fileKeyRef", _file_reference),
    )
    yield from present(source, path, kinds)
    sources = [kind for kind, _ in kinds if source.get(kind) is not None]
    if not sources:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"
        older, newer = (f"{text}{others}" for others in (" or `secretKeyRef`", ", `secretKeyRef` or `fileKeyRef`"))
        with_files = (invalid(path, "", newer),)
        yield from by_version((invalid(path, "", older),), ("newer_texts: variable-sources", with_files))
    elif variable.get("value"):
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(sources) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def field_reference(allowed: Sequence[str]) -> Rule:
    """Check a ``fieldRef`` to one of the ``allowed`` fields of the pod."""

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
            yield from _converted_field(OLD_FIELDS.get(field, field), field, path)

    def _converted_field(field: str, written: str, path: str) -> Errors:
        base, bracket, rest = field.partition("['")
        if base and bracket and rest.endswith("']"):
            key = rest[:-2]
            if base not in ("metadata.annotations", "metadata.labels"):
                text = f"error converting fieldPath: field label does not support subscript: {field}"
                yield invalid(f"{path}.fieldPath", written, text)
            else:
                yield from texts(names.qualified_name)(key.lower() if base == "metadata.annotations" else key, path)
        elif field not in (*POD_FIELDS, *OTHER_FIELDS):
            text = f"error converting fieldPath: field label not supported: {field}"
            yield invalid(f"{path}.fieldPath", written, text)
        elif field not in allowed:
            yield not_supported(f"{path}.fieldPath", field, allowed, named=False)

    return rule


def resource_reference(reference: Data, path: str) -> Errors:
    """Check a ``resourceFieldRef`` of a container's own environment."""
    resource = reference["resource"]
    if not resource:
        yield required(f"{path}.resource")
    elif resource not in RESOURCE_FIELDS and not resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield not_supported(f"{path}.resource", resource, RESOURCE_FIELDS, named=False)
    yield from _divisor(reference, path)


def container_resource_reference(reference: Data, path: str) -> Errors:
    """Check a ``resourceFieldRef`` of a volume, which must name the container."""
    if reference.get("containerName"):
        yield from resource_reference(reference, path)
    else:
        yield required(f"{path}.containerName")
        yield from _divisor(reference, path)


def _divisor(reference: Data, path: str) -> Errors:
    resource, divisor = reference["resource"], reference.get("divisor")
    if divisor is None or parse_quantity(divisor).nano == 0:
        return
    kind, _, name = resource.partition(".")
    key = "hugepages-" if name.startswith("hugepages-") else name
    if kind not in ("limits", "requests") or key not in DIVISORS:
        return
    supported, shown = DIVISORS[key]
    if divisor not in supported:
        listed = "1m and 1" if key == "cpu" else ", ".join(supported)
        text = f"only divisor's values {listed} are supported with the {shown} resource"
        yield invalid(f"{path}.divisor", resource, text)


def _key_reference(reference: Data, path: str) -> Errors:
    yield from _subdomain(reference.get("name") or "", f"{path}.name")
    if not reference["key"]:
        yield required(f"{path}.key")
    else:
        yield from _config_key(reference["key"], f"{path}.key")


def _env_from(source: Data, path: str, list_path: str) -> Errors:
    if source.get("prefix"):
        yield from _variable(source["prefix"], f"{path}.prefix")
    sources = [kind for kind in ("configMapRef", "secretRef") if source.get(kind) is not None]
    for kind in sources:
        name = source[kind].get("name") or ""
        if not name:
            yield required(f"{path}.{kind}.name")
        else:
            yield from _subdomain_or_its_start(name, f"{path}.{kind}.name")
    if not sources:
        yield invalid(list_path, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(sources) > 1:
        yield invalid(list_path, "", "may not have more than one field specified at a time")


def _file_reference(reference: Data, path: str) -> Errors:
    """Check a variable in a file of a volume."""
    checks = (("key", names.environment_variable), ("volumeName", names.dns_label))
    for field, check in checks:
        if not reference[field]:
            yield required(f"{path}.{field}")
        else:
            yield from texts(check)(reference[field], f"{path}.{field}")
    if not reference["path"]:
        yield required(f"{path}.path")
    else:
        yield from no_backsteps(reference["path"], f"{path}.path")


def files_in_empty_directories(spec: Data, path: str) -> Errors:
    """Check that files with variables are in volumes of the pod that start empty."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
    for container, place in containers_with_paths(spec, path):
        for index, variable in enumerate(container.get("env") or ()):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name, field = reference["volumeName"], f"{place}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                yield not_found(field, name)
            elif volumes[name].get("emptyDir") is None:
                yield invalid(field, name, "referenced volume must be of type emptyDir")
