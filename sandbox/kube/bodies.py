"""Requests that write, and the data in their bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.kube import protobuf
from sandbox.kube.reading import Target
from sandbox.kube.statuses import UNRECOGNIZED, Refused
from sandbox.kube.versions import UNTURNED, Versions
from scheduler_engine.api.loading import read_documents
from scheduler_engine.errors import Rejected

NO_METADATA = "metadata: must be an object"


@dataclass(frozen=True, slots=True)
class Write:
    """A request that writes. ``content_type``: of the ``body``, without parameters. ``versions``: in the sandbox.

    ``agent``: the name of the program that sends it.
    """

    method: str
    path: str
    query: Mapping[str, str]
    content_type: str = ""
    body: bytes = b""
    versions: Versions = UNTURNED
    agent: str = ""


def document(request: Write) -> Any:
    """Return the body as data. Raises ``Refused``."""
    return read(request)[0]


def read(request: Write) -> tuple[Any, tuple[str, ...]]:
    """Return the body as data, and what is twice in it. Raises ``Refused``."""
    if request.content_type == protobuf.MEDIA_TYPE:
        try:
            return protobuf.decode(request.body), ()
        except protobuf.NotProtobuf as problem:
            raise Refused(400, f"{UNRECOGNIZED}: {problem}") from problem
    if request.content_type and not request.content_type.endswith(("json", "yaml")):
        text = "the body of the request was in an unknown format - accepted media types include: "
        raise Refused(415, f"{text}application/json, application/yaml, {protobuf.MEDIA_TYPE}")
    try:
        documents = read_documents(request.body)
    except Rejected as problem:
        raise Refused(400, f"{UNRECOGNIZED}: {problem}") from problem
    if not documents:
        return {}, ()
    return documents[0].data, tuple(error.message for error in documents[0].duplicates)


def read_manifest(request: Write, wanted: Target) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object in the body, with the namespace of the path, and what is twice in it. Raises ``Refused``."""
    (data, duplicates), resource = read(request), wanted.resource
    if not isinstance(data, dict):
        raise Refused(400, UNRECOGNIZED)
    for name, value, what in (("apiVersion", resource.api_version, "API version"), ("kind", resource.kind, "kind")):
        data[name] = data.get(name) or value
        if data[name] != value:
            text = f"the {what} in the data ({data[name]}) does not match the expected {what} ({value})"
            raise Refused(400, text)
    metadata = data["metadata"] = {} if data.get("metadata") is None else data["metadata"]
    if not isinstance(metadata, dict):
        raise Refused(400, NO_METADATA)
    if resource.namespaced:
        metadata["namespace"] = metadata.get("namespace") or wanted.namespace
        if metadata["namespace"] != wanted.namespace:
            text = "the namespace of the provided object does not match the namespace sent on the request"
            raise Refused(400, text)
    if wanted.name:
        metadata["name"] = metadata.get("name") or wanted.name
    if wanted.name and metadata["name"] != wanted.name:
        text = f"the name of the object ({metadata['name']}) does not match the name on the URL ({wanted.name})"
        raise Refused(400, text)
    return data, duplicates
