"""Rules for the Windows options of security contexts. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import BY_POLICY, Errors, Named, forbidden, invalid, present, texts
from scheduler_engine.api.validation.walk import containers_with_paths

Data = Mapping[str, Any]

_LONGEST_SPEC_KIB = 64
_DOMAIN_LIMIT = 256
_LONGEST_USER = 104
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_DOTS_AND_SPACES = re.compile("[. ]+")
_NOT_IN_A_USER = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def windows_options(options: Data, path: str) -> Errors:
    yield from present(
        options,
        path,
        (
            ("gmsaCredentialSpecName", lambda value, place: texts(names.subdomain)(Named(value), place)),
            ("gmsaCredentialSpec", lambda value, place: _credential_spec(Named(value), place)),
            ("runAsUserName", lambda value, place: texts(_user_name)(Named(value), place)),
        ),
    )


def _credential_spec(spec: str, path: str) -> Errors:
    if not spec:
        yield invalid(path, spec, "gmsaCredentialSpec cannot be an empty string")
    elif len(spec.encode()) > _LONGEST_SPEC_KIB * 1024:
        yield invalid(path, spec, f"gmsaCredentialSpec size must be under {_LONGEST_SPEC_KIB} KiB")


def _user_name(name: str) -> list[str]:
    """Check for ``DOMAIN\\USER`` or only a user."""
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = name.rpartition("\\")
    problems = []
    if len(domain.encode()) >= _DOMAIN_LIMIT:
        problems.append(f"runAsUserName's Domain length must be under {_DOMAIN_LIMIT} characters")
    if backslash and not _NET_BIOS.fullmatch(domain) and not _DOMAIN.fullmatch(domain):
        problems.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        problems.append("runAsUserName's User cannot be empty")
    elif len(user.encode()) > _LONGEST_USER:
        problems.append(f"runAsUserName's User length must not be longer than {_LONGEST_USER} characters")
    if _DOTS_AND_SPACES.fullmatch(user):
        problems.append("runAsUserName's User cannot contain only periods or spaces")
    if _NOT_IN_A_USER.search(user):
        problems.append(r"""runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]""")
    return problems


def _host_process(owner: Data) -> bool | None:
    value: bool | None = ((owner.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    return value


def host_process_pod(spec: Data, path: str) -> Errors:
    """Check that all containers are processes of the host, with the pod in its network, or none is."""
    whole, flags = _host_process(spec), []
    for container, place in containers_with_paths(spec, path):
        own = _host_process(container)
        if whole is not None and own is not None and whole != own:
            text = f"pod hostProcess value must be identical if both are specified, was {str(whole).lower()}"
            yield invalid(f"{place}.securityContext.windowsOptions.hostProcess", own, text)
        flags.append(whole if own is None else own)
    if not any(flags):
        return
    if not all(flags):
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid(path, "", text)
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, text)
    yield forbidden(path, f"hostProcess containers are {BY_POLICY}")
