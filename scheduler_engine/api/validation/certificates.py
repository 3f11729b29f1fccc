"""Rules for certificates in projected volumes. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import ANNOTATIONS_LIMIT, annotations_size
from scheduler_engine.api.validation.paths import inner_path, taken_path
from scheduler_engine.api.validation.problems import (
    Errors,
    invalid,
    not_supported,
    quoted,
    required,
    texts,
    too_long,
)
from scheduler_engine.api.validation.selectors import label_selector, selector_shown

Data = Mapping[str, Any]

_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_SHORTEST_SECONDS = 3600
_LONGEST_SECONDS = 91 * 24 * 60 * 60
_LONGEST_SECONDS_OF_KUBERNETES = 24 * 60 * 60
_LONGEST_DOMAIN = 253
_LONGEST_SIGNER = 571


def _signer_name(name: str, path: str) -> Errors:
    if not name:
        yield required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        yield invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    if len(domain.encode()) > _LONGEST_DOMAIN:
        yield too_long(path, _LONGEST_DOMAIN)
    yield from _segments(domain, path, names.dns_label)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _segments(rest, path, names.subdomain)
    if len(name.encode()) > _LONGEST_SIGNER:
        yield too_long(path, _LONGEST_SIGNER)


def _segments(value: str, path: str, check: names.Check) -> Errors:
    """Report only the first wrong part between the dots."""
    for label in value.split("."):
        problems = check(label)
        yield from (invalid(path, value, f"validating label {quoted(label)}: {text}") for text in problems)
        if problems:
            return


def _trust_bundle(source: Data, own: str, path: str, taken: set[str]) -> Errors:
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        yield invalid(own, _bundle_shown(source), "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield required(f"{own}.name", "must be a valid object name")
        for text in _bundle_name(name):
            yield invalid(f"{own}.name", name, f"not a valid clustertrustbundlename: {text}")
        if source.get("labelSelector") is not None:
            shown = selector_shown(source["labelSelector"])
            yield invalid(f"{own}.labelSelector", shown, "labelSelector must be unset if name is specified")
    elif signer is not None:
        if not signer:
            yield required(f"{own}.signerName", "must be a valid signer name")
        yield from _signer_name(signer, f"{own}.signerName")
        if source.get("labelSelector") is not None:
            yield from label_selector(source["labelSelector"], f"{own}.labelSelector")
    else:
        yield required(own, "either name or signerName must be specified")
    if not source["path"]:
        yield required(f"{own}.path")
    yield from inner_path(source["path"], f"{own}.path")
    yield from taken_path(source["path"], taken, path)


def _bundle_name(name: str) -> list[str]:
    """Check that a signer's bundle has the signer's name, with colons for slashes, as a prefix."""
    return names.subdomain(name.rpartition(":")[2])


def _bundle_shown(source: Data) -> Data:
    selector = source.get("labelSelector")
    return {
        "Name": source["name"],
        "SignerName": source["signerName"],
        "LabelSelector": None if selector is None else selector_shown(selector),
        "Optional": source.get("optional"),
        "Path": source["path"],
    }


def _pod_certificate(source: Data, own: str, path: str, taken: set[str]) -> Errors:
    signer, kind = source.get("signerName") or "", source.get("keyType") or ""
    yield from _signer_name(signer, f"{own}.signerName")
    yield from _user_annotations(source.get("userAnnotations") or {}, f"{own}.userAnnotations")
    if kind not in _KEY_TYPES:
        yield not_supported(f"{own}.keyType", kind, _KEY_TYPES)
    seconds, place = source.get("maxExpirationSeconds"), f"{own}.maxExpirationSeconds"
    host = signer.partition("/")[0]
    of_kubernetes = host == "kubernetes.io" or host.endswith(".kubernetes.io")
    longest = _LONGEST_SECONDS_OF_KUBERNETES if of_kubernetes else _LONGEST_SECONDS
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        yield invalid(place, seconds, f"if provided, maxExpirationSeconds must be >= {_SHORTEST_SECONDS}")
    if seconds is not None and seconds > longest:
        yield invalid(place, seconds, f"if provided, maxExpirationSeconds must be <= {longest}")
    fields = [field for field in ("credentialBundlePath", "keyPath", "certificateChainPath") if source.get(field)]
    for field in fields:
        yield from inner_path(source[field], f"{own}.{field}")
        yield from taken_path(source[field], taken, path)
    if not fields:
        text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        yield required(own, text)


def _user_annotations(annotations: Mapping[str, str], path: str) -> Errors:
    """Check annotations whose keys must have a domain. They are compared in lower case."""
    for key in map(str.lower, annotations):
        problems = [] if key else [required(path)]
        problems = problems or list(texts(names.qualified_name)(key, path))
        if not problems and "/" not in key:
            problems = [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')]
        yield from problems
    if annotations_size(annotations) > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)


CERTIFICATES: dict[str, Callable[[Data, str, str, set[str]], Errors]] = {
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _pod_certificate,
}
"""Kind of a projected source → its rules: the source, its path, that of the volume, the paths of files so far."""
