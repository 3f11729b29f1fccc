"""Rules for a container's mounts: volumes as directories and as block devices.

Source: upstream ``apis/core/validation`` (ValidateVolumeMounts, ValidateVolumeDevices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation.paths import descending_path, no_backsteps
from scheduler_engine.api.validation.problems import Errors, forbidden, invalid, not_found, not_supported, required

Data = Mapping[str, Any]

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def volume_mounts(container: Data, path: str, volumes: Mapping[str, Data]) -> Errors:
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    mount_paths: set[str] = set()
    attached = {device["name"]: device["devicePath"] for device in devices}
    attached_at = set(attached.values())
    for index, mount in enumerate(mounts):
        place, name, where = f"{path}.volumeMounts[{index}]", mount["name"], mount["mountPath"]
        if not name:
            yield required(f"{place}.name")
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        if not where:
            yield required(f"{place}.mountPath")
        if where in mount_paths:
            yield invalid(f"{place}.mountPath", where, "must be unique")
        mount_paths.add(where)
        if name in attached:
            yield invalid(f"{place}.name", name, "must not already exist in volumeDevices")
        if where in attached_at:
            yield invalid(f"{place}.mountPath", where, "must not already exist as a path in volumeDevices")
        yield from _sub_path(mount, place, f"{path}.volumeMounts")
        yield from _propagation(mount, container, f"{path}.volumeMounts.mountPropagation")
        yield from _recursive_read_only(mount, f"{path}.volumeMounts.recursiveReadOnly")
    yield from _devices(devices, mounts, f"{path}.volumeDevices", volumes)


def _sub_path(mount: Data, place: str, list_path: str) -> Errors:
    """Check the path; its errors do not name the mount, as in Kubernetes."""
    plain, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    yield from descending_path(plain, f"{list_path}.subPath")
    if plain and expression:
        yield invalid(f"{place}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
    yield from descending_path(expression, f"{list_path}.subPathExpr")


def _propagation(mount: Data, container: Data, path: str) -> Errors:
    mode = mount.get("mountPropagation")
    if mode is None:
        return
    if mode not in _PROPAGATIONS:
        yield not_supported(path, mode, _PROPAGATIONS)
    if mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        yield forbidden(path, "Bidirectional mount propagation is available only to privileged containers")


def _recursive_read_only(mount: Data, path: str) -> Errors:
    mode = mount.get("recursiveReadOnly")
    if mode is None or mode == "Disabled":
        return
    if mode not in _RECURSIVE:
        yield not_supported(path, mode, _RECURSIVE)
        return
    if not mount.get("readOnly"):
        yield forbidden(path, "may only be specified when readOnly is true")
    if mount.get("mountPropagation") not in (None, "None"):
        yield forbidden(path, "may only be specified when mountPropagation is None or not specified")


def _devices(devices: Sequence[Data], mounts: Sequence[Data], path: str, volumes: Mapping[str, Data]) -> Errors:
    names: set[str] = set()
    paths: set[str] = set()
    mounted = {mount["name"]: mount["mountPath"] for mount in mounts}
    mounted_at = set(mounted.values())
    for index, device in enumerate(devices):
        place, name, where = f"{path}[{index}]", device["name"], device["devicePath"]
        if not name:
            yield required(f"{place}.name")
        if name in names:
            yield invalid(f"{place}.name", name, "must be unique")
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        elif not volumes[name].keys() & {"persistentVolumeClaim", "ephemeral"}:
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{place}.name", name, text)
        if not where:
            yield required(f"{place}.devicePath")
        if where in paths:
            yield invalid(f"{place}.devicePath", where, "must be unique")
        if any(no_backsteps(where, path)):
            yield invalid(f"{place}.devicePath", where, "can not contain backsteps ('..')")
        else:
            paths.add(where)
        if name in mounted:
            yield invalid(f"{place}.name", name, "must not already exist in volumeMounts")
        if where in mounted_at:
            yield invalid(f"{place}.devicePath", where, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)
