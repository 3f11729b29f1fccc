"""Rules for volume sources, of pods and of PersistentVolumes. Source: upstream ``apis/core/validation``.

``SOURCES`` lists the kinds in upstream's order with the fields that must not be empty; some have their own rules.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation import volume_vendors as vendors
from scheduler_engine.api.validation.claims import claim_spec
from scheduler_engine.api.validation.metadata import annotation_rules, labels
from scheduler_engine.api.validation.paths import descending_path, no_backsteps
from scheduler_engine.api.validation.problems import (
    Errors,
    Rule,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    one_of,
    quoted,
    required,
    texts,
    too_long,
    until,
)
from scheduler_engine.api.validation.volume_files import downward_api, items, projected

Data = Mapping[str, Any]

HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_TEMPLATE_FIELDS = {
    **{field: field for field in ("name", "generateName", "namespace", "selfLink")},
    "uid": "uID",
    **{field: field for field in ("resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")},
    **{field: field for field in ("deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields")},
}
"""Fields forbidden in the metadata of a claim template, in Kubernetes' order and form."""


def root_directory(path: str) -> bool:
    return posixpath.normpath(path).strip("/") == "" if path else False


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


def _nfs(source: Data, path: str) -> Errors:
    if not source["path"].startswith("/"):
        yield invalid(f"{path}.path", source["path"], "must be an absolute path")


def _git_repo(source: Data, path: str) -> Errors:
    yield from descending_path(source.get("directory") or "", f"{path}.directory")


def _image(source: Data, path: str) -> Errors:
    yield from one_of(_PULL_POLICIES)(source.get("pullPolicy") or "", f"{path}.pullPolicy")


def driver_name(name: str, path: str) -> Errors:
    missing = [] if name else [required(path)]
    yield from missing
    if len(name.encode()) > 63:
        yield too_long(path, 63)
    malformed = (invalid(path, name, text) for text in names.subdomain(name.lower()))
    yield from until("newer_texts: driver-names", malformed) if missing else malformed


def _csi(source: Data, path: str) -> Errors:
    yield from driver_name(source["driver"], f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    if not secret.get("name"):
        yield required(f"{path}.nodePublishSecretRef.name")
    else:
        yield from texts(names.subdomain)(secret["name"], f"{path}.name")


def _csi_volume(source: Data, path: str) -> Errors:
    yield from driver_name(source["driver"], f"{path}.driver")
    if not source["volumeHandle"]:
        yield required(f"{path}.volumeHandle")
    for use in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"):
        field = f"{use}SecretRef"
        if source.get(field) is not None:
            yield from _secret(source[field], f"{path}.{field}")


def _secret(reference: Data, path: str) -> Errors:
    for field, check in (("name", names.subdomain), ("namespace", names.dns_label)):
        if not reference.get(field):
            yield required(f"{path}.{field}")
        else:
            yield from texts(check)(reference[field], f"{path}.{field}")


def _ephemeral(source: Data, path: str) -> Errors:
    template, place = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(place)
        return
    metadata = template.get("metadata") or {}
    yield from annotation_rules(metadata.get("annotations") or {}, f"{place}.metadata.annotations")
    yield from labels(metadata.get("labels") or {}, f"{place}.metadata.labels")
    for field, named in _TEMPLATE_FIELDS.items():
        if metadata.get(field) not in (None, []):
            yield forbidden(f"{place}.metadata.{named}", "cannot be set")
    yield from claim_spec(template.get("spec") or {}, f"{place}.spec")


def _nothing(source: Data, path: str) -> Errors:
    yield from ()


Source = tuple[str, tuple[str, ...], Rule]
"""Field, its inner fields that must not be empty, its own rule."""

SOURCES: tuple[Source, ...] = (
    ("emptyDir", (), _empty_dir),
    ("hostPath", ("path",), _host_path),
    ("gitRepo", ("repository",), _git_repo),
    ("gcePersistentDisk", ("pdName",), vendors.partition),
    ("awsElasticBlockStore", ("volumeID",), vendors.partition),
    ("secret", ("secretName",), items),
    ("nfs", ("server", "path"), _nfs),
    ("iscsi", ("targetPortal", "iqn"), vendors.iscsi),
    ("glusterfs", ("endpoints", "path"), _nothing),
    ("flocker", (), vendors.flocker),
    ("persistentVolumeClaim", ("claimName",), _nothing),
    ("rbd", ("monitors", "image"), _nothing),
    ("cinder", ("volumeID",), vendors.named),
    ("cephfs", ("monitors",), _nothing),
    ("quobyte", (), vendors.quobyte),
    ("downwardAPI", (), downward_api),
    ("fc", (), vendors.fibre_channel),
    ("flexVolume", ("driver",), vendors.flex),
    ("configMap", ("name",), items),
    ("azureFile", ("secretName", "shareName"), _nothing),
    ("vsphereVolume", ("volumePath",), _nothing),
    ("photonPersistentDisk", ("pdID",), _nothing),
    ("portworxVolume", ("volumeID",), _nothing),
    ("azureDisk", ("diskName", "diskURI"), vendors.azure_disk),
    ("storageos", ("volumeName",), vendors.storage_os),
    ("projected", (), projected),
    ("scaleIO", ("gateway", "system", "volumeName"), _nothing),
    ("csi", (), _csi),
    ("ephemeral", (), _ephemeral),
    ("image", ("reference",), _image),
)
TEMPLATE_SOURCES: tuple[Source, ...] = (*SOURCES[:-1], ("image", (), _image))
"""In a template an image may be missing."""
_RULES = {kind: (kind, fields, rule) for kind, fields, rule in SOURCES}
_ALSO_IN_VOLUMES = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte"),
    *("cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk"),
    *("portworxVolume", "azureDisk", "scaleIO", "storageos"),
)
_OTHERWISE_IN_VOLUMES: dict[str, Rule] = {
    "glusterfs": vendors.glusterfs_volume,
    "iscsi": vendors.iscsi_volume,
    "cinder": vendors.named_with_namespace,
    "azureFile": vendors.azure_file_volume,
    "storageos": vendors.storage_os_volume,
}
_SHARED = tuple((kind, _RULES[kind][1], _OTHERWISE_IN_VOLUMES.get(kind, _RULES[kind][2])) for kind in _ALSO_IN_VOLUMES)
VOLUME_SOURCES: tuple[Source, ...] = (
    *_SHARED[:-1],
    ("local", ("path",), lambda source, path: no_backsteps(source["path"], f"{path}.path")),
    _SHARED[-1],
    ("csi", (), _csi_volume),
)
"""The sources of a PersistentVolume, in upstream's order."""

