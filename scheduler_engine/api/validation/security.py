"""Rules for security contexts, and for fields that a pod's operating system excludes.

Source: upstream ``apis/core/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation.paths import descending_path
from scheduler_engine.api.validation.problems import (
    BY_POLICY,
    Errors,
    Named,
    between,
    duplicate,
    each,
    forbidden,
    invalid,
    not_supported,
    present,
    required,
    supported,
    too_long,
)
from scheduler_engine.api.validation.walk import containers_with_paths
from scheduler_engine.api.validation.windows import windows_options

Data = Mapping[str, Any]

PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PROFILE_PATH = 4095
_LONGEST_SYSCTL = 253
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SWAPPED = str.maketrans("./", "/.")
_IPC_SYSCTLS = (
    *("kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm"),
    *("kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"),
)

_user_or_group = between(0, 2**31 - 1)


def container_security(context: Data, path: str, host_users: bool) -> Errors:
    if context.get("privileged"):
        yield forbidden(f"{path}.privileged", BY_POLICY)
    yield from present(context, path, (("runAsUser", _user_or_group), ("runAsGroup", _user_or_group)))
    mount = context.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            yield not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            yield invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    yield from present(context, path, (("seccompProfile", _seccomp_profile),))
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, _context_shown(context), text)
        text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        added = (context.get("capabilities") or {}).get("add") or ()
        if "CAP_SYS_ADMIN" in added:
            yield from added.count("CAP_SYS_ADMIN") * [invalid(path, _context_shown(context), text)]
    yield from present(context, path, (("windowsOptions", windows_options), ("appArmorProfile", _app_armor_profile)))


_SHOWN: dict[str, tuple[str, ...]] = {
    "capabilities": ("add", "drop"),
    "privileged": (),
    "seLinuxOptions": ("user", "role", "type", "level"),
    "windowsOptions": ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName", "hostProcess"),
    "runAsUser": (),
    "runAsGroup": (),
    "runAsNonRoot": (),
    "readOnlyRootFilesystem": (),
    "allowPrivilegeEscalation": (),
    "procMount": (),
    "seccompProfile": ("type", "localhostProfile"),
    "appArmorProfile": ("type", "localhostProfile"),
}
"""Field of a container's security context → its inner fields, in Go's order."""
_GO_NAMES = {"seLinuxOptions": "SELinuxOptions", "gmsaCredentialSpecName": "GMSACredentialSpecName"}
_GO_NAMES["gmsaCredentialSpec"] = "GMSACredentialSpec"
_TEXTS = ("user", "role", "type", "level")
"""Inner fields that are texts and not pointers: empty if missing."""


def _go_name(field: str) -> str:
    return _GO_NAMES.get(field, field[0].upper() + field[1:])


def _context_shown(context: Data) -> Data:
    """Return the internal form as Go prints it."""

    def shown(field: str, fields: tuple[str, ...]) -> Any:
        value = context.get(field)
        if not fields or value is None:
            return value
        return {_go_name(inner): value.get(inner, "" if inner in _TEXTS else None) for inner in fields}

    return {_go_name(field): shown(field, fields) for field, fields in _SHOWN.items()}


def pod_security(spec: Data, path: str) -> Errors:
    """Check ``spec.securityContext``; it also holds the pod's use of the host's namespaces."""
    context, place = spec.get("securityContext") or {}, f"{path}.securityContext"
    groups = ("fsGroup", "runAsUser", "runAsGroup")
    yield from present(context, place, tuple((field, _user_or_group) for field in groups))
    yield from each(_user_or_group)(context.get("supplementalGroups") or (), f"{place}.supplementalGroups")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{place}.shareProcessNamespace", True, text)
    yield from _sysctls(context.get("sysctls") or (), f"{place}.sysctls", spec)
    yield from present(
        context,
        place,
        (
            ("fsGroupChangePolicy", supported(("Always", "OnRootMismatch"))),
            ("seccompProfile", _seccomp_profile),
            ("windowsOptions", windows_options),
            ("appArmorProfile", _app_armor_profile),
            ("supplementalGroupsPolicy", supported(("Merge", "Strict"))),
            ("seLinuxChangePolicy", supported(("Recursive",))),
        ),
    )


def _sysctls(items: Sequence[Data], path: str, spec: Data) -> Errors:
    """Check kernel parameters; a pod may not set those of a namespace that it shares with the host."""
    names: set[str] = set()
    for index, item in enumerate(items):
        place, name = f"{path}[{index}].name", item["name"]
        if not name:
            yield required(place)
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            yield invalid(place, name, f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$")
        elif name in names:
            yield duplicate(place, name)
        shared = _host_namespace(name)
        if shared and spec.get(shared):
            yield invalid(place, name, f"may not be specified when '{shared}' is true")
        names.add(name)


def _host_namespace(sysctl: str) -> str:
    """Return the field that shares a parameter's kernel namespace (``net/ipv4`` is another form of ``net.ipv4``)."""
    separator = re.search("[./]", sysctl)
    name = sysctl.translate(_SWAPPED) if separator is not None and separator[0] == "/" else sysctl
    name = name.partition("*")[0]
    if name.startswith("net."):
        return "hostNetwork"
    return "hostIPC" if name in _IPC_SYSCTLS or name.startswith("fs.mqueue.") else ""


