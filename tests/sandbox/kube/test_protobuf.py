"""Objects in protobuf: all types of fields, and bytes that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.kube import protobuf
from sandbox.kube.protobuf import MAGIC, NotProtobuf, decode
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.scheme import KINDS


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def envelope(kind: str, raw: bytes, version: str = "v1") -> bytes:
    return MAGIC + field(1, field(1, version) + field(2, kind)) + field(2, raw)


def test_all_types_of_fields() -> None:
    metadata = field(1, "web") + field(2, "") + field(8, b"") + field(11, field(1, "app") + field(2, "web"))
    probe = field(1, field(2, field(1, "/health") + field(2, field(1, 0) + field(2, 80) + field(3, "")))) + field(2, 5)
    requests = field(2, field(1, "cpu") + field(2, field(1, "1500m")))
    container = field(1, "c") + field(2, "x") + field(8, requests) + field(10, probe) + field(14, "")
    data = field(1, "data") + field(2, field(2, field(1, "Memory")))
    spec = field(2, container) + field(1, data) + field(5, 0) + field(7, field(1, "zone") + field(2, "a"))
    toleration = field(1, "k") + field(5, -1)
    raw = field(1, metadata) + field(2, spec + field(22, toleration)) + field(3, field(1, "") + field(7, field(1, 61)))
    pod = decode(envelope("Pod", raw))
    assert pod == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "x",
                    "resources": {"requests": {"cpu": "1500m"}},
                    "livenessProbe": {"httpGet": {"path": "/health", "port": 80}, "initialDelaySeconds": 5},
                }
            ],
            "volumes": [{"name": "data", "emptyDir": {"medium": "Memory"}}],
            "activeDeadlineSeconds": 0,
            "nodeSelector": {"zone": "a"},
            "tolerations": [{"key": "k", "tolerationSeconds": -1}],
        },
        "status": {"startTime": "1970-01-01T00:01:01Z"},
    }


def test_requests_that_are_stored_nowhere() -> None:
    options = field(1, 0) + field(2, field(1, "u") + field(2, "7")) + field(4, "Orphan") + field(5, "All")
    expected = {
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Orphan",
        "dryRun": ["All"],
    }
    assert decode(envelope("DeleteOptions", options)) == {"apiVersion": "v1", "kind": "DeleteOptions", **expected}
    eviction = decode(envelope("Eviction", field(1, field(1, "web")) + field(2, options), "policy/v1"))
    assert (eviction["metadata"], eviction["deleteOptions"]) == ({"name": "web"}, expected)


CUSTOM = ("PodGroup",)
"""Kinds of CustomResourceDefinitions, for which Kubernetes has no protobuf."""


def reached() -> Iterator[str]:
    seen: dict[str, None] = {}
    waiting = [kind for kind in KINDS if kind in TYPES and kind not in CUSTOM]
    while waiting:
        if (here := waiting.pop()) not in seen:
            seen[here] = None
            waiting += [one.type for one in TYPES[here].values() if one.type in TYPES]
    return iter(seen)


def test_every_field_has_a_number() -> None:
    def names(message: str, of: str) -> Iterator[str]:
        for one in protobuf._numbered(message, of).values():
            yield from names(one.inline, of) if one.inline else [one.name]

    lacking = {of: set(TYPES[of]) - {*names(of, of)} - {"apiVersion", "kind"} for of in reached()}
    assert {of: fields for of, fields in lacking.items() if fields} == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        MAGIC,
        envelope("Conjured", b""),
        envelope("PodGroup", b"", "scheduling.x-k8s.io/v1alpha1"),
        envelope("Pod", b"\x0a\xff"),
        envelope("Pod", b"\xff" * 11),
        envelope("Pod", b"\x0b"),
        envelope("Pod", field(1, 7)),
        envelope("Pod", field(1, field(1, b"\xff\xfe"))),
        envelope("Pod", field(2, field(5, "text"))),
        MAGIC + field(1, 3),
        envelope("Pod", field(1, field(8, field(1, 1 << 62)))),
    ],
)
def test_what_is_no_protobuf(data: Any) -> None:
    with pytest.raises(NotProtobuf):
        decode(data)
