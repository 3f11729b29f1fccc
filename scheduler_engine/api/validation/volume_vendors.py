"""Rules for vendors' volumes, of pods and of PersistentVolumes. Source: upstream ``core/validation``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import (
    Errors,
    invalid,
    not_supported,
    present,
    required,
    supported,
    texts,
)

Data = Mapping[str, Any]

_ISCSI_NAMES = {
    "iqn": r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$",
    "eui": r"eui.[0-9a-zA-Z]{16}$",
    "naa": r"naa.[0-9a-zA-Z]{32}$",
}
_CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_DISKS = {
    "Dedicated": _BLOB,
    "Managed": "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
    "Shared": _BLOB,
}
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_HOST_AND_PORT = r"(?:\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*"
_LONGEST_TENANT = 64


def iscsi(source: Data, path: str) -> Errors:
    yield from _iscsi(source, path, "must be valid format starting with iqn, eui, or naa")


def iscsi_volume(source: Data, path: str) -> Errors:
    yield from _iscsi(source, path, "must be valid format")


def _iscsi(source: Data, path: str, unknown: str) -> Errors:
    """``unknown`` is the text for a name of an unknown sort; a PersistentVolume's secret must have a name."""
    name, initiator, secret = source["iqn"], source.get("initiatorName"), source.get("secretRef")
    if name:
        yield from _iscsi_name(name, f"{path}.iqn", unknown)
    if not 0 <= source["lun"] <= 255:
        yield invalid(f"{path}.lun", source["lun"], "must be between 0 and 255, inclusive")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and secret is None:
        yield required(f"{path}.secretRef")
    if unknown == "must be valid format":
        yield from named(source, path)
    if initiator is not None:
        yield from _iscsi_name(initiator, f"{path}.initiatorname", unknown)


def _iscsi_name(name: str, path: str, unknown: str) -> Errors:
    pattern = _ISCSI_NAMES.get(name[:3])
    if pattern is None:
        yield invalid(path, name, unknown)
    elif not re.match(pattern, name, re.ASCII):
        yield invalid(path, name, "must be valid format")


def fibre_channel(source: Data, path: str) -> Errors:
    targets, ids, lun = source.get("targetWWNs") or [], source.get("wwids") or [], source.get("lun")
    if not targets and not ids:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        yield invalid(f"{path}.targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets and lun is None:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets and lun is not None and not 0 <= lun <= 255:
        yield invalid(f"{path}.lun", lun, "must be between 0 and 255, inclusive")


def flocker(source: Data, path: str) -> Errors:
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    if not name and not uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def partition(source: Data, path: str) -> Errors:
    number = source.get("partition", 0)
    if not 0 <= number <= 255:
        yield invalid(f"{path}.partition", number, "must be between 1 and 255, inclusive")


def azure_disk(source: Data, path: str) -> Errors:
    kind, uri = source.get("kind"), source["diskURI"]
    yield from present(source, path, (("cachingMode", supported(_CACHING_MODES)), ("kind", supported(tuple(_DISKS)))))
    if kind is not None:
        form = _DISKS.get(kind, _BLOB)
        if not uri.startswith(form[: form.index("{")]):
            yield not_supported(f"{path}.diskURI", uri, (form,), named=False)


def quobyte(source: Data, path: str) -> Errors:
    registry = source["registry"]
    if not registry:
        yield required(f"{path}.registry", _PAIRS)
    elif len((source.get("tenant") or "").encode()) > _LONGEST_TENANT:
        yield required(f"{path}.tenant", f"must be a UUID and may not exceed a length of {_LONGEST_TENANT} characters")
    else:
        for pair in registry.split(","):
            if not re.fullmatch(_HOST_AND_PORT, pair):
                yield invalid(f"{path}.registry", registry, _PAIRS)
    if not source["volume"]:
        yield required(f"{path}.volume")


def storage_os(source: Data, path: str) -> Errors:
    yield from _storage_os_names(source, path)
    yield from named(source, path)


def storage_os_volume(source: Data, path: str) -> Errors:
    yield from _storage_os_names(source, path)
    yield from named_with_namespace(source, path)


def _storage_os_names(source: Data, path: str) -> Errors:
    for field in ("volumeName", "volumeNamespace"):
        if source.get(field):
            yield from texts(names.dns_label)(source[field], f"{path}.{field}")


def named(source: Data, path: str) -> Errors:
    """Check that a secret of the pod's namespace, if any, has a name."""
    if source.get("secretRef") is not None and not source["secretRef"].get("name"):
        yield required(f"{path}.secretRef.name")


def named_with_namespace(source: Data, path: str) -> Errors:
    yield from named(source, path)
    if source.get("secretRef") is not None and not source["secretRef"].get("namespace"):
        yield required(f"{path}.secretRef.namespace")


def flex(source: Data, path: str) -> Errors:
    for key in source.get("options") or ():
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def glusterfs_volume(source: Data, path: str) -> Errors:
    namespace, place = source.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace == "":
        yield invalid(place, namespace, "if the endpointnamespace is set, it must be a valid namespace name")
    elif namespace is not None:
        yield from texts(names.dns_label)(namespace, place)


def azure_file_volume(source: Data, path: str) -> Errors:
    if source.get("secretNamespace") == "":
        yield required(f"{path}.secretNamespace")
