"""Hostile requests to the API server of a sandbox: paths, selectors, objects, patches and options, nearly right."""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

import yaml

from sandbox.kube.patching import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from sandbox.kube.protobuf import MAGIC, MEDIA_TYPE
from sandbox.kube.resources import RESOURCES, Resource
from tests.hostile import oddities
from tests.hostile.likely import TYPES
from tests.hostile.oddities import as_json, changed, text
from tests.hostile.targets import CLUSTER

JSON = "application/json"
METHODS = ("GET", "GET", "POST", "POST", "PUT", "PUT", "PATCH", "PATCH", "PATCH", "DELETE")
SUBRESOURCES = ("status", "scale", "eviction", "resize", "binding", "log", "exec", "status/x")
OF_KIND = {"Pod": ("status", "eviction", "resize"), "Node": ("status",), "Deployment": ("status", "scale")}
"""Kind → subresources that it has."""
ELSEWHERE = (
    *("", "api", "apis", "version", "healthz", "openapi/v2", "openapi/v3", "openapi/v3/api/v1", "apis/apps/v2"),
    *("apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
    *("api/v1/namespaces/default/secrets", "api/v1/namespaces//pods", "api/v1/namespaces/default/events"),
)
QUERIES: dict[str, tuple[str, ...]] = {
    "labelSelector": ("app=web", "a in (b,c),!d", "a in (", "a=b=c", "x>y", ",,", "!", "a notin ()"),
    "fieldSelector": ("metadata.name=web-0", "spec.nodeName!=", "status.phase", "a=b,,c", "spec.unschedulable=x"),
    "limit": ("1", "0", "-1", "99999999999"),
    "continue": ("default/web-0", "%00"),
    "resourceVersion": ("0", "1", "-1", "999999"),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "dryRun": ("All", "None", ""),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "fieldManager": ("me", "x" * 200),
    "force": ("true", "x"),
    "propagationPolicy": ("Orphan", "Foreground", "Background", "x"),
    "gracePeriodSeconds": ("0", "30", "-1", "1e9", "999999999999"),
    "orphanDependents": ("true", "x"),
    "includeObject": ("None", "Object", "x"),
    "pretty": ("true",),
}
"""Parameter of a query → values."""
ENDS = ("1", "-1", "x", "1.5")
"""How long a watch lasts: a longer one would be no error."""
ACCEPTS = (
    JSON,
    f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON}",
    f"{JSON};as=PartialObjectMetadata",
    "*/*",
    MEDIA_TYPE,
    "x",
)
EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-0"}, "deleteOptions": {}}
SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "app"}, "spec": {"replicas": 3}}
OPTIONS = {
    "kind": "DeleteOptions",
    "gracePeriodSeconds": 0,
    "propagationPolicy": "Orphan",
    "preconditions": {"uid": "x", "resourceVersion": "1"},
    "dryRun": ["All"],
    "orphanDependents": False,
}
REVIEW = {"kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
STRATEGIC = {
    "metadata": {"labels": {"a": None}, "$retainKeys": ["name"], "$deleteFromPrimitiveList/finalizers": ["a"]},
    "spec": {
        "$setElementOrder/containers": [{"name": "main"}],
        "containers": [{"name": "main", "image": "y", "$patch": "merge"}, {"name": "gone", "$patch": "delete"}],
        "taints": [{"$patch": "replace"}, {"key": "a", "effect": "NoSchedule"}],
        "replicas": 2,
        "unschedulable": True,
    },
}
LABELS: dict[str, Any] = {"metadata": {"labels": {"a": "b", "app": "web"}, "annotations": {"c": "d"}}}
SMALL: dict[str, tuple[dict[str, Any], ...]] = {
    "Node": (LABELS, {"spec": {"unschedulable": True}}, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
    "Pod": (LABELS, {"spec": {"containers": [{"name": "main", "image": "y"}]}}, {"spec": {"activeDeadlineSeconds": 9}}),
    "Deployment": (LABELS, {"spec": {"replicas": 2, "paused": True}}, {"spec": {"strategy": {"type": "Recreate"}}}),
}
"""Kind → patches that change such an object."""
POINTERS = (
    "/metadata/labels/a",
    "/spec",
    "",
    "/",
    "/metadata",
    "/spec/containers/-",
    "/spec/taints/0",
    "/~2",
    "/spec/x/y",
)


def request(drawn: random.Random) -> tuple[str, str, dict[str, str], bytes]:
    """Return method, path below the sandbox's, headers and body."""
    method = drawn.choice(METHODS)
    manifest = copy.deepcopy(drawn.choice(CLUSTER if drawn.random() < 0.75 else _kinds()))
    if method == "POST" and drawn.random() < 0.7:
        manifest["metadata"]["name"] = f"new-{drawn.randrange(1000)}"
    path = _path(drawn, manifest, method)
    headers = {"Accept": drawn.choice(ACCEPTS), "User-Agent": drawn.choice(("kubectl/v1.37", text(drawn)[:200]))}
    headers["User-Agent"] = headers["User-Agent"].encode("latin-1", "replace").decode("latin-1")
    query = _query(drawn)
    if method == "GET":
        return method, f"{path}{_asked(query | _watch(drawn))}", headers, b""
    kind, body = _body(drawn, method, path, manifest)
    headers["Content-Type"] = drawn.choice(TYPES) if drawn.random() < 0.06 else kind
    return method, f"{path}{_asked(query)}", headers, body


@cache
def _kinds() -> list[dict[str, Any]]:
    """Return manifests of the kinds that are served."""
    served = {row.kind for row in RESOURCES.values()}
    return [manifest for manifest in oddities.manifests() if manifest["kind"] in served]


def _resource(drawn: random.Random, manifest: Any) -> Resource:
    rows = [row for row in RESOURCES.values() if row.kind == manifest.get("kind")]
    return drawn.choice(rows) if rows and drawn.random() < 0.93 else drawn.choice([*RESOURCES.values()])


def _path(drawn: random.Random, manifest: Any, method: str) -> str:
    if drawn.random() < 0.05:
        return f"kube/{drawn.choice((*ELSEWHERE, quote(text(drawn), errors='surrogatepass')))}"
    resource, name = _resource(drawn, manifest), str(manifest["metadata"].get("name"))
    start = f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"
    pieces = ["kube", start]
    if resource.namespaced and drawn.random() < 0.97:
        pieces += ["namespaces", "default" if drawn.random() < 0.95 else _odd(drawn)]
    pieces.append(resource.plural)
    inside = drawn.choice(("", "", "", *OF_KIND.get(resource.kind, ()))) if drawn.random() < 0.93 else ""
    inside = inside or (drawn.choice(SUBRESOURCES) if drawn.random() < 0.06 else "")
    if method == "POST" and inside not in ("eviction", "binding", "exec"):
        return "/".join(pieces)
    if method in ("GET", "DELETE") and drawn.random() < 0.1:
        return "/".join(pieces)
    pieces += [quote(name, safe="") if drawn.random() < 0.95 else _odd(drawn), inside]
    return "/".join(filter(None, pieces))


def _odd(drawn: random.Random) -> str:
    return quote(text(drawn)[:300], safe="", errors="surrogatepass")


def _query(drawn: random.Random) -> dict[str, str]:
    names = drawn.sample([*QUERIES], drawn.choice((0, 0, 0, 0, 1, 2)))
    return {name: drawn.choice(QUERIES[name]) if drawn.random() < 0.8 else text(drawn)[:300] for name in names}


def _watch(drawn: random.Random) -> dict[str, str]:
    return {"watch": "true", "timeoutSeconds": drawn.choice(ENDS)} if drawn.random() < 0.08 else {}


def _asked(query: dict[str, str]) -> str:
    pairs = (f"{name}={quote_plus(value, errors='surrogatepass')}" for name, value in query.items())
    return f"?{'&'.join(pairs)}" if query else ""


def _body(drawn: random.Random, method: str, path: str, manifest: Any) -> tuple[str, bytes]:
    """Return content type and body."""
    kind = drawn.random()
    if kind < 0.04:
        return MEDIA_TYPE, MAGIC + drawn.randbytes(drawn.choice((0, 1, 40, 2000)))
    if kind < 0.08:
        return JSON, drawn.choice((b"", b"{", b"null", b"[]", b'"x"', b"\xff", b"[" * 5000, b"1", drawn.randbytes(100)))
    if kind < 0.1:
        return "application/yaml", drawn.choice(oddities.YAML).encode(errors="surrogatepass")
    if method == "PATCH":
        return _patch(drawn, manifest)
    options = {name: OPTIONS[name] for name in drawn.sample([*OPTIONS], drawn.choice((0, 0, 1, 1, 2)))}
    whole = _whole(path, manifest) if method != "DELETE" else options
    data = _changed(drawn, whole)
    if kind < 0.13:
        data = {"apiVersion": "v1", "kind": "List", "items": [data] * drawn.choice((1, 3000))}
    if kind < 0.2:
        return "application/yaml", yaml.safe_dump(whole).encode()
    return JSON, as_json(data).encode()


def _whole(path: str, manifest: Any) -> Any:
    ends = {"scale": SCALE, "eviction": EVICTION, "selfsubjectaccessreviews": REVIEW, "selfsubjectrulesreviews": REVIEW}
    return ends.get(path.rpartition("/")[2], manifest)


def _changed(drawn: random.Random, data: Any) -> Any:
    for _ in range(drawn.choice((0, 0, 1, 2))):
        data = changed(drawn, data)
    return data


def _patch(drawn: random.Random, manifest: Any) -> tuple[str, bytes]:
    kind = drawn.choice((JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH))
    small = drawn.choice(SMALL.get(manifest.get("kind"), SMALL["Node"]))
    patches: dict[str, Any] = {
        JSON_PATCH: [_operation(drawn) for _ in range(drawn.choice((1, 1, 2, 12)))],
        MERGE_PATCH: _changed(drawn, small),
        STRATEGIC_PATCH: _changed(drawn, drawn.choice((STRATEGIC, small))),
        APPLY_PATCH: _changed(drawn, drawn.choice((manifest, small))),
    }
    other = drawn.choice([*patches]) if drawn.random() < 0.08 else kind
    return kind, as_json(patches[other]).encode()


def _operation(drawn: random.Random) -> Any:
    whole = {
        "op": drawn.choice(("add", "remove", "replace", "move", "copy", "test", "x")),
        "path": drawn.choice(POINTERS),
        "from": drawn.choice(POINTERS),
        "value": oddities.value(drawn),
    }
    return changed(drawn, whole) if drawn.random() < 0.2 else whole
