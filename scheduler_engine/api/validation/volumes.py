"""Rules for volume sources, of pods and of PersistentVolumes. Source: upstream ``apis/core/validation``.

``SOURCES`` lists the kinds in upstream's order with the fields that must not be empty; some have rules of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.claims import claim_spec
from scheduler_engine.api.validation.environment import VOLUME_FIELDS, field_reference, resource_reference
from scheduler_engine.api.validation.metadata import labels
from scheduler_engine.api.validation.problems import (
    Errors,
    Rule,
    duplicate,
    each,
    forbidden,
    invalid,
    not_supported,
    required,
    texts,
    too_long,
)

Data = Mapping[str, Any]

HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_ISCSI_NAMES = {
    "iqn": r"iqn\.\d{4}-\d{2}\.([a-z0-9-.]+)(:([^,;*&$|\s]+))?",
    "eui": r"eui\.[0-9a-zA-Z]{16}",
    "naa": r"naa\.[0-9a-zA-Z]{32}",
}
_FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def no_backsteps(value: str, path: str) -> Errors:
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def _inner_path(value: str, path: str) -> Errors:
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from no_backsteps(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")


def _mode(owner: Data, field: str, path: str) -> Errors:
    mode = owner.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{field}", mode, _FILE_MODE)


def _empty_dir(source: Data, path: str) -> Errors:
    limit = source.get("sizeLimit")
    if limit is not None and parse_quantity(limit).nano < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(source: Data, path: str) -> Errors:
    if not source["path"]:
        return
    yield from no_backsteps(source["path"], f"{path}.path")
    if source.get("type") is not None and source["type"] not in HOST_PATH_TYPES:
        yield not_supported(f"{path}.type", source["type"], HOST_PATH_TYPES)


def _items(source: Data, path: str) -> Errors:
    """The files of a Secret or ConfigMap volume."""
    yield from _mode(source, "defaultMode", path)
    for index, item in enumerate(source.get("items") or ()):
        place = f"{path}.items[{index}]"
        yield from _filled(item, place, ("key", "path"))
        yield from _inner_path(item["path"], f"{place}.path")
        yield from _mode(item, "mode", place)


def _downward_api(source: Data, path: str) -> Errors:
    yield from _mode(source, "defaultMode", path)
    yield from each(_downward_file)(source.get("items") or (), f"{path}.items")


def _downward_file(item: Data, path: str) -> Errors:
    yield from _filled(item, path, ("path",))
    yield from _inner_path(item["path"], f"{path}.path")
    if item.get("fieldRef") is not None:
        yield from field_reference(VOLUME_FIELDS)(item["fieldRef"], f"{path}.fieldRef")
        if item.get("resourceFieldRef") is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.get("resourceFieldRef") is not None:
        if not item["resourceFieldRef"].get("containerName"):
            yield required(f"{path}.resourceFieldRef.containerName")
        else:
            yield from resource_reference(item["resourceFieldRef"], f"{path}.resourceFieldRef")
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", path)


def _nfs(source: Data, path: str) -> Errors:
    if not source["path"].startswith("/"):
        yield invalid(f"{path}.path", source["path"], "must be an absolute path")


def _iscsi(source: Data, path: str) -> Errors:
    name = source["iqn"]
    pattern = _ISCSI_NAMES.get(name[:3])
    if name and pattern is None:
        yield invalid(f"{path}.iqn", name, "must be valid format starting with iqn, eui, or naa")
    elif name and not re.match(f"{pattern}$", name):
        yield invalid(f"{path}.iqn", name, "must be valid format")
    if not 0 <= source["lun"] <= 255:
        yield invalid(f"{path}.lun", source["lun"], "must be between 0 and 255, inclusive")


def _partition(source: Data, path: str) -> Errors:
    number = source.get("partition", 0)
    if not 0 <= number <= 255:
        yield invalid(f"{path}.partition", number, "must be between 0 and 255, inclusive")


def driver_name(name: str, path: str) -> Errors:
    if not name:
        yield required(path)
    if len(name.encode()) > 63:
        yield too_long(path, 63)
    for text in names.subdomain(name.lower()):
        yield invalid(path, name, text)


def _csi(source: Data, path: str) -> Errors:
    yield from driver_name(source["driver"], f"{path}.driver")


def _csi_volume(source: Data, path: str) -> Errors:
    yield from driver_name(source["driver"], f"{path}.driver")
    if not source["volumeHandle"]:
        yield required(f"{path}.volumeHandle")


def _ephemeral(source: Data, path: str) -> Errors:
    template, place = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(place)
        return
    metadata = template.get("metadata") or {}
    yield from labels(metadata.get("labels") or {}, f"{place}.metadata.labels")
    for field in metadata:
        if field not in ("labels", "annotations"):
            yield forbidden(f"{place}.metadata.{field}", "cannot be set")
    yield from claim_spec(template.get("spec") or {}, f"{place}.spec")


def _nothing(source: Data, path: str) -> Errors:
    yield from ()


Source = tuple[str, tuple[str, ...], Rule]
"""Field, the fields in it that must not be empty, its own rule."""

SOURCES: tuple[Source, ...] = (
    ("emptyDir", (), _empty_dir),
    ("hostPath", ("path",), _host_path),
    ("gitRepo", ("repository",), _nothing),
    ("gcePersistentDisk", ("pdName",), _partition),
    ("awsElasticBlockStore", ("volumeID",), _partition),
    ("secret", ("secretName",), _items),
    ("nfs", ("server", "path"), _nfs),
    ("iscsi", ("targetPortal", "iqn"), _iscsi),
    ("glusterfs", ("endpoints", "path"), _nothing),
    ("flocker", (), _nothing),
    ("persistentVolumeClaim", ("claimName",), _nothing),
    ("rbd", ("monitors", "image"), _nothing),
    ("cinder", ("volumeID",), _nothing),
    ("cephfs", ("monitors",), _nothing),
    ("quobyte", ("registry", "volume"), _nothing),
    ("downwardAPI", (), _downward_api),
    ("fc", (), _nothing),
    ("flexVolume", ("driver",), _nothing),
    ("configMap", ("name",), _items),
    ("azureFile", ("secretName", "shareName"), _nothing),
    ("vsphereVolume", ("volumePath",), _nothing),
    ("photonPersistentDisk", ("pdID",), _nothing),
    ("portworxVolume", ("volumeID",), _nothing),
    ("azureDisk", ("diskName", "diskURI"), _nothing),
    ("storageos", ("volumeName",), _nothing),
    ("projected", (), _nothing),
    ("scaleIO", ("gateway", "system", "volumeName"), _nothing),
    ("csi", (), _csi),
    ("ephemeral", (), _ephemeral),
    ("image", (), _nothing),
)
_NOT_OF_VOLUMES = ("emptyDir", "gitRepo", "secret", "persistentVolumeClaim", "downwardAPI", "configMap", "projected")
VOLUME_SOURCES: tuple[Source, ...] = (
    *(source for source in SOURCES if source[0] not in (*_NOT_OF_VOLUMES, "csi", "ephemeral", "image")),
    ("local", ("path",), lambda source, path: no_backsteps(source["path"], f"{path}.path")),
    ("csi", (), _csi_volume),
)
"""What a PersistentVolume can be."""


def _filled(owner: Data, path: str, fields: Sequence[str]) -> Errors:
    for field in fields:
        if not owner.get(field):
            yield required(f"{path}.{field}")


def exactly_one_source(owner: Data, path: str, sources: Sequence[Source]) -> Errors:
    given = [source for source in sources if owner.get(source[0]) is not None]
    for number, (kind, fields, rule) in enumerate(given):
        if number > 0:
            yield forbidden(f"{path}.{kind}", "may not specify more than 1 volume type")
        else:
            yield from _filled(owner[kind], f"{path}.{kind}", fields)
            yield from rule(owner[kind], f"{path}.{kind}")
    if not given:
        yield required(path, "must specify a volume type")


def pod_volumes(volumes: Sequence[Data], path: str, pod_name: str) -> tuple[dict[str, Data], list[Any]]:
    """The well-formed volumes by name, and everything that is wrong with the others."""
    found: dict[str, Data] = {}
    errors: list[Any] = []
    created = [f"{pod_name}-{volume['name']}" for volume in volumes if pod_name and volume.get("ephemeral")]
    for index, volume in enumerate(volumes):
        place = f"{path}[{index}]"
        problems = list(_pod_volume(volume, place, pod_name))
        if volume["name"] in found:
            problems.append(duplicate(f"{place}.name", volume["name"]))
        if not problems:
            found[volume["name"]] = volume
        errors += problems
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in created:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{place}.persistentVolumeClaim.claimName", claim, text))
    return found, errors


def _pod_volume(volume: Data, path: str, pod_name: str) -> Errors:
    name = volume["name"]
    yield from exactly_one_source(volume, path, SOURCES)
    if volume.get("ephemeral") is not None and pod_name and name:
        for text in names.subdomain(f"{pod_name}-{name}"):
            yield invalid(f"{path}.name", name, f'PVC name "{pod_name}-{name}": {text}')
    if not name:
        yield required(f"{path}.name")
    else:
        yield from texts(names.dns_label)(name, f"{path}.name")