_PATHS_OF_ERRORS = {"gcePersistentDisk": "persistentDisk"}
_PATHS_OF_SECONDS = {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}
"""Names that Kubernetes spells differently in errors about a field, and as one source too many."""


def _filled(owner: Data, path: str, fields: Sequence[str]) -> Errors:
    for field in fields:
        if not owner.get(field):
            yield required(f"{path}.{field}")


def exactly_one_source(owner: Data, path: str, sources: Sequence[Source]) -> Errors:
    """Require exactly one source. Kubernetes ignores a surplus ``flexVolume`` of a PersistentVolume."""
    present = [source for source in sources if owner.get(source[0]) is not None]
    for number, (kind, fields, rule) in enumerate(present):
        if number > 0 and (kind != "flexVolume" or sources is not VOLUME_SOURCES):
            place = f"{path}.{_PATHS_OF_SECONDS.get(kind, kind)}"
            yield forbidden(place, "may not specify more than 1 volume type")
        else:
            place = f"{path}.{_PATHS_OF_ERRORS.get(kind, kind)}"
            yield from _filled(owner[kind], place, fields)
            yield from rule(owner[kind], place)
    if not present:
        yield required(path, "must specify a volume type")


def pod_volumes(
    volumes: Sequence[Data], path: str, pod_name: str, sources: Sequence[Source], by_name: dict[str, Data]
) -> Errors:
    """Yield the errors of volumes; add the valid ones to ``by_name`` by name."""
    created = {f"{pod_name}-{volume['name']}" for volume in volumes if pod_name and volume.get("ephemeral") is not None}
    for index, volume in enumerate(volumes):
        place = f"{path}[{index}]"
        well_formed = True
        for problem in _pod_volume(volume, place, pod_name, sources):
            well_formed = False
            yield problem
        if volume["name"] in by_name:
            yield duplicate(f"{place}.name", volume["name"])
        elif well_formed:
            by_name[volume["name"]] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in created:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{place}.persistentVolumeClaim.claimName", claim, text)


def _pod_volume(volume: Data, path: str, pod_name: str, sources: Sequence[Source]) -> Errors:
    name = volume["name"]
    yield from exactly_one_source(volume, path, sources)
    first = next((kind for kind, _, _ in SOURCES if volume.get(kind) is not None), None)
    if first == "ephemeral" and pod_name and name:
        for text in names.subdomain(f"{pod_name}-{name}"):
            yield invalid(f"{path}.name", name, f"PVC name {quoted(f'{pod_name}-{name}')}: {text}")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from texts(names.dns_label)(name, f"{path}.name")