def _seccomp_profile(profile: Data, path: str) -> Errors:
    kind, local = profile["type"], profile.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in PROFILE_TYPES:
        yield not_supported(f"{path}.type", kind, PROFILE_TYPES)
    if kind == "Localhost" and local is None:
        yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    elif kind == "Localhost":
        yield from descending_path(local or "", f"{path}.localhostProfile")
    elif local is not None:
        shown = {"Type": kind, "LocalhostProfile": local}
        yield invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")


def _app_armor_profile(profile: Data, path: str) -> Errors:
    kind, local, place = profile["type"], profile.get("localhostProfile"), f"{path}.localhostProfile"
    if not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    elif kind not in PROFILE_TYPES:
        yield not_supported(f"{path}.type", kind, PROFILE_TYPES)
    elif kind != "Localhost":
        if local is not None:
            yield invalid(place, Named(local), "can only be set when AppArmor type is Localhost")
    elif not local:
        yield required(place, "must be set when AppArmor type is Localhost")
    else:
        if local != local.strip():
            yield invalid(place, local, "must not be padded with whitespace")
        if len(local.encode()) > _LONGEST_PROFILE_PATH:
            yield too_long(place, _LONGEST_PROFILE_PATH)


# --- operating system -------------------------------------------------------------------------------------------------

_NOT_FOR_WINDOWS = (
    *("securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC"),
    *("securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy"),
    *("securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup"),
    *("securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy"),
    "securityContext.seLinuxChangePolicy",
)
_NOT_FOR_WINDOWS_CONTAINERS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)


def operating_system(spec: Data, path: str) -> Errors:
    """Check ``spec.os``, and what a pod for it must not have."""
    system = spec.get("os")
    if system is None:
        return
    if not system["name"]:
        yield required(f"{path}.os.name")
    elif system["name"] == "windows":
        yield from _for_windows(spec, path)
    elif system["name"] == "linux":
        yield from _for_linux(spec, path)
    else:
        yield not_supported(f"{path}.os", system["name"], ("linux", "windows"))


def _contexts(spec: Data, path: str) -> Iterator[tuple[str, Data]]:
    """Yield the containers' security contexts with their paths."""
    for container, place in containers_with_paths(spec, path):
        if container.get("securityContext") is not None:
            yield f"{place}.securityContext", container["securityContext"]


def _for_windows(spec: Data, path: str) -> Errors:
    text = "cannot be set for a windows pod"
    for place in _NOT_FOR_WINDOWS:
        owner, _, field = place.rpartition(".")
        value = (spec.get(owner) or {} if owner else spec).get(field)
        empty = field in ("hostPID", "hostIPC", "sysctls") and not value
        if value is not None and not empty:
            yield forbidden(f"{path}.{place}", text)
    for place, context in _contexts(spec, path):
        for field in _NOT_FOR_WINDOWS_CONTAINERS:
            if context.get(field) is not None:
                yield forbidden(f"{place}.{field}", text)


def _for_linux(spec: Data, path: str) -> Errors:
    text = "windows options cannot be set for a linux pod"
    if (spec.get("securityContext") or {}).get("windowsOptions") is not None:
        yield forbidden(f"{path}.securityContext.windowsOptions", text)
    for place, context in _contexts(spec, path):
        if context.get("windowsOptions") is not None:
            yield forbidden(f"{place}.windowsOptions", text)
