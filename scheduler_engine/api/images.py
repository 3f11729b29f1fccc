"""Names of container images. Source: ``github.com/distribution/reference`` as Kubernetes uses it."""

from __future__ import annotations

import re

_LABEL = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"
_REFERENCE = re.compile(
    rf"{_DOMAIN}/(?P<path>{_PART}(?:/{_PART})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>{_DIGEST}))?", re.ASCII
)
_IDENTIFIER = re.compile("[a-f0-9]{64}")
_LONGEST_PATH = 255
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_DEFAULT_DOMAIN = "docker.io"


def image_tag(image: str) -> str | None:
    """Return the tag, ``latest`` if there is neither tag nor digest; None if the image name is invalid."""
    if _IDENTIFIER.fullmatch(image):
        return None
    domain, rest = _split(image)
    match = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if match is None or len(match["path"]) > _LONGEST_PATH:
        return None
    if match["digest"]:
        algorithm, _, digits = match["digest"].partition(":")
        if len(digits) != _DIGITS.get(algorithm) or digits != digits.lower():
            return None
    return match["tag"] or ("" if match["digest"] else "latest")


def _split(image: str) -> tuple[str, str]:
    """Return the registry, which is optional, and the rest."""
    first, slash, rest = image.partition("/")
    if not slash or not (first == "localhost" or "." in first or ":" in first or first != first.lower()):
        first, rest = _DEFAULT_DOMAIN, image
    elif first == "index.docker.io":
        first = _DEFAULT_DOMAIN
    return first, rest if first != _DEFAULT_DOMAIN or "/" in rest else f"library/{rest}"


def normalized_image_name(name: str) -> str:
    """Return the name as nodes report it: add ``:latest`` if it has no tag."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
